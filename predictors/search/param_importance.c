/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each tree of the forest is asked about the trials that are not in its bootstrap sample, so that
 * no forecast is of a trial that its tree was grown on. The loss of a trial is that of the mean
 * over these trees; the increase of the loss when a parameter is shuffled gives one number a trial,
 * and their scatter the interval. The scatter over trees would only say how many trees there are.
 */
#include "predictors/search/param_importance.h"

#include "lib/base/random.h"
#include "lib/base/reals.h"
#include "predictors/models/tree.h"
#include "predictors/search/range_importance.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TREES 500
#define DEPTH 12
#define LEAF_ROWS 2
#define FEATURE_SHARE 0.6
#define SEED 1

struct forest {
    const struct orch_space *space;
    struct orch_tree_bins *bins;
    double *ranks;     /* by trial, from 0 to 1 */
    double *sums;      /* of the forecasts of trees that have not seen the trial; then, for each
                          parameter, of those without it */
    unsigned *seen;    /* number of these trees by trial */
    uint8_t *shuffled; /* a copy of the bins */
    size_t count;
};

struct ranked {
    double value;
    size_t index;
};

/* Equal values have their mean rank. */
static double *ranks_of(const double *values, size_t count)
{
    g_autofree struct ranked *all = g_new(struct ranked, count);
    double *ranks = g_new(double, count);
    for (size_t i = 0; i < count; i++)
        all[i] = (struct ranked){values[i], i};
    qsort(all, count, sizeof *all, orch_compare_reals);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && all[to].value <= all[from].value; to++)
            ;
        for (size_t i = from; i < to; i++)
            ranks[all[i].index] = ((double)(from + to) - 1) / 2 / ((double)count - 1);
    }
    return ranks;
}

static struct orch_tree_bins *bins_of(const struct orch_space *space, const double *points,
                                      size_t count)
{
    const unsigned params = space->params->len;
    g_autofree double *columns = g_new(double, params *count);
    for (unsigned p = 0; p < params; p++)
        for (size_t i = 0; i < count; i++)
            columns[p * count + i] = points[i * params + p];
    return orch_tree_bins_new(columns, count, (int)params);
}

/* Grows a tree on a bootstrap sample, and writes the trials that are not in it to `out_unseen`. */
static struct orch_tree *grow(const struct forest *forest, uint64_t random, uint32_t *out_unseen,
                              size_t *out_count)
{
    const size_t count = forest->count;
    const struct orch_tree_options options = {.depth = DEPTH,
                                              .leaf_rows = LEAF_ROWS,
                                              .lambda = 1e-9,
                                              .gain = 1e-12,
                                              .feature_share = FEATURE_SHARE,
                                              .seed = random};
    g_autofree float *gradient = g_new(float, count);
    g_autofree uint8_t *weight = g_new0(uint8_t, count);
    g_autofree uint32_t *index = g_new(uint32_t, count);
    size_t drawn = 0;
    *out_count = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t *of = &weight[orch_random_below(&random, count)];
        if (*of < UINT8_MAX)
            ++*of;
    }
    for (size_t i = 0; i < count; i++) {
        gradient[i] = -(float)weight[i] * (float)forest->ranks[i];
        if (weight[i])
            index[drawn++] = (uint32_t)i;
        else
            out_unseen[(*out_count)++] = (uint32_t)i;
    }
    return orch_tree_grow(forest->bins, gradient, weight, index, drawn, &options, NULL);
}

/* Whether a parameter exists only under a condition on another one, or is that one. */
static bool is_below(const struct orch_space *space, unsigned param, unsigned of)
{
    int at = (int)param;
    while (at >= 0 && at != (int)of)
        at = orch_space_param(space, (unsigned)at)->parent;
    return at == (int)of;
}

/* Shuffles a parameter, and those below it, among the trials that have it. */
static void shuffle(struct forest *forest, unsigned param, const uint32_t *unseen, size_t count,
                    uint64_t *random)
{
    const size_t rows = forest->count;
    const uint8_t *bins = forest->bins->bins;
    g_autofree uint32_t *from = g_new(uint32_t, count);
    g_autofree uint32_t *to = g_new(uint32_t, count);
    size_t having = 0;
    for (size_t i = 0; i < count; i++)
        if (bins[param * rows + unseen[i]])
            from[having++] = unseen[i];
    memcpy(to, from, having * sizeof *to);
    for (size_t i = having; i > 1; i--) {
        size_t j = orch_random_below(random, i);
        uint32_t kept = to[i - 1];
        to[i - 1] = to[j];
        to[j] = kept;
    }
    memcpy(forest->shuffled, bins, rows * (size_t)forest->bins->cols);
    for (unsigned p = param; p < forest->space->params->len; p++)
        for (size_t i = 0; i < having && is_below(forest->space, p, param); i++)
            forest->shuffled[p * rows + to[i]] = bins[p * rows + from[i]];
}

static void add_tree(struct forest *forest, unsigned number)
{
    uint64_t random = orch_random_stream(SEED, number);
    g_autofree uint32_t *unseen = g_new(uint32_t, forest->count);
    size_t count = 0;
    struct orch_tree *tree = grow(forest, orch_random_next(&random), unseen, &count);
    struct orch_tree_bins shuffled = *forest->bins;
    shuffled.bins = forest->shuffled;
    orch_tree_add_binned(tree, forest->bins, unseen, count, 1, forest->sums);
    for (size_t i = 0; i < count; i++)
        forest->seen[unseen[i]]++;
    for (unsigned p = 0; p < forest->space->params->len; p++) {
        shuffle(forest, p, unseen, count, &random);
        orch_tree_add_binned(tree, &shuffled, unseen, count, 1,
                             forest->sums + (p + 1) * forest->count);
    }
    orch_tree_free(tree);
}

