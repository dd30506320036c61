/* SPDX-License-Identifier: GPL-3.0-or-later */
/* k nearest neighbours: the mean of the nearest rows, weighted by closeness. Serves as the baseline
 * for the other models. */
#include "predictors/model.h"
#include "predictors/near_tree.h"

#include <math.h>
#include <string.h>

#define NEIGHBOURS_MAX 64
#define TREE_ROWS 4 /* minimum rows per prediction call for which building a tree pays off */

struct knn {
    size_t rows;
    int cols, neighbours;
    double *values; /* row-major */
    double *y;
    struct orch_near_tree *tree; /* built at the first use */
    gsize made;                  /* for g_once_init_enter; 0: not built */
};

static void knn_release(void *fitted)
{
    struct knn *k = fitted;
    g_free(k->values);
    g_free(k->y);
    orch_near_tree_free(k->tree);
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

static const struct orch_near_tree *tree_of(struct knn *k)
{
    if (g_once_init_enter(&k->made)) {
        k->tree = orch_near_tree_new(k->values, k->rows, k->cols);
        g_once_init_leave(&k->made, 1);
    }
    return k->tree;
}

/* `tree` may be NULL: then compares with every row. */
static double answer(const struct knn *k, const struct orch_near_tree *tree, const double *row)
{
    struct orch_neighbour near[NEIGHBOURS_MAX];
    double sum = 0, weights = 0;
    int count = tree ? orch_near_tree_find(tree, row, k->neighbours, near)
                     : orch_neighbour_find(k->values, k->rows, k->cols, row, k->neighbours, near);
    for (int i = 0; i < count; i++) {
        double weight = 1 / (sqrt(near[i].square) + 1e-6);
        sum += weight * k->y[near[i].row];
        weights += weight;
    }
    return sum / weights;
}

static void knn_predict(const void *fitted, const double *values, size_t rows, double *out)
{
    const struct knn *k = fitted;
    const struct orch_near_tree *tree =
        rows >= TREE_ROWS ? tree_of((struct knn *)(uintptr_t)k) : NULL;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < rows; i++) {
        g_autofree double *row = g_new(double, MAX(k->cols, 1));
        for (int c = 0; c < k->cols; c++)
            row[c] = values[(size_t)c * rows + i];
        out[i] = answer(k, tree, row);
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
};
