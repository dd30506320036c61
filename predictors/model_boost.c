/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradient boosting (Friedman 2001; second order as Chen and Guestrin 2016): each tree is fitted to
 * what is left. Squared loss. A tenth of the rows is set aside to say when to stop; then all rows
 * are fitted with as many trees. */
#include "predictors/model.h"
#include "predictors/random.h"
#include "predictors/tree.h"

#include <math.h>

#define PATIENCE 30  /* trees without progress before it stops */
#define STOP_ROWS 50 /* with fewer rows there is nothing to set aside */
#define PULL 1.0     /* lambda */

struct boost {
    GPtrArray *list; /* struct orch_tree * */
    double base, rate;
};

static void free_tree(gpointer tree)
{
    orch_tree_free(tree);
}

static void boost_release(void *fitted)
{
    struct boost *b = fitted;
    g_ptr_array_unref(b->list);
    g_free(b);
}

/* What one run of boosting works on. */
struct run {
    const struct orch_bins *bins;
    const double *y;
    const struct orch_knobs *k;
    struct orch_tree_options options;
    const bool *aside; /* rows that only judge; NULL: none */
    uint64_t seed;
};

static double judge(const struct run *r, const double *answer)
{
    double sum = 0;
    for (size_t i = 0; i < r->bins->rows; i++)
        if (r->aside[i])
            sum += (answer[i] - r->y[i]) * (answer[i] - r->y[i]);
    return sum;
}

static struct orch_tree *next_tree(const struct run *r, int number, const double *answer,
                                   float *gradient, const float *curvature, uint32_t *index)
{
    uint64_t random = orch_random_stream(r->seed, (uint64_t)number);
    size_t count = 0;
    for (size_t i = 0; i < r->bins->rows; i++) {
        gradient[i] = (float)(answer[i] - r->y[i]);
        bool seen = r->k->row_share >= 1 || orch_random_unit(&random) < r->k->row_share;
        if (seen && !(r->aside && r->aside[i]))
            index[count++] = (uint32_t)i;
    }
    return orch_tree_grow(r->bins, gradient, curvature, index, count, &r->options, &random);
}

/* Grows up to `trees`; returns how many were best for the rows set aside (all without any). */
static int boost(const struct run *r, struct boost *b, int trees)
{
    size_t rows = r->bins->rows;
    g_autofree double *answer = g_new(double, rows);
    g_autofree float *gradient = g_new(float, rows), *curvature = g_new(float, rows);
    g_autofree uint32_t *index = g_new(uint32_t, rows);
    for (size_t i = 0; i < rows; i++) {
        answer[i] = b->base;
        curvature[i] = 1;
    }
    double best = (double)INFINITY;
    int best_count = trees;
    for (int t = 0; t < trees; t++) {
        struct orch_tree *tree = next_tree(r, t, answer, gradient, curvature, index);
        orch_tree_add_binned(tree, r->bins, b->rate, answer);
        g_ptr_array_add(b->list, tree);
        double now = r->aside ? judge(r, answer) : -t;
        if (now < best) {
            best = now;
            best_count = t + 1;
        } else if (t + 1 - best_count >= PATIENCE) {
            break;
        }
    }
    return best_count;
}

static void *boost_fit(const double *values, size_t rows, int cols, const double *y,
                       const int8_t *monotone, const struct orch_knobs *knobs, uint64_t seed,
                       GError **error)
{
    (void)error;
    struct boost *b = g_new0(struct boost, 1);
    b->rate = knobs->rate;
    b->list = g_ptr_array_new_with_free_func(free_tree);
    for (size_t i = 0; i < rows; i++)
        b->base += y[i] / (double)rows;
    struct orch_bins *bins = orch_bins_new(values, rows, cols);
    g_autofree bool *aside = g_new0(bool, rows);
    uint64_t random = orch_random_stream(seed, UINT64_MAX);
    for (size_t i = 0; i < rows; i++)
        aside[i] = orch_random_unit(&random) < 0.1;
    struct run run = {.bins = bins,
                      .y = y,
                      .k = knobs,
                      .options = {.depth = knobs->depth,
                                  .leaf_rows = (size_t)MAX(knobs->leaf_rows, 1),
                                  .lambda = PULL,
                                  .gain = 1e-12,
                                  .feature_share = knobs->feature_share,
                                  .monotone = monotone,
                                  .threads = true},
                      .aside = rows >= STOP_ROWS ? aside : NULL,
                      .seed = seed};
    int trees = boost(&run, b, knobs->trees);
    if (run.aside) {
        g_ptr_array_set_size(b->list, 0);
        run.aside = NULL;
        boost(&run, b, trees);
    }
    orch_bins_free(bins);
    return b;
}

static void boost_predict(const void *fitted, const double *values, size_t rows, double *out)
{
    const struct boost *b = fitted;
    for (size_t i = 0; i < rows; i++)
        out[i] = b->base;
    for (guint k = 0; k < b->list->len; k++)
        orch_tree_add(b->list->pdata[k], values, rows, b->rate, out);
}

static int boost_grid(const struct orch_knobs **out)
{
    static const struct orch_knobs grid[] = {
        {.depth = 6, .leaf_rows = 5, .trees = 600, .rate = 0.1, .feature_share = 1, .row_share = 1},
        {.depth = 8,
         .leaf_rows = 5,
         .trees = 600,
         .rate = 0.08,
         .feature_share = 0.6,
         .row_share = 0.8},
        {.depth = 4,
         .leaf_rows = 5,
         .trees = 800,
         .rate = 0.1,
         .feature_share = 0.8,
         .row_share = 0.8},
        {.depth = 3,
         .leaf_rows = 3,
         .trees = 400,
         .rate = 0.05,
         .feature_share = 0.5,
         .row_share = 0.8}};
    *out = grid;
    return G_N_ELEMENTS(grid);
}

static json_t *boost_save(const void *fitted, enum orch_save_style style)
{
    const struct boost *b = fitted;
    return json_pack("{s:f, s:f, s:o}", "base", b->base, "rate", b->rate, "trees",
                     orch_trees_save(b->list, style));
}

static void *boost_load(const json_t *saved, int cols, GError **error)
{
    struct boost *b = g_new0(struct boost, 1);
    b->list = orch_load_real(saved, "base", &b->base, error) &&
                      orch_load_real(saved, "rate", &b->rate, error)
                  ? orch_trees_load(json_object_get(saved, "trees"), cols, error)
                  : NULL;
    if (b->list)
        return b;
    g_free(b);
    return NULL;
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
};
