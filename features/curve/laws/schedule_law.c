/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schedule is divided at the points of the loss and of the rates, so that a smooth schedule has
 * as many changes as points. Rates are divided by their largest and sums by the longest run's,
 * which makes all parameters of order 1; the search is over their logarithms.
 */
#include "features/curve/laws/schedule_law.h"

#include "lib/base/error.h"
#include "lib/base/reals.h"
#include "predictors/numbers/nnls.h"

#include <gsl/gsl_multimin.h>
#include <math.h>
#include <string.h>

enum {
    LINEAR = 3,
    SHAPES = 5,
    POINTS_MIN = 16,
    KNOTS_MAX = 400,
    ROUNDS = 700,
    RESTARTS = 2,
    REWEIGHTS = 3
};
/* Relative errors above this have less weight (Huber 1964), as in the paper: the first losses after
 * the warm-up are none of the law's. */
#define HUBER 1e-3

/* ---- a schedule ------------------------------------------------------------------------------ */

/* Times at which the rate is known, with the rate's sum up to them. */
struct knots {
    double *k, *rate, *sum;
    size_t count;
};

static double rate_at(const struct orch_schedule_run *run, double k)
{
    size_t low = 0, high = run->rates - 1;
    if (k <= run->rate_k[0])
        return run->rate[0];
    if (k >= run->rate_k[high])
        return run->rate[high];
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (run->rate_k[middle] <= k)
            low = middle;
        else
            high = middle;
    }
    double span = run->rate_k[high] - run->rate_k[low];
    double share = span > 0 ? (k - run->rate_k[low]) / span : 1;
    return run->rate[low] + share * (run->rate[high] - run->rate[low]);
}

/* Takes at most KNOTS_MAX of the rates' times up to the last point, and all changes of a schedule
 * of few steps. */
static void knots_init(struct knots *knots, const struct orch_schedule_run *run, double rate_unit)
{
    g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(double));
    double last = run->k[run->count - 1], first = MIN(run->rate_k[0], run->k[0]);
    size_t stride = run->rates / KNOTS_MAX + 1;
    g_array_append_val(times, first);
    for (size_t i = 0; i < run->rates; i++)
        if (run->rate_k[i] < last && (i % stride == 0 || i + 1 == run->rates))
            g_array_append_val(times, run->rate_k[i]);
    g_array_append_val(times, last);
    g_array_sort(times, orch_compare_reals);
    knots->count = times->len;
    knots->k = g_new(double, 3 * (size_t)times->len);
    knots->rate = knots->k + times->len;
    knots->sum = knots->rate + times->len;
    for (size_t i = 0; i < knots->count; i++) {
        knots->k[i] = g_array_index(times, double, i);
        knots->rate[i] = rate_at(run, knots->k[i]) / rate_unit;
        knots->sum[i] = i ? knots->sum[i - 1] + (knots->k[i] - knots->k[i - 1]) *
                                                    (knots->rate[i] + knots->rate[i - 1]) / 2
                          : 0;
    }
}

static double sum_at(const struct knots *knots, const struct orch_schedule_run *run,
                     double rate_unit, double k)
{
    size_t i = 0;
    while (i + 1 < knots->count && knots->k[i + 1] <= k)
        i++;
    double here = rate_at(run, k) / rate_unit;
    return knots->sum[i] + fmax(k - knots->k[i], 0) * (knots->rate[i] + here) / 2;
}

/* ---- the law --------------------------------------------------------------------------------- */

/* Where the logs of alpha, beta, gamma, c and shift are expected, and their standard deviations:
 * three schedules determine some of them badly (beta and c nearly make up for each other), and a
 * fit without this forecasts schedules three times as long worse: 0.21 % off instead of 0.19 %
 * (bench/curve_forecasts.c). One deviation counts as much as the squared errors of the first fit.
 */
static const struct {
    double at, sd;
} EXPECTED[SHAPES] = {{-0.7, 1}, {-0.7, 1}, {-0.7, 1}, {2, 2}, {-3, 1}};

/* Parameters of the simplex search: logarithms. */
struct shapes {
    double alpha, beta, gamma, c, shift;
};

static struct shapes shapes_of(const double *logs)
{
    return (struct shapes){exp(logs[0]), exp(logs[1]), exp(logs[2]), exp(logs[3]), exp(logs[4])};
}

/* The factor of b at k: the sum over the changes of the rate before. `sum` is the sum of the rates
 * at k, divided by the unit. */
static double change_term(const struct knots *knots, const struct shapes *s, double sum_unit,
                          double k, double sum)
{
    double total = 0;
    for (size_t i = 1; i < knots->count && knots->k[i] <= k; i++) {
        double change = knots->rate[i] - knots->rate[i - 1];
        if (fabs(change) < 1e-12)
            continue;
        double later = fmax(sum - knots->sum[i] / sum_unit, 0);
        double slow = pow(fmax(knots->rate[i], 1e-4), -s->gamma);
        total += change * (1 - pow(1 + s->c * slow * later, -s->beta));
    }
    return total;
}

