/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/stop_trials.h"

#include "lib/base/json.h"
#include "predictors/stop_trial.h"

#include <math.h>
#include <string.h>

struct point {
    int64_t step;
    double value;
};

/* The curve of a run. */
struct curve {
    const struct orch_plan_item *running; /* NULL: it is in the store */
    GArray *points;                       /* struct point, by step: of a running trial */
    struct orch_stop_sum sum;
    GArray *so_far;     /* double: the objective's summary up to each value */
    GArray *sums;       /* double: their costs, added up */
    bool is_stale;      /* an earlier value has changed, so that `so_far` is to be made anew */
    bool has_diverged;  /* the run ended so */
    bool has_restarted; /* a step came after a larger one, as where each epoch counts from 1: the
                           store has the last values only, so that the n-th ones of two such curves
                           are of different times */
};

struct orch_stop_trials {
    GHashTable *curves;  /* key of a run -> struct curve * */
    GHashTable *watched; /* key of a run that has ended here -> whether its steps began again */
};

static void curve_free(void *pointer)
{
    struct curve *curve = pointer;
    g_array_unref(curve->points);
    g_array_unref(curve->so_far);
    g_array_unref(curve->sums);
    g_free(curve);
}

static struct curve *curve_new(struct orch_stop_trials *trials, const char *key,
                               const struct orch_plan_item *running)
{
    struct curve *curve = g_new0(struct curve, 1);
    curve->running = running;
    curve->points = g_array_new(FALSE, FALSE, sizeof(struct point));
    curve->so_far = g_array_new(FALSE, FALSE, sizeof(double));
    curve->sums = g_array_new(FALSE, FALSE, sizeof(double));
    g_hash_table_insert(trials->curves, g_strdup(key), curve);
    return curve;
}

struct orch_stop_trials *orch_stop_trials_new(void)
{
    struct orch_stop_trials *trials = g_new0(struct orch_stop_trials, 1);
    trials->curves = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, curve_free);
    trials->watched = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return trials;
}

void orch_stop_trials_free(struct orch_stop_trials *trials)
{
    if (!trials)
        return;
    g_hash_table_unref(trials->curves);
    g_hash_table_unref(trials->watched);
    g_free(trials);
}

const char *orch_stop_trials_metric(const struct orch_plan_item *item)
{
    const struct orch_search *search = item->cell->point ? item->cell->point->search : NULL;
    return search && search->stop && !item->was_pruned ? search->metric : NULL;
}

/* ---- curves -------------------------------------------------------------------------------------
 */

/* "best" goes by the direction that the metric declares, else by that of the search, as in the
 * store. */
static enum orch_stop_summary summary_of(const struct orch_cell *cell)
{
    static const char *const words[] = {[ORCH_STOP_LAST] = "last",
                                        [ORCH_STOP_FIRST] = "first",
                                        [ORCH_STOP_MEAN] = "mean",
                                        [ORCH_STOP_MIN] = "min",
                                        [ORCH_STOP_MAX] = "max"};
    const struct orch_search *search = cell->point->search;
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
        if (strcmp(words[i], search->summary) == 0)
            return (enum orch_stop_summary)i;
    const struct orch_metric_spec *spec =
        orch_manifest_metric(cell->experiment->manifest, search->metric);
    bool is_max =
        spec && spec->better != ORCH_BETTER_NONE ? spec->better == ORCH_BETTER_MAX : search->is_max;
    return is_max ? ORCH_STOP_MAX : ORCH_STOP_MIN;
}

static void add_value(const struct orch_cell *cell, struct curve *curve, double value)
{
    double so_far = orch_stop_summary_add(summary_of(cell), &curve->sum, value);
    const struct orch_stop_question question = {.is_max = cell->point->search->is_max};
    guint count = curve->sums->len;
    double sum = orch_stop_cost(&question, so_far) +
                 (count ? g_array_index(curve->sums, double, count - 1) : 0);
    g_array_append_val(curve->so_far, so_far);
    g_array_append_val(curve->sums, sum);
}

/* Puts a value in its place by its step, as the store does: the last value of a step counts.
 * Returns whether it continues the curve. */
