/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gaussian process regression (Rasmussen and Williams 2006, algorithm 2.1) with a linear kernel
 * plus a Matern 5/2 kernel. The cost grows with the cube of the rows, so it uses at most ROWS_MAX
 * of them. */
#include "lib/base/error.h"
#include "lib/base/random.h"
#include "predictors/models/model.h"
#include "predictors/numbers/dense.h"

#include <math.h>
#include <string.h>

#define ROWS_MAX 1000
#define CHUNK 128 /* rows whose distances are computed before their kernels */
#define PLANE 4.0 /* variance of the linear kernel, relative to the Matern kernel */

struct kernel {
    size_t rows;
    int cols;
    double length, mean;
    float *values;   /* row-major: the training rows in use */
    float *norms;    /* squared lengths of the rows */
    double *weights; /* of each row's kernel */
    double *slopes;  /* of the linear part, by column */
    double constant; /* of the linear part */
};

static void kernel_release(void *fitted)
{
    struct kernel *k = fitted;
    g_free(k->values);
    g_free(k->norms);
    g_free(k->weights);
    g_free(k->slopes);
    g_free(k);
}

/* Replaces `count` squared distances by their kernel; separate loops, so that all but the
 * exponential are vectorised. */
static inline void nearby(const struct kernel *k, double *inout, size_t count)
{
    double far[CHUNK];
    for (size_t i = 0; i < count; i++) {
        far[i] = sqrt(5 * MAX(inout[i], 0)) / k->length;
        inout[i] = 1 + far[i] + far[i] * far[i] / 3;
    }
    for (size_t i = 0; i < count; i++)
        inout[i] *= exp(-far[i]);
}

/* Squared distances to the rows from `first` on, and the dot products. */
static inline void compare(const struct kernel *k, const float *row, float norm, size_t first,
                           size_t count, float *out_dots, double *out_squares)
{
    size_t cols = (size_t)k->cols;
    orch_dots_float(k->values + first * cols, count, row, cols, out_dots);
    for (size_t i = 0; i < count; i++)
        out_squares[i] = (double)(norm + k->norms[first + i] - 2 * out_dots[i]);
}

