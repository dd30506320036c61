/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradient boosting (Friedman 2001; second order as in Chen and Guestrin 2016): each tree is fitted
 * to the residuals. For losses other than the squared one, a tree's structure follows from a
 * clipped gradient (Huber), and each leaf gets the value that minimises the loss itself. A tenth of
 * the rows decides when to stop; then all rows are fitted with that number of trees. */
#include "lib/base/random.h"
#include "lib/base/reals.h"
#include "predictors/models/model.h"
#include "predictors/models/trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE 40  /* trees without improvement before it stops */
#define STOP_ROWS 50 /* minimum rows for early stopping */
#define PULL 1.0     /* lambda, the shrinkage of leaves */

struct boost {
    struct orch_trees *all;
    double base, rate;
    int cols;
};

static void boost_release(void *fitted)
{
    struct boost *b = fitted;
    orch_trees_free(b->all);
    g_free(b);
}

/* ---- losses ------------------------------------------------------------------------------------
 */

/* Loss of one row; `off` is prediction - y. */
static double loss_of(const struct orch_hyperparams *k, double off)
{
    switch (k->loss) {
    case ORCH_LOSS_RELATIVE:
        return fabs(exp(MIN(off, 20)) - 1);
    case ORCH_LOSS_QUANTILE:
        return off > 0 ? (1 - k->level) * off : -k->level * off;
    case ORCH_LOSS_SQUARED:
        break;
    }
    return off * off;
}

/* Gradient for the structure of a tree; `scale` is the typical size of the residuals. */
static double gradient_of(const struct orch_hyperparams *k, double off, double scale)
{
    switch (k->loss) {
    case ORCH_LOSS_RELATIVE:
        return CLAMP(off, -2 * scale, 2 * scale);
    case ORCH_LOSS_QUANTILE:
        return off > 0 ? 1 - k->level : -k->level;
    case ORCH_LOSS_SQUARED:
        break;
    }
    return off;
}

struct weighed {
    double value, weight;
};

/* Weighted quantile; sorts the values. */
static double weighed_quantile(struct weighed *values, size_t count, double level)
{
    double all = 0, below = 0;
    qsort(values, count, sizeof *values, orch_compare_reals);
    for (size_t i = 0; i < count; i++)
        all += values[i].weight;
    for (size_t i = 0; i < count; i++) {
        below += values[i].weight;
        if (below >= level * all)
            return values[i].value;
    }
    return count ? values[count - 1].value : 0;
}

/* The c that minimises sum |exp(c - r) - 1| is the median of r weighted by exp(-r). */
static double best_constant(const struct orch_hyperparams *k, struct weighed *left, size_t count)
{
    for (size_t i = 0; i < count; i++)
        left[i].weight = k->loss == ORCH_LOSS_RELATIVE ? exp(-CLAMP(left[i].value, -1, 1)) : 1;
    return weighed_quantile(left, count, k->loss == ORCH_LOSS_QUANTILE ? k->level : 0.5);
}

/* ---- fitting -----------------------------------------------------------------------------------
 */

/* State of one boosting run. */
struct run {
    const struct orch_tree_bins *bins;
    const double *y;
    const struct orch_hyperparams *k;
    struct orch_tree_options options;
    const bool *aside; /* rows used only for early stopping; NULL: none */
    uint64_t seed;
    double *answer;
    float *gradient;
    uint32_t *index, *leaf;
    struct weighed *left; /* scratch, one entry per row */
};

static double evaluate(const struct run *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->bins->rows; i++)
        if (r->aside[i])
            sum += loss_of(r->k, r->answer[i] - r->y[i]);
    return sum;
}

static double size_of_rest(const struct run *r, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += fabs(r->answer[r->index[k]] - r->y[r->index[k]]);
    return count ? sum / (double)count : 0;
}

/* Sets the leaf values to minimise the loss. In `index` the rows of a leaf are contiguous. */
static void renew_leaves(const struct run *r, struct orch_tree *tree, size_t count)
{
    struct orch_tree_node *nodes = (void *)tree->nodes->data;
    for (size_t begin = 0, end; begin < count; begin = end) {
        uint32_t leaf = r->leaf[r->index[begin]];
        for (end = begin; end < count && r->leaf[r->index[end]] == leaf; end++)
            r->left[end - begin].value = r->y[r->index[end]] - r->answer[r->index[end]];
        double rows = (double)(end - begin), value = best_constant(r->k, r->left, end - begin);
        nodes[leaf].value = value * rows / (rows + PULL);
    }
}

