/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounded non-linear least squares with few parameters: damped Gauss-Newton steps (Levenberg,
 * Marquardt) projected onto the bounds. */
#ifndef ORCH_FEATURES_CURVE_LEVMAR_H
#define ORCH_FEATURES_CURVE_LEVMAR_H

#include <stddef.h>

#define ORCH_LEVMAR_PARAMS_MAX 4

/** Called with parameters x within the bounds. Writes the residuals and, unless NULL, their
 * derivatives with respect to the parameters: residuals x params, row-major. */
typedef void (*orch_levmar_model)(const void *context, const double *x, double *out_residuals,
                                  double *out_derivatives);

struct orch_levmar {
    orch_levmar_model model;
    const void *context;
    size_t residuals;
    int params; /* 1 to ORCH_LEVMAR_PARAMS_MAX */
    double lower[ORCH_LEVMAR_PARAMS_MAX], upper[ORCH_LEVMAR_PARAMS_MAX]; /* may be infinite */
};

/** Improves `x` (in/out; first moved within the bounds) until the sum of squares stops falling, in
 * at most 500 steps, and returns that sum, which is never above the initial one. The result is a
 * local minimum, so use several starts if there may be several. Returns HUGE_VAL and leaves x
 * unchanged if the initial sum is not finite. */
double orch_levmar_solve(const struct orch_levmar *problem, double *x);

#endif
