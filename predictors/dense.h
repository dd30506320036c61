/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cholesky's factor of a symmetric, positive definite matrix, for many small fits side by side
 * (GSL's error handler is one for all threads). */
#ifndef ORCH_PREDICTORS_DENSE_H
#define ORCH_PREDICTORS_DENSE_H

#include <stdbool.h>
#include <stddef.h>

/** Sum of a[i] b[i]. */
double orch_dot(const double *a, const double *b, size_t n);
float orch_dot_float(const float *a, const float *b, size_t n);
/** Adds scale a[i] to inout[i]. */
void orch_add_float(float *restrict inout, const float *restrict a, float scale, size_t n);
/** Writes L over the lower half of `a` (row-major, n x n; the upper half is not read); false, with
 * `a` spoilt, where the matrix is not positive definite. */
bool orch_cholesky(double *a, size_t n);
/** Solves L L' x = b, over b. */
void orch_cholesky_solve(const double *l, size_t n, double *b);

#endif
