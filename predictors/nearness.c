/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/nearness.h"

#include "predictors/dense.h"
#include "predictors/random.h"

#include <math.h>
#include <stdlib.h>

#define JUDGED 2000 /* rows that say what is usual */

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* But landmark `but`. */
static double nearest(const struct orch_nearness *n, const float *row, float norm, size_t but)
{
    float best = INFINITY;
    for (size_t k = 0; k < n->count; k++) {
        const float *other = n->landmarks + k * (size_t)n->cols;
        if (k != but)
            best = MIN(best, n->norms[k] - 2 * orch_dot_float(row, other, (size_t)n->cols));
    }
    return sqrt(MAX((double)(best + norm), 0));
}

static float load_row(const double *values, size_t rows, int cols, size_t row, float *out)
{
    for (int c = 0; c < cols; c++)
        out[c] = (float)CLAMP(values[(size_t)c * rows + row], -1e3, 1e3);
    return orch_dot_float(out, out, (size_t)cols);
}

struct orch_nearness *orch_nearness_fit(const struct orch_matrix *matrix, uint64_t seed)
{
    struct orch_nearness *n = g_new0(struct orch_nearness, 1);
    size_t rows = matrix->rows;
    g_autofree double *none = g_new0(double, rows + 1);
    n->coder = orch_coder_fit(matrix, none, ORCH_CODING_NEAR);
    n->cols = orch_coder_cols(n->coder);
    g_autofree double *values = orch_coder_apply(n->coder, matrix);
    g_autofree float *row = g_new(float, MAX(n->cols, 1));
    g_autofree size_t *order = g_new(size_t, rows + 1);
    uint64_t random = orch_random_stream(seed, 13);
    for (size_t i = 0; i < rows; i++) {
        size_t other = orch_random_below(&random, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    n->count = MIN(rows, ORCH_LANDMARKS);
    n->landmarks = g_new(float, MAX(n->count * (size_t)n->cols, 1));
    n->norms = g_new(float, MAX(n->count, 1));
    for (size_t k = 0; k < n->count; k++)
        n->norms[k] = load_row(values, rows, n->cols, order[k], n->landmarks + k * (size_t)n->cols);
    size_t judged = MIN(rows, JUDGED);
    g_autofree double *distances = g_new(double, judged + 1);
    for (size_t k = 0; k < judged; k++) {
        float norm = load_row(values, rows, n->cols, order[k], row);
        distances[k] = nearest(n, row, norm, k < n->count ? k : SIZE_MAX);
    }
    qsort(distances, judged, sizeof *distances, compare_reals);
    double usual = judged > 1 ? distances[(judged - 1) * 99 / 100] : 0;
    n->usual = usual > 1e-6 && isfinite(usual) ? usual : 1e-6;
    return n;
}

void orch_nearness_free(struct orch_nearness *n)
{
    if (!n)
        return;
    orch_coder_free(n->coder);
    g_free(n->landmarks);
    g_free(n->norms);
    g_free(n);
}

void orch_nearness_of(const struct orch_nearness *n, const struct orch_matrix *matrix, double *out)
{
    g_autofree double *values = orch_coder_apply(n->coder, matrix);
    g_autofree float *row = g_new(float, MAX(n->cols, 1));
    for (size_t i = 0; i < matrix->rows; i++) {
        float norm = load_row(values, matrix->rows, n->cols, i, row);
        double d = n->count ? nearest(n, row, norm, SIZE_MAX) : 0;
        out[i] = MIN(d / n->usual, 1e6);
    }
}
