/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/trial/log_design.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <string.h>

/* Keeps the equation of the constant solvable if other columns add up to it. */
#define LEAST_RIDGE 1e-9

/* Prior standard deviations of the log time for values that were not measured, without and with
 * declared work. Without, a doubling of an unvaried number is a factor of 2 at 90 %. */
static const struct {
    double unvaried;  /* per log unit of a number that never varied */
    double outside;   /* per log unit outside the measured range */
    double new_level; /* for a level that was not measured */
} UNKNOWN[] = {{0.6, 0.25, 0.7}, {0.15, 0.1, 0.35}};

struct coding {
    const struct orch_matrix *matrix;
    const bool *is_measured; /* NULL: all */
    bool has_work;
    GPtrArray *columns; /* double * of `rows` */
    double *extrapolation;
};

static bool counts(const struct coding *c, size_t row)
{
    return !c->is_measured || c->is_measured[row];
}

static double *new_column(struct coding *c)
{
    double *column = g_new0(double, MAX(c->matrix->rows, 1));
    g_ptr_array_add(c->columns, column);
    return column;
}

static void code_number(struct coding *c, const double *values)
{
    size_t rows = c->matrix->rows, n = 0;
    bool positive = true;
    for (size_t i = 0; i < rows; i++)
        positive = positive && !(values[i] <= 0);
    g_autofree double *logs = g_new(double, MAX(rows, 1));
    double low = INFINITY, high = -INFINITY, mean = 0;
    for (size_t i = 0; i < rows; i++) {
        logs[i] = positive ? log(values[i]) : asinh(values[i]);
        if (!counts(c, i) || !isfinite(logs[i]))
            continue;
        low = fmin(low, logs[i]);
        high = fmax(high, logs[i]);
        mean += (logs[i] - mean) / (double)++n;
    }
    if (!n)
        return;
    bool varies = high - low > 1e-9;
    double *column = varies ? new_column(c) : NULL;
    for (size_t i = 0; i < rows; i++) {
        double value = isfinite(logs[i]) ? logs[i] : mean;
        double beyond = fmax(fmax(low - value, value - high), 0);
        double unit = varies ? UNKNOWN[c->has_work].outside : UNKNOWN[c->has_work].unvaried;
        c->extrapolation[i] += unit * unit * beyond * beyond;
        if (column)
            column[i] = value - mean;
    }
}

static void code_category(struct coding *c, const double *values, guint levels)
{
    size_t rows = c->matrix->rows;
    g_autofree size_t *seen = g_new0(size_t, levels + 1);
    guint known = 0;
    for (size_t i = 0; i < rows; i++)
        if (counts(c, i) && isfinite(values[i]) && seen[(guint)values[i]]++ == 0)
            known++;
    for (size_t i = 0; i < rows; i++)
        if (isfinite(values[i]) && !seen[(guint)values[i]])
            c->extrapolation[i] += pow(UNKNOWN[c->has_work].new_level, 2);
    if (known < 2 || known > ORCH_LOGS_LEVELS_MAX)
        return;
    for (guint level = 0; level < levels; level++) {
        double *column = seen[level] ? new_column(c) : NULL;
        for (size_t i = 0; column && i < rows; i++)
            column[i] = isfinite(values[i]) && (guint)values[i] == level;
    }
}

static void code(struct coding *c, struct orch_logs *out)
{
    size_t rows = c->matrix->rows;
    c->columns = g_ptr_array_new_with_free_func(g_free);
    c->extrapolation = g_new0(double, MAX(rows, 1));
    double *constant = new_column(c);
    for (size_t i = 0; i < rows; i++)
        constant[i] = 1;
    for (int f = 0; f < orch_matrix_cols(c->matrix); f++) {
        const struct orch_matrix_feature *feature = orch_matrix_feature(c->matrix, f);
        const double *values = orch_matrix_column(c->matrix, f);
        if (feature->levels)
            code_category(c, values, feature->levels->len);
        else
            code_number(c, values);
    }
    size_t cols = c->columns->len;
    *out = (struct orch_logs){.rows = rows, .cols = (int)cols, .extrapolation = c->extrapolation};
    out->values = g_new(double, MAX(rows * cols, 1));
    for (size_t col = 0; col < cols; col++)
        for (size_t i = 0; i < rows; i++)
            out->values[i * cols + col] = ((const double *)c->columns->pdata[col])[i];
    g_ptr_array_unref(c->columns);
}

void orch_logs_code(const struct orch_matrix *matrix, const bool *is_measured, bool has_work,
                    struct orch_logs *out)
{
    struct coding coding = {.matrix = matrix, .is_measured = is_measured, .has_work = has_work};
    code(&coding, out);
}

void orch_logs_code_all(const struct orch_matrix *matrix, struct orch_logs *out)
{
    struct coding coding = {.matrix = matrix};
    code(&coding, out);
}

void orch_logs_release(struct orch_logs *logs)
{
    g_free(logs->values);
    g_free(logs->extrapolation);
}

/* ---- equations ---------------------------------------------------------------------------------
 */

static bool invert(double *a, int cols)
{
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    gsl_matrix_view view = gsl_matrix_view_array(a, (size_t)cols, (size_t)cols);
    bool ok = gsl_linalg_cholesky_decomp1(&view.matrix) == GSL_SUCCESS &&
              gsl_linalg_cholesky_invert(&view.matrix) == GSL_SUCCESS;
    gsl_set_error_handler(handler);
    return ok;
}

bool orch_logs_solve(const struct orch_logs *logs, const size_t *which, size_t count,
                     const double *y, const double *weights, double ridge, double *inverse,
                     double *beta)
{
    size_t p = (size_t)logs->cols;
    g_autofree double *right = g_new0(double, p);
    memset(inverse, 0, p * p * sizeof *inverse);
    for (size_t a = 0; a < p; a++)
        inverse[a * p + a] = a ? ridge + LEAST_RIDGE : LEAST_RIDGE;
    for (size_t k = 0; k < count; k++) {
        const double *x = logs->values + which[k] * p;
        double w = weights ? weights[k] : 1;
        for (size_t a = 0; a < p; a++) {
            if (x[a] == 0)
                continue;
            right[a] += w * x[a] * y[k];
            for (size_t b = 0; b <= a; b++)
                inverse[a * p + b] += w * x[a] * x[b];
        }
    }
    for (size_t a = 0; a < p; a++)
        for (size_t b = 0; b < a; b++)
            inverse[b * p + a] = inverse[a * p + b];
    if (!invert(inverse, logs->cols))
        return false;
    for (size_t a = 0; a < p; a++) {
        beta[a] = 0;
        for (size_t b = 0; b < p; b++)
            beta[a] += inverse[a * p + b] * right[b];
    }
    return true;
}

double orch_logs_leverage(const struct orch_logs *logs, size_t row, const double *inverse)
{
    size_t p = (size_t)logs->cols;
    const double *x = logs->values + row * p;
    double sum = 0;
    for (size_t a = 0; a < p; a++)
        for (size_t b = 0; x[a] != 0 && b < p; b++)
            sum += x[a] * inverse[a * p + b] * x[b];
    return fmax(sum, 0);
}

double orch_logs_value(const struct orch_logs *logs, size_t row, const double *beta)
{
    size_t p = (size_t)logs->cols;
    double sum = 0;
    for (size_t a = 0; a < p; a++)
        sum += logs->values[row * p + a] * beta[a];
    return sum;
}
