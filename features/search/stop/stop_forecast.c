/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rule forecast(p, top, startup).
 *
 * What a trial will end with is regressed on what it has now: the curves that ended well give a
 * line from their value at n (and from the one at n/2, once there are three more curves than
 * `startup`) to their last value, in the scale, plain or logarithmic, in which the residuals have
 * the larger likelihood. The residuals of each n have their own variance, so the prediction of one
 * more curve has Student's t distribution. A trial is stopped when the chance that it ends at least
 * as good as the best so far (the `top`-th best) is below its part of p.
 *
 * A trial is looked at several times, and each look can go wrong. Looks are at values 1, 2, 3, 5,
 * 8, 12, ... (each 1.5 times the one before, rounded up), up to the length of the longest curve
 * that ended well, and p is divided by their number (Bonferroni): all looks at one trial together
 * stop a trial that would have been the best with a chance of at most p, as far as the regression
 * holds.
 *
 * The n-th value of a trial of ten values says another thing than that of a trial of a hundred, and
 * how long a running one will be is not known. So nothing is stopped when the curves that ended
 * well differ in length by more than a quarter; those that diverged may have ended early and are
 * left out of this. (Without this, of the runs of the NanoGPT speedrun that would have been the
 * best so far, a fifth was stopped at p = 0.05: bench/stop_replay.c.)
 *
 * With several metrics the curves are of the first one. What a trial ends with in the others is
 * drawn from what its setting lets expect (ended_settings.h), and each outcome says which cost of
 * the first metric puts it on the front. The chance is the mean over these outcomes.
 *
 * Curves that were stopped are left out. They were chosen by their value at some n, which is what
 * the regression is conditional on, so this does not bias it.
 */
#include "features/search/stop/stop_trial.h"

#include "lib/base/reals.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <math.h>

#define LOOK_GROWTH 1.5
#define COLUMNS_MAX 3
#define ROUNDING 1e-9    /* results that differ by less, as a share, are equal */
#define MORE_FOR_SLOPE 3 /* so many more curves than `startup` before the value at n/2 is used */

/* One curve at a look. */
struct look {
    double now, before, end;
};

/* Number of looks at a trial of `length` values; `*out_is_look`: whether one is at value n. */
static unsigned count_looks(size_t length, size_t n, bool *out_is_look)
{
    unsigned looks = 0;
    *out_is_look = false;
    for (double at = 1; at < (double)length; at = ceil(at * LOOK_GROWTH)) {
        looks++;
        *out_is_look |= at == (double)n;
    }
    return looks;
}

/* Costs at the values n and n/2 (rounded up), and at the end. */
static struct look look_at(const struct orch_stop_question *question,
                           const struct orch_stop_curve *curve, size_t n)
{
    return (struct look){.now = orch_stop_cost(question, curve->values[n - 1]),
                         .before = orch_stop_cost(question, curve->values[(n + 1) / 2 - 1]),
                         .end = orch_stop_cost(question, curve->values[curve->count - 1])};
}

static bool is_known(const struct look *look)
{
    return isfinite(look->now) && isfinite(look->before) && isfinite(look->end);
}

/* Takes logarithms of costs that all have one sign; false when they do not. The cost of a larger
 * number of a maximised metric is smaller, so that its order is turned round by the sign. */
static bool take_logs(struct look *looks, size_t count)
{
    bool is_negative = looks[0].now < 0;
    for (size_t i = 0; i < count; i++) {
        const double values[] = {looks[i].now, looks[i].before, looks[i].end};
        for (unsigned k = 0; k < G_N_ELEMENTS(values); k++)
            if (!((is_negative ? -values[k] : values[k]) > 0))
                return false;
    }
    double sign = is_negative ? -1 : 1;
    for (size_t i = 0; i < count; i++)
        looks[i] = (struct look){.now = sign * log(sign * looks[i].now),
                                 .before = sign * log(sign * looks[i].before),
                                 .end = sign * log(sign * looks[i].end)};
    return true;
}

/* The chance that a trial ends with at most `wanted`. */
struct answer {
    double likelihood; /* of the residuals, as a logarithm and up to a constant */
    double chance;
};

