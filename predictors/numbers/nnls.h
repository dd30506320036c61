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

/** Solves min sum_i weights[i] (sum_j a[i cols + j] x_j - b[i])^2 over x >= 0. `a` is row-major,
 * rows x cols, and may have more columns than rows; `weights` are finite and not negative, or NULL
 * (all 1). Writes `cols` numbers to `out_x`. Columns are scaled to unit
 * length internally, so x does not depend on their units; one within the span of others (1e-10 of
 * its length) that comes later stays 0. Deterministic. Fails with
 * ORCH_ERROR_USAGE without rows, columns or a weight above 0, for too many columns or numbers that
 * are not finite, and with ORCH_ERROR_CHECK if rounding prevents convergence. */
bool orch_nnls_solve(const double *a, const double *b, const double *weights, size_t rows, int cols,
                     double *out_x, GError **error);

#endif
