/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes runs or their points as a table for other programs. Each row is written as it is read, so
 * the store's content does not have to fit into memory. */
#ifndef ORCH_FEATURES_EXPORT_EXPORT_TABLE_H
#define ORCH_FEATURES_EXPORT_EXPORT_TABLE_H

#include "core/results/selection.h"

#include <stdio.h>

/* CSV, one JSON array, or a JSON object a line. */
/** JSON is one array, OBJECT that array as a member beside schema_version. */
enum orch_export_format {
    ORCH_EXPORT_CSV,
    ORCH_EXPORT_JSON,
    ORCH_EXPORT_JSONL,
    ORCH_EXPORT_OBJECT
};

struct orch_export_wish {
    struct orch_selection selection;
    enum orch_export_format format;
    const char *columns; /* as for orch_export_columns_new; NULL: the default ones */
    bool points;         /* a row for each point of a metric, not for each run */
    bool safe_csv; /* texts that a spreadsheet would take for a formula begin with an apostrophe */
    bool on_terminal;           /* `out` is a terminal: nothing in it is obeyed or hidden */
    const char *const *metrics; /* points of these only, NULL-terminated; NULL: of all */
};
/** Writes the table to `path`, where an existing file is replaced only by a complete one, or with
 * `path` NULL to `out`. A reader that closes `out` early is no error. `*out_rows` receives the
 * number of rows. False with ORCH_ERROR_USAGE (an invalid filter, an unknown column) or
 * ORCH_ERROR_IO. */
bool orch_export_table(struct orch_store *store, const struct orch_export_wish *wish,
                       const char *path, FILE *out, int64_t *out_rows, GError **error);

#endif
