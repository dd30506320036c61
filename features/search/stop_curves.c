/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/stop_curves.h"

#include "features/search/trial_attempts.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"

#include <string.h>

struct orch_stop_curves {
    GHashTable *curves;  /* key of a run -> struct orch_trial_curve * */
    GHashTable *watched; /* key of a run that has ended here -> whether its steps began again */
    int64_t began_ns;
};

static void curve_free(void *pointer)
{
    struct orch_trial_curve *curve = pointer;
    g_array_unref(curve->points);
    g_array_unref(curve->so_far);
    g_array_unref(curve->sums);
    g_free(curve);
}

static struct orch_trial_curve *curve_new(const struct orch_cell *cell)
{
    struct orch_trial_curve *curve = g_new0(struct orch_trial_curve, 1);
    curve->cell = cell;
    curve->points = g_array_new(FALSE, FALSE, sizeof(struct orch_trial_point));
    curve->so_far = g_array_new(FALSE, FALSE, sizeof(double));
    curve->sums = g_array_new(FALSE, FALSE, sizeof(double));
    return curve;
}

struct orch_stop_curves *orch_stop_curves_new(void)
{
    struct orch_stop_curves *curves = g_new0(struct orch_stop_curves, 1);
    curves->curves = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, curve_free);
    curves->watched = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    curves->began_ns = orch_now_ns();
    return curves;
}

void orch_stop_curves_free(struct orch_stop_curves *curves)
{
    g_hash_table_unref(curves->curves);
    g_hash_table_unref(curves->watched);
    g_free(curves);
}

bool orch_stop_curves_is_of(const struct orch_cell *cell, const struct orch_search_point *of)
{
    return cell->point && cell->point->search == of->search && cell->point->group == of->group;
}

/* ---- values ---------------------------------------------------------------------------------- */

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

static void add_value(struct orch_trial_curve *curve, double value)
{
    double so_far = orch_stop_summary_add(summary_of(curve->cell), &curve->sum, value);
    const struct orch_stop_question question = {.is_max = curve->cell->point->search->is_max};
    guint count = curve->sums->len;
    double sum = orch_stop_cost(&question, so_far) +
                 (count ? g_array_index(curve->sums, double, count - 1) : 0);
    g_array_append_val(curve->so_far, so_far);
    g_array_append_val(curve->sums, sum);
}

/* Sums the values up anew when earlier ones have changed. */
static void renew(struct orch_trial_curve *curve)
{
    if (!curve->is_stale)
        return;
    curve->is_stale = false;
    curve->sum = (struct orch_stop_sum){0};
    g_array_set_size(curve->so_far, 0);
    g_array_set_size(curve->sums, 0);
    for (guint i = 0; i < curve->points->len; i++)
        add_value(curve, g_array_index(curve->points, struct orch_trial_point, i).value);
}

static void insert(struct orch_trial_curve *curve, const struct orch_trial_point *point)
{
    struct orch_trial_point *points = (struct orch_trial_point *)(void *)curve->points->data;
    guint low = 0, high = curve->points->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (points[middle].step < point->step)
            low = middle + 1;
        else
            high = middle;
    }
    if (points[low].step == point->step)
        points[low] = *point;
    else
        g_array_insert_val(curve->points, low, *point);
    curve->is_stale = true;
}

bool orch_stop_curve_put(struct orch_trial_curve *curve, int64_t step, double value)
{
    const struct orch_trial_point point = {step, value};
    guint count = curve->points->len;
    curve->has_restarted = curve->has_restarted || (curve->has_own && step < curve->last_step);
    curve->last_step = curve->has_own ? MAX(curve->last_step, step) : step;
    curve->has_own = true;
    if (count && g_array_index(curve->points, struct orch_trial_point, count - 1).step >= step) {
        insert(curve, &point);
        return false;
    }
    renew(curve);
    g_array_append_val(curve->points, point);
    add_value(curve, value);
    return true;
}

/* ---- runs of the store ----------------------------------------------------------------------- */

/* Whether the steps of a run of the store began again. Of an earlier run only the number of values
 * is known that a later one replaced. */
static bool has_restarted(const struct orch_stop_curves *curves, const char *key, const char *text)
{
    void *known;
    if (g_hash_table_lookup_extended(curves->watched, key, NULL, &known))
        return known != NULL;
    g_autoptr(json_t) facts = text ? json_loads(text, 0, NULL) : NULL;
    return orch_json_int(facts, "replaced_points", 0) > 0;
}

/* Puts the values of a run before those of the curve, as far as their steps come before these.
 * `*out_any`: it has some. */
