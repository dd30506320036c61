/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/goals.h"

#include "core/plan/setting_limits.h"
#include "core/stats/numbers.h"
#include "lib/base/random.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Weight of the sum beside the largest share (Knowles 2006). */
#define SUM_WEIGHT 0.05

bool orch_goals_are_meant(const struct orch_search *search)
{
    return search->more_count || search->bound_count;
}

unsigned orch_goals_count(const struct orch_search *search)
{
    return 1 + search->more_count;
}

struct orch_goal orch_goals_goal(const struct orch_search *search, unsigned number)
{
    if (number)
        return search->more[number - 1];
    return (struct orch_goal){.metric = search->metric,
                              .summary = search->summary,
                              .is_max = search->is_max,
                              .direction = search->direction,
                              .has_until = search->has_until,
                              .until = search->until,
                              .until_number = search->until_number};
}

/* ---- values ---------------------------------------------------------------------------------- */

void orch_goals_read(const struct orch_search *search, const struct orch_run *run,
                     const struct orch_run_numbers *numbers, struct orch_goals *out)
{
    *out = (struct orch_goals){.excess = 0};
    for (unsigned k = 0; k < orch_goals_count(search); k++) {
        const struct orch_goal goal = orch_goals_goal(search, k);
        enum orch_aggregate aggregate = ORCH_AGGREGATE_LAST;
        orch_aggregate_parse(goal.summary, &aggregate);
        out->at[k] = orch_run_numbers_get(numbers, goal.metric, aggregate, NULL, NULL);
    }
    out->excess = orch_limits_excess(search, run, numbers, out->bound_at);
}

bool orch_goals_reach(const struct orch_search *search, const struct orch_goals *goals)
{
    for (unsigned k = 0; k < orch_goals_count(search); k++) {
        const struct orch_goal goal = orch_goals_goal(search, k);
        const double until = goal.is_max && goals->at[k] > 1 ? goal.until_number : goal.until;
        if (!goal.has_until || !isfinite(goals->at[k]) ||
            (goal.is_max ? goals->at[k] < until : goals->at[k] > until))
            return false;
    }
    return goals->excess <= 0;
}

char *orch_goals_text(const struct orch_search *search, const struct orch_goals *goals)
{
    GString *text = g_string_new(NULL);
    for (unsigned k = 0; k < orch_goals_count(search); k++) {
        g_autofree char *value = orch_number_format(goals->at[k]);
        g_string_append_printf(text, "%s%s %s", k ? ", " : "", orch_goals_goal(search, k).metric,
                               value);
    }
    return g_string_free(text, FALSE);
}

/* ---- the front ------------------------------------------------------------------------------- */

double *orch_goals_points(const struct orch_search *search, const struct orch_goal_row *rows,
                          size_t count)
{
    const unsigned goals = orch_goals_count(search);
    double *points = g_new(double, count *goals + 1);
    for (size_t i = 0; i < count; i++)
        for (unsigned k = 0; k < goals; k++) {
            const double value = rows[i].goals.at[k];
            const bool is_kept = rows[i].is_final && rows[i].goals.excess <= 0;
            points[i * goals + k] = !is_kept                            ? (double)NAN
                                    : orch_goals_goal(search, k).is_max ? -value
                                                                        : value;
        }
    return points;
}

size_t orch_goals_front(const struct orch_search *search, const struct orch_goal_row *rows,
                        size_t count, bool *out_is_on)
{
    const unsigned goals = orch_goals_count(search);
    g_autofree double *points = orch_goals_points(search, rows, count);
    orch_front_find(points, count, goals, out_is_on);
    return orch_front_knee(points, count, goals, out_is_on);
}

double *orch_goals_volumes(const struct orch_search *search, const struct orch_goal_row *rows,
                           size_t count)
{
    const unsigned goals = orch_goals_count(search);
    double best[ORCH_SEARCH_GOALS_MAX], worst[ORCH_SEARCH_GOALS_MAX], box = 1;
    double *volumes = g_new0(double, count + 1);
    g_autofree double *points = orch_goals_points(search, rows, count);
    g_autofree double *front = g_new(double, count *goals + 1);
    g_autofree bool *is_on = g_new0(bool, count + 1);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        is_on[i] = isfinite(points[i * goals]);
    if (!orch_front_ends(points, count, goals, is_on, best, worst))
        return volumes;
    for (unsigned k = 0; k < goals; k++)
        box *= worst[k] - best[k];
    for (size_t i = 0; i < count; i++) {
        const double *point = points + i * goals;
        bool is_better = isfinite(point[0]);
        volumes[i] = i ? volumes[i - 1] : 0;
        memcpy(front + kept * goals, point, goals * sizeof *front);
        if (is_better && box > 0) { /* what is dominated adds nothing, and is dropped */
            orch_front_find(front, kept + 1, goals, is_on);
            kept += is_on[kept];
            volumes[i] = orch_front_volume(front, kept, goals, worst) / box;
        }
    }
    return volumes;
}

