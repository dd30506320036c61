/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products of vectors, and Cholesky's factor of a symmetric, positive definite matrix, for many
 * small fits side by side (GSL's error handler is one for all threads). */
#ifndef ORCH_PREDICTORS_DENSE_H
#define ORCH_PREDICTORS_DENSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h> /* says whether it is glibc */

/* Before a function with long loops over numbers: it is built for processors with AVX2 and AVX-512
 * as well, and the loader takes what fits. All round each product and each sum alike, so that
 * answers are the same to the last bit (products and sums are not fused: -ffp-contract=off). */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) &&                            \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ORCH_WIDE __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define ORCH_WIDE
#endif

/** Sum of a[i] b[i]. */
double orch_dot(const double *a, const double *b, size_t n);
float orch_dot_float(const float *a, const float *b, size_t n);
/** Of `count` rows of n numbers, one behind the other: out[r] = orch_dot_float(row r, b, n), the
 * same to the last bit, for several rows at a time. */
void orch_dots_float(const float *rows, size_t count, const float *b, size_t n, float *out);

#define ORCH_TILE 16   /* rows of a tile */
#define ORCH_ABREAST 6 /* lines that are multiplied with a tile at once */
/** `count` rows of n numbers as tiles of ORCH_TILE rows, column by column; the last is filled up
 * with 0. The caller frees (g_free). */
float *orch_tiles_new(const float *rows, size_t count, size_t n);
/** Of ORCH_ABREAST lines of n numbers, one behind the other: out[line * ORCH_TILE + row] = their
 * product with a row of the tile, summed from the first column to the last. */
void orch_tile_dots(const float *tile, const float *lines, size_t n, float *out);
/** Rows rounded up to whole tiles, and lines to whole calls. */
size_t orch_tile_rows(size_t count);
size_t orch_abreast_lines(size_t count);

/** Writes L over the lower half of `a` (row-major, n x n; the upper half is not read); false, with
 * `a` spoilt, where the matrix is not positive definite. */
bool orch_cholesky(double *a, size_t n);
/** Solves L L' x = b, over b. */
void orch_cholesky_solve(const double *l, size_t n, double *b);

#endif
