/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/learn/nearness.h"

#include "lib/base/random.h"
#include "lib/base/reals.h"
#include "predictors/features/feature_names.h"
#include "predictors/numbers/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MIN_WORK 5000 /* with fewer rows, starting threads costs more than it saves */
#define CHUNK 128             /* landmarks compared with a row at once */
#define JUDGED 2000           /* rows that define the usual distance */
#define GAP_SHARE 0.55        /* middle of a gap, as numbers enter both raw and as logarithms */
#define LEAST_REACH 0.1       /* least tolerated excess in log units: 10 % beyond the range */

/* Distance to the nearest landmark other than landmark `but`. */
static double nearest(const struct orch_nearness *n, const float *row, float norm, size_t but)
{
    float best = INFINITY, dots[CHUNK];
    for (size_t first = 0; first < n->count; first += CHUNK) {
        size_t count = MIN(CHUNK, n->count - first);
        orch_dots_float(n->landmarks + first * (size_t)n->cols, count, row, (size_t)n->cols, dots);
        for (size_t k = 0; k < count; k++)
            if (first + k != but)
                best = MIN(best, n->norms[first + k] - 2 * dots[k]);
    }
    return sqrt(MAX((double)(best + norm), 0));
}

static float load_row(const double *values, size_t rows, int cols, size_t row, float *out)
{
    for (int c = 0; c < cols; c++)
        out[c] = (float)CLAMP(values[(size_t)c * rows + row], -1e3, 1e3);
    return orch_dot_float(out, out, (size_t)cols);
}

/* ---- ranges ------------------------------------------------------------------------------------
 */

static void clear_range(gpointer range)
{
    g_free(((struct orch_range *)range)->name);
}

GArray *orch_ranges_new(void)
{
    GArray *out = g_array_new(FALSE, TRUE, sizeof(struct orch_range));
    g_array_set_clear_func(out, clear_range);
    return out;
}

/* Logarithm of the value, or log(1 + value) if the range includes 0. */
static double scaled(const struct orch_range *r, double value)
{
    return r->low > 0 ? log(MAX(value, 1e-300)) : log1p(MAX(value, 0));
}

static bool fit_range(struct orch_range *r, const double *column, size_t rows)
{
    g_autofree double *values = g_new(double, rows + 1);
    size_t count = 0;
    for (size_t i = 0; i < rows; i++)
        if (isfinite(column[i]))
            values[count++] = column[i];
    orch_reals_sort(values, count);
    if (!count || values[0] < 0)
        return false;
    r->low = values[0];
    r->high = values[count - 1];
    r->reach = LEAST_REACH;
    for (size_t i = 1; i < count; i++)
        r->reach = MAX(r->reach, (scaled(r, values[i]) - scaled(r, values[i - 1])) / 2);
    return true;
}

static GArray *fit_ranges(const struct orch_matrix *m)
{
    GArray *out = orch_ranges_new();
    for (int c = 0; c < orch_matrix_cols(m); c++) {
        const struct orch_matrix_feature *f = orch_matrix_feature(m, c);
        struct orch_range range = {0};
        if (f->levels || orch_feature_is_derived(f->name) ||
            !fit_range(&range, orch_matrix_column(m, c), m->rows))
            continue;
        range.name = g_strdup(f->name);
        g_array_append_val(out, range);
    }
    return out;
}

/* Distance beyond the range on the log scale; 0 if the value is within it or missing. */
static double excess(const struct orch_range *r, double value)
{
    if (!isfinite(value))
        return 0;
    double at = scaled(r, value);
    return MAX(0, MAX(at - scaled(r, r->high), scaled(r, r->low) - at));
}

/* Returns the numeric column of that name, or NULL. */
static const double *numbers_of(const struct orch_matrix *m, const char *name)
{
    int c = orch_matrix_find(m, name);
    return c < 0 || orch_matrix_feature(m, c)->levels ? NULL : orch_matrix_column(m, c);
}

void orch_nearness_beyond(const struct orch_nearness *n, const struct orch_matrix *m,
                          bool (*passes_over)(const char *name, const void *data), const void *data,
                          double *out)
{
    for (size_t i = 0; i < m->rows; i++)
        out[i] = 0;
    for (guint k = 0; k < n->ranges->len; k++) {
        const struct orch_range *r = &g_array_index(n->ranges, struct orch_range, k);
        const double *column = numbers_of(m, r->name);
        if (!column || (passes_over && passes_over(r->name, data)))
            continue;
        for (size_t i = 0; i < m->rows; i++)
            out[i] = hypot(out[i], excess(r, column[i]));
    }
}

