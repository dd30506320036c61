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
#define FAR_MAX 80.0f
#define PLANE 4.0 /* variance of the linear kernel, relative to the Matern kernel */

struct kernel {
    size_t rows;
    int cols;
    double length, mean;
    float *values;   /* row-major: the training rows in use */
    float *tiles;    /* the same as tiles, for prediction */
    float *norms;    /* squared lengths of the rows */
    double *weights; /* of each row's kernel */
    double *slopes;  /* of the linear part, by column */
    double constant; /* of the linear part */
};

static void kernel_release(void *fitted)
{
    struct kernel *k = fitted;
    g_free(k->values);
    g_free(k->tiles);
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

/* Prepares prediction: the sum of linear kernels is one linear function. Padding rows get weight
 * 0. */
static void make_ready(struct kernel *k)
{
    size_t cols = (size_t)k->cols;
    k->tiles = orch_tiles_new(k->values, k->rows, cols);
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
    k->norms = g_new0(float, orch_tile_rows(n));
    k->weights = g_new0(double, orch_tile_rows(n));
    for (size_t i = 0; i < n; i++)
        k->mean += y[which[i]] / (double)n;
    for (size_t i = 0; i < n; i++) {
        k->norms[i] = load_row(values, rows, cols, which[i], k->values + i * (size_t)cols);
        k->weights[i] = y[which[i]] - k->mean;
    }
    g_autofree double *gram = gram_of(k, hyperparams->ridge);
    if (!orch_cholesky(gram, n)) {
        kernel_release(k);
        orch_error_set(error, ORCH_ERROR_USAGE, "use another --model",
                       "the kernel model's equations for %zu rows cannot be solved", n);
        return NULL;
    }
    orch_cholesky_solve(gram, n, k->weights);
    make_ready(k);
    return k;
}

typedef float lanes __attribute__((vector_size(ORCH_TILE * sizeof(float))));
typedef int32_t counts __attribute__((vector_size(ORCH_TILE * sizeof(int32_t))));
typedef double sums __attribute__((vector_size(ORCH_TILE * sizeof(double))));

/* exp(-x) for x from 0 to 80, accurate to 2 units in the last place (Cephes' expf, Moshier
 * 1989). */
static inline void exp_of_minus(const lanes *x, lanes *out)
{
    counts power = __builtin_convertvector(*x * 1.44269504f + 0.5f, counts);
    lanes whole = __builtin_convertvector(power, lanes);
    lanes rest = whole * 0.693359375f - *x - whole * 2.12194440e-4f;
    lanes sum = rest * 1.9875691500e-4f + 1.3981999507e-3f;
    sum = sum * rest + 8.3334519073e-3f;
    sum = sum * rest + 4.1665795894e-2f;
    sum = sum * rest + 1.6666665459e-1f;
    sum = sum * rest + 5.0000001201e-1f;
    sum = sum * rest * rest + rest + 1;
    *out = sum * (lanes)((127 - power) * (1 << 23));
}

/* Adds the kernels of a tile's rows to each vector's sums. */
ORCH_WIDE static void add_tile(const float *dots, const float *norms, const double *weights,
                               const float *line_norms, float scale, double *inout)
{
    lanes norm;
    sums weight, sum;
    memcpy(&norm, norms, sizeof norm);
    memcpy(&weight, weights, sizeof weight);
    for (size_t q = 0; q < ORCH_ABREAST; q++) {
        lanes dot, far;
        float roots[ORCH_TILE];
        memcpy(&dot, dots + q * ORCH_TILE, sizeof dot);
        lanes square = norm + line_norms[q] - 2 * dot;
        square = (lanes)((counts)square & (square > 0));
        memcpy(roots, &square, sizeof roots);
        for (size_t j = 0; j < ORCH_TILE; j++)
            roots[j] = sqrtf(roots[j]);
        memcpy(&far, roots, sizeof far);
        far *= scale;
        counts is_near = far < FAR_MAX; /* the kernel of farther rows is negligible */
        far = (lanes)((counts)far & is_near);
        lanes near;
        exp_of_minus(&far, &near);
        near *= 1 + far + far * far * (1.0f / 3);
        near = (lanes)((counts)near & is_near);
        memcpy(&sum, inout + q * ORCH_TILE, sizeof sum);
        sum += weight * __builtin_convertvector(near, sums);
        memcpy(inout + q * ORCH_TILE, &sum, sizeof sum);
    }
}

/* Predicts ORCH_ABREAST vectors, of which the first `some` are used. */
static void answer(const struct kernel *k, const float *lines, const float *norms, size_t some,
                   double *out)
{
    size_t cols = (size_t)k->cols;
    float dots[ORCH_ABREAST * ORCH_TILE], scale = (float)(sqrt(5) / k->length);
    double all[ORCH_ABREAST * ORCH_TILE] = {0};
    for (size_t first = 0; first < k->rows; first += ORCH_TILE) {
        orch_tile_dots(k->tiles + first * cols, lines, cols, dots);
        add_tile(dots, k->norms + first, k->weights + first, norms, scale, all);
    }
    for (size_t q = 0; q < some; q++) {
        out[q] = k->mean + k->constant;
        for (size_t c = 0; c < cols; c++)
            out[q] += k->slopes[c] * (double)lines[q * cols + c];
        for (size_t j = 0; j < ORCH_TILE; j++)
            out[q] += all[q * ORCH_TILE + j];
    }
}

static void kernel_predict(const void *fitted, const double *values, size_t rows, double *out)
{
    const struct kernel *k = fitted;
    size_t cols = (size_t)k->cols;
#pragma omp parallel for schedule(static) if (rows * k->rows > 100000)
    for (size_t first = 0; first < rows; first += ORCH_ABREAST) {
        size_t some = MIN(ORCH_ABREAST, rows - first);
        g_autofree float *lines = g_new0(float, MAX(ORCH_ABREAST * cols, 1));
        float norms[ORCH_ABREAST] = {0};
        for (size_t q = 0; q < some; q++)
            norms[q] = load_row(values, rows, k->cols, first + q, lines + q * cols);
        answer(k, lines, norms, some, out + first);
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
    k->norms = g_new0(float, orch_tile_rows(MAX(k->rows, 1)));
    k->weights = g_renew(double, k->weights, orch_tile_rows(MAX(k->rows, 1)));
    for (size_t i = k->rows; i < orch_tile_rows(MAX(k->rows, 1)); i++)
        k->weights[i] = 0;
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
