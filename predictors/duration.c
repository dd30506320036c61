/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/duration.h"

#include "lib/base/interval.h"
#include "lib/base/reals.h"
#include "predictors/logs.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

/* Prior for the scatter: standard deviation of the log, and its weight in runs. */
#define REPEAT_SD 0.1
#define REPEAT_WEIGHT 3.0
#define LAW_SD 0.2
#define LAW_WEIGHT 2.0
/* Starting and ending a trial varies by this much, whatever the trial does. */
#define START_S 0.03
#define START_MOST 0.4
#define WIDEST 2.302585092994046 /* log(10): maximum half width */
/* With fewer than this many cells per column the ridge is fixed to FEW_RIDGE. */
#define FEW_SHARE 2
#define FEW_RIDGE 0.03
/* With at least this many cells the interval is a quantile of the errors, not a multiple of their
 * standard deviation. */
#define QUANTILE_CELLS 20

static struct orch_interval around(double log_median, double half)
{
    return (struct orch_interval){exp(log_median - half), exp(log_median), exp(log_median + half)};
}

struct orch_interval orch_duration_of_spread(double seconds, double sd)
{
    return around(log(seconds), ORCH_NORMAL_90 * sd);
}

static double start_variance(double seconds)
{
    double share = fmin(START_S / seconds, START_MOST);
    return share * share;
}

struct orch_scatter orch_scatter_of(const double *seconds, const size_t *cell, size_t n)
{
    g_autofree double *sum = g_new0(double, n + 1), *squares = g_new0(double, n + 1);
    g_autofree size_t *count = g_new0(size_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        sum[cell[i]] += log(seconds[i]);
        count[cell[i]]++;
    }
    for (size_t i = 0; i < n; i++) {
        double off = log(seconds[i]) - sum[cell[i]] / (double)count[cell[i]];
        squares[cell[i]] += off * off;
    }
    struct orch_scatter scatter = {0};
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        scatter.dof += count[i] > 1 ? (double)count[i] - 1 : 0;
        total += squares[i];
    }
    scatter.sd = scatter.dof > 0 ? sqrt(total / scatter.dof) : 0;
    return scatter;
}

struct orch_interval orch_duration_of_repeats(const double *seconds, size_t n,
                                              struct orch_scatter scatter)
{
    double median = orch_reals_median_of(seconds, n), dof = REPEAT_WEIGHT + scatter.dof;
    double variance =
        (REPEAT_WEIGHT * REPEAT_SD * REPEAT_SD + scatter.dof * scatter.sd * scatter.sd) / dof +
        start_variance(median) / 4;
    double half = gsl_cdf_tdist_Pinv(0.95, dof) * sqrt(variance * (1 + 1 / (double)n));
    return around(log(median), half);
}

/* ---- the law -----------------------------------------------------------------------------------
 */

struct law {
    struct orch_logs logs;
    size_t *which; /* row numbers of the measured cells */
    size_t n;
    double *y, *weights, *left_out, *leverage; /* n each; left_out: leave-one-out residuals */
    double *inverse, *beta;
    double ridge, effective;
};

/* Sets Huber weights from the residuals of the current fit. */
static void reweigh(struct law *l)
{
    g_autofree double *off = g_new(double, l->n), *size = g_new(double, l->n);
    for (size_t k = 0; k < l->n; k++) {
        off[k] = l->y[k] - orch_logs_value(&l->logs, l->which[k], l->beta);
        size[k] = fabs(off[k]);
    }
    double limit = 1.345 * fmax(1.4826 * orch_reals_median_of(size, l->n), 0.02);
    for (size_t k = 0; k < l->n; k++)
        l->weights[k] = size[k] > limit ? limit / size[k] : 1;
}

/* Fits with this ridge; also sets left_out and leverage. */
static bool fit(struct law *l, double ridge)
{
    for (size_t k = 0; k < l->n; k++)
        l->weights[k] = 1;
    for (int round = 0; round < (l->n >= 6 ? 4 : 1); round++) {
        if (round)
            reweigh(l);
        if (!orch_logs_solve(&l->logs, l->which, l->n, l->y, l->weights, ridge, l->inverse,
                             l->beta))
            return false;
    }
    l->ridge = ridge;
    l->effective = 0;
    for (size_t k = 0; k < l->n; k++) {
        double h = orch_logs_leverage(&l->logs, l->which[k], l->inverse);
        double own = fmin(l->weights[k] * h, 1 - 1e-6);
        l->effective += own;
        l->leverage[k] = h / (1 - own); /* leverage in the fit without this cell */
        l->left_out[k] = (l->y[k] - orch_logs_value(&l->logs, l->which[k], l->beta)) / (1 - own);
    }
    return true;
}

static double left_out_error(const struct law *l)
{
    double sum = 0;
    for (size_t k = 0; k < l->n; k++)
        sum += fabs(l->left_out[k]);
    return sum / (double)l->n;
}

