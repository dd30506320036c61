/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Goodness of fit of a loss curve, and choice between the two forms. */
#ifndef ORCH_PREDICTORS_CURVE_CHOOSE_H
#define ORCH_PREDICTORS_CURVE_CHOOSE_H

#include "predictors/curve.h"

struct orch_goodness {
    size_t points; /* number of points with k >= from_k */
    double r2;     /* 1 - squared errors / squared deviations from the mean; NaN: no spread */
    double relative_error; /* mean of |fitted - measured| / measured; NaN: no loss above 0 */
    double sse;            /* sum of squared errors, in the caller's units */
};
struct orch_goodness orch_stages_goodness(const struct orch_stages *stages, const double *k,
                                          const double *loss, size_t count, double from_k);

/** Fits both forms with orch_stages_fit and returns one of them: the power law, which has one more
 * parameter per stage, only if its Bayesian information criterion is lower by more than 6 (strong
 * evidence, Kass and Raftery 1995). Ignores `options->form`; methods other than the direct one
 * support the optimus form only. Caller frees. Fails like orch_stages_fit. */
struct orch_stages *orch_stages_choose(const double *k, const double *loss, size_t count,
                                       const double *drops, size_t drop_count,
                                       const struct orch_curve_options *options, GError **error);

#endif
