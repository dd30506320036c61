/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Non-negative linear least squares: min |A x - b| over x >= 0, by the active-set method of Lawson
 * and Hanson, "Solving Least Squares Problems" (1974), chapter 23. */
#ifndef ORCH_PREDICTORS_NNLS_H
#define ORCH_PREDICTORS_NNLS_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/** More columns are refused. */
#define ORCH_NNLS_COLS_MAX 1000

/** How a solution came about. */
struct orch_nnls {
    double residual_norm; /* |A x - b|; with weights, the root of sum w (A x - b)^2 */
    int rounds;           /* columns tried */
    int positive;         /* of x */
    /* Independent columns of A, zero ones not counted. A column within 1e-10 of the span of others
     * (relative to its length) is dependent: below `cols` other x >= 0 may fit as well, and those
     * columns that came second stay 0. */
    int rank;
};

/** Solves min sum_i weights[i] (sum_j a[i cols + j] x_j - b[i])^2 over x >= 0. `a` is row-major,
 * rows x cols; `weights` may be NULL (all 1) and are finite and not negative; more columns than
 * rows are allowed. Writes `cols` numbers to `out_x`, and to `out` unless it is NULL. Columns are
 * scaled to unit length inside, so that x does not depend on their units. The result is the same at
 * every call. ORCH_ERROR_USAGE for no row, no column, too many, numbers that are not finite, no
 * weight above 0; ORCH_ERROR_CHECK when rounding keeps the columns from settling. */
bool orch_nnls_solve(const double *a, const double *b, const double *weights, size_t rows, int cols,
                     double *out_x, struct orch_nnls *out, GError **error);

#endif
