/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/stop_trials.h"

#include "features/search/stop/stop_trial.h"
#include "features/search/stop_curves.h"
#include "features/search/trial_attempts.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* So many trials at most are looked at for values that came too late. */
#define LATE_MAX 100

struct orch_stop_trials {
    struct orch_stop_curves *curves;
    GHashTable *promoted; /* item -> values that it had when it went on, GUINT_TO_POINTER */
    GHashTable *seen;     /* item that was judged and has ended -> values that were, while it ran */
};

struct orch_stop_trials *orch_stop_trials_new(void)
{
    struct orch_stop_trials *trials = g_new0(struct orch_stop_trials, 1);
    trials->curves = orch_stop_curves_new();
    trials->promoted = g_hash_table_new(NULL, NULL);
    trials->seen = g_hash_table_new(NULL, NULL);
    return trials;
}

void orch_stop_trials_free(struct orch_stop_trials *trials)
{
    if (!trials)
        return;
    orch_stop_curves_free(trials->curves);
    g_hash_table_unref(trials->promoted);
    g_hash_table_unref(trials->seen);
    g_free(trials);
}

const char *orch_stop_trials_metric(const struct orch_plan_item *item)
{
    const struct orch_search *search = item->cell->point ? item->cell->point->search : NULL;
    bool is_judged = !item->was_pruned || item->goes_on_from;
    return search && search->stop && is_judged ? search->metric : NULL;
}

void orch_stop_trials_note_end(struct orch_stop_trials *trials, const struct orch_plan_item *item)
{
    guint seen = orch_stop_curves_note_end(trials->curves, item);
    if (orch_stop_trials_metric(item)) /* else it runs to its end, as the user wishes */
        g_hash_table_insert(trials->seen, (gpointer)(uintptr_t)item, GUINT_TO_POINTER(seen));
}

/* ---- the curves of a search ------------------------------------------------------------------ */

/* The curves of a search for a question, and the items that they are of. */
struct asked {
    GArray *curves;                     /* struct orch_stop_curve */
    GPtrArray *items;                   /* const struct orch_plan_item * */
    const struct orch_trial_curve *own; /* the first one; NULL: none */
};

static void asked_clear(struct asked *asked)
{
    g_clear_pointer(&asked->curves, g_array_unref);
    g_clear_pointer(&asked->items, g_ptr_array_unref);
}

static bool has_run(const struct orch_plan_item *item)
{
    return (item->state == ORCH_PLAN_DONE || item->state == ORCH_PLAN_PRUNED) && item->run_key;
}

static void append(struct asked *asked, const struct orch_trial_curve *curve,
                   const struct orch_plan_item *item, enum orch_curve_state end, size_t promoted_at)
{
    const struct orch_cell *cell = item->cell;
    if (curve->has_restarted)
        return;
    const struct orch_stop_curve one = {
        .values = (const double *)(const void *)curve->so_far->data,
        .sums = (const double *)(const void *)curve->sums->data,
        .count = curve->so_far->len,
        .end = end,
        .has_diverged = curve->has_diverged,
        /* repeats are run after all points, so that the numbers go by the order of starting */
        .number = ((unsigned)cell->repeat - 1) * cell->point->search->trials + cell->point->number,
        .promoted_at = promoted_at,
    };
    g_array_append_val(asked->curves, one);
    g_ptr_array_add(asked->items, (gpointer)(uintptr_t)item);
}

static void append_running(void *ctx, const struct orch_trial_curve *curve)
{
    struct asked *asked = ctx;
    if (curve != asked->own)
        append(asked, curve, curve->running, ORCH_CURVE_RUNNING, 0);
}

/* Values with which a stopped trial has gone on before. */
static size_t promoted_at(const struct orch_stop_trials *trials, const struct orch_plan_item *item)
{
    if (item->stays_pruned || !item->cell->wanted)
        return SIZE_MAX;
    return GPOINTER_TO_UINT(g_hash_table_lookup(trials->promoted, item));
}

/* Reads the curves of the search of `of`, with those of the running trial `own` first. The caller
 * clears `out`, after an error, too. */
