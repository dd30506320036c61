/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formulas with names: "images_per_s = train_images / mean epoch_time". Numbers, names, + - * / and
 * parentheses; nothing else. A name may have a word before it that says how several values become
 * one. */
#ifndef ORCH_BASE_FORMULA_H
#define ORCH_BASE_FORMULA_H

#include <glib.h>
#include <stdbool.h>

/** A formula's text and nesting are bounded. */
#define ORCH_FORMULA_CHARS_MAX 500

struct orch_formula;
/** "left = right". NULL with ORCH_ERROR_USAGE that says at which column. The caller frees. */
struct orch_formula *orch_formula_parse(const char *text, GError **error);
void orch_formula_free(struct orch_formula *formula);

/** What stands left of '='. Borrowed. */
const char *orch_formula_left(const struct orch_formula *formula);
/** What stands right of it, as written. Borrowed. */
const char *orch_formula_right(const struct orch_formula *formula);
/** The names on the right ("mean epoch_time", "batch"), each as often as it stands there. Borrowed
 * char *. */
const GPtrArray *orch_formula_names(const struct orch_formula *formula);

/** Value of a name; NaN: it has none. */
typedef double (*orch_formula_lookup)(void *ctx, const char *name);
/** The right side's value; NaN when a name has none or a division is by 0. */
double orch_formula_value(const struct orch_formula *formula, orch_formula_lookup lookup,
                          void *ctx);
/** The right side with the numbers put in: "2000 / 20.8". The caller frees. */
char *orch_formula_with_numbers(const struct orch_formula *formula, orch_formula_lookup lookup,
                                void *ctx, char *(*format)(double value));

#endif
