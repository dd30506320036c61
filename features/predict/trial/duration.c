/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/trial/duration.h"

#include "features/predict/trial/log_design.h"
#include "lib/base/interval.h"
#include "lib/base/reals.h"

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
/* A start-up time is one more parameter, chosen from several: it must lower the leave-one-out error
 * of n cells by the factor exp(-this / n). With 15 % for any n the law of 12 noisy cells without a
 * start-up covered 84 % (test_duration). */
#define START_EVIDENCE 5.0

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

/* time = start + work x product of the parameters. The fit is one of log((time - start) / work);
 * its errors are converted to those of the log of the whole time, of which a share is above the
 * start. */
struct law {
    struct orch_logs logs;
    size_t *which; /* row numbers of the measured cells */
    size_t n;
    double *seconds, *work; /* n each, of the measured cells */
    double start_s;
    double *y, *share; /* n each: the fitted log; (time - start) / time */
    double *weights;
    double *left_out, *leverage; /* n each, of the log of the time: leave-one-out residuals */
    double *inverse, *beta;
    double ridge, effective;
};

static void set_start(struct law *l, double start_s)
{
    l->start_s = start_s;
    for (size_t k = 0; k < l->n; k++) {
        double above = l->seconds[k] - start_s;
        l->y[k] = log(above / l->work[k]);
        l->share[k] = above / l->seconds[k];
    }
}

/* An error of the log of the whole time is 1 / share of it in the fitted log. */
static double equal_weight(const struct law *l, size_t k)
{
    return l->share[k] * l->share[k];
}

/* Sets Huber weights from the residuals of the current fit. */
static void reweigh(struct law *l)
{
    g_autofree double *size = g_new(double, l->n);
    for (size_t k = 0; k < l->n; k++)
        size[k] = l->share[k] * fabs(l->y[k] - orch_logs_value(&l->logs, l->which[k], l->beta));
    double limit = 1.345 * fmax(1.4826 * orch_reals_median_of(size, l->n), 0.02);
    for (size_t k = 0; k < l->n; k++)
        l->weights[k] = equal_weight(l, k) * (size[k] > limit ? limit / size[k] : 1);
}

/* Sets leave-one-out residuals and leverages, of the log of the time. */
static void leave_out(struct law *l)
{
    l->effective = l->start_s > 0;
    for (size_t k = 0; k < l->n; k++) {
        double h = orch_logs_leverage(&l->logs, l->which[k], l->inverse);
        double own = fmin(l->weights[k] * h, 1 - 1e-6);
        double off = (l->y[k] - orch_logs_value(&l->logs, l->which[k], l->beta)) / (1 - own);
        double above = l->seconds[k] - l->start_s;
        l->effective += own;
        l->leverage[k] = equal_weight(l, k) * h / (1 - own); /* in the fit without this cell */
        l->left_out[k] = log(l->seconds[k]) - log(l->start_s + above * exp(-off));
    }
}

/* Fits with this ridge; also sets left_out and leverage. */
static bool fit(struct law *l, double ridge)
{
    for (size_t k = 0; k < l->n; k++)
        l->weights[k] = equal_weight(l, k);
    for (int round = 0; round < (l->n >= 6 ? 4 : 1); round++) {
        if (round)
            reweigh(l);
        if (!orch_logs_solve(&l->logs, l->which, l->n, l->y, l->weights, ridge, l->inverse,
                             l->beta))
            return false;
    }
    l->ridge = ridge;
    leave_out(l);
    return true;
}

static double left_out_error(const struct law *l)
{
    double sum = 0;
    for (size_t k = 0; k < l->n; k++)
        sum += fabs(l->left_out[k]);
    return sum / (double)l->n;
}

/* A law's settings and their leave-one-out error. */
struct tried {
    double start_s, ridge, error;
};

/* Tries every `step`-th ridge with this start-up time; 1e6 amounts to the mean alone. */
static struct tried try_ridges(struct law *l, double start_s, size_t step)
{
    static const double ridges[] = {0.01, 0.03, 0.1, 0.3, 1, 3, 10, 1e6};
    struct tried best = {start_s, FEW_RIDGE, INFINITY};
    set_start(l, start_s);
    for (size_t i = 0; i < G_N_ELEMENTS(ridges); i += step) {
        double error = fit(l, ridges[i]) ? left_out_error(l) : (double)INFINITY;
        if (error < best.error)
            best = (struct tried){start_s, ridges[i], error};
    }
    return best;
}