static bool put_value(struct curve *curve, int64_t step, double value, const struct orch_cell *cell)
{
    const struct point point = {step, value};
    struct point *points = (struct point *)(void *)curve->points->data;
    guint low = 0, high = curve->points->len;
    if (!high || points[high - 1].step < step) {
        g_array_append_val(curve->points, point);
        if (!curve->is_stale)
            add_value(cell, curve, value);
        return true;
    }
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (points[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    curve->has_restarted = curve->has_restarted || step < points[curve->points->len - 1].step;
    if (points[low].step == step)
        points[low] = point;
    else
        g_array_insert_val(curve->points, low, point);
    curve->is_stale = true;
    return false;
}

/* Sums the values of a running trial up anew when earlier ones have changed. */
static void renew(struct curve *curve)
{
    if (!curve->is_stale)
        return;
    curve->is_stale = false;
    curve->sum = (struct orch_stop_sum){0};
    g_array_set_size(curve->so_far, 0);
    g_array_set_size(curve->sums, 0);
    for (guint i = 0; i < curve->points->len; i++)
        add_value(curve->running->cell, curve, g_array_index(curve->points, struct point, i).value);
}

/* Whether the steps of a run of the store began again. Of an earlier run only the number of values
 * is known that a later one replaced. */
static bool has_restarted(const struct orch_stop_trials *trials, const struct orch_run *run)
{
    void *known;
    if (g_hash_table_lookup_extended(trials->watched, run->key, NULL, &known))
        return known != NULL;
    g_autoptr(json_t) facts = run->facts ? json_loads(run->facts, 0, NULL) : NULL;
    return orch_json_int(facts, "replaced_points", 0) > 0;
}

/* The curve of a run of the store. NULL with an error. */
static struct curve *stored_curve(struct orch_stop_trials *trials, const struct orch_plan *plan,
                                  const struct orch_plan_item *item, GError **error)
{
    const char *metric = item->cell->point->search->metric;
    struct curve *curve = g_hash_table_lookup(trials->curves, item->run_key);
    GError *problem = NULL;
    if (curve)
        return curve;
    struct orch_run *run = orch_store_run(plan->store, item->run_key, error);
    if (!run)
        return NULL;
    struct orch_series *series = orch_store_series(plan->store, run->id, metric, &problem);
    bool is_restarted = has_restarted(trials, run),
         is_diverged = orch_verdict_parse(run->state) == ORCH_VERDICT_DIVERGED;
    orch_run_free(run);
    if (problem) {
        g_propagate_error(error, problem);
        return NULL;
    }
    curve = curve_new(trials, item->run_key, NULL);
    curve->has_restarted = is_restarted;
    curve->has_diverged = is_diverged;
    for (size_t i = 0; series && i < series->count; i++)
        add_value(item->cell, curve, series->value[i]);
    orch_series_free(series);
    return curve;
}

void orch_stop_trials_note_end(struct orch_stop_trials *trials, const struct orch_plan_item *item)
{
    GHashTableIter iter;
    void *key, *curve;
    g_hash_table_iter_init(&iter, trials->curves);
    while (g_hash_table_iter_next(&iter, &key, &curve)) {
        bool is_restarted = ((struct curve *)curve)->has_restarted;
        if (((struct curve *)curve)->running != item)
            continue;
        g_hash_table_insert(trials->watched, g_strdup(key), GINT_TO_POINTER(is_restarted));
        g_hash_table_iter_remove(&iter);
    }
}

/* ---- the rule -----------------------------------------------------------------------------------
 */

static bool is_of(const struct orch_plan_item *item, const struct orch_search_point *of)
{
    const struct orch_search_point *point = item->cell->point;
    return point && point->search == of->search && point->group == of->group;
}

static bool has_run(const struct orch_plan_item *item)
{
    return (item->state == ORCH_PLAN_DONE || item->state == ORCH_PLAN_PRUNED) && item->run_key;
}

static void append(GArray *out, const struct curve *curve, const struct orch_cell *cell,
                   enum orch_curve_end end)
{
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
    };
    g_array_append_val(out, one);
}

/* The curves of a search, struct orch_stop_curve, of which the first is `own`. NULL with an error.
 */
static GArray *curves_of(struct orch_stop_trials *trials, const struct orch_plan *plan,
                         const struct curve *own, GError **error)
{
    const struct orch_search_point *of = own->running->cell->point;
    g_autoptr(GArray) out = g_array_new(FALSE, FALSE, sizeof(struct orch_stop_curve));
    append(out, own, own->running->cell, ORCH_CURVE_RUNNING);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        if (!is_of(item, of) || !has_run(item) || item == own->running)
            continue;
        const struct curve *curve = stored_curve(trials, plan, item, error);
        if (!curve)
            return NULL;
        append(out, curve, item->cell,
               item->state == ORCH_PLAN_DONE ? ORCH_CURVE_ENDED : ORCH_CURVE_STOPPED);
    }
    GHashTableIter iter;
    void *pointer;
    g_hash_table_iter_init(&iter, trials->curves);
    while (g_hash_table_iter_next(&iter, NULL, &pointer)) {
        struct curve *curve = pointer;
        if (curve == own || !curve->running || !is_of(curve->running, of))
            continue;
        renew(curve);
        append(out, curve, curve->running->cell, ORCH_CURVE_RUNNING);
    }
    return g_steal_pointer(&out);
}

