/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forecasts of a trial's duration from trials of the same kind on the same machine: from repeats of
 * the same cell, or by a regression over its parameters. Each is a median and its 90 % interval, in
 * seconds. */
#ifndef ORCH_FEATURES_PREDICT_DURATION_H
#define ORCH_FEATURES_PREDICT_DURATION_H

#include "lib/base/interval.h"
#include "predictors/features/matrix.h"

/** Variation between runs of the same cell. */
struct orch_scatter {
    double sd;  /* of the log of the time */
    double dof; /* degrees of freedom; 0: no cell ran twice */
};
/** Pooled estimate over the cells: `cell[i]` is the cell of the i-th time, an index below n. */
struct orch_scatter orch_scatter_of(const double *seconds, const size_t *cell, size_t n);

/** Forecast from n >= 1 runs of the same cell (times above 0). A single run gives an interval of
 * about a factor of 1.4 to each side, narrower if `scatter` shows that trials of its kind repeat
 * well. */
struct orch_interval orch_duration_of_repeats(const double *seconds, size_t n,
                                              struct orch_scatter scatter);

struct orch_duration_law {
    size_t cells;          /* number of cells it was fitted to */
    double relative_error; /* median over the cells, each left out in turn; NaN below 3 */
    double ridge;
    double start_s; /* time that no parameter changes: loading, start-up; 0: none was found */
};
/** Forecasts unmeasured trials from measured ones: time = start + work x a product of powers of the
 * numbers and of factors of the categories. log((time - start) / work) is fitted with a ridge
 * penalty, and outliers are down-weighted (Huber). Start and ridge are chosen by leave-one-out; the
 * start is 0 unless it lowers that error clearly. The interval comes from the leave-one-out errors,
 * widened by the leverage of the row and by its differences from all measured rows (orch_logs).
 *
 * `seconds[i]` is NaN for trials to forecast, else above 0, with one row per measured cell.
 * `work[i]` is the declared amount of work in any unit, NaN if unknown; `work`
 * may be NULL and is used only if all measured rows have it. `out[i]` is set for every row; it is
 * NaN if nothing was measured or if the interval exceeds a factor of 10 to one side. */
void orch_duration_law(const struct orch_matrix *features, const double *work,
                       const double *seconds, struct orch_scatter scatter,
                       struct orch_interval *out, struct orch_duration_law *facts);

/** Marks the rows outside of what was measured (`seconds` as above): a number beyond the measured
 * range, or a category that no measured row has. */
void orch_duration_beyond(const struct orch_matrix *features, const double *seconds,
                          bool *out_beyond);

/** 90 % interval around a median, given the standard deviation of the log. */
struct orch_interval orch_duration_of_spread(double seconds, double sd);

#endif