static void fill_row(gsl_vector *row, const struct look *look, const struct look *middle)
{
    const double columns[COLUMNS_MAX] = {1, look->now - middle->now,
                                         look->before - look->now - middle->before + middle->now};
    for (size_t k = 0; k < row->size; k++)
        gsl_vector_set(row, k, columns[k]);
}

/* looks[0] is the trial, with the wanted cost as its end; the others are curves that ended. */
static bool regress(const struct look *looks, size_t count, size_t columns, struct answer *out)
{
    size_t n = count - 1;
    gsl_matrix *rows = gsl_matrix_alloc(n, columns),
               *covariance = gsl_matrix_alloc(columns, columns);
    gsl_vector *ends = gsl_vector_alloc(n), *line = gsl_vector_alloc(columns),
               *own = gsl_vector_alloc(columns);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(n, columns);
    for (size_t i = 0; i < n; i++) {
        gsl_vector_view row = gsl_matrix_row(rows, i);
        fill_row(&row.vector, &looks[i + 1], &looks[1]);
        gsl_vector_set(ends, i, looks[i + 1].end);
    }
    fill_row(own, &looks[0], &looks[1]);
    double squares, end = NAN, error = NAN, freedom = (double)(n - columns);
    bool ok = gsl_multifit_linear(rows, ends, line, covariance, &squares, work) == 0 &&
              gsl_multifit_linear_est(own, line, covariance, &end, &error) == 0;
    double width = sqrt(squares / freedom + error * error), above = end - looks[0].end;
    width = hypot(width, ROUNDING * fabs(looks[0].end)); /* residuals may all be 0 */
    out->chance = width > 0 ? gsl_cdf_tdist_Q(above / width, freedom) : above <= 0;
    out->likelihood = -0.5 * (double)n * log(squares / freedom);
    gsl_multifit_linear_free(work);
    gsl_vector_free(own);
    gsl_vector_free(line);
    gsl_vector_free(ends);
    gsl_matrix_free(covariance);
    gsl_matrix_free(rows);
    return ok && isfinite(end) && !isnan(out->chance);
}

/* The chance in the better one of the two scales; false when neither can tell. */
static bool find_chance(const struct look *looks, size_t count, size_t columns, double *out)
{
    struct answer plain, logarithmic;
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    bool has_plain = regress(looks, count, columns, &plain);
    g_autofree struct look *logs = g_memdup2(looks, count * sizeof *looks);
    bool has_logs = take_logs(logs, count) && regress(logs, count, columns, &logarithmic);
    gsl_set_error_handler(handler);
    for (size_t i = 1; has_logs && i < count; i++) /* the density of a value, not its logarithm */
        logarithmic.likelihood -= log(fabs(looks[i].end));
    if (has_logs && (!has_plain || logarithmic.likelihood > plain.likelihood))
        *out = logarithmic.chance;
    else if (has_plain)
        *out = plain.chance;
    return has_plain || has_logs;
}

/* Whether curves differ now: a line through equal values has no slope. */
static bool has_spread(const struct look *looks, size_t count)
{
    bool differs = false;
    for (size_t i = 2; i < count; i++)
        differs |= looks[i].now < looks[1].now || looks[i].now > looks[1].now;
    return differs;
}

/* The results of the curves that ended well, sorted; their number. */
static size_t sorted_ends(const struct orch_stop_question *question, double *out,
                          size_t *out_shortest, size_t *out_longest)
{
    size_t count = 0;
    *out_longest = 0;
    *out_shortest = G_MAXSIZE;
    for (size_t i = 0; i < question->count; i++) {
        const struct orch_stop_curve *curve = &question->curves[i];
        if (curve->end != ORCH_CURVE_ENDED || !curve->count)
            continue;
        double cost = orch_stop_cost(question, curve->values[curve->count - 1]);
        out[count++] = cost;
        if (curve->has_diverged || !isfinite(cost))
            continue; /* it may have ended early */
        *out_longest = MAX(*out_longest, curve->count);
        *out_shortest = MIN(*out_shortest, curve->count);
    }
    orch_reals_sort(out, count);
    return count;
}

/* The chance that the trial is on the front of several metrics: by each cost of the first one that
 * may be wanted. */
static bool find_front_chance(struct look *looks, size_t count, size_t columns,
                              const GArray *wanted, double *out)
{
    *out = 0;
    for (guint i = 0; i < wanted->len; i++) {
        const struct orch_stop_wanted *one = &g_array_index(wanted, struct orch_stop_wanted, i);
        double chance = 1;
        looks[0].end = one->cost;
        if (isfinite(one->cost) && !find_chance(looks, count, columns, &chance))
            return false;
        *out += one->share * chance;
    }
    return true;
}

