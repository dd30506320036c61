/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Non-linear least squares of a few parameters within bounds: Levenberg and Marquardt's damped
 * Gauss-Newton steps, projected on the bounds. */
#ifndef ORCH_PREDICTORS_LEVMAR_H
#define ORCH_PREDICTORS_LEVMAR_H

#include <stddef.h>

#define ORCH_LEVMAR_PARAMS_MAX 4

/** Called at parameters x within the bounds: writes `residuals` residuals and, unless it is NULL,
 * their derivatives by the parameters, residuals x params row-major. */
typedef void (*orch_levmar_model)(const void *context, const double *x, double *out_residuals,
                                  double *out_derivatives);

struct orch_levmar {
    orch_levmar_model model;
    const void *context;
    size_t residuals;
    int params; /* 1 to ORCH_LEVMAR_PARAMS_MAX */
    double lower[ORCH_LEVMAR_PARAMS_MAX], upper[ORCH_LEVMAR_PARAMS_MAX]; /* may be infinite */
};

/** Improves `x` (read and written; put within the bounds first) until the sum of squares does not
 * fall any more, at most 500 steps, and returns that sum: never above that at the start. It is a
 * local minimum: where there may be several, call it from several starts. HUGE_VAL, and x as it
 * was, when the sum is not finite at the start. */
double orch_levmar_solve(const struct orch_levmar *problem, double *x);

#endif
