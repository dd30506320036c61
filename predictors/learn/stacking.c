/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacking (Wolpert 1992) with non-negative weights (Breiman 1996): the weight of each model
 * follows from its predictions for held-out rows. */
#include "predictors/learn/scenario.h"

#include "lib/base/reals.h"
#include "predictors/numbers/nnls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 6          /* iterations of reweighting, which approach absolute errors */
#define WORSE 1.5         /* a model is dropped if its error exceeds the best one's times this */
#define WORSE_GROUPS 1.8  /* the same when whole groups were held out */
#define LEAST 0.04        /* smaller weights are set to 0 */
#define GROUP_PULL 1000.0 /* ridge towards the prior weights is this * rows / groups^3 */
#define PULL_ROWS 3.0     /* least ridge towards the prior weights, in rows */
#define TRIM 0.1          /* share of the weight trimmed at each end for unseen groups */
#define LEAST_ERROR 1e-3  /* lower bound of a fold's error, below which differences are noise */
#define MEANS_LEAST 4     /* models needed for shrinkage (Efron and Morris 1973) */
#define WORST_ERROR 10.0  /* upper bound of a fold's error */

double **orch_predictions_new(size_t count, size_t rows)
{
    double **out = g_new0(double *, count + 1);
    for (size_t i = 0; i < count; i++)
        out[i] = g_new(double, rows + 1);
    return out;
}

void orch_predictions_free(double **predictions)
{
    for (size_t i = 0; predictions[i]; i++)
        g_free(predictions[i]);
    g_free(predictions);
}

double orch_mean_relative_error(const double *predictions, const double *logs,
                                const double *row_weights, size_t rows)
{
    double sum = 0, weights = 0;
    for (size_t i = 0; i < rows; i++) {
        if (isnan(predictions[i]))
            continue;
        double w = row_weights ? row_weights[i] : 1;
        sum += w * fabs(exp(CLAMP(predictions[i] - logs[i], -20, 20)) - 1);
        weights += w;
    }
    return weights > 0 ? sum / weights : (double)INFINITY;
}

struct vote {
    double value, weight;
};

/* Weighted mean without the share `trim` of the weight at each end; `all` is the sum of weights. */
static double trimmed_mean(struct vote *votes, size_t count, double all, double trim)
{
    double low = trim * all, high = all - low, at = 0, sum = 0;
    qsort(votes, count, sizeof *votes, orch_compare_reals);
    for (size_t k = 0; k < count; k++) {
        double next = at + votes[k].weight;
        sum += votes[k].value * MAX(0, MIN(next, high) - MAX(at, low));
        at = next;
    }
    return sum / (high - low);
}

void orch_stacking_predict(double *const *predictions, const double *weights, size_t count,
                           size_t rows, bool of_groups, double *out, double *out_spread)
{
    g_autofree struct vote *votes = g_new(struct vote, count + 1);
    for (size_t i = 0; i < rows; i++) {
        double sum = 0, squares = 0, all = 0;
        size_t used = 0;
        for (size_t j = 0; j < count; j++) {
            if (!(weights[j] > 0) || !isfinite(predictions[j][i]))
                continue;
            all += weights[j];
            sum += weights[j] * predictions[j][i];
            squares += weights[j] * predictions[j][i] * predictions[j][i];
            votes[used++] = (struct vote){predictions[j][i], weights[j]};
        }
        double mean = all > 0 ? sum / all : (double)NAN;
        double variance = all > 0 ? squares / all - mean * mean : 0;
        out[i] = all > 0 && of_groups ? trimmed_mean(votes, used, all, TRIM) : mean;
        if (out_spread)
            out_spread[i] = variance > 0 ? sqrt(variance) : 0;
    }
}

/* Log of the mean relative error in one fold, and the weight of its rows (0 if it has none). */
static double error_of_fold(const double *predictions, const double *logs,
                            const double *row_weights, const int *folds, int fold, size_t rows,
                            double *out_weight)
{
    g_autofree double *own = g_new(double, rows + 1);
    *out_weight = 0;
    for (size_t i = 0; i < rows; i++) {
        bool is_here = folds[i] == fold && isfinite(predictions[i]);
        own[i] = is_here ? predictions[i] : (double)NAN;
        *out_weight += is_here ? (row_weights ? row_weights[i] : 1) : 0;
    }
    return log(MAX(orch_mean_relative_error(own, logs, row_weights, rows), LEAST_ERROR));
}

