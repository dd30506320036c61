/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Standard errors of a fitted curve's parameters: s^2 (J'J)^-1 at the solution, with the Jacobian J
 * of 1 / (b0 k + b1) + b2 and s^2 = squared errors / (points - parameters) (Seber, Wild 1989,
 * section 2.1). A parameter on its bound of 0 has no error of its own and is held there for the
 * others.
 */
#include "features/curve/laws/curve.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>

enum { PARAMS = 3 };

static void gradient_at(const struct orch_curve *curve, double k, double *out)
{
    double below = curve->b[0] * k + curve->b[1];
    out[0] = -k / (below * below);
    out[1] = -1 / (below * below);
    out[2] = 1;
}

/* Computes J'J of the free parameters and the sum of squared errors. Returns the number of
 * points. */
static size_t gather(const struct orch_curve *curve, const double *k, const double *loss,
                     size_t count, double end_k, double information[PARAMS][PARAMS],
                     double *out_sse)
{
    size_t points = 0;
    *out_sse = 0;
    for (size_t i = 0; i < count; i++) {
        double gradient[PARAMS], miss = orch_curve_loss(curve, k[i]) - loss[i];
        if (k[i] < curve->start_k || k[i] >= end_k)
            continue;
        gradient_at(curve, k[i] - curve->start_k, gradient);
        for (int a = 0; a < PARAMS; a++)
            for (int b = 0; b < PARAMS; b++)
                information[a][b] += gradient[a] * gradient[b];
        *out_sse += miss * miss;
        points++;
    }
    return points;
}

void orch_curve_errors(const struct orch_curve *curve, const double *k, const double *loss,
                       size_t count, double end_k, double *out_errors)
{
    double information[PARAMS][PARAMS] = {{0}}, sse;
    size_t free_ones[PARAMS], free_count = 0;
    for (size_t j = 0; j < PARAMS; j++) {
        out_errors[j] = NAN;
        if (curve->b[j] > 0)
            free_ones[free_count++] = j;
    }
    if (curve->form != ORCH_CURVE_OPTIMUS || curve->loss_scale != 1 || !free_count)
        return;
    size_t points = gather(curve, k, loss, count, end_k, information, &sse);
    if (points <= free_count)
        return;
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    gsl_matrix *m = gsl_matrix_alloc(free_count, free_count);
    for (size_t a = 0; a < free_count; a++)
        for (size_t b = 0; b < free_count; b++)
            gsl_matrix_set(m, a, b, information[free_ones[a]][free_ones[b]]);
    if (gsl_linalg_cholesky_decomp1(m) == GSL_SUCCESS &&
        gsl_linalg_cholesky_invert(m) == GSL_SUCCESS)
        for (size_t a = 0; a < free_count; a++)
            out_errors[free_ones[a]] =
                sqrt(gsl_matrix_get(m, a, a) * sse / (double)(points - free_count));
    gsl_matrix_free(m);
    gsl_set_error_handler(handler);
}