/* What a trial is to reach. */
struct goal {
    double wanted;    /* a cost; of several metrics the one that is the easiest to reach */
    GArray *on_front; /* several metrics: struct orch_stop_wanted; else NULL */
};

static bool find_goal(const struct orch_stop_question *question, const double *ends,
                      struct goal *out)
{
    *out = (struct goal){.wanted = question->has_front ? -HUGE_VAL
                                                       : ends[(size_t)question->rule->top - 1]};
    if (!question->has_front)
        return isfinite(out->wanted);
    out->on_front = question->front ? question->front->find(question->front->ctx) : NULL;
    for (guint i = 0; out->on_front && i < out->on_front->len; i++)
        out->wanted =
            fmax(out->wanted, g_array_index(out->on_front, struct orch_stop_wanted, i).cost);
    return out->on_front;
}

/* Says why a trial is stopped. */
static char *say_why(const struct orch_stop_question *question, const struct goal *goal,
                     double chance, size_t ended)
{
    const struct orch_stop_curve *own = &question->curves[question->asked];
    g_autofree char *to =
        goal->on_front
            ? g_strdup("on the front")
            : g_strdup_printf("with %.5g or better", (question->is_max ? -1 : 1) * goal->wanted);
    return g_strdup_printf(
        "%.5g after %zu value%s; the chance to end %s is %.2g %%, judged by %zu trials that ended",
        own->values[own->count - 1], own->count, own->count == 1 ? "" : "s", to, 100 * chance,
        ended);
}

/* Regresses the curves at the newest value. */
static char *judge(const struct orch_stop_question *question, const struct goal *goal, double p)
{
    const struct orch_stop_rule *rule = question->rule;
    const struct orch_stop_curve *own = &question->curves[question->asked];
    const size_t n = own->count;
    size_t known = 1;
    g_autofree struct look *looked = g_new(struct look, question->count + 1);
    looked[0] = look_at(question, own, n);
    looked[0].end = goal->wanted;
    for (size_t i = 0; i < question->count; i++) {
        const struct orch_stop_curve *curve = &question->curves[i];
        if (curve->end == ORCH_CURVE_ENDED && !curve->has_diverged && curve->count > n) {
            looked[known] = look_at(question, curve, n);
            known += is_known(&looked[known]);
        }
    }
    const size_t columns =
        n > 1 && isfinite(looked[0].before) && (double)(known - 1) >= rule->startup + MORE_FOR_SLOPE
            ? 3
            : 2;
    double chance;
    if ((double)(known - 1) < rule->startup || !isfinite(looked[0].now) ||
        !has_spread(looked, known) ||
        !(goal->on_front ? find_front_chance(looked, known, columns, goal->on_front, &chance)
                         : find_chance(looked, known, columns, &chance)) ||
        chance >= p)
        return NULL;
    return say_why(question, goal, chance, known - 1);
}

char *orch_stop_forecast(const struct orch_stop_question *question)
{
    const struct orch_stop_rule *rule = question->rule;
    const struct orch_stop_curve *own = &question->curves[question->asked];
    size_t n = own->count, shortest, longest;
    g_autofree double *ends = g_new(double, question->count);
    size_t ended = sorted_ends(question, ends, &shortest, &longest);
    bool is_look;
    unsigned looks = count_looks(longest, n, &is_look);
    struct goal goal;
    if (!is_look || (double)ended < MAX(rule->startup, rule->top) ||
        (double)longest > ORCH_STOP_LENGTHS_MAX * (double)shortest ||
        !find_goal(question, ends, &goal))
        return NULL;
    char *why = NULL;
    if (goal.on_front || orch_stop_cost(question, own->values[n - 1]) < HUGE_VAL)
        why = judge(question, &goal, rule->p / looks);
    else
        why = g_strdup_printf("%.5g after %zu value%s; the best so far is %.5g", own->values[n - 1],
                              n, n == 1 ? "" : "s", (question->is_max ? -1 : 1) * goal.wanted);
    if (goal.on_front)
        g_array_unref(goal.on_front);
    return why;
}
