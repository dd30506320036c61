/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules that compare a trial with the others at the same value: median, vizier, asha,
 * hyperband. */
#include "features/search/stop/stop_trial.h"

#include "lib/base/reals.h"
#include "lib/base/text.h"

#include <math.h>

#define BRACKETS_MAX 32
/* The rules of a median judge each value up to this one, then at least every hundredth part more.
 */
#define EACH_UP_TO 100
/* A trial's first check under asha comes after this part of its values. After less of them slow
 * starters end that would have been the best (bench/results/2026-11-30-search.md). */
#define DEFAULT_MIN_PART 12

/* ---- medians --------------------------------------------------------------------------------- */

static double cost_there(const struct orch_stop_question *question,
                         const struct orch_stop_curve *curve, size_t n)
{
    return orch_stop_cost(question, curve->values[n - 1]);
}

static double mean_cost(const struct orch_stop_question *question,
                        const struct orch_stop_curve *curve, size_t n)
{
    double sum = 0;
    if (curve->sums)
        return curve->sums[n - 1] / (double)n;
    for (size_t i = 0; i < n; i++)
        sum += orch_stop_cost(question, curve->values[i]) / (double)n;
    return sum;
}

/* The smallest cost so far; infinite when the newest value is NaN. */
static double own_cost(const struct orch_stop_question *question,
                       const struct orch_stop_curve *curve)
{
    double best = orch_stop_cost(question, curve->values[curve->count - 1]);
    for (size_t i = 0; isfinite(best) && i < curve->count; i++)
        best = fmin(best, orch_stop_cost(question, curve->values[i]));
    return best;
}

/* Stops a trial whose best value so far is strictly worse than the median of what the trials that
 * ended give at its n-th value. `of` says which: "", or of their averages. */
static char *ask_median(const struct orch_stop_question *question,
                        double (*cost_of)(const struct orch_stop_question *question,
                                          const struct orch_stop_curve *curve, size_t n),
                        const char *of)
{
    const struct orch_stop_curve *own = &question->curves[question->asked];
    size_t n = own->count, others = 0, ended = 0;
    if ((double)n <= question->rule->warmup || n % MAX(n / EACH_UP_TO, 1) != 0)
        return NULL;
    g_autofree double *costs = g_new(double, question->count);
    for (size_t i = 0; i < question->count; i++) {
        const struct orch_stop_curve *curve = &question->curves[i];
        if (i == question->asked || curve->end != ORCH_CURVE_ENDED)
            continue;
        ended++;
        if (curve->count >= n)
            costs[others++] = cost_of(question, curve, n);
    }
    if ((double)ended < question->rule->startup || !others)
        return NULL;
    double median = orch_reals_median(costs, others), cost = own_cost(question, own);
    if (!(cost > median))
        return NULL;
    double sign = question->is_max ? -1 : 1;
    return g_strdup_printf("%.5g after %zu value%s; the median%s of %zu ended trial%s is %.5g",
                           isfinite(cost) ? sign * cost : (double)NAN, n, n == 1 ? "" : "s", of,
                           others, orch_plural((int64_t)others), sign * median);
}

char *orch_stop_median(const struct orch_stop_question *question)
{
    return ask_median(question, cost_there, "");
}

char *orch_stop_vizier(const struct orch_stop_question *question)
{
    return ask_median(question, mean_cost, " of the averages");
}

/* ---- successive halving ---------------------------------------------------------------------- */

/* How many times values have to be multiplied by the factor to get from min to max. */
unsigned orch_stop_last_bracket(const struct orch_stop_rule *rule)
{
    unsigned last = 0;
    for (double at = rule->min * rule->factor; at <= rule->max && last < BRACKETS_MAX - 1;
         at *= rule->factor)
        last++;
    return last;
}

/* The bracket of a trial. Bracket s gets (last + 1) / (s + 1) * factor^s trials of each round; they
 * are dealt one by one to the bracket that lacks most. */