/* ---- one number for a sampler ---------------------------------------------------------------- */

static void draw_weights(uint64_t seed, unsigned goals, double *out)
{
    double sum = 0;
    for (unsigned k = 0; k < goals; k++)
        sum += out[k] = -log(1 - orch_random_unit(&seed));
    for (unsigned k = 0; k < goals; k++)
        out[k] /= sum;
}

/* The ends of each goal between which its shares are measured: those of the front, or where these
 * are equal the best and the worst value of all points. False: there are no points. */
static bool find_ends(const double *points, size_t count, unsigned goals, double *best,
                      double *worst)
{
    double all_best[ORCH_SEARCH_GOALS_MAX], all_worst[ORCH_SEARCH_GOALS_MAX];
    g_autofree bool *is_on = g_new(bool, count + 1);
    orch_front_find(points, count, goals, is_on);
    if (!orch_front_ends(points, count, goals, is_on, best, worst))
        return false;
    for (size_t i = 0; i < count; i++) {
        is_on[i] = true;
        for (unsigned k = 0; k < goals; k++)
            is_on[i] = is_on[i] && isfinite(points[i * goals + k]);
    }
    orch_front_ends(points, count, goals, is_on, all_best, all_worst);
    for (unsigned k = 0; k < goals; k++) {
        worst[k] = worst[k] > best[k] ? worst[k] : all_worst[k];
        worst[k] = worst[k] > best[k] ? worst[k] : best[k] + 1;
    }
    return true;
}

void orch_goals_scalars(const struct orch_search *search, const struct orch_goal_row *rows,
                        size_t count, uint64_t seed, double *out)
{
    const unsigned goals = orch_goals_count(search);
    double weights[ORCH_SEARCH_GOALS_MAX], best[ORCH_SEARCH_GOALS_MAX],
        worst[ORCH_SEARCH_GOALS_MAX], low = HUGE_VAL, high = -HUGE_VAL;
    g_autofree double *points = orch_goals_points(search, rows, count);
    const bool has_any = find_ends(points, count, goals, best, worst);
    draw_weights(seed, goals, weights);
    for (size_t i = 0; i < count; i++) {
        double most = 0, sum = 0;
        for (unsigned k = 0; k < goals && has_any; k++) {
            const double share = (points[i * goals + k] - best[k]) / (worst[k] - best[k]);
            most = k ? fmax(most, weights[k] * share) : weights[k] * share;
            sum += weights[k] * share;
        }
        out[i] = has_any && isfinite(sum) ? most + SUM_WEIGHT * sum : (double)NAN;
        low = isfinite(out[i]) ? fmin(low, out[i]) : low;
        high = isfinite(out[i]) ? fmax(high, out[i]) : high;
    }
    const double range = high > low ? high - low : 1;
    for (size_t i = 0; i < count; i++)
        if (rows[i].is_final && rows[i].goals.excess > 0)
            out[i] = (has_any ? high : 0) + range * (0.1 + fmin(rows[i].goals.excess, 1));
}

enum orch_limit_kind orch_goals_limit_kind(const struct orch_search_bound *bound)
{
    static const char *const reserved[] = {
        [ORCH_LIMIT_METRIC] = "", [ORCH_LIMIT_TIME] = "wall_s", [ORCH_LIMIT_PRICE] = "price"};
    for (unsigned kind = ORCH_LIMIT_TIME; kind < G_N_ELEMENTS(reserved); kind++)
        if (strcmp(bound->metric, reserved[kind]) == 0)
            return (enum orch_limit_kind)kind;
    return ORCH_LIMIT_METRIC;
}

const struct orch_search_bound *orch_goals_broken_by_time(const struct orch_search *search,
                                                          double wall_s, double usd)
{
    for (unsigned k = 0; k < search->bound_count; k++) {
        const struct orch_search_bound *bound = &search->bounds[k];
        const enum orch_limit_kind kind = orch_goals_limit_kind(bound);
        const bool is_time = kind == ORCH_LIMIT_TIME;
        if (kind != ORCH_LIMIT_METRIC &&
            orch_limit_excess(bound, is_time ? wall_s : usd,
                              is_time ? orch_limit_in(bound, "s") : bound->value) > 0)
            return bound;
    }
    return NULL;
}
