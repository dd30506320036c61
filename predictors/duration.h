/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a trial will take, from trials of the same kind on the same machine: from runs of the
 * very same one, or by a law over its parameters. */
#ifndef ORCH_PREDICTORS_DURATION_H
#define ORCH_PREDICTORS_DURATION_H

#include "predictors/matrix.h"

/** Seconds: the median and the middle 90 %. */
struct orch_duration {
    double p5_s, p50_s, p95_s;
};

/** How runs of one and the same trial scatter. */
struct orch_scatter {
    double sd;  /* of the log of the time */
    double dof; /* 0: no trial ran twice */
};
/** Pooled over the cells: `cell[i]` says which one the i-th time is of (any numbers below n). */
struct orch_scatter orch_scatter_of(const double *seconds, const size_t *cell, size_t n);

/** From n >= 1 runs of the same trial (times above 0). One run alone gives an interval of about a
 * factor of 1.4 to each side, narrower where `scatter` says that trials of its kind repeat well. */
struct orch_duration orch_duration_of_repeats(const double *seconds, size_t n,
                                              struct orch_scatter scatter);

struct orch_law {
    size_t cells;          /* that it was fitted to */
    double relative_error; /* median over the cells, each left out in turn; NaN below 3 */
    double ridge;
};
/** Answers for trials that were not run from those that were: log(time / work) is linear in the
 * logs of numbers and in categories, with a ridge penalty chosen by leaving one out, outliers
 * weighted down (Huber). The interval is that of the left-out errors, widened by the leverage of
 * the trial and by what no measured one tells of it (orch_logs).
 *
 * `seconds[i]` NaN: asked; else above 0, one row for each measured cell. `work[i]`: declared amount
 * of work in any unit; NULL, or used only when all measured rows have it (NaN: not known). `out[i]`
 * for every row; NaN where nothing is measured or the interval would be wider than a factor of 10
 * to one side: that is no forecast. */
void orch_duration_law(const struct orch_matrix *features, const double *work,
                       const double *seconds, struct orch_scatter scatter,
                       struct orch_duration *out, struct orch_law *facts);

/** A median with a spread (standard deviation of the log) as an interval. */
struct orch_duration orch_duration_of_spread(double seconds, double sd);

#endif
