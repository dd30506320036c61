/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/search_end.h"

#include "core/stats/group.h"
#include "features/search/winner_words.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Settings of a front that are listed at the end of a run, at most. */
#define FRONT_LINES 12

struct ending {
    struct orch_cli *cli;
    struct orch_tried *tried;
    struct orch_stop_trials *stops;
};

/* The first trial of a point that has ended well. */
static const struct orch_plan_item *first_done(const struct orch_plan *plan,
                                               const struct orch_search_point *point)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].cell->point == point && plan->items[i].state == ORCH_PLAN_DONE)
            return &plan->items[i];
    return NULL;
}

/* " by 2 of its 3 trials" where others were cancelled or are not run; " by its 3 trials"; "". */
static char *share_text(const struct orch_plan *plan, const struct orch_search_point *point)
{
    unsigned done = 0, all = 0;
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        all += item->cell->point == point && item->state != ORCH_PLAN_UNUSED;
        done += item->cell->point == point && item->state == ORCH_PLAN_DONE;
    }
    return done < all ? g_strdup_printf(" by %u of its %u trials", done, all)
           : all > 1  ? g_strdup_printf(" by its %u trials", all)
                      : g_strdup("");
}

/* Indices of a front's rows, the best first by the first metric. Caller frees. */
static guint *sort_front(const struct orch_goal_row *rows, const bool *is_on, guint count,
                         bool is_max, unsigned *out_n)
{
    guint *order = g_new(guint, count + 1);
    unsigned n = 0;
    for (guint i = 0; i < count; i++) {
        if (!is_on[i])
            continue;
        unsigned at = n++;
        for (; at > 0 && (is_max ? rows[order[at - 1]].goals.at[0] < rows[i].goals.at[0]
                                 : rows[order[at - 1]].goals.at[0] > rows[i].goals.at[0]);
             at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    *out_n = n;
    return order;
}

/* Prints the settings of the front, the best first by the first metric: at most FRONT_LINES and the
 * knee, which is `best`. */
static void print_front(struct ending *end, const struct orch_plan *plan,
                        const struct orch_tried_points *points, const struct orch_search *search)
{
    const struct orch_goal_row *rows = (const void *)points->rows->data;
    g_autofree bool *is_on = g_new(bool, points->rows->len + 1);
    g_autoptr(GString) metrics = g_string_new(NULL);
    orch_goals_front(search, rows, points->rows->len, is_on);
    unsigned count, shown = 0;
    g_autofree guint *order =
        sort_front(rows, is_on, points->rows->len, orch_goals_goal(search, 0).is_max, &count);
    for (unsigned k = 0; k < orch_goals_count(search); k++)
        g_string_append_printf(metrics, "%s%s %s", k ? ", " : "",
                               orch_goals_goal(search, k).is_max ? "max" : "min",
                               orch_goals_goal(search, k).metric);
    orch_cli_info(
        end->cli,
        "Pareto front of %u setting%s (%s): %u setting%s that no other beats in all metrics",
        points->points, orch_plural(points->points), metrics->str, count, orch_plural(count));
    for (unsigned i = 0; i < count; i++) {
        const struct orch_search_point *point = points->of_rows->pdata[order[i]];
        const struct orch_plan_item *item = first_done(plan, point);
        if (!item || (point != points->best && shown >= FRONT_LINES))
            continue;
        g_autofree char *label = orch_cell_label(item->cell);
        g_autofree char *values = orch_goals_text(search, &rows[order[i]].goals);
        orch_cli_info(end->cli, "  %s: %s (orch show %s)%s", label, values,
                      orch_run_short_key(item->run_key),
                      point == points->best ? ", the knee (the best compromise)" : "");
        shown++;
    }
    if (shown < count)
        orch_cli_info(end->cli, "  and %u more", count - shown);
}

/* Prints how many settings break a limit. */
static void print_broken(struct ending *end, const struct orch_tried_points *points,
                         const struct orch_search *search)
{
    unsigned broken = 0, ended = 0, known[ORCH_SEARCH_BOUNDS_MAX] = {0};
    g_autoptr(GString) limits = g_string_new(NULL);
    for (guint i = 0; i < points->rows->len; i++) {
        const struct orch_goal_row *row = &g_array_index(points->rows, struct orch_goal_row, i);
        ended += row->is_final;
        broken += row->is_final && row->goals.excess > 0;
        for (unsigned k = 0; k < search->bound_count; k++)
            known[k] += isfinite(row->goals.bound_at[k]);
    }
    for (unsigned k = 0; broken && k < search->bound_count; k++)
        if (!known[k] && orch_goals_limit_kind(&search->bounds[k]) != ORCH_LIMIT_PRICE) {
            orch_cli_info(end->cli,
                          "no trial has the metric '%s' of the limit '%s', so no setting can be "
                          "the best",
                          search->bounds[k].metric, search->bounds[k].text);
            return;
        }
    for (unsigned k = 0; k < search->bound_count; k++)
        g_string_append_printf(limits, "%s%s", k ? " and " : "", search->bounds[k].text);
    if (broken)
        orch_cli_info(end->cli, "%u of %u setting%s %s '%s'%s", broken, ended, orch_plural(ended),
                      broken == 1 ? "breaks" : "break", limits->str,
                      broken == ended ? ", so no setting can be the best" : "");
}

/* "best of 17 settings: tune lr=0.01, last val_accuracy 0.93 (orch show 5f3a91c2)". A search
 * whose trials all lack the metric has no answer: one that has few trials, or finds them all in the
 * store, was never asked for a point from which that would have been seen. */
static bool print_best(struct ending *end, const struct orch_plan *plan,
                       const struct orch_search_point *of, GError **error)
{
    struct orch_tried_points points;
    bool ok = orch_tried_read(end->tried, plan, of, &points, error);
    const struct orch_plan_item *best = ok && points.best ? first_done(plan, points.best) : NULL;
    if (ok)
        print_broken(end, &points, of->search);
    if (best && of->search->more_count) {
        print_front(end, plan, &points, of->search);
    } else if (best) {
        g_autofree char *value = orch_number_format(points.best_value);
        g_autofree char *label = orch_cell_label(best->cell);
        if (best->cell->experiment->repeat > 1) /* the value is not that of the repeat "#1" */
            strrchr(label, '#')[-1] = '\0';
        g_autofree char *share = share_text(plan, points.best);
        orch_cli_info(end->cli, "best of %u setting%s: %s, %s %s %s%s (orch show %s)",
                      points.points, orch_plural(points.points), label, of->search->summary,
                      of->search->metric, value, share, orch_run_short_key(best->run_key));
        g_autofree char *way =
            orch_direction_said(of->search->metric, of->search->direction, false);
        if (way)
            orch_cli_info(end->cli, "%s", way);
    }
    if (ok && !plan->expansion->smoke && points.done && points.lacking == points.done) {
        orch_metric_not_found(plan->store, "of the search", of->search->metric, error);
        ok = false;
    }
    orch_tried_points_clear(&points);
    return ok;
}

/* "5 trials were pruned, and 2 stopped trials resumed and ended; this saved about 3 min, 40 %
 * of the time" */
static void print_saved(struct ending *end, const struct orch_stop_effect *effect)
{
    double saved_s = effect->whole_s - effect->stopped_s;
    GString *line = g_string_new(NULL);
    if (effect->pruned)
        g_string_append_printf(line, "%u trial%s pruned", effect->pruned,
                               effect->pruned == 1 ? " was" : "s were");
    if (effect->promoted)
        g_string_append_printf(line, "%s%u stopped trial%s resumed and ended",
                               effect->pruned ? ", and " : "", effect->promoted,
                               orch_plural(effect->promoted));
    if (saved_s > 0) {
        g_autofree char *saved = orch_duration_format(saved_s);
        g_string_append_printf(line, "%s saved about %s, %.0f %% of the time",
                               effect->promoted ? "; this" : ", which", saved,
                               100 * saved_s / (effect->whole_s + effect->ended_s));
    }
    if (line->len)
        orch_cli_info(end->cli, "%s", line->str);
    g_string_free(line, TRUE);
}

static void print_effect(struct ending *end, const char *metric,
                         const struct orch_stop_effect *effect)
{
    if (effect->nothing)
        orch_cli_info(end->cli, "the rule 'stop' could stop no trial%s by its values of '%s': %s",
                      effect->is_in_part ? " in some brackets" : "", metric, effect->nothing);
    if (effect->late > effect->in_time)
        orch_cli_info(
            end->cli,
            "'stop' came too late for %u trial%s, because all values of '%s' arrived at once\n"
            "  hint: print each value when it is known: print(..., flush=True)",
            effect->late, orch_plural(effect->late), metric);
    print_saved(end, effect);
}

static bool print_stopped(struct ending *end, const struct orch_plan *plan,
                          const struct orch_search_point *of, GError **error)
{
    struct orch_stop_effect effect;
    if (!of->search->stop)
        return true;
    bool ok = orch_stop_trials_sum_up(end->stops, plan, of, &effect, error);
    if (ok)
        print_effect(end, of->search->metric, &effect);
    orch_stop_effect_clear(&effect);
    return ok;
}

/* Says of searches whose best point may be so by luck what is known of that, and what gives it
 * fresh repeats; and which point is not the best because a trial of it failed. */
static bool print_doubts(struct ending *end, const struct orch_plan *plan, GError **error)
{
    g_autoptr(GPtrArray) none = g_ptr_array_new();
    g_autoptr(GPtrArray) searches = orch_searched_read(plan, none, error);
    for (guint i = 0; searches && i < searches->len; i++) {
        const struct orch_searched *searched = searches->pdata[i];
        g_autofree char *spoilt = orch_winner_spoilt_text(searched);
        if (spoilt)
            orch_cli_info(end->cli, "%s: %s", searched->name, spoilt);
        if (searched->search->more_count ||
            (!searched->fresh->len && !orch_winner_may_be_luck(searched)))
            continue;
        g_autofree char *trust = orch_winner_trust_text(searched);
        g_autofree char *again = orch_winner_repeat_text(searched);
        if (trust)
            orch_cli_info(end->cli, "%s: %s", searched->name, trust);
        if (again)
            orch_cli_info(end->cli, "  hint: for an unbiased value, repeat the setting: %s", again);
    }
    return searches;
}

bool orch_search_end_print(struct orch_cli *cli, const struct orch_plan *plan,
                           struct orch_tried *tried, struct orch_stop_trials *stops, GError **error)
{
    struct ending end = {cli, tried, stops};
    bool ok = true;
    for (guint i = 0; ok && i < plan->expansion->points->len; i++) {
        const struct orch_search_point *point = plan->expansion->points->pdata[i];
        if (point->number == 1)
            ok = print_best(&end, plan, point, error) && print_stopped(&end, plan, point, error);
    }
    return ok && print_doubts(&end, plan, error);
}