/* Returns the law with the start-up time of the least error, if that is clearly lower than
 * without one. */
static struct tried try_starts(struct law *l, struct tried without)
{
    static const double shares[] = {0.2, 0.4, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98};
    double least = INFINITY;
    for (size_t k = 0; k < l->n; k++)
        least = fmin(least, l->seconds[k]);
    struct tried best = {0, 0, INFINITY};
    for (size_t i = 0; i < G_N_ELEMENTS(shares); i++) {
        struct tried one = try_ridges(l, shares[i] * least, 2);
        best = one.error < best.error ? one : best;
    }
    best = try_ridges(l, best.start_s, 1);
    return best.error < exp(-START_EVIDENCE / (double)l->n) * without.error ? best : without;
}

/* Chooses the start-up time and the ridge with the least leave-one-out error. With hardly
 * more cells than columns, each cell is the only one with its level and leaving it out is not
 * informative. Then uses FEW_RIDGE, under which effects have a prior of about six times the
 * standard deviation of one time (test_design shows the result), and no start-up time. */
static bool choose(struct law *l)
{
    struct tried best = {0, l->n < 3 ? 1 : FEW_RIDGE, INFINITY};
    if (l->n >= 3 && l->n >= FEW_SHARE * (size_t)l->logs.cols)
        best = try_starts(l, try_ridges(l, 0, 1));
    set_start(l, best.start_s);
    return fit(l, best.ridge);
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
    double **arrays[] = {&l->seconds, &l->work,     &l->y,       &l->share,
                         &l->weights, &l->left_out, &l->leverage};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        *arrays[i] = g_new0(double, rows + 1);
    l->which = g_new(size_t, rows + 1);
    for (size_t i = 0; i < rows; i++) {
        if (!measured[i])
            continue;
        l->seconds[l->n] = seconds[i];
        l->work[l->n] = work ? work[i] : 1;
        l->which[l->n++] = i;
    }
    size_t p = (size_t)l->logs.cols;
    l->inverse = g_new0(double, p *p);
    l->beta = g_new0(double, p);
}

static void law_release(struct law *l)
{
    orch_logs_release(&l->logs);
    double *arrays[] = {l->seconds,  l->work,     l->y,       l->share, l->weights,
                        l->left_out, l->leverage, l->inverse, l->beta};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_free(arrays[i]);
    g_free(l->which);
}

static void answer(const struct law *l, const double *work, double half, struct orch_interval *out)
{
    for (size_t i = 0; i < l->logs.rows; i++) {
        double above = exp(orch_logs_value(&l->logs, i, l->beta)) * (work ? work[i] : 1);
        double seconds = l->start_s + above, share = above / seconds;
        double q = share * share * orch_logs_leverage(&l->logs, i, l->inverse);
        double more = share * share * l->logs.extrapolation[i] + start_variance(seconds);
        double width = sqrt(half * half * (1 + q) + ORCH_NORMAL_90 * ORCH_NORMAL_90 * more);
        if (width <= WIDEST)
            out[i] = around(log(seconds), width);
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
        facts->start_s = law.start_s;
        for (size_t k = 0; k < law.n; k++)
            law.left_out[k] = fabs(expm1(-law.left_out[k]));
        if (law.n >= 3)
            facts->relative_error = orch_reals_median_of(law.left_out, law.n);
    }
    law_release(&law);
}

void orch_duration_beyond(const struct orch_matrix *features, const double *seconds,
                          bool *out_beyond)
{
    struct orch_logs logs;
    g_autofree bool *measured = g_new0(bool, features->rows + 1);
    bool any = false;
    for (size_t i = 0; i < features->rows; i++) {
        measured[i] = seconds[i] > 0;
        any = any || measured[i];
    }
    if (any)
        orch_logs_code(features, measured, false, &logs);
    for (size_t i = 0; i < features->rows; i++)
        out_beyond[i] = any && logs.extrapolation[i] > 0;
    if (any)
        orch_logs_release(&logs);
}
