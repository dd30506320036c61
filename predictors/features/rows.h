/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured rows: features by name, the target and the roofline's prediction. Columns that name a
 * GPU, network or layer are expanded into what is known of it: peak rates and bandwidth, operation
 * counts, and a roofline time. */
#ifndef ORCH_PREDICTORS_ROWS_H
#define ORCH_PREDICTORS_ROWS_H

#include "lib/base/csv.h"
#include "predictors/features/matrix.h"
#include "predictors/features/row_device.h"

struct orch_rows {
    struct orch_matrix *matrix;
    double *target;
    double *white; /* roofline prediction in the unit of the target. If a row's work is unknown, an
                      estimate from the GPU's specification, up to a constant; NaN: none */
    char **groups; /* by row, from the group column; NULL: no group column */
    bool groups_are_gpus;
    double *white_ms; /* the same in ms per step, whatever the target is */
    struct orch_row_device
        *devices; /* by row: its GPU at its precision, and the kind of its work */
    bool is_rate; /* the target is a rate, not a time */
    size_t rows;
    GPtrArray *notes; /* char *: columns that were left out, with the reason */
};
void orch_rows_free(struct orch_rows *rows);
struct orch_rows *orch_rows_pick(const struct orch_rows *rows, const size_t *which, size_t count);

struct orch_rows_options {
    const char *target;      /* column to learn, all above 0 */
    const char *const *drop; /* columns to leave out, NULL-terminated, or NULL. Dropping 'gpu' also
                                drops its specifications, but not the roofline time */
    const char *group;       /* column whose values are groups, or NULL */
    bool keep_all; /* no column reveals the target: all were known before it was measured */
    const struct orch_matrix *like; /* the training features, or NULL: a column that is a category
                                       there is one here too, even if all its fields are numbers */
};
/** The rows of a table (orch_csv_read, orch_csv_parse). A column is numeric if every field is a
 * number or empty, else a category. Adds derived features (predictors/features/features.h). Leaves
 * out, with a note, columns that reveal the target: those named after it (ms_min beside ms), and
 * the matching rate or time. Fails with ORCH_ERROR_RECIPE and the place if a target is missing, not
 * a number or not above 0. */
struct orch_rows *orch_rows_of_table(const struct orch_csv *csv,
                                     const struct orch_rows_options *options, GError **error);

#endif
