/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conformal prediction intervals (Vovk et al. 2005) from the errors of held-out rows, normalised by
 * the expected error size of each row (Papadopoulos et al. 2008). For unseen groups, each held-out
 * group has equal weight, and the spread between the groups widens the interval. */
#include "predictors/learn/scenario.h"

#include "lib/base/random.h"
#include "lib/base/reals.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIFFICULTY_ROWS 200 /* with fewer rows, all intervals have the same width */
#define LEAST_ERROR 1e-3
#define NEXT_GROUP 0.75 /* share of future groups whose own quantile is covered */
/* With one measured group the spread between groups is unknown: a higher level and a factor. */
#define ONE_GROUP_LEVEL 0.96
#define ONE_GROUP_FACTOR 1.75

static const struct orch_hyperparams DIFFICULTY = {.depth = 4,
                                                   .leaf_rows = 20,
                                                   .trees = 80,
                                                   .rate = 0.1,
                                                   .feature_share = 0.6,
                                                   .row_share = 0.8,
                                                   .all_trees = true};

struct error_row {
    double size, weight;
};

/* Weighted quantile with the conformal finite-sample correction: if rows are exchangeable, at least
 * `level` of future errors are below it. Rows without weight are not counted. Sorts the rows. */
static double quantile(struct error_row *rows, size_t count, double level)
{
    double all = 0, below = 0;
    size_t weighted = 0;
    qsort(rows, count, sizeof *rows, orch_compare_reals);
    for (size_t i = 0; i < count; i++) {
        all += rows[i].weight;
        weighted += rows[i].weight > 0;
    }
    double wanted = level * all * (1 + 1 / (double)MAX(weighted, 1));
    double largest = count ? rows[count - 1].size : (double)NAN;
    for (size_t i = 0; i < count; i++) {
        below += rows[i].weight;
        if (below >= wanted)
            return rows[i].size;
        if (rows[i].weight > 0)
            largest = rows[i].size;
    }
    return largest;
}

/* The features plus the ensemble's prediction and the spread among its members. */
static struct orch_matrix *with_answers(const struct orch_rows *rows, const double *predictions,
                                        const double *spread)
{
    size_t count = rows->rows;
    g_autofree size_t *all = g_new(size_t, count + 1);
    for (size_t i = 0; i < count; i++)
        all[i] = i;
    struct orch_matrix *m = orch_matrix_pick(rows->matrix, all, count);
    double *answer = orch_matrix_add_number(m, "answer"), *by = orch_matrix_add_number(m, "spread");
    memcpy(answer, predictions, count * sizeof *answer);
    memcpy(by, spread, count * sizeof *by);
    return m;
}

static bool has_weight(const double *row_weights, size_t row)
{
    return !row_weights || row_weights[row] > 0;
}

/* Predicts log error sizes out of fold: each row by a model fitted without the row's fold. */
static bool expect(const struct orch_matrix *m, const double *sizes, const double *row_weights,
                   const int *folds, uint64_t seed, double *out, GError **error)
{
    g_autofree size_t *in = g_new(size_t, m->rows + 1), *held_out = g_new(size_t, m->rows + 1);
    g_autofree double *y = g_new(double, m->rows + 1), *predictions = g_new(double, m->rows + 1);
    for (int f = 0; f < ORCH_FOLDS; f++) {
        size_t seen = 0, left = 0;
        for (size_t i = 0; i < m->rows; i++) {
            if (folds[i] == f)
                held_out[left++] = i;
            else if (has_weight(row_weights, i))
                in[seen++] = i;
        }
        for (size_t k = 0; k < seen; k++)
            y[k] = sizes[in[k]];
        if (!left || !seen)
            continue;
        struct orch_matrix *a = orch_matrix_pick(m, in, seen),
                           *b = orch_matrix_pick(m, held_out, left);
        struct orch_model *model =
            orch_model_fit(&ORCH_MODEL_BOOST, a, y, NULL, &DIFFICULTY, seed, error);
        if (model)
            orch_model_predict(model, b, predictions);
        for (size_t k = 0; model && k < left; k++)
            out[held_out[k]] = predictions[k];
        orch_matrix_free(a);
        orch_matrix_free(b);
        if (!model)
            return false;
        orch_model_free(model);
    }
    return true;
}

/* Fits the model of error sizes on the rows with weight. */
static struct orch_model *fit_all(const struct orch_matrix *m, const double *sizes,
                                  const double *row_weights, uint64_t seed, GError **error)
{
    g_autofree size_t *in = g_new(size_t, m->rows + 1);
    g_autofree double *y = g_new(double, m->rows + 1);
    size_t count = 0;
    for (size_t i = 0; i < m->rows; i++) {
        if (!has_weight(row_weights, i))
            continue;
        y[count] = sizes[i];
        in[count++] = i;
    }
    struct orch_matrix *weighted = orch_matrix_pick(m, in, count);
    struct orch_model *model =
        orch_model_fit(&ORCH_MODEL_BOOST, weighted, y, NULL, &DIFFICULTY, seed, error);
    orch_matrix_free(weighted);
    return model;
}

