/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured rows: features by name, the target, and what a white box says of each. Columns that
 * speak of a GPU, a network or a layer bring what is known of them: peaks and bandwidth, counts,
 * and the time of a roofline. */
#ifndef ORCH_PREDICTORS_ROWS_H
#define ORCH_PREDICTORS_ROWS_H

#include "predictors/csv.h"
#include "predictors/matrix.h"

struct orch_rows {
    struct orch_matrix *matrix;
    double *target;
    double *white; /* the roofline's time in the unit of the target (ms), NaN: it has none */
    char **groups; /* by row, of the column asked for; NULL: none was */
    size_t rows;
    GPtrArray *notes; /* char *: what was left out and why */
};
void orch_rows_free(struct orch_rows *rows);
struct orch_rows *orch_rows_pick(const struct orch_rows *rows, const size_t *which, size_t count);

struct orch_rows_options {
    const char *target;      /* column to learn, all above 0 */
    const char *const *drop; /* columns to leave out, NULL-terminated, or NULL; without 'gpu' its
                                peaks and the like are left out, too, but not the roofline's time */
    const char *group;       /* column whose values are groups, or NULL */
};
/** Reads a table. Columns of which every field is a number or empty are numbers, others categories;
 * a column with one value only is left out. Left out, too, and noted, are columns that give the
 * target away: those named like it (ms_min beside ms), and the rate or time that goes with it.
 * ORCH_ERROR_RECIPE with the place: a target that is missing, 0, negative or no number. */
struct orch_rows *orch_rows_read(const char *path, const struct orch_rows_options *options,
                                 GError **error);
/** The same of a table in memory (orch_csv_parse). */
struct orch_rows *orch_rows_of_table(const struct orch_csv *csv,
                                     const struct orch_rows_options *options, GError **error);

#endif
