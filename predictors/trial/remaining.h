/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Remaining time of a running job: (N - n) * tau, from the job's own progress.
 *
 * tau, the time per unit of progress, is estimated from a moving window: the newest half of the
 * work done, which excludes a warm-up of up to half of that work. The window is divided into blocks
 * of equal progress. Three estimators (mean, median, exponentially weighted mean) predict each
 * block from the preceding ones, and the most accurate is used. A significant trend is
 * extrapolated, but changes tau by at most a quarter. Optimus (Peng et al. 2018) and the course's
 * lecture use the plain window.
 */
#ifndef ORCH_PREDICTORS_REMAINING_H
#define ORCH_PREDICTORS_REMAINING_H

#include "lib/base/interval.h"

#include <stdbool.h>
#include <stddef.h>

/** Progress at a point in time. */
struct orch_progress_point {
    double t_s;  /* on any clock */
    double done; /* non-decreasing */
};

struct orch_remaining {
    struct orch_interval left_s; /* from now on: median and 90 % interval */
    double tau_s;                /* time per unit of progress */
    const char *estimate;        /* estimator of tau: "mean", "median" or "ewma" */
    double drift; /* share by which tau is expected to change until the end; bounded */
};

/** Needs at least two points with progress between them. `now_s` is on the same clock and not
 * before the last point. Returns false without enough points or progress, or if total is not above
 * done. The interval follows from the variance between blocks and includes the correlation of
 * neighbouring blocks, so that phases of slow steps do not make it too narrow. */
bool orch_remaining(const struct orch_progress_point *points, size_t count, double total,
                    double now_s, struct orch_remaining *out);

#endif
