/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Standard errors of a law's coefficients. The rows of one network (its devices and repeats) have
 * correlated residuals, so the networks are the sample: each network's mean is one observation, and
 *
 *   covariance = s^2 (X'X)^-1,   s^2 = sum of squared errors of the means / (networks -
 * coefficients)
 *
 * from the singular values of X, whose ratio is the condition number (Belsley, Kuh, Welsch 1980,
 * chapter 3). X is in the units of the features, since the coefficients are printed in them.
 */
#include "features/curve/laws/curve_law.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>

/* Fills the design matrix of the networks and returns its number of columns. */
static size_t fill_design(const struct orch_law_data *d, const struct orch_law_line *line,
                          gsl_matrix *x)
{
    size_t cols = 1;
    for (int n = 0; n < d->networks; n++)
        gsl_matrix_set(x, (size_t)n, 0, 1);
    for (int f = 0; f < ORCH_LAW_FEATURES; f++) {
        for (int n = 0; n < d->networks && line->uses[f]; n++)
            gsl_matrix_set(x, (size_t)n, cols, d->features[n * ORCH_LAW_FEATURES + f]);
        cols += line->uses[f];
    }
    return cols;
}

/* Sum of squared errors of the networks' means. */
static double squared_errors(const struct orch_law_data *d, const double *y,
                             const struct orch_law_line *line)
{
    double squares = 0;
    for (int n = 0; n < d->networks; n++) {
        double sum = 0, guess = line->intercept;
        size_t rows = 0;
        for (size_t i = 0; i < d->row_count; i++)
            if (d->rows[i].network == n) {
                sum += y[i];
                rows++;
            }
        for (int f = 0; f < ORCH_LAW_FEATURES; f++)
            guess += line->slopes[f] * d->features[n * ORCH_LAW_FEATURES + f];
        if (rows)
            squares += pow(sum / (double)rows - guess, 2);
    }
    return squares;
}

/* Diagonal of (X'X)^-1, from X = U S V': sum over k of (V_jk / s_k)^2. */
static double inverse_at(const gsl_matrix *v, const gsl_vector *s, size_t j)
{
    double sum = 0;
    for (size_t k = 0; k < s->size; k++)
        sum += pow(gsl_matrix_get(v, j, k) / gsl_vector_get(s, k), 2);
    return sum;
}

int orch_law_coefficients(const struct orch_law_line *line)
{
    int count = 1;
    for (int f = 0; f < ORCH_LAW_FEATURES; f++)
        count += line->uses[f];
    return count;
}

bool orch_law_r2_counts(int observations, int coefficients)
{
    return observations >= 2 * coefficients;
}

void orch_law_line_errors(const struct orch_law_data *d, const double *y,
                          struct orch_law_line *line)
{
    size_t networks = (size_t)d->networks, cols = (size_t)orch_law_coefficients(line);
    line->intercept_se = line->condition = NAN;
    for (int f = 0; f < ORCH_LAW_FEATURES; f++)
        line->slope_se[f] = NAN;
    if (networks < cols)
        return;
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    gsl_matrix *x = gsl_matrix_alloc(networks, cols), *v = gsl_matrix_alloc(cols, cols);
    gsl_vector *s = gsl_vector_alloc(cols), *work = gsl_vector_alloc(cols);
    fill_design(d, line, x);
    bool ok = gsl_linalg_SV_decomp(x, v, s, work) == GSL_SUCCESS;
    double least = ok ? gsl_vector_get(s, cols - 1) : 0;
    if (least > 0)
        line->condition = gsl_vector_get(s, 0) / least;
    if (least > 0 && networks > cols) {
        double variance = squared_errors(d, y, line) / (double)(networks - cols);
        line->intercept_se = sqrt(variance * inverse_at(v, s, 0));
        for (size_t f = 0, j = 1; f < ORCH_LAW_FEATURES; f++)
            if (line->uses[f])
                line->slope_se[f] = sqrt(variance * inverse_at(v, s, j++));
    }
    gsl_matrix_free(x);
    gsl_matrix_free(v);
    gsl_vector_free(s);
    gsl_vector_free(work);
    gsl_set_error_handler(handler);
}
