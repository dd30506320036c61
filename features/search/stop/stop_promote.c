/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which trial that was stopped goes on after all, under asha and hyperband.
 *
 * A trial is stopped by what the others had when it came. Those that come later may be worse, so
 * that it belongs to the best 1/factor of its rung after all. Asynchronous successive halving (Li
 * et al. 2020) pauses every trial at each rung and lets the best 1/factor of it go on, whenever
 * they are; with this step the form that stops trials ends with the same ones. */
#include "features/search/stop/stop_trial.h"

#include "lib/base/reals.h"

#include <math.h>
#include <stdlib.h>

#define RUNGS_MAX 64

/* The rungs of a bracket, and which curves are in it. */
struct ladder {
    const struct orch_stop_question *question;
    const bool *is_in;
    size_t rungs[RUNGS_MAX];
    unsigned count;
    int bracket; /* -1: there is one alone */
};

/* A trial that may go on. */
struct found {
    size_t index, rung, better, all, kept;
    double cost;
    int bracket;
};

/* Fills in the rungs that a curve has reached: start, start*factor, ... below `end`. */
static void find_rungs(struct ladder *ladder, double start, double end)
{
    const struct orch_stop_question *question = ladder->question;
    size_t longest = 0;
    for (size_t i = 0; i < question->count; i++)
        longest = MAX(longest, ladder->is_in[i] ? question->curves[i].count : 0);
    ladder->count = 0;
    for (double at = start;
         ladder->count < RUNGS_MAX && round(at) <= (double)longest && round(at) < end;
         at *= question->rule->factor)
        if (round(at) >= 1)
            ladder->rungs[ladder->count++] = (size_t)round(at);
}

static double cost_at(const struct orch_stop_question *question, size_t index, size_t n)
{
    return orch_stop_cost(question, question->curves[index].values[n - 1]);
}

/* Whether a trial was judged last at this rung, and may go on from there. */
static bool is_candidate(const struct ladder *ladder, size_t index, unsigned rung)
{
    const struct orch_stop_curve *curve = &ladder->question->curves[index];
    return ladder->is_in[index] && curve->end == ORCH_CURVE_STOPPED &&
           curve->count >= ladder->rungs[rung] &&
           (rung + 1 == ladder->count || curve->count < ladder->rungs[rung + 1]) &&
           curve->promoted_at < ladder->rungs[rung];
}

static bool is_at_end(const struct orch_stop_question *question, size_t index)
{
    struct orch_stop_question own = *question;
    own.asked = index;
    return orch_stop_is_at_end(&own);
}

/* Takes the best candidate of a rung, if it is better than the one that was found so far. `costs`
 * has room for all curves. */
static void look_at_rung(const struct ladder *ladder, unsigned rung, double *costs,
                         struct found *inout)
{
    const struct orch_stop_question *question = ladder->question;
    const size_t n = ladder->rungs[rung];
    size_t all = 0, better = 0;
    struct found here = {.rung = n, .cost = HUGE_VAL, .bracket = ladder->bracket};
    for (size_t i = 0; i < question->count; i++)
        if (ladder->is_in[i] && question->curves[i].count >= n)
            costs[all++] = cost_at(question, i, n);
    here.all = all;
    here.kept = (size_t)((double)all / question->rule->factor);
    if (!here.kept || n < inout->rung)
        return;
    for (size_t i = 0; i < question->count; i++)
        if (is_candidate(ladder, i, rung) && cost_at(question, i, n) < here.cost &&
            !is_at_end(question, i)) {
            here.index = i;
            here.cost = cost_at(question, i, n);
        }
    qsort(costs, all, sizeof *costs, orch_compare_reals);
    while (better < all && costs[better] < here.cost)
        better++;
    here.better = better;
    if (isfinite(here.cost) && better < here.kept && (n > inout->rung || here.cost < inout->cost))
        *inout = here;
}

static char *explain(const struct orch_stop_question *question, const struct found *found)
{
    g_autofree char *of =
        found->bracket >= 0 ? g_strdup_printf(" of bracket %d", found->bracket) : g_strdup("");
    return g_strdup_printf("%.5g after %zu value%s; %zu of %zu trials%s are better, the best %zu "
                           "go on",
                           question->curves[found->index].values[found->rung - 1], found->rung,
                           found->rung == 1 ? "" : "s", found->better, found->all, of, found->kept);
}

static void look_at_ladder(const struct ladder *ladder, double *costs, struct found *inout)
{
    for (unsigned rung = ladder->count; rung-- > 0;)
        look_at_rung(ladder, rung, costs, inout);
}

char *orch_stop_promote_asha(const struct orch_stop_question *question, size_t *out_index)
{
    g_autofree double *costs = g_new(double, question->count + 1);
    g_autofree bool *is_in = g_new(bool, question->count + 1);
    struct found found = {0};
    struct ladder ladder = {.question = question, .is_in = is_in, .bracket = -1};
    for (size_t i = 0; i < question->count; i++)
        is_in[i] = true;
    find_rungs(&ladder, orch_stop_asha_min(question), HUGE_VAL);
    look_at_ladder(&ladder, costs, &found);
    if (!found.rung)
        return NULL;
    *out_index = found.index;
    return explain(question, &found);
}

char *orch_stop_promote_hyperband(const struct orch_stop_question *question, size_t *out_index)
{
    const struct orch_stop_rule *rule = question->rule;
    g_autofree double *costs = g_new(double, question->count + 1);
    g_autofree bool *is_in = g_new(bool, question->count + 1);
    g_autofree unsigned *brackets = g_new(unsigned, question->count + 1);
    struct found found = {0};
    for (size_t i = 0; i < question->count; i++)
        brackets[i] = orch_stop_bracket_of(rule, question->curves[i].number);
    for (unsigned bracket = 1; bracket <= orch_stop_last_bracket(rule); bracket++) {
        struct ladder ladder = {.question = question, .is_in = is_in, .bracket = (int)bracket};
        for (size_t i = 0; i < question->count; i++)
            is_in[i] = brackets[i] == bracket;
        find_rungs(&ladder, orch_stop_bracket_start(rule, bracket), rule->max);
        look_at_ladder(&ladder, costs, &found);
    }
    if (!found.rung)
        return NULL;
    *out_index = found.index;
    return explain(question, &found);
}
