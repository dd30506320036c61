/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps the prior covariance of all rows. Measuring a row subtracts the scaled outer product of its
 * column (Sherman and Morrison), so a candidate's gain follows from its column alone. */
#include "features/predict/trial/design.h"

#include "features/predict/trial/log_design.h"
#include "lib/base/error.h"

#include <math.h>

/* Prior variances, relative to the variance of one measurement. */
#define PRIOR_CONSTANT 25.0
#define PRIOR_EFFECT 25.0
/* Numbers are scaled to at most the spread of a category with two equally frequent levels. */
#define SPREAD 0.5

/* k[i][j] = sum over columns c of prior variance_c * x_ic * x_jc. Caller frees. */
static double *covariance(const struct orch_logs *logs)
{
    size_t rows = logs->rows, p = (size_t)logs->cols;
    double *k = g_new0(double, MAX(rows * rows, 1));
    g_autofree double *scale = g_new(double, p);
    for (size_t c = 0; c < p; c++) {
        double mean = 0, squares = 0;
        for (size_t i = 0; i < rows; i++)
            mean += logs->values[i * p + c] / (double)rows;
        for (size_t i = 0; i < rows; i++)
            squares += pow(logs->values[i * p + c] - mean, 2) / (double)rows;
        double shrink = squares > SPREAD * SPREAD ? SPREAD * SPREAD / squares : 1;
        scale[c] = c ? PRIOR_EFFECT * shrink : PRIOR_CONSTANT;
    }
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t c = 0; c < p; c++)
                sum += scale[c] * logs->values[i * p + c] * logs->values[j * p + c];
            k[i * rows + j] = k[j * rows + i] = sum;
        }
    return k;
}

/* Reduction of the total variance if row `c` is measured. */
static double gain_of(const double *k, size_t rows, size_t c)
{
    double squares = 0;
    for (size_t i = 0; i < rows; i++)
        squares += k[c * rows + i] * k[c * rows + i];
    return squares / (1 + k[c * rows + c]);
}

static void measure(double *k, size_t rows, size_t c)
{
    double all = 1 + k[c * rows + c];
    g_autofree double *column = g_memdup2(k + c * rows, rows * sizeof *column);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; column[i] != 0 && j < rows; j++)
            k[i * rows + j] -= column[i] * column[j] / all;
}

static double variance(const double *k, size_t rows)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i++)
        sum += fmax(k[i * rows + i], 0);
    return sum;
}

int orch_design_choose(const struct orch_matrix *features, const bool *is_measured,
                       const bool *may_choose, int count, struct orch_design_choice *out,
                       GError **error)
{
    size_t rows = features->rows;
    if (rows > ORCH_DESIGN_ROWS_MAX) {
        orch_error_set(error, ORCH_ERROR_USAGE, "name some experiments, or add --part 1/N",
                       "%zu trials are too many to choose from: at most %d are possible", rows,
                       ORCH_DESIGN_ROWS_MAX);
        return -1;
    }
    struct orch_logs logs;
    orch_logs_code_all(features, &logs);
    g_autofree double *k = covariance(&logs);
    g_autofree bool *taken = g_new0(bool, rows + 1);
    for (size_t i = 0; i < rows; i++)
        if (is_measured[i])
            measure(k, rows, i);
    double before = variance(k, rows);
    int chosen = 0;
    for (; chosen < count; chosen++) {
        size_t best = rows;
        double most = 0;
        for (size_t i = 0; i < rows; i++) {
            double gain = may_choose[i] && !taken[i] ? gain_of(k, rows, i) : -1;
            if (gain >= 0 && (best == rows || gain > most * (1 + 1e-9))) {
                most = gain;
                best = i;
            }
        }
        if (best == rows)
            break;
        taken[best] = true;
        measure(k, rows, best);
        out[chosen] =
            (struct orch_design_choice){best, before > 0 ? fmin(variance(k, rows) / before, 1) : 0};
    }
    orch_logs_release(&logs);
    return chosen;
}