struct fitting {
    const struct orch_schedule_run *runs;
    size_t count, points;
    struct knots *knots; /* one for each run */
    double rate_unit, sum_unit;
    double *sum;                  /* of each point, all runs */
    double *rows, *loss, *weight; /* points x LINEAR, points, points */
    double linear[LINEAR];
    double penalty; /* of one standard deviation from what is expected */
};

static double squares_at(struct fitting *f, const double *logs)
{
    struct shapes s = shapes_of(logs);
    size_t at = 0;
    double squares = 0;
    for (int j = 0; j < SHAPES; j++)
        if (fabs(logs[j]) > 12)
            return 1e30;
    for (size_t r = 0; r < f->count; r++)
        for (size_t i = 0; i < f->runs[r].count; i++, at++) {
            double *row = f->rows + at * LINEAR;
            row[0] = 1;
            row[1] = pow(f->sum[at] + s.shift, -s.alpha);
            row[2] = change_term(&f->knots[r], &s, f->sum_unit, f->runs[r].k[i], f->sum[at]);
        }
    if (!orch_nnls_solve(f->rows, f->loss, f->weight, f->points, LINEAR, f->linear, NULL))
        return 1e30;
    for (size_t p = 0; p < f->points; p++) {
        double value = 0;
        for (int j = 0; j < LINEAR; j++)
            value += f->rows[p * LINEAR + j] * f->linear[j];
        squares += f->weight[p] * (value - f->loss[p]) * (value - f->loss[p]);
    }
    for (int j = 0; j < SHAPES; j++)
        squares += f->penalty * pow((logs[j] - EXPECTED[j].at) / EXPECTED[j].sd, 2);
    return isfinite(squares) ? squares : 1e30;
}

static double squares_of(const gsl_vector *x, void *context)
{
    return squares_at(context, x->data);
}

/* Improves `logs` by a simplex search (Nelder and Mead), which starts again from its result. */
static double improve(struct fitting *f, double *logs)
{
    double found = squares_at(f, logs);
    gsl_multimin_function function = {.f = squares_of, .n = SHAPES, .params = f};
    gsl_vector *x = gsl_vector_alloc(SHAPES), *steps = gsl_vector_alloc(SHAPES);
    gsl_multimin_fminimizer *m =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, SHAPES);
    for (int restart = 0; restart < RESTARTS; restart++) {
        memcpy(x->data, logs, SHAPES * sizeof *logs);
        gsl_vector_set_all(steps, restart ? 0.2 : 0.6);
        gsl_multimin_fminimizer_set(m, &function, x, steps);
        for (int round = 0; round < ROUNDS; round++)
            if (gsl_multimin_fminimizer_iterate(m) || gsl_multimin_fminimizer_size(m) < 1e-4)
                break;
        if (m->fval < found) {
            found = m->fval;
            memcpy(logs, m->x->data, SHAPES * sizeof *logs);
        }
    }
    gsl_multimin_fminimizer_free(m);
    gsl_vector_free(steps);
    gsl_vector_free(x);
    return found;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool refuse(const char *what, size_t run, GError **error)
{
    orch_error_set(error, ORCH_ERROR_USAGE, NULL, "run %zu of the runs to fit %s", run + 1, what);
    return false;
}

static const char *complaint(const struct orch_schedule_run *run)
{
    double largest = 0;
    if (!run->count || !run->rates)
        return "has no losses or no learning rates";
    for (size_t i = 0; i < run->count; i++)
        if (!isfinite(run->k[i]) || !(run->loss[i] > 0) || !isfinite(run->loss[i]) ||
            (i && run->k[i] < run->k[i - 1]))
            return "has losses that are not above 0, or not in the order of steps";
    for (size_t i = 0; i < run->rates; i++) {
        if (!isfinite(run->rate_k[i]) || !(run->rate[i] >= 0) || !isfinite(run->rate[i]) ||
            (i && run->rate_k[i] < run->rate_k[i - 1]))
            return "has learning rates that are negative, or not in the order of steps";
        largest = fmax(largest, run->rate[i]);
    }
    return largest > 0 ? NULL : "has a learning rate of 0 throughout";
}

static bool check(const struct orch_schedule_run *runs, size_t count, GError **error)
{
    size_t points = 0;
    bool changes = false;
    for (size_t r = 0; r < count; r++) {
        const char *what = complaint(&runs[r]);
        if (what)
            return refuse(what, r, error);
        points += runs[r].count;
        for (size_t i = 1; i < runs[r].rates; i++)
            changes = changes || runs[r].rate[i] < runs[r].rate[i - 1] * (1 - 1e-9);
    }
    if (points >= POINTS_MIN && changes)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, changes ? NULL : "add a run whose learning rate falls",
                   changes ? "the curve of form 'schedule' needs at least 16 losses"
                           : "the learning rate of these runs never falls");
    return false;
}

