/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ordinary least squares and ridge regression by the normal equations and Cholesky. A ridge of at
 * least 10^-9 distributes the weight among linearly dependent columns. */
#include "lib/base/error.h"
#include "predictors/models/model.h"
#include "predictors/numbers/dense.h"

#include <math.h>

#define LEAST_RIDGE 1e-9

struct linear {
    int cols;
    double intercept;
    double *weights;
};

static double *centred(const double *column, size_t rows, double *out_mean)
{
    double *copy = g_new(double, MAX(rows, 1));
    double mean = 0;
    for (size_t i = 0; i < rows; i++)
        mean += column[i] / (double)rows;
    for (size_t i = 0; i < rows; i++)
        copy[i] = column[i] - mean;
    *out_mean = mean;
    return copy;
}

static void linear_release(void *fitted)
{
    struct linear *l = fitted;
    g_free(l->weights);
    g_free(l);
}

static void *linear_fit(const double *values, size_t rows, int cols, const double *y,
                        const int8_t *monotone, const struct orch_hyperparams *hyperparams,
                        uint64_t seed, GError **error)
{
    (void)monotone;
    (void)seed;
    struct linear *l = g_new0(struct linear, 1);
    l->cols = cols;
    l->weights = g_new0(double, MAX(cols, 1));
    double mean = 0;
    g_autofree double *target = centred(y, rows, &mean);
    l->intercept = mean;
    if (!cols)
        return l;
    size_t n = (size_t)cols;
    double **columns = g_new0(double *, n);
    g_autofree double *means = g_new0(double, n);
    for (size_t c = 0; c < n; c++)
        columns[c] = centred(values + c * rows, rows, &means[c]);
    g_autofree double *gram = g_new(double, n *n), *solution = g_new(double, n);
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b <= a; b++)
            gram[a * n + b] = orch_dot(columns[a], columns[b], rows);
        gram[a * n + a] += (double)rows * (hyperparams->ridge + LEAST_RIDGE);
        solution[a] = orch_dot(columns[a], target, rows);
    }
    bool ok = orch_cholesky(gram, n);
    if (ok)
        orch_cholesky_solve(gram, n, solution);
    for (size_t c = 0; c < n; c++) {
        l->weights[c] = ok ? solution[c] : 0;
        l->intercept -= l->weights[c] * means[c];
        g_free(columns[c]);
    }
    g_free(columns);
    if (ok)
        return l;
    linear_release(l);
    orch_error_set(error, ORCH_ERROR_USAGE, "use another --model",
                   "the linear equations of %d columns cannot be solved", cols);
    return NULL;
}

static void linear_predict(const void *fitted, const double *values, size_t rows, double *out)
{
    const struct linear *l = fitted;
    for (size_t i = 0; i < rows; i++)
        out[i] = l->intercept;
    for (int c = 0; c < l->cols; c++)
        for (size_t i = 0; i < rows; i++)
            out[i] += l->weights[c] * values[(size_t)c * rows + i];
}

static int linear_grid(const struct orch_hyperparams **out)
{
    static const struct orch_hyperparams grid[] = {
        {.ridge = 0}, {.ridge = 1e-4}, {.ridge = 1e-3}, {.ridge = 1e-2}, {.ridge = 1e-1}};
    *out = grid;
    return G_N_ELEMENTS(grid);
}

static json_t *linear_save(const void *fitted, enum orch_save_style style)
{
    const struct linear *l = fitted;
    return json_pack("{s:f, s:o}", "intercept", l->intercept, "weights",
                     orch_save_reals(l->weights, (size_t)l->cols, style));
}

static void *linear_load(const json_t *saved, int cols, GError **error)
{
    size_t count = (size_t)cols;
    struct linear *l = g_new0(struct linear, 1);
    l->cols = cols;
    l->weights = orch_load_real(saved, "intercept", &l->intercept, error)
                     ? orch_load_reals(saved, "weights", &count, error)
                     : NULL;
    if (l->weights)
        return l;
    linear_release(l);
    return NULL;
}

static char *linear_describe(const struct orch_hyperparams *k)
{
    return g_strdup_printf("ridge %g", k->ridge);
}

const struct orch_model_kind ORCH_MODEL_LINEAR = {
    .name = "linear",
    .about = "least squares and ridge, categories one by one",
    .coding = ORCH_CODING_ONE_HOT,
    .fit = linear_fit,
    .predict = linear_predict,
    .release = linear_release,
    .save = linear_save,
    .load = linear_load,
    .grid = linear_grid,
    .describe = linear_describe,
};
