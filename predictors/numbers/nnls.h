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

/** Diagnostics of a solution. */
struct orch_nnls {
    double residual_norm; /* |A x - b|; with weights, sqrt(sum w (A x - b)^2) */
    int rounds;           /* number of columns tried */
    int positive;         /* number of positive entries of x */
    /* Independent columns of A, without zero ones. A column within 1e-10 of the span of others
     * (relative to its length) is dependent. If rank < cols the solution is not unique; dependent
     * columns that come later stay 0. */
    int rank;
};

/** Solves min sum_i weights[i] (sum_j a[i cols + j] x_j - b[i])^2 over x >= 0. `a` is row-major,
 * rows x cols, and may have more columns than rows; `weights` are finite and not negative, or NULL
 * (all 1). Writes `cols` numbers to `out_x` and, unless NULL, diagnostics to `out`. Columns are
 * scaled to unit length internally, so x does not depend on their units. Deterministic. Fails with
 * ORCH_ERROR_USAGE without rows, columns or a weight above 0, for too many columns or numbers that
 * are not finite, and with ORCH_ERROR_CHECK if rounding prevents convergence. */
bool orch_nnls_solve(const double *a, const double *b, const double *weights, size_t rows, int cols,
                     double *out_x, struct orch_nnls *out, GError **error);

#endif