/* ---- the fit --------------------------------------------------------------------------------- */

static void fitting_init(struct fitting *f, const struct orch_schedule_run *runs, size_t count)
{
    *f = (struct fitting){.runs = runs, .count = count};
    for (size_t r = 0; r < count; r++) {
        f->points += runs[r].count;
        for (size_t i = 0; i < runs[r].rates; i++)
            f->rate_unit = fmax(f->rate_unit, runs[r].rate[i]);
    }
    f->knots = g_new0(struct knots, count);
    f->sum = g_new(double, f->points);
    f->rows = g_new(double, f->points *LINEAR);
    f->loss = g_new(double, f->points);
    f->weight = g_new(double, f->points);
    for (size_t r = 0; r < count; r++) {
        knots_init(&f->knots[r], &runs[r], f->rate_unit);
        f->sum_unit = fmax(f->sum_unit, f->knots[r].sum[f->knots[r].count - 1]);
    }
    for (size_t r = 0, at = 0; r < count; r++)
        for (size_t i = 0; i < runs[r].count; i++, at++) {
            f->sum[at] = sum_at(&f->knots[r], &runs[r], f->rate_unit, runs[r].k[i]) / f->sum_unit;
            f->loss[at] = runs[r].loss[i];
            f->weight[at] = 1 / (f->loss[at] * f->loss[at]);
        }
}

static void fitting_release(struct fitting *f)
{
    for (size_t r = 0; r < f->count; r++)
        g_free(f->knots[r].k);
    double *arrays[] = {f->sum, f->rows, f->loss, f->weight};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_free(arrays[i]);
    g_free(f->knots);
}

/* The relative error of a point in the current fit. */
static double off_at(const struct fitting *f, size_t p)
{
    double value = 0;
    for (int j = 0; j < LINEAR; j++)
        value += f->rows[p * LINEAR + j] * f->linear[j];
    return fabs(value / f->loss[p] - 1);
}

static void reweigh(struct fitting *f)
{
    for (size_t p = 0; p < f->points; p++)
        f->weight[p] = fmin(1, HUBER / fmax(off_at(f, p), 1e-12)) / (f->loss[p] * f->loss[p]);
}

static double mean_error(const struct fitting *f)
{
    double sum = 0;
    for (size_t p = 0; p < f->points; p++)
        sum += off_at(f, p);
    return sum / (double)f->points;
}

bool orch_schedule_law_fit(const struct orch_schedule_run *runs, size_t count,
                           struct orch_schedule_law *out, GError **error)
{
    /* logs of alpha, beta, gamma, c, shift: near those of language models, and a slower start */
    static const double STARTS[][SHAPES] = {{-0.7, -0.7, -0.7, 2, -2.5}, {-1.5, -0.2, 0, 4, -4}};
    if (!check(runs, count, error))
        return false;
    struct fitting f;
    double best[SHAPES], least = HUGE_VAL;
    fitting_init(&f, runs, count);
    for (size_t i = 0; i < G_N_ELEMENTS(STARTS); i++) {
        double logs[SHAPES];
        memcpy(logs, STARTS[i], sizeof logs);
        double squares = improve(&f, logs);
        if (squares < least) {
            least = squares;
            memcpy(best, logs, sizeof best);
        }
    }
    for (int round = 0; round < REWEIGHTS; round++) {
        f.penalty = 0;
        f.penalty = squares_at(&f, best);
        improve(&f, best);
        squares_at(&f, best);
        reweigh(&f);
    }
    squares_at(&f, best);
    struct shapes s = shapes_of(best);
    *out = (struct orch_schedule_law){.l0 = f.linear[0],
                                      .a = f.linear[1],
                                      .b = f.linear[2],
                                      .alpha = s.alpha,
                                      .beta = s.beta,
                                      .gamma = s.gamma,
                                      .c = s.c,
                                      .shift = s.shift,
                                      .rate_unit = f.rate_unit,
                                      .sum_unit = f.sum_unit,
                                      .relative_error = mean_error(&f),
                                      .points = f.points};
    fitting_release(&f);
    return true;
}

void orch_schedule_law_predict(const struct orch_schedule_law *law,
                               const struct orch_schedule_run *run, double *out_loss)
{
    const struct shapes s = {law->alpha, law->beta, law->gamma, law->c, law->shift};
    struct knots knots;
    knots_init(&knots, run, law->rate_unit);
    for (size_t i = 0; i < run->count; i++) {
        double sum = sum_at(&knots, run, law->rate_unit, run->k[i]) / law->sum_unit;
        out_loss[i] = law->l0 + law->a * pow(sum + law->shift, -law->alpha) +
                      law->b * change_term(&knots, &s, law->sum_unit, run->k[i], sum);
    }
    g_free(knots.k);
}
