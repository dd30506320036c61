/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How well a loss curve fits, and which form fits best. */
#ifndef ORCH_PREDICTORS_CURVE_CHOOSE_H
#define ORCH_PREDICTORS_CURVE_CHOOSE_H

#include "predictors/curve.h"

struct orch_goodness {
    size_t points; /* with k >= from_k */
    double r2;     /* 1 - squared errors / squared deviations from the mean; NaN: no spread */
    double relative_error; /* mean of |fitted - measured| / measured; NaN: no loss above 0 */
    double sse;            /* sum of squared errors, in the caller's units */
};
struct orch_goodness orch_stages_judge(const struct orch_stages *stages, const double *k,
                                       const double *loss, size_t count, double from_k);

/** Fits both forms as orch_stages_fit does and keeps one: the power law, with a parameter more a
 * stage, only when its Bayesian information criterion is lower by more than 6 (strong evidence,
 * Kass and Raftery 1995). `options->form` is passed over; methods other than the direct one know
 * the optimus form alone. The caller frees; NULL as orch_stages_fit. */
struct orch_stages *orch_stages_choose(const double *k, const double *loss, size_t count,
                                       const double *drops, size_t drop_count,
                                       const struct orch_curve_options *options, GError **error);

#endif
