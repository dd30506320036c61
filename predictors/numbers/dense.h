/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dot products, and Cholesky decomposition of symmetric positive definite matrices for many small
 * fits in parallel (GSL's error handler is global to all threads). */
#ifndef ORCH_PREDICTORS_DENSE_H
#define ORCH_PREDICTORS_DENSE_H

#include "lib/base/x86_levels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h> /* defines __GLIBC__ */

/* Marks a function with long numeric loops. It is also compiled for AVX2 and AVX-512, and the
 * loader selects the best version. All versions round each product and each sum identically, so
 * that results are bit-identical (no fused multiply-add: -ffp-contract=off). */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) &&                            \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ORCH_WIDE __attribute__((target_clones(ORCH_X86_V4, "avx2", "default")))
#else
#define ORCH_WIDE
#endif

/** Sum of a[i] b[i]. */
double orch_dot(const double *a, const double *b, size_t n);
float orch_dot_float(const float *a, const float *b, size_t n);
/** out[r] = orch_dot_float(row r, b, n), bit-identical, for `count` consecutive rows of n numbers;
 * processes several rows at a time. */
void orch_dots_float(const float *rows, size_t count, const float *b, size_t n, float *out);

#define ORCH_TILE 16   /* rows per tile */
#define ORCH_ABREAST 6 /* vectors multiplied with a tile at once */
/** Arranges `count` rows of n numbers as tiles of ORCH_TILE rows, column by column; the last tile
 * is padded with 0. Caller frees with g_free. */
float *orch_tiles_new(const float *rows, size_t count, size_t n);
/** For ORCH_ABREAST consecutive vectors of n numbers: out[line * ORCH_TILE + row] is their dot
 * product with a row of the tile, summed from the first to the last column. */
void orch_tile_dots(const float *tile, const float *lines, size_t n, float *out);
/** Number of rows rounded up to whole tiles. */
size_t orch_tile_rows(size_t count);

/** Overwrites the lower half of `a` (row-major, n x n; the upper half is not read) with L. Returns
 * false, with `a` undefined, if the matrix is not positive definite. */
bool orch_cholesky(double *a, size_t n);
/** Solves L L' x = b in place. */
void orch_cholesky_solve(const double *l, size_t n, double *b);

#endif
