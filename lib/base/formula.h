/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formulas such as "images_per_s = train_images / mean epoch_time": numbers, names, + - * / and
 * parentheses. A name may be preceded by a word for the aggregation of several values, such as
 * 'mean'. */
#ifndef ORCH_BASE_FORMULA_H
#define ORCH_BASE_FORMULA_H

#include <glib.h>
#include <stdbool.h>

/** Maximum length of a formula; nesting is also bounded. */
#define ORCH_FORMULA_CHARS_MAX 500

struct orch_formula;
/** Parses "left = right". Fails with ORCH_ERROR_USAGE and the column. Caller frees. */
struct orch_formula *orch_formula_parse(const char *text, GError **error);
void orch_formula_free(struct orch_formula *formula);

/** The text left of '='. Borrowed. */
const char *orch_formula_left(const struct orch_formula *formula);
/** The text right of '='. Borrowed. */
const char *orch_formula_right(const struct orch_formula *formula);
/** The names on the right side ("mean epoch_time", "batch") in order, with repetitions: char *.
 * Borrowed. */
const GPtrArray *orch_formula_names(const struct orch_formula *formula);

/** Returns the value of a name, or NaN if it has none. */
typedef double (*orch_formula_lookup)(void *ctx, const char *name);
/** Evaluates the right side. NaN if a name has no value or for a division by 0. */
double orch_formula_value(const struct orch_formula *formula, orch_formula_lookup lookup,
                          void *ctx);
/** The right side with numbers substituted for names: "2000 / 20.8". Caller frees. */
char *orch_formula_with_numbers(const struct orch_formula *formula, orch_formula_lookup lookup,
                                void *ctx, char *(*format)(double value));

#endif
