/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A decision tree (CART) and a random forest with squared loss: gradients are minus the target, and
 * leaves hold its mean. */
#include "lib/base/random.h"
#include "predictors/models/model.h"
#include "predictors/models/trees.h"

#include <math.h>

struct trees {
    struct orch_trees *all;
    double base; /* mean of the target */
    int cols;
};

static void trees_release(void *fitted)
{
    struct trees *t = fitted;
    orch_trees_free(t->all);
    g_free(t);
}

static struct trees *trees_new(const double *y, size_t rows)
{
    struct trees *t = g_new0(struct trees, 1);
    t->all = orch_trees_new();
    for (size_t i = 0; i < rows; i++)
        t->base += y[i] / (double)rows;
    return t;
}

static struct orch_tree_options options_of(const struct orch_hyperparams *k, const int8_t *monotone,
                                           double share, uint64_t seed)
{
    return (struct orch_tree_options){.depth = k->depth,
                                      .leaf_rows = (size_t)MAX(k->leaf_rows, 1),
                                      .lambda = 1e-9,
                                      .gain = 1e-12,
                                      .feature_share = share,
                                      .monotone = monotone,
                                      .seed = seed};
}

static void *tree_fit(const double *values, size_t rows, int cols, const double *y,
                      const int8_t *monotone, const struct orch_hyperparams *hyperparams,
                      uint64_t seed, GError **error)
{
    (void)error;
    struct trees *t = trees_new(y, rows);
    struct orch_tree_bins *bins = orch_tree_bins_new(values, rows, cols);
    g_autofree float *gradient = g_new(float, rows);
    g_autofree uint32_t *index = g_new(uint32_t, rows);
    for (size_t i = 0; i < rows; i++) {
        gradient[i] = (float)(t->base - y[i]);
        index[i] = (uint32_t)i;
    }
    struct orch_tree_options options = options_of(hyperparams, monotone, 1, seed);
    t->cols = cols;
    orch_trees_append(t->all, orch_tree_grow(bins, gradient, NULL, index, rows, &options, NULL));
    orch_trees_ready(t->all, cols);
    orch_tree_bins_free(bins);
    return t;
}

/* Grows a tree on a bootstrap sample: a row that was drawn k times has k times the gradient and
 * weight. */
static struct orch_tree *grow_bagged(const struct orch_tree_bins *bins, const double *y,
                                     double base, struct orch_tree_options options, uint64_t random)
{
    size_t rows = bins->rows, count = 0;
    g_autofree float *gradient = g_new(float, rows);
    g_autofree uint8_t *weight = g_new0(uint8_t, rows);
    g_autofree uint32_t *index = g_new(uint32_t, rows);
    for (size_t i = 0; i < rows; i++) {
        uint8_t *drawn = &weight[orch_random_below(&random, rows)];
        if (*drawn < UINT8_MAX)
            ++*drawn;
    }
    for (size_t i = 0; i < rows; i++) {
        gradient[i] = weight[i] * (float)(base - y[i]);
        if (weight[i])
            index[count++] = (uint32_t)i;
    }
    options.seed = random;
    return orch_tree_grow(bins, gradient, weight, index, count, &options, NULL);
}

static void *forest_fit(const double *values, size_t rows, int cols, const double *y,
                        const int8_t *monotone, const struct orch_hyperparams *hyperparams,
                        uint64_t seed, GError **error)
{
    (void)error;
    struct trees *t = trees_new(y, rows);
    struct orch_tree_bins *bins = orch_tree_bins_new(values, rows, cols);
    struct orch_tree_options options =
        options_of(hyperparams, monotone, hyperparams->feature_share, 0);
    t->cols = cols;
    g_autofree struct orch_tree **grown = g_new(struct orch_tree *, (gsize)hyperparams->trees);
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < hyperparams->trees; i++)
        grown[i] = grow_bagged(bins, y, t->base, options, orch_random_stream(seed, (uint64_t)i));
    for (int i = 0; i < hyperparams->trees; i++)
        orch_trees_append(t->all, grown[i]);
    orch_trees_ready(t->all, cols);
    orch_tree_bins_free(bins);
    return t;
}

static void trees_predict(const void *fitted, const double *values, size_t rows, double *out)
{
    const struct trees *t = fitted;
    for (size_t i = 0; i < rows; i++)
        out[i] = t->base;
    orch_trees_add(t->all, values, rows, t->cols, 1.0 / (double)orch_trees_count(t->all), out);
}

static int tree_grid(const struct orch_hyperparams **out)
{
    static const struct orch_hyperparams grid[] = {{.depth = 5, .leaf_rows = 3},
                                                   {.depth = 9, .leaf_rows = 3},
                                                   {.depth = 13, .leaf_rows = 3},
                                                   {.depth = 13, .leaf_rows = 10},
                                                   {.depth = 20, .leaf_rows = 5}};
    *out = grid;
    return G_N_ELEMENTS(grid);
}

static int forest_grid(const struct orch_hyperparams **out)
{
    static const struct orch_hyperparams grid[] = {
        {.depth = 24, .leaf_rows = 1, .trees = 128, .feature_share = 0.4},
        {.depth = 24, .leaf_rows = 1, .trees = 128, .feature_share = 0.7},
        {.depth = 24, .leaf_rows = 3, .trees = 128, .feature_share = 0.5},
        {.depth = 24, .leaf_rows = 1, .trees = 128, .feature_share = 1}};
    *out = grid;
    return G_N_ELEMENTS(grid);
}

static json_t *trees_save(const void *fitted, enum orch_save_style style)
{
    const struct trees *t = fitted;
    return json_pack("{s:f, s:o}", "base", t->base, "trees", orch_trees_save(t->all, style));
}

static void *trees_load(const json_t *saved, int cols, GError **error)
{
    struct trees *t = g_new0(struct trees, 1);
    t->cols = cols;
    t->all = orch_load_real(saved, "base", &t->base, error)
                 ? orch_trees_load(json_object_get(saved, "trees"), cols, error)
                 : NULL;
    if (t->all)
        return t;
    g_free(t);
    return NULL;
}

static char *tree_describe(const struct orch_hyperparams *k)
{
    return g_strdup_printf("depth %d, %d rows a leaf", k->depth, k->leaf_rows);
}

const struct orch_model_kind ORCH_MODEL_TREE = {
    .name = "tree",
    .about = "one decision tree (CART)",
    .coding = ORCH_CODING_MEAN,
    .fit = tree_fit,
    .predict = trees_predict,
    .release = trees_release,
    .save = trees_save,
    .load = trees_load,
    .grid = tree_grid,
    .describe = tree_describe,
};

static char *forest_describe(const struct orch_hyperparams *k)
{
    return g_strdup_printf("%d trees, depth %d, %d rows a leaf, %g of the features", k->trees,
                           k->depth, k->leaf_rows, k->feature_share);
}

const struct orch_model_kind ORCH_MODEL_FOREST = {
    .name = "forest",
    .about = "random forest (Breiman 2001)",
    .coding = ORCH_CODING_MEAN,
    .fit = forest_fit,
    .predict = trees_predict,
    .release = trees_release,
    .save = trees_save,
    .load = trees_load,
    .grid = forest_grid,
    .describe = forest_describe,
};