static bool read_curves(struct orch_stop_trials *trials, const struct orch_plan *plan,
                        const struct orch_search_point *of, const struct orch_trial_curve *own,
                        struct asked *out, GError **error)
{
    *out = (struct asked){g_array_new(FALSE, FALSE, sizeof(struct orch_stop_curve)),
                          g_ptr_array_new(), own};
    if (own)
        append(out, own, own->running, ORCH_CURVE_RUNNING, 0);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        if (!orch_stop_curves_is_of(item->cell, of) || !has_run(item) ||
            (own && item == own->running))
            continue;
        const struct orch_trial_curve *curve =
            orch_stop_curve_stored(trials->curves, plan, item, error);
        if (!curve)
            return false;
        bool is_done = item->state == ORCH_PLAN_DONE;
        append(out, curve, item, is_done ? ORCH_CURVE_ENDED : ORCH_CURVE_STOPPED,
               is_done ? 0 : promoted_at(trials, item));
    }
    orch_stop_curves_each_running(trials->curves, of, append_running, out);
    return true;
}

static struct orch_stop_question question_of(const struct orch_search *search,
                                             const struct asked *asked)
{
    return (struct orch_stop_question){
        .rule = search->stop,
        .is_max = search->is_max,
        .has_front = search->more_count > 0,
        .curves = (const struct orch_stop_curve *)(const void *)asked->curves->data,
        .count = asked->curves->len,
    };
}

/* ---- the rule -------------------------------------------------------------------------------- */

char *orch_stop_trials_judge(struct orch_stop_trials *trials, const struct orch_plan *plan,
                             const struct orch_running *running, int64_t step, double value,
                             const struct orch_stop_front *front)
{
    const struct orch_search_point *point = running->item->cell->point;
    struct orch_trial_curve *curve = orch_stop_curve_running(trials->curves, plan, running);
    struct asked asked;
    if (!orch_stop_curve_put(curve, step, value) || curve->has_restarted)
        return NULL;
    g_autoptr(GError) problem = NULL;
    char *why = NULL;
    if (read_curves(trials, plan, point, curve, &asked, &problem)) {
        struct orch_stop_question question = question_of(point->search, &asked);
        question.front = front;
        why = orch_stop_trial_ask(&question);
    } else {
        g_debug("the curves of a search cannot be read: %s", problem->message);
    }
    asked_clear(&asked);
    return why;
}

bool orch_stop_trials_promote(struct orch_stop_trials *trials, const struct orch_plan *plan,
                              const struct orch_search_point *of, unsigned *out_index,
                              char **out_why, GError **error)
{
    struct asked asked;
    size_t found;
    bool ok = read_curves(trials, plan, of, NULL, &asked, error);
    *out_why = NULL;
    if (ok) {
        const struct orch_stop_question question = question_of(of->search, &asked);
        *out_why = orch_stop_trial_promote(&question, &found);
    }
    if (*out_why) {
        const struct orch_plan_item *item = asked.items->pdata[found];
        *out_index = (unsigned)(item - plan->items);
    }
    asked_clear(&asked);
    return ok;
}

/* The mean of what the trials of a point would have changed until their end. */
static double change_left(const struct asked *asked, const struct orch_search_point *point)
{
    const struct orch_stop_curve *curves = (const void *)asked->curves->data;
    const size_t count = asked->curves->len;
    double sum = 0, trials = 0;
    for (size_t i = 0; i < count; i++) {
        const struct orch_plan_item *item = asked->items->pdata[i];
        if (item->cell->point != point || curves[i].end == ORCH_CURVE_RUNNING)
            continue;
        sum += curves[i].end == ORCH_CURVE_STOPPED ? orch_stop_change_left(curves, count, i) : 0;
        trials++;
    }
    return trials > 0 ? sum / trials : 0;
}