static bool prepend_run(const struct orch_plan *plan, struct orch_trial_curve *curve,
                        const char *key, bool *out_any, GError **error)
{
    GError *problem = NULL;
    struct orch_run *run = orch_store_run(plan->store, key, error);
    if (!run)
        return false;
    struct orch_series *series =
        orch_store_series(plan->store, run->id, curve->cell->point->search->metric, &problem);
    orch_run_free(run);
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    int64_t end = curve->points->len ? g_array_index(curve->points, struct orch_trial_point, 0).step
                                     : INT64_MAX;
    g_autoptr(GArray) before = g_array_new(FALSE, FALSE, sizeof(struct orch_trial_point));
    for (size_t i = 0; series && i < series->count && series->step[i] < end; i++) {
        const struct orch_trial_point point = {series->step[i], series->value[i]};
        g_array_append_val(before, point);
    }
    orch_series_free(series);
    g_array_prepend_vals(curve->points, before->data, before->len);
    curve->is_stale = true;
    *out_any = before->len > 0;
    return true;
}

static bool prepend_attempts(struct orch_stop_curves *curves, const struct orch_plan *plan,
                             struct orch_trial_curve *curve, const GPtrArray *attempts,
                             GError **error)
{
    for (guint i = 0; i < attempts->len; i++) {
        const struct orch_history_row *row = attempts->pdata[i];
        bool has_any;
        if (!prepend_run(plan, curve, row->key, &has_any, error))
            return false;
        curve->has_restarted =
            curve->has_restarted || (has_any && has_restarted(curves, row->key, row->facts));
    }
    return true;
}

GPtrArray *orch_stop_curves_attempts(const struct orch_stop_curves *curves,
                                     const struct orch_plan *plan,
                                     const struct orch_plan_item *item, const struct orch_run *run,
                                     GError **error)
{
    return run->attempt > 1 ? orch_trial_attempts(plan, item, run->key, curves->began_ns, error)
                            : g_ptr_array_new();
}

static bool read_run(struct orch_stop_curves *curves, const struct orch_plan *plan,
                     const struct orch_plan_item *item, struct orch_trial_curve *curve,
                     GError **error)
{
    struct orch_run *run = orch_store_run(plan->store, item->run_key, error);
    g_autoptr(GPtrArray) attempts =
        run ? orch_stop_curves_attempts(curves, plan, item, run, error) : NULL;
    bool has_any, ok = attempts && prepend_run(plan, curve, run->key, &has_any, error);
    if (ok) {
        curve->has_restarted = has_restarted(curves, run->key, run->facts);
        curve->has_diverged = orch_verdict_parse(run->state) == ORCH_VERDICT_DIVERGED;
    }
    orch_run_free(run);
    return ok && prepend_attempts(curves, plan, curve, attempts, error);
}

const struct orch_trial_curve *orch_stop_curve_stored(struct orch_stop_curves *curves,
                                                      const struct orch_plan *plan,
                                                      const struct orch_plan_item *item,
                                                      GError **error)
{
    struct orch_trial_curve *curve = g_hash_table_lookup(curves->curves, item->run_key);
    if (curve)
        return curve;
    curve = curve_new(item->cell);
    if (!read_run(curves, plan, item, curve, error)) {
        curve_free(curve);
        return NULL;
    }
    renew(curve);
    g_hash_table_insert(curves->curves, g_strdup(item->run_key), curve);
    return curve;
}

/* ---- running trials -------------------------------------------------------------------------- */

struct orch_trial_curve *orch_stop_curve_running(struct orch_stop_curves *curves,
                                                 const struct orch_plan *plan,
                                                 const struct orch_running *running)
{
    struct orch_trial_curve *curve = g_hash_table_lookup(curves->curves, running->key);
    g_autoptr(GError) problem = NULL;
    if (curve)
        return curve;
    orch_stop_curves_note_end(curves, running->item); /* an attempt before this one */
    curve = curve_new(running->item->cell);
    curve->running = running->item;
    g_hash_table_insert(curves->curves, g_strdup(running->key), curve);
    if (running->item->attempts < 2)
        return curve;
    g_autoptr(GPtrArray) attempts =
        orch_trial_attempts(plan, running->item, NULL, curves->began_ns, &problem);
    if (!attempts || !prepend_attempts(curves, plan, curve, attempts, &problem))
        g_debug("the attempts before a trial cannot be read: %s", problem->message);
    return curve;
}

void orch_stop_curves_each_running(struct orch_stop_curves *curves,
                                   const struct orch_search_point *of,
                                   void (*call)(void *ctx, const struct orch_trial_curve *curve),
                                   void *ctx)
{
    GHashTableIter iter;
    void *pointer;
    g_hash_table_iter_init(&iter, curves->curves);
    while (g_hash_table_iter_next(&iter, NULL, &pointer)) {
        struct orch_trial_curve *curve = pointer;
        if (!curve->running || !orch_stop_curves_is_of(curve->cell, of))
            continue;
        renew(curve);
        call(ctx, curve);
    }
}

guint orch_stop_curves_note_end(struct orch_stop_curves *curves, const struct orch_plan_item *item)
{
    GHashTableIter iter;
    void *key, *value;
    guint seen = 0;
    g_hash_table_iter_init(&iter, curves->curves);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        const struct orch_trial_curve *curve = value;
        if (curve->running != item)
            continue;
        seen = curve->points->len;
        g_hash_table_insert(curves->watched, g_strdup(key), GINT_TO_POINTER(curve->has_restarted));
        g_hash_table_iter_remove(&iter);
    }
    return seen;
}
