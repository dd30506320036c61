/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacking (Wolpert 1992; Breiman 1996: with weights that are not negative): how much each model's
 * answer counts, by its answers for rows that it did not see. */
#include "predictors/question.h"

#include "predictors/nnls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 6 /* of reweighting, towards absolute errors */
#define FEW_GROUPS 7
#define WORSE_FEW 1.8   /* the same where few groups say which is best */
#define WORSE 1.5       /* times the best one's error: models beyond are not asked */
#define LEAST 0.04      /* weights below are dropped */
#define GROUP_PULL 30.0 /* the same of groups, over the square of their number */
#define PULL_ROWS 3.0   /* rows' worth of pull to equal weights of those that are asked */

double orch_mean_relative_error(const double *answers, const double *logs,
                                const double *row_weights, size_t rows)
{
    double sum = 0, weights = 0;
    for (size_t i = 0; i < rows; i++) {
        if (isnan(answers[i]))
            continue;
        double w = row_weights ? row_weights[i] : 1;
        sum += w * fabs(exp(CLAMP(answers[i] - logs[i], -20, 20)) - 1);
        weights += w;
    }
    return weights > 0 ? sum / weights : (double)INFINITY;
}

void orch_mix_apply(double *const *answers, const double *weights, size_t count, size_t rows,
                    double *out, double *out_spread)
{
    for (size_t i = 0; i < rows; i++) {
        double sum = 0, squares = 0, all = 0;
        for (size_t j = 0; j < count; j++) {
            if (!(weights[j] > 0) || !isfinite(answers[j][i]))
                continue;
            all += weights[j];
            sum += weights[j] * answers[j][i];
            squares += weights[j] * answers[j][i] * answers[j][i];
        }
        out[i] = all > 0 ? sum / all : (double)NAN;
        double variance = all > 0 ? squares / all - out[i] * out[i] : 0;
        if (out_spread)
            out_spread[i] = variance > 0 ? sqrt(variance) : 0;
    }
}

/* The models that are asked: none much worse than the best. */
static size_t ask(double *const *answers, size_t count, const double *logs,
                  const double *row_weights, size_t rows, double worse, size_t *out)
{
    g_autofree double *errors = g_new(double, count + 1);
    double best = (double)INFINITY;
    size_t asked = 0;
    for (size_t j = 0; j < count; j++) {
        errors[j] = orch_mean_relative_error(answers[j], logs, row_weights, rows);
        for (size_t i = 0; i < rows; i++)
            if (isnan(answers[j][i]))
                errors[j] = errors[j] * (1 + 1 / (double)rows); /* its gaps are others' to fill */
        best = MIN(best, errors[j]);
    }
    for (size_t j = 0; j < count; j++)
        if (errors[j] <= worse * best)
            out[asked++] = j;
    return asked;
}

/* One least-squares problem: sum of weights[i] (sum_j x_j e_ij)^2, where the x sum to 1 (a heavy
 * row), and pulled to be equal. */
static bool solve(const double *errors, const double *weights, size_t rows, size_t asked,
                  double pull, double *x)
{
    size_t all = rows + 1 + asked;
    g_autofree double *a = g_new0(double, all *asked), *b = g_new0(double, all);
    g_autofree double *w = g_new(double, all);
    double scale = 0;
    memcpy(a, errors, rows * asked * sizeof *a);
    memcpy(w, weights, rows * sizeof *w);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < asked; j++)
            scale += weights[i] * errors[i * asked + j] * errors[i * asked + j] / (double)asked;
    scale = MAX(scale, 1e-12);
    w[rows] = 1e4 * scale;
    b[rows] = 1;
    for (size_t j = 0; j < asked; j++) {
        a[rows * asked + j] = 1;
        a[(rows + 1 + j) * asked + j] = 1;
        b[rows + 1 + j] = 1 / (double)asked;
        w[rows + 1 + j] = scale / (double)rows * pull;
    }
    g_autoptr(GError) error = NULL;
    return orch_nnls_solve(a, b, w, all, (int)asked, x, NULL, &error);
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

void orch_mix(double *const *answers, size_t count, const double *logs, const double *row_weights,
              size_t rows, size_t groups, double *out_weights)
{
    double pull =
        groups ? MAX(PULL_ROWS, GROUP_PULL * (double)rows / ((double)groups * (double)groups))
               : PULL_ROWS;
    g_autofree size_t *asked = g_new(size_t, count + 1);
    double worse = groups && groups < FEW_GROUPS ? WORSE_FEW : WORSE;
    size_t n = ask(answers, count, logs, row_weights, rows, worse, asked), used = 0;
    g_autofree double *errors = g_new0(double, rows *n + 1), *weights = g_new(double, rows + 1);
    g_autofree double *base = g_new(double, rows + 1), *x = g_new0(double, n + 1);
    for (size_t j = 0; j < count; j++)
        out_weights[j] = 0;
    for (size_t i = 0; i < rows; i++) {
        bool whole = true;
        for (size_t j = 0; j < n; j++) {
            errors[used * n + j] = CLAMP(answers[asked[j]][i] - logs[i], -3, 3);
            whole &= isfinite(answers[asked[j]][i]);
        }
        base[used] = row_weights ? row_weights[i] : 1;
        used += whole;
    }
    for (size_t j = 0; j < n; j++)
        x[j] = 1 / (double)n;
    for (int round = 0; round < ROUNDS && n > 1 && used > n; round++) {
        for (size_t i = 0; i < used; i++) {
            double e = 0;
            for (size_t j = 0; j < n; j++)
                e += x[j] * errors[i * n + j];
            /* a relative error of e is exp(e) - 1: more than it above, less below */
            double slope = exp(CLAMP(e, -1, 1)) - 1;
            weights[i] = base[i] * MAX(fabs(slope), 0.01) / (MAX(e * e, 1e-4));
        }
        if (!solve(errors, weights, used, n, pull, x))
            break;
        drop_small(x, n);
    }
    for (size_t j = 0; j < n; j++)
        out_weights[asked[j]] = x[j];
}