static bool fit_difficulty(struct orch_conformal *w, const struct orch_rows *rows,
                           const double *predictions, const double *spread, const double *sizes,
                           const double *row_weights, const int *folds, uint64_t seed,
                           double *expected, GError **error)
{
    struct orch_matrix *m = with_answers(rows, predictions, spread);
    bool ok = expect(m, sizes, row_weights, folds, seed + 1, expected, error);
    if (ok)
        w->difficulty = fit_all(m, sizes, row_weights, seed, error);
    orch_matrix_free(m);
    return ok && w->difficulty;
}

/* Distribution of the error quantile over held-out groups. */
struct group_sizes {
    double mean, spread; /* of each group's log quantile */
    double count;        /* effective number of groups (Kish) */
};

static struct group_sizes sizes_of_groups(const struct error_row *errors, const int *folds,
                                          size_t rows)
{
    double own[ORCH_FOLDS], weights[ORCH_FOLDS], all = 0, squares = 0;
    struct group_sizes s = {0};
    g_autofree struct error_row *here = g_new(struct error_row, rows + 1);
    for (int f = 0; f < ORCH_FOLDS; f++) {
        size_t count = 0;
        weights[f] = 0;
        for (size_t i = 0; i < rows; i++) {
            if (folds[i] != f)
                continue;
            weights[f] += errors[i].weight;
            here[count++] = errors[i];
        }
        own[f] = count ? quantile(here, count, ORCH_LEVEL) : 0;
        all += weights[f];
        squares += weights[f] * weights[f];
    }
    s.count = squares > 0 ? all * all / squares : 1;
    for (int f = 0; f < ORCH_FOLDS && all > 0; f++)
        s.mean += weights[f] / all * own[f];
    for (int f = 0; f < ORCH_FOLDS && all > 0; f++)
        s.spread += weights[f] / all * (own[f] - s.mean) * (own[f] - s.mean);
    s.spread = sqrt(s.spread * s.count / MAX(s.count - 1, 0.5));
    return s;
}

/* Few groups with many rows each: treats their log quantiles as a normal sample and returns the
 * upper prediction limit for the next group that covers NEXT_GROUP of them (Student's t). */
static double quantile_of_next(const struct error_row *errors, const int *folds, size_t rows)
{
    struct group_sizes s = sizes_of_groups(errors, folds, rows);
    double t = gsl_cdf_tdist_Pinv(NEXT_GROUP, MAX(s.count - 1, 1));
    return s.mean + s.spread * sqrt(1 + 1 / s.count) * t;
}

/* Many groups with few rows each: empirical quantile, widened by t/z because groups, not rows, are
 * independent. */
static double quantile_of_many(struct error_row *errors, size_t rows, size_t unseen)
{
    double tail = 0.5 + ORCH_LEVEL / 2;
    return quantile(errors, rows, ORCH_LEVEL) +
           log(gsl_cdf_tdist_Pinv(tail, (double)unseen) / gsl_cdf_ugaussian_Pinv(tail));
}

/* Sorts the errors. */
static double quantile_for(struct error_row *errors, const int *folds, size_t rows, size_t unseen)
{
    if (!unseen)
        return quantile(errors, rows, ORCH_LEVEL);
    if (unseen == 1) /* one group cannot be held out, so the errors are those of held-out rows */
        return quantile(errors, rows, ONE_GROUP_LEVEL) + log(ONE_GROUP_FACTOR);
    return unseen < ORCH_FEW_GROUPS ? quantile_of_next(errors, folds, rows)
                                    : quantile_of_many(errors, rows, unseen);
}

bool orch_conformal_fit(struct orch_conformal *w, const struct orch_rows *rows,
                        const double *predictions, const double *spread, const int *folds,
                        const double *row_weights, size_t unseen, uint64_t seed, GError **error)
{
    size_t n = rows->rows, weighted = 0;
    g_autofree double *sizes = g_new(double, n + 1), *expected = g_new0(double, n + 1);
    for (size_t i = 0; i < n; i++) {
        double off = fabs(predictions[i] - log(rows->target[i]));
        sizes[i] = log(isfinite(off) ? MAX(off, LEAST_ERROR) : LEAST_ERROR);
        weighted += has_weight(row_weights, i);
    }
    /* With few groups, which rows are difficult does not carry over to the next group. */
    bool knows_hard = weighted >= DIFFICULTY_ROWS && (unseen < 2 || unseen >= ORCH_FEW_GROUPS);
    if (knows_hard && !fit_difficulty(w, rows, predictions, spread, sizes, row_weights, folds, seed,
                                      expected, error))
        return false;
    g_autofree struct error_row *errors = g_new(struct error_row, n + 1);
    for (size_t i = 0; i < n; i++)
        errors[i] = (struct error_row){sizes[i] - expected[i], row_weights ? row_weights[i] : 1};
    w->factor = exp(quantile_for(errors, folds, n, unseen));
    return true;
}

void orch_conformal_release(struct orch_conformal *w)
{
    orch_model_free(w->difficulty);
    *w = (struct orch_conformal){0};
}

void orch_conformal_half_widths(const struct orch_conformal *w, const struct orch_rows *rows,
                                const double *predictions, const double *spread, double *out)
{
    for (size_t i = 0; i < rows->rows; i++)
        out[i] = 0;
    if (w->difficulty) {
        struct orch_matrix *m = with_answers(rows, predictions, spread);
        orch_model_predict(w->difficulty, m, out);
        orch_matrix_free(m);
    }
    for (size_t i = 0; i < rows->rows; i++)
        out[i] = exp(out[i]) * w->factor;
}
