/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long a running job still takes: (N - n) * tau, by its own steps.
 *
 * tau, the time of a unit of progress, is taken from a moving window: the newest half of what was
 * done, so that a warm-up is out of it as soon as it is half of the job, cut into blocks of equal
 * progress. Three estimates are tried on the window itself, each block from those before it: their
 * mean, their median, and an exponentially weighted mean; the one that erred least speaks. A drift
 * that stands out of the noise is followed, but changes tau by at most a quarter. Optimus (Peng et
 * al. 2018) and the course's lecture use the plain window.
 */
#ifndef ORCH_PREDICTORS_REMAINING_H
#define ORCH_PREDICTORS_REMAINING_H

#include <stdbool.h>
#include <stddef.h>

/** Progress at a time. */
struct orch_progress_point {
    double t_s;  /* any clock */
    double done; /* never falls */
};

struct orch_remaining {
    double seconds;       /* from now on */
    double low_s, high_s; /* the middle 90 % */
    double tau_s;         /* a unit of progress */
    const char *estimate; /* "mean", "median", "ewma": what tau is */
    double drift;         /* share by which tau is expected to change until the end; bounded */
};

/** From at least two points with progress between them. `now_s`: on the same clock, at least the
 * last point's. False when nothing can be said: too few points, no progress, total not above done.
 * The interval comes from the spread of the blocks, with the correlation between neighbours, so
 * that steps that are slow together do not make it too narrow. */
bool orch_remaining(const struct orch_progress_point *points, size_t count, double total,
                    double now_s, struct orch_remaining *out);

#endif
