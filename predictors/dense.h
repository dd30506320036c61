/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products of vectors, and Cholesky's factor of a symmetric, positive definite matrix, for many
 * small fits side by side (GSL's error handler is one for all threads). */
#ifndef ORCH_PREDICTORS_DENSE_H
#define ORCH_PREDICTORS_DENSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h> /* says whether it is glibc */

/* Before a function with long loops over numbers: it is built for processors with AVX2 as well, and
 * the loader takes what fits. Both round each product and each sum alike, so that answers are the
 * same to the last bit (AVX2 alone has no fused multiply-add). */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) &&                            \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ORCH_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define ORCH_WIDE
#endif

/** Sum of a[i] b[i]. */
double orch_dot(const double *a, const double *b, size_t n);
float orch_dot_float(const float *a, const float *b, size_t n);
/** Of `count` rows of n numbers, one behind the other: out[r] = orch_dot_float(row r, b, n), the
 * same to the last bit, for several rows at a time. */
void orch_dots_float(const float *rows, size_t count, const float *b, size_t n, float *out);
/** Writes L over the lower half of `a` (row-major, n x n; the upper half is not read); false, with
 * `a` spoilt, where the matrix is not positive definite. */
bool orch_cholesky(double *a, size_t n);
/** Solves L L' x = b, over b. */
void orch_cholesky_solve(const double *l, size_t n, double *b);

#endif