/* Loads a row, row-major, with values clamped to 6 standard deviations. */
static float load_row(const double *values, size_t rows, int cols, size_t row, float *out)
{
    for (int c = 0; c < cols; c++)
        out[c] = (float)CLAMP(values[(size_t)c * rows + row], -6, 6);
    return orch_dot_float(out, out, (size_t)cols);
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

/* Covariances of row i with rows 0 to i. */
ORCH_WIDE static void gram_row(const struct kernel *k, size_t i, double *out)
{
    size_t cols = (size_t)k->cols;
    float dots[CHUNK];
    for (size_t first = 0; first <= i; first += CHUNK) {
        size_t count = MIN(CHUNK, i + 1 - first);
        compare(k, k->values + i * cols, k->norms[i], first, count, dots, out + first);
        if (first + count > i)
            out[i] = 0; /* distance to itself, without rounding error */
        nearby(k, out + first, count);
        for (size_t j = 0; j < count; j++)
            out[first + j] += PLANE * (1 + (double)dots[j] / (double)MAX(cols, 1));
    }
}

/* Covariances of all pairs, lower half. */
static double *gram_of(const struct kernel *k, double noise)
{
    size_t n = k->rows;
    double *gram = g_new(double, n *n);
    for (size_t i = 0; i < n; i++) {
        gram_row(k, i, gram + i * n);
        gram[i * n + i] += MAX(noise, 1e-6);
    }
    return gram;
}

/* Prepares prediction: the sum of linear kernels is one linear function. */
static void make_ready(struct kernel *k)
{
    size_t cols = (size_t)k->cols;
    k->slopes = g_new0(double, MAX(cols, 1));
    for (size_t i = 0; i < k->rows; i++) {
        k->constant += PLANE * k->weights[i];
        for (size_t c = 0; c < cols; c++)
            k->slopes[c] += PLANE * k->weights[i] * (double)k->values[i * cols + c] / (double)cols;
    }
}

static void *kernel_fit(const double *values, size_t rows, int cols, const double *y,
                        const int8_t *monotone, const struct orch_hyperparams *hyperparams,
                        uint64_t seed, GError **error)
{
    (void)monotone;
    struct kernel *k = g_new0(struct kernel, 1);
    g_autofree size_t *which = g_new(size_t, rows + 1);
    size_t n = k->rows = choose_rows(rows, seed, which);
    k->cols = cols;
    k->length = (hyperparams->length > 0 ? hyperparams->length : 1) * sqrt((double)MAX(cols, 1));
    k->values = g_new(float, n *(size_t)MAX(cols, 1));
    k->norms = g_new(float, n);
    k->weights = g_new(double, n);
    for (size_t i = 0; i < n; i++)
        k->mean += y[which[i]] / (double)n;
    for (size_t i = 0; i < n; i++) {
        k->norms[i] = load_row(values, rows, cols, which[i], k->values + i * (size_t)cols);
        k->weights[i] = y[which[i]] - k->mean;
    }
    g_autofree double *gram = gram_of(k, hyperparams->ridge);
    if (!orch_cholesky(gram, n)) {
        kernel_release(k);
        orch_error_set(error, ORCH_ERROR_USAGE, "take another model",
                       "the kernel's equations of %zu rows cannot be solved", n);
        return NULL;
    }
    orch_cholesky_solve(gram, n, k->weights);
    make_ready(k);
    return k;
}

ORCH_WIDE static double answer(const struct kernel *k, const float *row, float norm)
{
    float dots[CHUNK];
    double near[CHUNK], sum = k->mean + k->constant;
    for (int c = 0; c < k->cols; c++)
        sum += k->slopes[c] * (double)row[c];
    for (size_t first = 0; first < k->rows; first += CHUNK) {
        size_t count = MIN(CHUNK, k->rows - first);
        compare(k, row, norm, first, count, dots, near);
        nearby(k, near, count);
        sum += orch_dot(near, k->weights + first, count);
    }
    return sum;
}

static void kernel_predict(const void *fitted, const double *values, size_t rows, double *out)
{
    const struct kernel *k = fitted;
#pragma omp parallel for schedule(static) if (rows * k->rows > 100000)
    for (size_t i = 0; i < rows; i++) {
        g_autofree float *row = g_new(float, MAX(k->cols, 1));
        float norm = load_row(values, rows, k->cols, i, row);
        out[i] = answer(k, row, norm);
    }
}

static int kernel_grid(const struct orch_hyperparams **out)
{
    static const struct orch_hyperparams grid[] = {{.length = 1, .ridge = 0.01},
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
    return json_pack("{s:f, s:f, s:o, s:o}", "length", k->length, "mean", k->mean, "weights",
                     orch_save_reals(k->weights, k->rows, style), "values",
                     orch_save_floats(k->values, k->rows * (size_t)k->cols, style));
}

static void *kernel_load(const json_t *saved, int cols, GError **error)
{
    struct kernel *k = g_new0(struct kernel, 1);
    size_t rows = SIZE_MAX;
    bool ok = orch_load_real(saved, "length", &k->length, error) &&
              orch_load_real(saved, "mean", &k->mean, error);
    k->cols = cols;
    k->weights = ok ? orch_load_reals(saved, "weights", &rows, error) : NULL;
    k->rows = k->weights ? rows : 0;
    rows = k->rows * (size_t)cols;
    k->values = k->weights ? orch_load_floats(saved, "values", &rows, error) : NULL;
    if (!k->values) {
        kernel_release(k);
        return NULL;
    }
    k->norms = g_new(float, MAX(k->rows, 1));
    for (size_t i = 0; i < k->rows; i++) {
        const float *row = k->values + i * (size_t)cols;
        k->norms[i] = orch_dot_float(row, row, (size_t)cols);
    }
    make_ready(k);
    return k;
}

static char *kernel_describe(const struct orch_hyperparams *k)
{
    return g_strdup_printf("reach %g, noise %g", k->length, k->ridge);
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
    .describe = kernel_describe,
};