char *orch_stop_trials_judge(struct orch_stop_trials *trials, const struct orch_plan *plan,
                             const struct orch_running *running, int64_t step, double value)
{
    const struct orch_search *search = running->item->cell->point->search;
    struct curve *curve = g_hash_table_lookup(trials->curves, running->key);
    if (!curve) {
        orch_stop_trials_note_end(trials, running->item); /* an attempt before this one */
        curve = curve_new(trials, running->key, running->item);
    }
    if (!put_value(curve, step, value, running->item->cell) || curve->has_restarted)
        return NULL;
    renew(curve);
    g_autoptr(GError) problem = NULL;
    g_autoptr(GArray) curves = curves_of(trials, plan, curve, &problem);
    if (!curves) {
        g_debug("the curves of a search cannot be read: %s", problem->message);
        return NULL;
    }
    const struct orch_stop_question question = {
        .rule = search->stop,
        .is_max = search->is_max,
        .curves = (const struct orch_stop_curve *)(const void *)curves->data,
        .count = curves->len,
    };
    return orch_stop_trial_ask(&question);
}

/* ---- what it has done ---------------------------------------------------------------------------
 */

/* Whether a trial has ended when it should, as far as its values show. */
static bool has_whole_length(const struct curve *curve)
{
    guint count = curve->so_far->len;
    return count && !curve->has_diverged && !curve->has_restarted &&
           isfinite(g_array_index(curve->so_far, double, count - 1));
}

bool orch_stop_trials_sum_up(struct orch_stop_trials *trials, const struct orch_plan *plan,
                             const struct orch_search_point *of, struct orch_stop_effect *out,
                             GError **error)
{
    unsigned ended = 0;
    guint longest = 0, whole_longest = 0, whole_shortest = G_MAXUINT;
    *out = (struct orch_stop_effect){.whole_s = (double)NAN};
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        if (!is_of(item, of) || !has_run(item))
            continue;
        const struct curve *curve = stored_curve(trials, plan, item, error);
        struct orch_run *run = curve ? orch_store_run(plan->store, item->run_key, error) : NULL;
        if (!run)
            return false;
        bool is_pruned = item->state == ORCH_PLAN_PRUNED;
        *(is_pruned ? &out->pruned_s : &out->ended_s) += run->wall_ms / 1e3;
        out->pruned += is_pruned;
        ended += !is_pruned;
        longest = MAX(longest, curve->so_far->len);
        if (!is_pruned && has_whole_length(curve)) {
            whole_longest = MAX(whole_longest, curve->so_far->len);
            whole_shortest = MIN(whole_shortest, curve->so_far->len);
        }
        orch_run_free(run);
    }
    if (ended)
        out->whole_s = out->ended_s / ended * out->pruned;
    if (!out->pruned && of->search->stop->kind == ORCH_STOP_FORECAST &&
        whole_longest > ORCH_STOP_LENGTHS_MAX * whole_shortest) {
        out->shortest = whole_shortest;
        out->longest = whole_longest;
    }
    out->has_nothing = ended && !out->pruned && longest <= 1;
    return true;
}