/* ---- losses -------------------------------------------------------------------------------------
 */

/* The squared error of a trial; `column` 0: with all parameters, p + 1: without p. */
static double loss(const struct forest *forest, size_t i, unsigned column)
{
    double forecast = forest->sums[column * forest->count + i] / forest->seen[i];
    return pow(forest->ranks[i] - forecast, 2);
}

/* Variance of the ranks, each against the mean of the others: as hard as the forest's task. */
static double variance_of(const double *ranks, size_t count)
{
    double sum = 0, total = 0;
    for (size_t i = 0; i < count; i++)
        sum += ranks[i];
    for (size_t i = 0; i < count; i++)
        total += pow(ranks[i] - (sum - ranks[i]) / ((double)count - 1), 2);
    return total / (double)count;
}

/* The mean increase of the loss without a parameter, and its interval, as a share of `variance`. */
static struct orch_interval share_of(const struct forest *forest, unsigned param, double variance)
{
    double sum = 0, squares = 0;
    size_t count = 0;
    for (size_t i = 0; i < forest->count; i++) {
        if (!forest->seen[i])
            continue;
        double more = (loss(forest, i, param + 1) - loss(forest, i, 0)) / variance;
        sum += more;
        squares += more * more;
        count++;
    }
    double n = (double)count, mean = sum / n;
    double error = sqrt(fmax(0, squares - n * mean * mean) / (n - 1) / n);
    double half = gsl_cdf_tdist_Pinv(0.975, n - 1) * error;
    return (struct orch_interval){mean - half, mean, mean + half};
}

static void sum_up(const struct forest *forest, double variance, struct orch_importance *out)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < forest->count; i++) {
        sum += forest->seen[i] ? loss(forest, i, 0) : 0;
        count += forest->seen[i] > 0;
    }
    out->explained = 1 - sum / (double)count / variance;
    for (unsigned p = 0; p < out->params; p++)
        out->share[p] = share_of(forest, p, variance);
}

/* ---- the order of trials ------------------------------------------------------------------------
 */

struct trial {
    double value;
    const double *point;
    unsigned params;
};

/* By value, then by point; what does not exist comes first. */
static int compare_trials(const void *a, const void *b)
{
    const struct trial *x = a, *y = b;
    int order = (x->value > y->value) - (x->value < y->value);
    for (unsigned p = 0; !order && p < x->params; p++) {
        const double u = x->point[p], v = y->point[p];
        order = isnan(u) || isnan(v) ? isnan(v) - isnan(u) : (u > v) - (u < v);
    }
    return order;
}

/* Copies the trials in an order of their own, since each has a part in the random numbers. */
static void sort_trials(const double *points, const double *values, size_t count, unsigned params,
                        double *out_points, double *out_values)
{
    g_autofree struct trial *trials = g_new(struct trial, count);
    for (size_t i = 0; i < count; i++)
        trials[i] = (struct trial){values[i], points + i * params, params};
    qsort(trials, count, sizeof *trials, compare_trials);
    for (size_t i = 0; i < count; i++) {
        out_values[i] = trials[i].value;
        memcpy(out_points + i * params, trials[i].point, params * sizeof *out_points);
    }
}

/* Grows the forest on sorted trials, and asks it. */
static void ask_forest(const struct orch_space *space, const double *points, const double *values,
                       size_t count, struct orch_importance *out)
{
    const unsigned params = space->params->len;
    g_autofree double *ranks = ranks_of(values, count);
    const double variance = variance_of(ranks, count);
    if (variance < 1e-12)
        return;
    g_autofree double *sums = g_new0(double, (params + 1) * count);
    g_autofree unsigned *seen = g_new0(unsigned, count);
    g_autofree uint8_t *shuffled = g_new(uint8_t, params * count);
    struct forest forest = {.space = space,
                            .bins = bins_of(space, points, count),
                            .ranks = ranks,
                            .sums = sums,
                            .seen = seen,
                            .shuffled = shuffled,
                            .count = count};
    for (unsigned i = 0; i < TREES; i++)
        add_tree(&forest, i);
    sum_up(&forest, variance, out);
    if (out->explained > 0)
        orch_range_importance(space, points, values, count, out->whole);
    orch_tree_bins_free(forest.bins);
}

void orch_importance_of(const struct orch_space *space, const double *points, const double *values,
                        size_t count, struct orch_importance *out)
{
    const double none = (double)NAN;
    const unsigned params = space->params->len;
    *out = (struct orch_importance){.trials = count, .params = params, .explained = none};
    for (unsigned p = 0; p < params; p++) {
        out->share[p] = (struct orch_interval){none, none, none};
        out->whole[p] = none;
    }
    if (count < ORCH_IMPORTANCE_TRIALS || !params)
        return;
    g_autofree double *sorted_points = g_new(double, count *params);
    g_autofree double *sorted_values = g_new(double, count);
    sort_trials(points, values, count, params, sorted_points, sorted_values);
    ask_forest(space, sorted_points, sorted_values, count, out);
}