double orch_error_by_folds(const double *predictions, const double *logs, const double *row_weights,
                           const int *folds, size_t rows)
{
    double sum = 0, all = 0;
    if (!folds)
        return orch_mean_relative_error(predictions, logs, row_weights, rows);
    for (int f = 0; f < ORCH_FOLDS; f++) {
        double weight,
            error = error_of_fold(predictions, logs, row_weights, folds, f, rows, &weight);
        if (!(weight > 0))
            continue;
        sum += weight * error;
        all += weight;
    }
    return all > 0 ? exp(sum / all) : (double)INFINITY;
}

/* Selects the models whose error is not much worse than the best one's. */
static size_t select_models(double *const *predictions, size_t count, const double *logs,
                            const double *row_weights, const int *folds, size_t rows, size_t *out)
{
    g_autofree double *errors = g_new(double, count + 1);
    double best = (double)INFINITY, worse = folds ? WORSE_GROUPS : WORSE;
    size_t selected = 0;
    for (size_t j = 0; j < count; j++) {
        errors[j] = orch_error_by_folds(predictions[j], logs, row_weights, folds, rows);
        for (size_t i = 0; i < rows; i++)
            if (isnan(predictions[j][i]))
                errors[j] = errors[j] * (1 + 1 / (double)rows); /* penalty for a missing value */
        best = MIN(best, errors[j]);
    }
    for (size_t j = 0; j < count; j++)
        if (errors[j] <= worse * best)
            out[selected++] = j;
    return selected;
}

/* Log errors by model and fold, with each fold's mean over the models subtracted. */
struct table {
    size_t models;
    double *errors;             /* models x ORCH_FOLDS */
    double weights[ORCH_FOLDS]; /* of the folds; they sum to 1 */
    double folds;               /* effective number of folds (Kish) */
};

static void fill_table(struct table *t, double *const *predictions, const size_t *selected,
                       const double *logs, const double *row_weights, const int *folds, size_t rows)
{
    double all = 0, squares = 0;
    for (int f = 0; f < ORCH_FOLDS; f++) {
        double mean = 0, weight;
        t->weights[f] = 0;
        for (size_t j = 0; j < t->models; j++) {
            double e =
                error_of_fold(predictions[selected[j]], logs, row_weights, folds, f, rows, &weight);
            t->errors[j * ORCH_FOLDS + (size_t)f] = MIN(e, log(WORST_ERROR));
            mean += MIN(e, log(WORST_ERROR)) / (double)t->models;
            t->weights[f] = MAX(t->weights[f], weight);
        }
        for (size_t j = 0; j < t->models; j++)
            t->errors[j * ORCH_FOLDS + (size_t)f] -= mean;
        all += t->weights[f];
        squares += t->weights[f] * t->weights[f];
    }
    t->folds = squares > 0 ? all * all / squares : 1;
    for (int f = 0; f < ORCH_FOLDS && all > 0; f++)
        t->weights[f] /= all;
}

/* Analysis of variance: computes the models' means and returns the share of the variance between
 * them that disagreement among the folds does not explain (Stein's shrinkage). */
static double real_share(const struct table *t, double *means)
{
    double between = 0, within = 0;
    for (size_t j = 0; j < t->models; j++) {
        const double *errors = t->errors + j * ORCH_FOLDS;
        means[j] = 0;
        for (int f = 0; f < ORCH_FOLDS; f++)
            means[j] += t->weights[f] * errors[f];
        between += means[j] * means[j];
        for (int f = 0; f < ORCH_FOLDS; f++)
            within += t->weights[f] * (errors[f] - means[j]) * (errors[f] - means[j]);
    }
    double chance = within / MAX(t->folds - 1, 0.5); /* variance of a mean over the folds */
    return t->models >= MEANS_LEAST && between > 0 ? MAX(0, 1 - chance / between) : 0;
}

/* Prior weights when few groups were measured: the share from real_share() is distributed by
 * likelihood, where each group counts as one error, and the remainder equally. */
static void weigh_by_folds(double *const *predictions, const size_t *selected, size_t models,
                           const double *usual, const double *logs, const double *row_weights,
                           const int *folds, size_t rows, double *out)
{
    g_autofree double *errors = g_new(double, models *ORCH_FOLDS + 1);
    g_autofree double *means = g_new(double, models + 1);
    struct table t = {.models = models, .errors = errors};
    double all = 0;
    fill_table(&t, predictions, selected, logs, row_weights, folds, rows);
    double share = real_share(&t, means);
    for (size_t j = 0; j < models; j++)
        all += out[j] = usual[j] * exp(-t.folds * share * means[j]);
    for (size_t j = 0; j < models; j++)
        out[j] = (1 - share) * usual[j] + share * out[j] / all;
}

