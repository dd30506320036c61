/* SPDX-License-Identifier: GPL-3.0-or-later */
/* k nearest neighbours: the mean of the nearest rows, weighted by closeness. Serves as the baseline
 * for the other models. */
#include "predictors/models/model.h"
#include "predictors/numbers/dense.h"
#include "predictors/numbers/near_tiles.h"

#include <math.h>
#include <string.h>

#define NEIGHBOURS_MAX 64
#define MANY 4 /* predictions per call for which arranging the rows pays off */

struct knn {
    size_t rows;
    int cols, neighbours;
    double *values; /* row-major */
    double *y;
    struct orch_near_tiles *tiles; /* built at the first use */
    gsize made;                    /* for g_once_init_enter; 0: not built */
};

static void knn_release(void *fitted)
{
    struct knn *k = fitted;
    g_free(k->values);
    g_free(k->y);
    orch_near_tiles_free(k->tiles);
    g_free(k);
}

static void *knn_fit(const double *values, size_t rows, int cols, const double *y,
                     const int8_t *monotone, const struct orch_hyperparams *hyperparams,
                     uint64_t seed, GError **error)
{
    (void)monotone;
    (void)seed;
    (void)error;
    struct knn *k = g_new0(struct knn, 1);
    k->rows = rows;
    k->cols = cols;
    k->neighbours = CLAMP(hyperparams->neighbours, 1, NEIGHBOURS_MAX);
    k->values = g_new(double, MAX(rows * (size_t)cols, 1));
    k->y = g_memdup2(y, rows * sizeof *y);
    for (int c = 0; c < cols; c++)
        for (size_t i = 0; i < rows; i++)
            k->values[i * (size_t)cols + (size_t)c] = values[(size_t)c * rows + i];
    return k;
}

static void arrange(struct knn *k)
{
    if (!g_once_init_enter(&k->made))
        return;
    k->tiles = orch_near_tiles_new(k->values, k->rows, k->cols);
    g_once_init_leave(&k->made, 1);
}

static double mean_of(const struct knn *k, const struct orch_neighbour *near, int count)
{
    double sum = 0, weights = 0;
    for (int i = 0; i < count; i++) {
        double weight = 1 / (sqrt(near[i].square) + 1e-6);
        sum += weight * k->y[near[i].row];
        weights += weight;
    }
    return sum / weights;
}

/* Predicts `count` rows, at most ORCH_ABREAST. `points` is row-major. */
static void answer(const struct knn *k, bool arranged, const double *points, size_t count,
                   double *out)
{
    struct orch_neighbour near[ORCH_ABREAST * NEIGHBOURS_MAX];
    if (arranged) {
        int found = orch_near_tiles_find(k->tiles, points, count, k->neighbours, near);
        for (size_t p = 0; p < count; p++)
            out[p] = mean_of(k, near + p * (size_t)found, found);
        return;
    }
    for (size_t p = 0; p < count; p++) {
        const double *point = points + p * (size_t)k->cols;
        int found = orch_neighbour_find(k->values, k->rows, k->cols, point, k->neighbours, near);
        out[p] = mean_of(k, near, found);
    }
}

static void knn_predict(const void *fitted, const double *values, size_t rows, double *out)
{
    const struct knn *k = fitted;
    size_t cols = (size_t)k->cols;
    if (rows >= MANY)
        arrange((struct knn *)(uintptr_t)k);
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < rows; first += ORCH_ABREAST) {
        size_t count = MIN(ORCH_ABREAST, rows - first);
        g_autofree double *points = g_new(double, ORCH_ABREAST *cols + 1);
        for (size_t c = 0; c < cols; c++)
            for (size_t p = 0; p < count; p++)
                points[p * cols + c] = values[c * rows + first + p];
        answer(k, rows >= MANY, points, count, out + first);
    }
}

static int knn_grid(const struct orch_hyperparams **out)
{
    static const struct orch_hyperparams grid[] = {
        {.neighbours = 1}, {.neighbours = 3}, {.neighbours = 7}};
    *out = grid;
    return G_N_ELEMENTS(grid);
}

static json_t *knn_save(const void *fitted, enum orch_save_style style)
{
    const struct knn *k = fitted;
    return json_pack("{s:i, s:o, s:o}", "neighbours", k->neighbours, "values",
                     orch_save_reals(k->values, k->rows * (size_t)k->cols, style), "y",
                     orch_save_reals(k->y, k->rows, style));
}

static void *knn_load(const json_t *saved, int cols, GError **error)
{
    int64_t neighbours;
    size_t rows = SIZE_MAX;
    if (!orch_load_int(saved, "neighbours", 1, NEIGHBOURS_MAX, &neighbours, error))
        return NULL;
    struct knn *k = g_new0(struct knn, 1);
    k->cols = cols;
    k->neighbours = (int)neighbours;
    k->y = orch_load_reals(saved, "y", &rows, error);
    k->rows = rows;
    rows = k->rows * (size_t)cols;
    k->values = k->y && k->rows ? orch_load_reals(saved, "values", &rows, error) : NULL;
    if (k->values)
        return k;
    if (k->y && !k->rows)
        orch_load_fail("y", "is empty", error);
    knn_release(k);
    return NULL;
}

static char *knn_describe(const struct orch_hyperparams *k)
{
    return g_strdup_printf("%d neighbours", k->neighbours);
}

const struct orch_model_kind ORCH_MODEL_KNN = {
    .name = "knn",
    .about = "nearest neighbours, the baseline",
    .coding = ORCH_CODING_NEAR,
    .fit = knn_fit,
    .predict = knn_predict,
    .release = knn_release,
    .save = knn_save,
    .load = knn_load,
    .grid = knn_grid,
    .describe = knn_describe,
};
