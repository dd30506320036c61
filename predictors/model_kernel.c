/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gaussian process regression (Rasmussen and Williams 2006, algorithm 2.1): a plane, and on top of
 * it what rows nearby have in common, by a kernel that falls with the distance (Matern 5/2). For
 * few rows: the work grows with their cube, so that at most ROWS_MAX of them are learned from. */
#include "lib/base/error.h"
#include "predictors/cholesky.h"
#include "predictors/model.h"
#include "predictors/random.h"

#include <math.h>
#include <string.h>

#define ROWS_MAX 1000
#define PLANE 4.0 /* variance of the plane's slopes beside the kernel's */

struct kernel {
    size_t rows;
    int cols;
    double length, plane, mean;
    double *values;  /* row-major: of the rows that are kept */
    double *weights; /* of each row's kernel */
};

static void kernel_release(void *fitted)
{
    struct kernel *k = fitted;
    g_free(k->values);
    g_free(k->weights);
    g_free(k);
}

static double covariance(const struct kernel *k, const double *a, const double *b)
{
    double squares = 0;
    size_t n = (size_t)k->cols;
    for (size_t c = 0; c < n; c++)
        squares += (a[c] - b[c]) * (a[c] - b[c]);
    double far = sqrt(5 * squares) / k->length;
    return (1 + far + far * far / 3) * exp(-far) + k->plane * (1 + orch_dot(a, b, n) / (double)n);
}

/* Row-major, without what stands far outside of what was seen. */
static void load_row(const double *values, size_t rows, int cols, size_t row, double *out)
{
    for (int c = 0; c < cols; c++)
        out[c] = CLAMP(values[(size_t)c * rows + row], -6, 6);
}

static size_t choose_rows(size_t rows, uint64_t seed, size_t *out)
{
    size_t count = 0;
    uint64_t random = orch_random_stream(seed, 11);
    for (size_t i = 0; i < rows; i++) {
        double wanted = (double)(MIN(ROWS_MAX, rows) - count);
        if (rows <= ROWS_MAX || orch_random_unit(&random) * (double)(rows - i) < wanted)
            out[count++] = i;
    }
    return count;
}

static void *kernel_fit(const double *values, size_t rows, int cols, const double *y,
                        const int8_t *monotone, const struct orch_knobs *knobs, uint64_t seed,
                        GError **error)
{
    (void)monotone;
    struct kernel *k = g_new0(struct kernel, 1);
    g_autofree size_t *which = g_new(size_t, rows + 1);
    size_t n = k->rows = choose_rows(rows, seed, which);
    k->cols = cols;
    k->length = (knobs->length > 0 ? knobs->length : 1) * sqrt((double)MAX(cols, 1));
    k->plane = PLANE;
    k->values = g_new(double, n *(size_t)MAX(cols, 1));
    k->weights = g_new(double, n);
    for (size_t i = 0; i < n; i++)
        k->mean += y[which[i]] / (double)n;
    for (size_t i = 0; i < n; i++) {
        load_row(values, rows, cols, which[i], k->values + i * (size_t)cols);
        k->weights[i] = y[which[i]] - k->mean;
    }
    g_autofree double *gram = g_new(double, n *n);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++)
            gram[i * n + j] =
                covariance(k, k->values + i * (size_t)cols, k->values + j * (size_t)cols);
        gram[i * n + i] += MAX(knobs->ridge, 1e-8);
    }
    if (!orch_cholesky(gram, n)) {
        kernel_release(k);
        orch_error_set(error, ORCH_ERROR_USAGE, "take another model",
                       "the kernel's equations of %zu rows cannot be solved", n);
        return NULL;
    }
    orch_cholesky_solve(gram, n, k->weights);
    return k;
}

static void kernel_predict(const void *fitted, const double *values, size_t rows, double *out)
{
    const struct kernel *k = fitted;
#pragma omp parallel for schedule(static) if (rows * k->rows > 100000)
    for (size_t i = 0; i < rows; i++) {
        g_autofree double *row = g_new(double, MAX(k->cols, 1));
        load_row(values, rows, k->cols, i, row);
        out[i] = k->mean;
        for (size_t j = 0; j < k->rows; j++)
            out[i] += k->weights[j] * covariance(k, row, k->values + j * (size_t)k->cols);
    }
}

static int kernel_grid(const struct orch_knobs **out)
{
    static const struct orch_knobs grid[] = {{.length = 1, .ridge = 0.01},
                                             {.length = 0.5, .ridge = 0.01},
                                             {.length = 2, .ridge = 0.01},
                                             {.length = 1, .ridge = 0.1},
                                             {.length = 3, .ridge = 0.001}};
    *out = grid;
    return G_N_ELEMENTS(grid);
}

static json_t *kernel_save(const void *fitted, enum orch_save_style style)
{
    const struct kernel *k = fitted;
    return json_pack("{s:f, s:f, s:f, s:o, s:o}", "length", k->length, "plane", k->plane, "mean",
                     k->mean, "weights", orch_save_reals(k->weights, k->rows, style), "values",
                     orch_save_reals(k->values, k->rows * (size_t)k->cols, style));
}

static void *kernel_load(const json_t *saved, int cols, GError **error)
{
    struct kernel *k = g_new0(struct kernel, 1);
    size_t rows = SIZE_MAX;
    bool ok = orch_load_real(saved, "length", &k->length, error) &&
              orch_load_real(saved, "plane", &k->plane, error) &&
              orch_load_real(saved, "mean", &k->mean, error);
    k->cols = cols;
    k->weights = ok ? orch_load_reals(saved, "weights", &rows, error) : NULL;
    k->rows = k->weights ? rows : 0;
    rows = k->rows * (size_t)cols;
    k->values = k->weights ? orch_load_reals(saved, "values", &rows, error) : NULL;
    if (k->values)
        return k;
    kernel_release(k);
    return NULL;
}

const struct orch_model_kind ORCH_MODEL_KERNEL = {
    .name = "kernel",
    .about = "a Gaussian process, for few rows",
    .coding = ORCH_CODING_ONE_HOT,
    .fit = kernel_fit,
    .predict = kernel_predict,
    .release = kernel_release,
    .save = kernel_save,
    .load = kernel_load,
    .grid = kernel_grid,
};