/* Chooses the ridge with the least leave-one-out error; 1e6 amounts to the mean alone. With hardly
 * more cells than columns, each cell is the only one with its level and leaving it out is not
 * informative. Then uses FEW_RIDGE, under which effects have a prior of about six times the
 * standard deviation of one time (test_design shows the result). */
static bool choose(struct law *l)
{
    static const double ridges[] = {1e6, 10, 3, 1, 0.3, 0.1, 0.03, 0.01};
    double best = INFINITY, best_ridge = l->n < 3 ? 1 : FEW_RIDGE;
    bool many = l->n >= 3 && l->n >= FEW_SHARE * (size_t)l->logs.cols;
    for (size_t i = 0; many && i < G_N_ELEMENTS(ridges); i++) {
        if (!fit(l, ridges[i]))
            continue;
        double error = left_out_error(l);
        if (error < best) {
            best = error;
            best_ridge = ridges[i];
        }
    }
    return fit(l, best_ridge);
}

/* Half width of the interval for a row with leverage 0. */
static double base_half(const struct law *l, struct orch_scatter scatter)
{
    g_autofree double *size = g_new0(double, l->n);
    double squares = 0;
    for (size_t k = 0; k < l->n; k++) {
        size[k] = fabs(l->left_out[k]) / sqrt(1 + l->leverage[k]);
        squares += l->n >= 2 ? size[k] * size[k] : 0;
    }
    double errors = l->n >= 2 ? (double)l->n : 0;
    double variance = (LAW_WEIGHT * LAW_SD * LAW_SD + squares) / (LAW_WEIGHT + errors);
    double dof = LAW_WEIGHT + fmax(0, (double)l->n - l->effective);
    double half = gsl_cdf_tdist_Pinv(0.95, dof) * sqrt(variance);
    if (l->n >= QUANTILE_CELLS) {
        orch_reals_sort(size, l->n);
        size_t at = (size_t)ceil(0.9 * ((double)l->n + 1));
        half = size[MIN(at, l->n) - 1];
    }
    return fmax(half, ORCH_NORMAL_90 * scatter.sd);
}

static void law_init(struct law *l, const struct orch_matrix *features, const double *work,
                     const double *seconds)
{
    size_t rows = features->rows;
    g_autofree bool *measured = g_new0(bool, rows + 1);
    for (size_t i = 0; i < rows; i++)
        measured[i] = seconds[i] > 0;
    orch_logs_code(features, measured, work != NULL, &l->logs);
    l->which = g_new(size_t, rows + 1);
    l->y = g_new(double, rows + 1);
    for (size_t i = 0; i < rows; i++) {
        if (!measured[i])
            continue;
        l->which[l->n] = i;
        l->y[l->n++] = log(seconds[i] / (work ? work[i] : 1));
    }
    size_t p = (size_t)l->logs.cols;
    l->weights = g_new0(double, rows + 1);
    l->left_out = g_new0(double, rows + 1);
    l->leverage = g_new0(double, rows + 1);
    l->inverse = g_new0(double, p *p);
    l->beta = g_new0(double, p);
}

static void law_release(struct law *l)
{
    orch_logs_release(&l->logs);
    double *arrays[] = {l->y, l->weights, l->left_out, l->leverage, l->inverse, l->beta};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_free(arrays[i]);
    g_free(l->which);
}

static void answer(const struct law *l, const double *work, double half, struct orch_interval *out)
{
    for (size_t i = 0; i < l->logs.rows; i++) {
        double value = orch_logs_value(&l->logs, i, l->beta) + (work ? log(work[i]) : 0);
        double q = orch_logs_leverage(&l->logs, i, l->inverse);
        double more = l->logs.extrapolation[i] + start_variance(exp(value));
        double width = sqrt(half * half * (1 + q) + ORCH_NORMAL_90 * ORCH_NORMAL_90 * more);
        if (width <= WIDEST)
            out[i] = around(value, width);
    }
}

static bool work_is_known(const double *work, const double *seconds, size_t rows)
{
    for (size_t i = 0; work && i < rows; i++)
        if (seconds[i] > 0 && !(work[i] > 0))
            return false;
    return work != NULL;
}

void orch_duration_law(const struct orch_matrix *features, const double *work,
                       const double *seconds, struct orch_scatter scatter,
                       struct orch_interval *out, struct orch_duration_law *facts)
{
    struct law law = {0};
    *facts = (struct orch_duration_law){.relative_error = (double)NAN};
    for (size_t i = 0; i < features->rows; i++) {
        out[i] = (struct orch_interval){(double)NAN, (double)NAN, (double)NAN};
        facts->cells += seconds[i] > 0;
    }
    if (!facts->cells)
        return;
    if (!work_is_known(work, seconds, features->rows))
        work = NULL;
    law_init(&law, features, work, seconds);
    if (choose(&law)) {
        answer(&law, work, base_half(&law, scatter), out);
        facts->ridge = law.ridge;
        for (size_t k = 0; k < law.n; k++)
            law.left_out[k] = fabs(expm1(-law.left_out[k]));
        if (law.n >= 3)
            facts->relative_error = orch_reals_median_of(law.left_out, law.n);
    }
    law_release(&law);
}
