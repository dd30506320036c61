/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The loss under any schedule of the learning rate, from runs under other schedules: the
 * multi-power law (Luo et al., "A Multi-Power Law for Loss Curve Prediction Across Learning Rate
 * Schedules", ICLR 2025, equations 4 to 6),
 *
 *   l(t) = l0 + a (S(t) + s)^-alpha + b sum over changes i before t of
 *          (rate_i - rate_(i-1)) (1 - (1 + c rate_i^-gamma (S(t) - S_i))^-beta)
 *
 * with S(t) the sum of the learning rates up to t and S_i that up to change i. s is what the
 * warm-up adds. l0, a and b enter linearly and are found by non-negative least squares of relative
 * errors for given others, which a simplex search finds.
 */
#ifndef ORCH_FEATURES_CURVE_SCHEDULE_LAW_H
#define ORCH_FEATURES_CURVE_SCHEDULE_LAW_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/** A run's losses and its learning rate. Borrowed arrays. */
struct orch_schedule_run {
    const double *k, *loss; /* `count` points, ascending; loss above 0 */
    size_t count;
    const double *rate_k, *rate; /* `rates` points, ascending: linear between them, and constant
                                    before the first and after the last; at least one above 0 */
    size_t rates;
};

struct orch_schedule_law {
    double l0, a, b;                     /* linear */
    double alpha, beta, gamma, c, shift; /* shift: s, in the unit of S */
    double rate_unit, sum_unit;          /* rates and sums are divided by these */
    double relative_error;               /* mean of |fitted - measured| / measured */
    size_t points;
};

/** Fits one law to all runs together. Fails with ORCH_ERROR_USAGE for no run, for a run that is not
 * as described above, with fewer than 16 points in all, or when no rate ever falls. Takes a few
 * seconds for a thousand points. */
bool orch_schedule_law_fit(const struct orch_schedule_run *runs, size_t count,
                           struct orch_schedule_law *out, GError **error);

/** Computes the losses at `run->k` under the run's rates into `out_loss` (run->count numbers);
 * `run->loss` is not read. */
void orch_schedule_law_predict(const struct orch_schedule_law *law,
                               const struct orch_schedule_run *run, double *out_loss);

#endif
