/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the items about PALEO read from their keys. */
#ifndef ORCH_FEATURES_PALEO_PALEO_SPEC_H
#define ORCH_FEATURES_PALEO_PALEO_SPEC_H

#include "core/render/table.h"
#include "predictors/paleo/paleo.h"

#include <glib.h>
#include <jansson.h>

/** Returns the number under `key`, or `none` when the key is absent or no number. */
double orch_paleo_spec_number(const json_t *spec, const char *key, double none);
/** Returns the platform percents of peak under "ppp" that are in (0, 1], as doubles; 1 alone where
 * there is none. The caller unrefs. */
GArray *orch_paleo_spec_ppps(const json_t *spec);
/** Finds a device of PALEO's authors, "paleo:NAME", or makes one of a GPU of the hardware tables.
 * False with ORCH_ERROR_NOT_FOUND. */
bool orch_paleo_spec_device(const char *name, struct orch_paleo_device *out, GError **error);
/** Makes a device of a peak and a bandwidth that were measured. `name` is borrowed. */
struct orch_paleo_device orch_paleo_spec_measured(const char *name, double gflop_s, double gbyte_s);
/** Sets the network of the options to the one under `link`; without the key it stays. False with
 * ORCH_ERROR_NOT_FOUND. */
bool orch_paleo_spec_link(const json_t *spec, struct orch_paleo_options *options, GError **error);
/** Returns the number in a word of a published row: NaN for "-". False with ORCH_ERROR_RECIPE for
 * anything else that is no number; `row` is the whole row, for the message. */
bool orch_paleo_spec_published(const char *word, const char *row, double *out, GError **error);
/** Makes a table from headers and the columns' names in JSON, both NULL-terminated. */
struct orch_table *orch_paleo_spec_table(const char *const *headers, const char *const *names);
/** What people read above a column: `label` below `group` (orch_table_set_heading). */
struct orch_paleo_heading {
    unsigned column;
    const char *group, *label;
};
/** Sets headings; the last one has no label. */
void orch_paleo_spec_headings(struct orch_table *table, const struct orch_paleo_heading *headings);
/** 100 (computed - measured) / measured; NaN where one of them is missing. */
double orch_paleo_error_percent(double computed, double measured);

#endif