unsigned orch_stop_bracket_of(const struct orch_stop_rule *rule, unsigned number)
{
    unsigned last = orch_stop_last_bracket(rule);
    double share[BRACKETS_MAX], dealt[BRACKETS_MAX] = {0}, all = 0;
    for (unsigned s = 0; s <= last; s++) {
        share[s] = ceil((last + 1.0) / (s + 1.0) * pow(rule->factor, s));
        all += share[s];
    }
    unsigned to = last, round = (unsigned)fmod(number ? number - 1.0 : 0, fmin(all, 1e6)) + 1;
    for (unsigned i = 1; i <= round; i++) {
        double most = -HUGE_VAL;
        for (unsigned s = last + 1; s-- > 0;)
            if (share[s] * i / all - dealt[s] > most + 1e-9) {
                most = share[s] * i / all - dealt[s];
                to = s;
            }
        dealt[to]++;
    }
    return to;
}

/* Whether a trial is judged at its n-th value: one of start, start*factor, ... below `end`. */
static bool is_rung(double start, double factor, double end, size_t n)
{
    double at = start;
    while (round(at) < (double)n)
        at *= factor;
    return round(at) <= (double)n && (double)n < end;
}

/* At value n: goes on when it is among the best 1/factor, at least one, of the trials of its
 * bracket that have come so far. Equal values are equally good. */
static char *ask_rung(const struct orch_stop_question *question, int bracket)
{
    const struct orch_stop_curve *own = &question->curves[question->asked];
    size_t n = own->count, all = 0, better = 0;
    double cost = orch_stop_cost(question, own->values[n - 1]);
    for (size_t i = 0; i < question->count; i++) {
        const struct orch_stop_curve *curve = &question->curves[i];
        if (curve->count < n ||
            (bracket >= 0 && (int)orch_stop_bracket_of(question->rule, curve->number) != bracket))
            continue;
        all++;
        better += orch_stop_cost(question, curve->values[n - 1]) < cost;
    }
    size_t kept = MAX((size_t)((double)all / question->rule->factor), 1);
    if (better < kept)
        return NULL;
    g_autofree char *of = bracket >= 0 ? g_strdup_printf(" of bracket %d", bracket) : g_strdup("");
    return g_strdup_printf("%.5g after %zu value%s; %zu of %zu trials%s are better, the best %zu "
                           "go on",
                           own->values[n - 1], n, n == 1 ? "" : "s", better, all, of, kept);
}

double orch_stop_asha_min(const struct orch_stop_question *question)
{
    if (question->rule->min > 0)
        return question->rule->min;
    g_autofree double *lengths = g_new(double, question->count + 1);
    size_t n = 0;
    for (size_t i = 0; i < question->count; i++) {
        const struct orch_stop_curve *curve = &question->curves[i];
        if (curve->end == ORCH_CURVE_ENDED && !curve->has_diverged)
            lengths[n++] = (double)curve->count;
    }
    return n ? fmax(round(orch_reals_median(lengths, n) / DEFAULT_MIN_PART), 1) : HUGE_VAL;
}

char *orch_stop_asha(const struct orch_stop_question *question)
{
    size_t n = question->curves[question->asked].count;
    return is_rung(orch_stop_asha_min(question), question->rule->factor, HUGE_VAL, n)
               ? ask_rung(question, -1)
               : NULL;
}

/* Nothing is stopped in bracket 0, which begins at max. */
double orch_stop_bracket_start(const struct orch_stop_rule *rule, unsigned bracket)
{
    return rule->max / pow(rule->factor, bracket);
}

char *orch_stop_hyperband(const struct orch_stop_question *question)
{
    const struct orch_stop_rule *rule = question->rule;
    const struct orch_stop_curve *own = &question->curves[question->asked];
    unsigned bracket = orch_stop_bracket_of(rule, own->number);
    double start = orch_stop_bracket_start(rule, bracket);
    return is_rung(start, rule->factor, rule->max, own->count) ? ask_rung(question, (int)bracket)
                                                               : NULL;
}