/* Adds the tree's predictions: the leaf is known for its training rows, others descend the tree. */
static void add_tree(const struct run *r, const struct orch_tree *tree, double rate, size_t count)
{
    const struct orch_tree_node *nodes = (const void *)tree->nodes->data;
    for (size_t k = 0; k < count; k++)
        r->answer[r->index[k]] += rate * nodes[r->leaf[r->index[k]]].value;
    orch_tree_add_binned(tree, r->bins, r->index + count, r->bins->rows - count, rate, r->answer);
}

/* Puts the training rows of the next tree first. Returns their number. */
static size_t draw_rows(const struct run *r, int number)
{
    uint64_t random = orch_random_stream(r->seed, (uint64_t)number);
    size_t count = 0, others = r->bins->rows;
    for (size_t i = 0; i < r->bins->rows; i++) {
        bool seen = r->k->row_share >= 1 || orch_random_unit(&random) < r->k->row_share;
        if (seen && !(r->aside && r->aside[i]))
            r->index[count++] = (uint32_t)i;
        else
            r->index[--others] = (uint32_t)i;
    }
    return count;
}

static struct orch_tree *next_tree(struct run *r, int number, double rate)
{
    size_t count = draw_rows(r, number);
    double scale = r->k->loss == ORCH_LOSS_RELATIVE ? size_of_rest(r, count) : 1;
    for (size_t k = 0; k < count; k++) {
        uint32_t i = r->index[k];
        r->gradient[i] = (float)gradient_of(r->k, r->answer[i] - r->y[i], scale);
    }
    r->options.seed = orch_random_stream(r->seed ^ 0x5eed, (uint64_t)number);
    struct orch_tree *tree =
        orch_tree_grow(r->bins, r->gradient, NULL, r->index, count, &r->options, r->leaf);
    if (r->k->loss != ORCH_LOSS_SQUARED)
        renew_leaves(r, tree, count);
    add_tree(r, tree, rate, count);
    return tree;
}

/* Grows up to `trees`; returns the number with the best early-stopping loss (all if not
 * stopping). */
static int boost(struct run *r, struct boost *b, int trees)
{
    orch_trees_free(b->all);
    b->all = orch_trees_new();
    for (size_t i = 0; i < r->bins->rows; i++)
        r->answer[i] = b->base;
    double best = (double)INFINITY;
    int best_count = trees;
    for (int t = 0; t < trees; t++) {
        orch_trees_append(b->all, next_tree(r, t, b->rate));
        if (!r->aside)
            continue;
        double now = evaluate(r);
        if (now < best) {
            best = now;
            best_count = t + 1;
        } else if (t + 1 - best_count >= PATIENCE) {
            break;
        }
    }
    return best_count;
}

static double base_of(const struct orch_hyperparams *k, const double *y, size_t rows)
{
    double mean = 0;
    for (size_t i = 0; i < rows; i++)
        mean += y[i] / (double)rows;
    if (k->loss == ORCH_LOSS_SQUARED)
        return mean;
    g_autofree struct weighed *values = g_new(struct weighed, rows);
    for (size_t i = 0; i < rows; i++)
        values[i] = (struct weighed){y[i], 1};
    return weighed_quantile(values, rows, k->loss == ORCH_LOSS_QUANTILE ? k->level : 0.5);
}