bool orch_stop_trials_complete(struct orch_stop_trials *trials, const struct orch_plan *plan,
                               const struct orch_search_point *of,
                               struct orch_tried_points *inout_points, GError **error)
{
    const double sign = of->search->is_max ? -1 : 1;
    struct asked asked;
    bool ok = read_curves(trials, plan, of, NULL, &asked, error);
    for (guint i = 0; ok && i < inout_points->bounds->len; i++) {
        const guint index = g_array_index(inout_points->bounds, guint, i);
        struct orch_sampled *sampled =
            &g_array_index(inout_points->sampled, struct orch_sampled, index);
        if (sampled->state == ORCH_SAMPLED_ENDED)
            sampled->value += sign * change_left(&asked, inout_points->of_rows->pdata[index]);
        if (inout_points->best)
            sampled->value = fmax(sampled->value, sign * inout_points->best_value);
    }
    asked_clear(&asked);
    return ok;
}

bool orch_stop_trials_note_promoted(struct orch_stop_trials *trials, const struct orch_plan *plan,
                                    unsigned index, GError **error)
{
    struct orch_plan_item *item = &plan->items[index];
    const struct orch_trial_curve *curve =
        orch_stop_curve_stored(trials->curves, plan, item, error);
    if (curve)
        g_hash_table_insert(trials->promoted, item, GUINT_TO_POINTER(curve->so_far->len));
    return curve;
}

/* ---- what it has done ------------------------------------------------------------------------ */

/* A trial that has ended or was stopped, with its attempts before. */
struct tried {
    double seconds; /* of its last attempt, and of all if one was stopped */
    bool was_stopped;
};

static bool read_tried(const struct orch_stop_trials *trials, const struct orch_plan *plan,
                       const struct orch_plan_item *item, struct tried *out, GError **error)
{
    struct orch_run *run = orch_store_run(plan->store, item->run_key, error);
    g_autoptr(GPtrArray) attempts =
        run ? orch_stop_curves_attempts(trials->curves, plan, item, run, error) : NULL;
    if (attempts) {
        *out = (struct tried){run->wall_ms / 1e3, item->state == ORCH_PLAN_PRUNED ||
                                                      orch_trial_attempts_stopped(attempts)};
        for (guint i = 0; out->was_stopped && i < attempts->len; i++)
            out->seconds += ((const struct orch_history_row *)attempts->pdata[i])->wall_ms / 1e3;
    }
    orch_run_free(run);
    return attempts;
}

static void add_tried(struct orch_stop_effect *out, const struct tried *tried, bool is_pruned)
{
    out->pruned += is_pruned;
    out->promoted += tried->was_stopped && !is_pruned;
    if (tried->was_stopped)
        out->stopped_s += tried->seconds;
    else
        out->ended_s += tried->seconds;
    if (tried->was_stopped && !is_pruned)
        out->back_s += tried->seconds;
    out->ended += !tried->was_stopped;
}

/* What the trials that were ever stopped would have taken, by the mean of those that never were,
 * or else of those that have gone on to their end. */
static double whole_s(const struct orch_stop_effect *effect)
{
    unsigned stopped = effect->pruned + effect->promoted;
    if (effect->ended)
        return effect->ended_s / effect->ended * stopped;
    return effect->promoted ? effect->back_s / effect->promoted * stopped : (double)NAN;
}

/* ---- why it has done nothing ----------------------------------------------------------------- */

/* When the run of an item began and ended. */
struct span {
    int64_t began_ns, ended_ns;
};

static GArray *spans_of(const struct orch_plan *plan, const GPtrArray *items, GError **error)
{
    g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(struct span));
    for (guint i = 0; i < items->len; i++) {
        const struct orch_plan_item *item = items->pdata[i];
        struct orch_run *run = orch_store_run(plan->store, item->run_key, error);
        if (!run)
            return NULL;
        const struct span span = {run->started_ns, run->ended_ns};
        g_array_append_val(spans, span);
        orch_run_free(run);
    }
    return g_steal_pointer(&spans);
}

/* Whether the rule, asked about a trial by those that had ended when it began, would have stopped
 * it at a value that came too late to be judged. */