/* ---- distances ---------------------------------------------------------------------------------
 */

/* Longest edge of the minimum spanning tree of the landmarks (Prim), which is the widest gap. */
static double widest_gap(const struct orch_nearness *n)
{
    g_autofree double *near = g_new(double, n->count + 1);
    size_t cols = (size_t)n->cols, at = 0;
    double widest = 0;
    for (size_t k = 0; k < n->count; k++)
        near[k] = (double)INFINITY;
    for (size_t joined = 1; joined < n->count; joined++) {
        size_t next = SIZE_MAX;
        near[at] = -1; /* already in the tree */
        for (size_t k = 0; k < n->count; k++) {
            if (near[k] < 0)
                continue;
            float dot = orch_dot_float(n->landmarks + at * cols, n->landmarks + k * cols, cols);
            near[k] = MIN(near[k], (double)MAX(n->norms[at] + n->norms[k] - 2 * dot, 0));
            next = next == SIZE_MAX || near[k] < near[next] ? k : next;
        }
        widest = MAX(widest, near[next]);
        at = next;
    }
    return sqrt(widest);
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
    orch_reals_sort(distances, judged);
    double usual = judged > 1 ? distances[(judged - 1) * 99 / 100] : 0;
    usual = MAX(isfinite(usual) ? usual : 0, GAP_SHARE * widest_gap(n));
    n->usual = usual > 1e-6 ? usual : 1e-6;
    n->ranges = fit_ranges(matrix);
    return n;
}

void orch_nearness_free(struct orch_nearness *n)
{
    if (!n)
        return;
    orch_coder_free(n->coder);
    g_free(n->landmarks);
    g_free(n->norms);
    if (n->ranges)
        g_array_unref(n->ranges);
    g_free(n);
}

/* Distances of ORCH_ABREAST rows to their nearest landmarks, in units of the usual distance. */
static void measure(const struct orch_nearness *n, const float *tiles, const double *values,
                    size_t rows, size_t first, double *out)
{
    size_t cols = (size_t)n->cols, some = MIN(ORCH_ABREAST, rows - first);
    g_autofree float *lines = g_new0(float, MAX(ORCH_ABREAST * cols, 1));
    float norms[ORCH_ABREAST] = {0}, best[ORCH_ABREAST], dots[ORCH_ABREAST * ORCH_TILE];
    for (size_t q = 0; q < some; q++)
        norms[q] = load_row(values, rows, n->cols, first + q, lines + q * cols);
    for (size_t q = 0; q < ORCH_ABREAST; q++)
        best[q] = n->count ? INFINITY : -norms[q];
    for (size_t k = 0; k < n->count; k += ORCH_TILE) {
        size_t here = MIN(ORCH_TILE, n->count - k);
        orch_tile_dots(tiles + k * cols, lines, cols, dots);
        for (size_t q = 0; q < ORCH_ABREAST; q++)
            for (size_t j = 0; j < here; j++)
                best[q] = MIN(best[q], n->norms[k + j] - 2 * dots[q * ORCH_TILE + j]);
    }
    for (size_t q = 0; q < some; q++)
        out[first + q] = MIN(sqrt(MAX((double)(best[q] + norms[q]), 0)) / n->usual, 1e6);
}

void orch_nearness_of(const struct orch_nearness *n, const struct orch_matrix *matrix, double *out)
{
    g_autofree double *values = orch_coder_apply(n->coder, matrix);
    g_autofree float *tiles = orch_tiles_new(n->landmarks, n->count, (size_t)n->cols);
#pragma omp parallel for schedule(static) if (matrix->rows >= THREADS_MIN_WORK)
    for (size_t first = 0; first < matrix->rows; first += ORCH_ABREAST)
        measure(n, tiles, values, matrix->rows, first, out);
    for (guint k = 0; k < n->ranges->len; k++) {
        const struct orch_range *r = &g_array_index(n->ranges, struct orch_range, k);
        const double *column = numbers_of(matrix, r->name);
        for (size_t i = 0; column && i < matrix->rows; i++)
            out[i] = MAX(out[i], MIN(excess(r, column[i]) / r->reach, 1e6));
    }
}