/* Minimises sum_i weights[i] (sum_j x_j e_ij)^2 over x >= 0. A heavy row makes x sum to 1, and
 * ridge rows pull x towards `usual`. */
static bool solve(const double *errors, const double *weights, size_t rows, size_t selected,
                  double pull, const double *usual, double *x)
{
    size_t all = rows + 1 + selected;
    g_autofree double *a = g_new0(double, all *selected), *b = g_new0(double, all);
    g_autofree double *w = g_new(double, all);
    double scale = 0;
    memcpy(a, errors, rows * selected * sizeof *a);
    memcpy(w, weights, rows * sizeof *w);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < selected; j++)
            scale +=
                weights[i] * errors[i * selected + j] * errors[i * selected + j] / (double)selected;
    scale = MAX(scale, 1e-12);
    w[rows] = 1e4 * scale;
    b[rows] = 1;
    for (size_t j = 0; j < selected; j++) {
        a[rows * selected + j] = 1;
        a[(rows + 1 + j) * selected + j] = 1;
        b[rows + 1 + j] = usual[j];
        w[rows + 1 + j] = scale / (double)rows * pull;
    }
    g_autoptr(GError) error = NULL;
    return orch_nnls_solve(a, b, w, all, (int)selected, x, &error);
}

static void drop_small(double *weights, size_t count)
{
    double sum = 0;
    for (size_t j = 0; j < count; j++) {
        weights[j] = weights[j] < LEAST ? 0 : weights[j];
        sum += weights[j];
    }
    for (size_t j = 0; j < count && sum > 0; j++)
        weights[j] /= sum;
}

void orch_stacking_fit(double *const *predictions, const double *prior, size_t count,
                       const double *logs, const double *row_weights, size_t rows, const int *folds,
                       size_t groups, double *out_weights)
{
    double pull = groups ? GROUP_PULL * (double)rows / pow((double)groups, 3) : 0;
    g_autofree size_t *selected = g_new(size_t, count + 1);
    size_t n = select_models(predictions, count, logs, row_weights, groups ? folds : NULL, rows,
                             selected),
           used = 0;
    g_autofree double *errors = g_new0(double, rows *n + 1), *weights = g_new(double, rows + 1);
    g_autofree double *base = g_new(double, rows + 1), *x = g_new0(double, n + 1);
    g_autofree double *equal = g_new(double, n + 1), *usual = g_new(double, n + 1);
    double all = 0;
    for (size_t j = 0; j < count; j++)
        out_weights[j] = 0;
    for (size_t i = 0; i < rows; i++) {
        bool whole = true;
        for (size_t j = 0; j < n; j++) {
            errors[used * n + j] = CLAMP(predictions[selected[j]][i] - logs[i], -3, 3);
            whole &= isfinite(predictions[selected[j]][i]);
        }
        base[used] = row_weights ? row_weights[i] : 1;
        used += whole;
    }
    for (size_t j = 0; j < n; j++)
        all += equal[j] = prior ? prior[selected[j]] : 1;
    for (size_t j = 0; j < n; j++)
        usual[j] = equal[j] /= all;
    if (groups && groups < ORCH_FEW_GROUPS)
        weigh_by_folds(predictions, selected, n, equal, logs, row_weights, folds, rows, usual);
    memcpy(x, usual, n * sizeof *x);
    for (int round = 0; round < ROUNDS && n > 1 && used > n; round++) {
        for (size_t i = 0; i < used; i++) {
            double e = 0;
            for (size_t j = 0; j < n; j++)
                e += x[j] * errors[i * n + j];
            /* The relative error of a log error e is exp(e) - 1: larger than e above 0, smaller
             * below. */
            double slope = exp(CLAMP(e, -1, 1)) - 1;
            weights[i] = base[i] * MAX(fabs(slope), 0.01) / (MAX(e * e, 1e-4));
        }
        if (!solve(errors, weights, used, n, MAX(pull, PULL_ROWS), usual, x))
            break;
        drop_small(x, n);
    }
    for (size_t j = 0; j < n; j++)
        out_weights[selected[j]] = x[j];
}