static bool is_late(const struct orch_stop_trials *trials, const struct orch_search *search,
                    const struct asked *asked, const GArray *spans, guint index)
{
    const int64_t began_ns = g_array_index(spans, struct span, index).began_ns;
    g_autoptr(GArray) before = g_array_new(FALSE, FALSE, sizeof(struct orch_stop_curve));
    struct orch_stop_curve own = g_array_index(asked->curves, struct orch_stop_curve, index);
    void *seen;
    if (own.end != ORCH_CURVE_ENDED ||
        !g_hash_table_lookup_extended(trials->seen, asked->items->pdata[index], NULL, &seen))
        return false;
    const size_t count = own.count;
    own.end = ORCH_CURVE_RUNNING;
    g_array_append_val(before, own);
    for (guint i = 0; i < spans->len; i++)
        if (i != index && g_array_index(spans, struct span, i).ended_ns <= began_ns)
            g_array_append_val(before, g_array_index(asked->curves, struct orch_stop_curve, i));
    const struct asked known = {.curves = before};
    const struct orch_stop_question question = question_of(search, &known);
    for (size_t n = GPOINTER_TO_UINT(seen) + 1; n < count; n++) {
        g_array_index(before, struct orch_stop_curve, 0).count = n;
        g_autofree char *why = orch_stop_trial_ask(&question);
        if (why)
            return true;
    }
    return false;
}

/* Values of the longest trial that ended. */
static size_t longest_ended(const struct asked *asked)
{
    size_t longest = 0;
    for (guint i = 0; i < asked->curves->len; i++) {
        const struct orch_stop_curve *curve =
            &g_array_index(asked->curves, struct orch_stop_curve, i);
        longest = MAX(longest, curve->end == ORCH_CURVE_ENDED ? curve->count : 0);
    }
    return longest;
}

/* Counts the trials whose values came too late. */
static bool count_late(const struct orch_stop_trials *trials, const struct orch_plan *plan,
                       const struct orch_search *search, const struct asked *asked,
                       struct orch_stop_effect *out, GError **error)
{
    const size_t longest = longest_ended(asked);
    g_autoptr(GArray) spans = spans_of(plan, asked->items, error);
    for (guint i = 0; spans && i < asked->curves->len; i++) {
        const struct orch_stop_curve *curve =
            &g_array_index(asked->curves, struct orch_stop_curve, i);
        if (curve->end == ORCH_CURVE_STOPPED)
            *(curve->count >= longest ? &out->late : &out->in_time) += 1;
        else if (i < LATE_MAX)
            out->late += is_late(trials, search, asked, spans, i);
    }
    return spans;
}

/* Finds out why a rule could stop none of the trials of a search, or stopped them too late. */
static bool explain(struct orch_stop_trials *trials, const struct orch_plan *plan,
                    const struct orch_search_point *of, struct orch_stop_effect *out,
                    GError **error)
{
    const bool has_stopped = out->pruned || out->promoted;
    struct asked asked;
    bool ok = read_curves(trials, plan, of, NULL, &asked, error);
    if (ok) {
        const struct orch_stop_question question = question_of(of->search, &asked);
        out->nothing =
            asked.items->len
                ? orch_stop_trial_nothing(&question, &out->is_in_part)
                : g_strdup("the step numbers of a trial begin again; count them on to its end");
        if (has_stopped && !out->is_in_part)
            g_clear_pointer(&out->nothing, g_free);
    }
    if (ok && (!out->nothing || out->is_in_part) && !plan->options.executor)
        ok = count_late(trials, plan, of->search, &asked, out, error);
    asked_clear(&asked);
    return ok;
}

void orch_stop_effect_clear(struct orch_stop_effect *effect)
{
    g_clear_pointer(&effect->nothing, g_free);
}

bool orch_stop_trials_sum_up(struct orch_stop_trials *trials, const struct orch_plan *plan,
                             const struct orch_search_point *of, struct orch_stop_effect *out,
                             GError **error)
{
    *out = (struct orch_stop_effect){0};
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        struct tried tried;
        if (!orch_stop_curves_is_of(item->cell, of) || !has_run(item))
            continue;
        if (!read_tried(trials, plan, item, &tried, error))
            return false;
        add_tried(out, &tried, item->state == ORCH_PLAN_PRUNED);
    }
    out->whole_s = whole_s(out);
    return !out->ended || explain(trials, plan, of, out, error);
}