static void *boost_fit(const double *values, size_t rows, int cols, const double *y,
                       const int8_t *monotone, const struct orch_hyperparams *hyperparams,
                       uint64_t seed, GError **error)
{
    (void)error;
    struct boost *b = g_new0(struct boost, 1);
    b->rate = hyperparams->rate;
    b->cols = cols;
    b->base = base_of(hyperparams, y, rows);
    struct orch_tree_bins *bins = orch_tree_bins_new(values, rows, cols);
    g_autofree bool *aside = g_new0(bool, rows);
    uint64_t random = orch_random_stream(seed, UINT64_MAX);
    for (size_t i = 0; i < rows; i++)
        aside[i] = orch_random_unit(&random) < 0.1;
    struct run run = {.bins = bins,
                      .y = y,
                      .k = hyperparams,
                      .options = {.depth = hyperparams->depth,
                                  .leaf_rows = (size_t)MAX(hyperparams->leaf_rows, 1),
                                  .lambda = PULL,
                                  .gain = 1e-12,
                                  .feature_share = hyperparams->feature_share,
                                  .monotone = monotone},
                      .aside = rows >= STOP_ROWS && !hyperparams->all_trees ? aside : NULL,
                      .seed = seed,
                      .answer = g_new(double, rows),
                      .gradient = g_new(float, rows),
                      .index = g_new(uint32_t, rows),
                      .leaf = g_new(uint32_t, rows),
                      .left = g_new(struct weighed, rows)};
    int trees = boost(&run, b, hyperparams->trees);
    if (run.aside) {
        run.aside = NULL;
        boost(&run, b, trees);
    }
    orch_trees_ready(b->all, cols);
    orch_tree_bins_free(bins);
    g_free(run.answer);
    g_free(run.gradient);
    g_free(run.index);
    g_free(run.leaf);
    g_free(run.left);
    return b;
}

static void boost_predict(const void *fitted, const double *values, size_t rows, double *out)
{
    const struct boost *b = fitted;
    for (size_t i = 0; i < rows; i++)
        out[i] = b->base;
    orch_trees_add(b->all, values, rows, b->cols, b->rate, out);
}

static int boost_grid(const struct orch_hyperparams **out)
{
    static const struct orch_hyperparams grid[] = {{.loss = ORCH_LOSS_RELATIVE,
                                                    .depth = 6,
                                                    .leaf_rows = 4,
                                                    .trees = 600,
                                                    .rate = 0.08,
                                                    .feature_share = 0.5,
                                                    .row_share = 0.8},
                                                   {.loss = ORCH_LOSS_RELATIVE,
                                                    .depth = 8,
                                                    .leaf_rows = 4,
                                                    .trees = 1000,
                                                    .rate = 0.06,
                                                    .feature_share = 0.5,
                                                    .row_share = 0.8},
                                                   {.loss = ORCH_LOSS_RELATIVE,
                                                    .depth = 3,
                                                    .leaf_rows = 4,
                                                    .trees = 600,
                                                    .rate = 0.1,
                                                    .feature_share = 0.5,
                                                    .row_share = 0.8},
                                                   {.depth = 6,
                                                    .leaf_rows = 5,
                                                    .trees = 600,
                                                    .rate = 0.1,
                                                    .feature_share = 1,
                                                    .row_share = 1}};
    *out = grid;
    return G_N_ELEMENTS(grid);
}

static json_t *boost_save(const void *fitted, enum orch_save_style style)
{
    const struct boost *b = fitted;
    return json_pack("{s:f, s:f, s:o}", "base", b->base, "rate", b->rate, "trees",
                     orch_trees_save(b->all, style));
}

static void *boost_load(const json_t *saved, int cols, GError **error)
{
    struct boost *b = g_new0(struct boost, 1);
    b->cols = cols;
    b->all = orch_load_real(saved, "base", &b->base, error) &&
                     orch_load_real(saved, "rate", &b->rate, error)
                 ? orch_trees_load(json_object_get(saved, "trees"), cols, error)
                 : NULL;
    if (b->all)
        return b;
    g_free(b);
    return NULL;
}

static char *boost_describe(const struct orch_hyperparams *k)
{
    return g_strdup_printf("%d trees at most, depth %d, rate %g, %d rows a leaf%s", k->trees,
                           k->depth, k->rate, k->leaf_rows,
                           k->loss == ORCH_LOSS_RELATIVE   ? ", absolute relative loss"
                           : k->loss == ORCH_LOSS_QUANTILE ? ", quantile loss"
                                                           : "");
}

const struct orch_model_kind ORCH_MODEL_BOOST = {
    .name = "boost",
    .about = "gradient boosting",
    .coding = ORCH_CODING_MEAN,
    .fit = boost_fit,
    .predict = boost_predict,
    .release = boost_release,
    .save = boost_save,
    .load = boost_load,
    .grid = boost_grid,
    .describe = boost_describe,
};
