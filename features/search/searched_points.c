/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/searched_points.h"

#include "core/plan/cell_runs.h"
#include "core/plan/plan_forecast.h"
#include "core/stats/group.h"
#include "features/search/run_code.h"
#include "features/search/trial_attempts.h"
#include "features/search/tried_points.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

static void point_free(void *data)
{
    struct orch_searched_point *point = data;
    g_array_unref(point->values);
    g_free(point);
}

GPtrArray *orch_searched_points_new(void)
{
    return g_ptr_array_new_with_free_func(point_free);
}

struct orch_run *orch_searched_run_read(struct orch_store *store, struct orch_searched *searched,
                                        const char *key, double *out_value, GError **error)
{
    enum orch_aggregate aggregate = ORCH_AGGREGATE_LAST;
    orch_aggregate_parse(searched->search->summary, &aggregate);
    struct orch_run *run = orch_store_run(store, key, error);
    const char *unit = NULL;
    if (run && orch_run_number(store, run, searched->search->metric, aggregate, out_value, NULL,
                               &unit, error)) {
        if (!searched->unit && unit && *unit)
            searched->unit = g_strdup(unit);
        return run;
    }
    orch_run_free(run);
    return NULL;
}

static double device_s(const struct orch_plan_item *item, const struct orch_run *run)
{
    return run->wall_ms / 1000 * orch_plan_item_charged(item);
}

/* ---- the points of a plan -------------------------------------------------------------------- */

static struct orch_searched_point *point_new(struct orch_searched *searched, const double *at)
{
    struct orch_searched_point *point = g_new0(struct orch_searched_point, 1);
    point->values = g_array_new(FALSE, FALSE, sizeof(double));
    point->value = (double)NAN;
    memcpy(point->at, at, sizeof point->at);
    g_ptr_array_add(searched->points, point);
    return point;
}

/* Adds what the attempts at a trial before its run have cost. */
static bool add_attempts(const struct orch_plan *plan, const struct orch_plan_item *item,
                         const struct orch_run *run, struct orch_searched_point *point,
                         GError **error)
{
    if (run->attempt <= 1)
        return true;
    g_autoptr(GPtrArray) attempts = orch_trial_attempts(plan, item, run->key, 0, error);
    for (guint i = 0; attempts && i < attempts->len; i++)
        point->device_s += ((const struct orch_history_row *)attempts->pdata[i])->wall_ms / 1000 *
                           orch_plan_item_charged(item);
    return attempts;
}

/* Adds what a run has of several metrics and of limits to the sums of its point. A value of the
 * first metric does not count where another one is missing. */
static bool add_goals(const struct orch_plan *plan, const struct orch_searched *searched,
                      const struct orch_run *run, struct orch_searched_point *point,
                      double *inout_value, GError **error)
{
    struct orch_goals goals;
    if (!orch_goals_are_meant(searched->search))
        return true;
    struct orch_run_numbers *numbers = orch_run_numbers_read(plan->store, run, error);
    if (!numbers)
        return false;
    orch_goals_read(searched->search, run, numbers, &goals);
    for (unsigned k = 0; k < orch_goals_count(searched->search); k++) {
        point->goals.at[k] += goals.at[k];
        if (!isfinite(goals.at[k]))
            *inout_value = (double)NAN;
    }
    point->goals.excess += goals.excess;
    orch_run_numbers_free(numbers);
    return true;
}

/* Adds a run of the plan to its point. `codes`: set of the code of runs that ended (run_code.h). */
static bool add_item(const struct orch_plan *plan, struct orch_searched *searched,
                     const struct orch_plan_item *item, struct orch_searched_point *point,
                     GArray *bounds, GHashTable *codes, GError **error)
{
    bool is_pruned = item->state == ORCH_PLAN_PRUNED;
    double value = (double)NAN;
    struct orch_run *run =
        orch_searched_run_read(plan->store, searched, item->run_key, &value, error);
    if (!run)
        return false;
    bool ok = is_pruned || (add_goals(plan, searched, run, point, &value, error) &&
                            orch_run_code_add(plan->store, run, codes, error));
    point->state = is_pruned ? ORCH_SEARCHED_PRUNED : point->state;
    point->without += !is_pruned && !isfinite(value);
    if (isfinite(value))
        g_array_append_val(is_pruned ? bounds : point->values, value);
    if (!is_pruned && isfinite(value) && !point->item)
        point->item = item;
    point->device_s += device_s(item, run);
    ok = ok && add_attempts(plan, item, run, point, error);
    point->ended_ns = MAX(point->ended_ns, run->ended_ns);
    orch_run_free(run);
    return ok;
}

double orch_searched_mean(const GArray *values)
{
    double sum = 0;
    for (guint i = 0; i < values->len; i++)
        sum += g_array_index(values, double, i);
    return values->len ? sum / values->len : (double)NAN;
}

/* Takes its value away from a point of which a trial gave none. */
static void fail(struct orch_searched_point *point)
{
    point->state = ORCH_SEARCHED_FAILED;
    point->value = (double)NAN;
}

bool orch_searched_add_point(const struct orch_plan *plan, struct orch_searched *searched,
                             unsigned first, GHashTable *codes, GError **error)
{
    const struct orch_search_point *of = plan->items[first].cell->point;
    struct orch_searched_point *point = NULL;
    g_autoptr(GArray) bounds = g_array_new(FALSE, FALSE, sizeof(double));
    for (unsigned i = first; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        bool has_run = item->state == ORCH_PLAN_DONE || item->state == ORCH_PLAN_PRUNED;
        if (item->cell->point != of || !has_run || !item->run_key)
            continue;
        point = point ? point : point_new(searched, of->at);
        if (!add_item(plan, searched, item, point, bounds, codes, error))
            return false;
    }
    if (!point)
        return true;
    bool is_pruned = point->state == ORCH_SEARCHED_PRUNED;
    point->value = orch_searched_mean(is_pruned && bounds->len ? bounds : point->values);
    for (unsigned k = 0; k < ORCH_SEARCH_GOALS_MAX; k++)
        point->goals.at[k] /= point->values->len;
    if (point->without || (!is_pruned && isnan(point->value)))
        fail(point);
    return true;
}

/* ---- failures -------------------------------------------------------------------------------- */

static struct orch_searched_point *find_point(const struct orch_searched *searched,
                                              const double *at)
{
    for (guint i = 0; i < searched->points->len; i++) {
        struct orch_searched_point *point = searched->points->pdata[i];
        if (orch_space_is_same(searched->search->space, point->at, at, ORCH_SPACE_EQUAL))
            return point;
    }
    return NULL;
}

/* Whether a repeat of a point has ended well or was stopped since it failed. */
static bool has_ended(const struct orch_plan *plan, const struct orch_searched *searched,
                      const double *at, int repeat)
{
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        const struct orch_search_point *of = item->cell->point;
        if (of && of->search == searched->search && of->group == searched->group && of->is_chosen &&
            item->cell->repeat == repeat &&
            (item->state == ORCH_PLAN_DONE || item->state == ORCH_PLAN_PRUNED) &&
            orch_space_is_same(searched->search->space, of->at, at, ORCH_SPACE_EQUAL))
            return true;
    }
    return false;
}

/* Notes a failed run with the point that it is of. `seen`: set of the points of which this repeat
 * was noted, since each attempt at it is a run. */
static void note_failure(struct orch_searched *searched, const struct orch_plan_item *item,
                         const struct orch_run *run, const double *at, GHashTable *seen)
{
    struct orch_searched_point *point = find_point(searched, at);
    if (!point) {
        point = point_new(searched, at);
        point->device_s = device_s(item, run);
        point->ended_ns = run->ended_ns;
    }
    fail(point);
    point->failed += g_hash_table_add(seen, point);
}

/* Adds the point of a failed run, if the run has the code of one that counts: failures of code that
 * was changed since say nothing of the search. */
static bool add_failure(const struct orch_plan *plan, struct orch_searched *searched,
                        const struct orch_plan_item *item, int repeat, const char *key,
                        GHashTable *seen, GHashTable *codes, GError **error)
{
    double at[ORCH_SPACE_PARAMS_MAX] = {0};
    struct orch_run *run = orch_store_run(plan->store, key, error);
    g_autoptr(json_t) params = run ? orch_store_params(plan->store, run->id, error) : NULL;
    bool is_known = false;
    bool ok = params && orch_run_code_is_in(plan->store, run, codes, &is_known, error);
    if (ok && is_known && orch_search_point_of(item->cell, params, at) &&
        !has_ended(plan, searched, at, repeat))
        note_failure(searched, item, run, at, seen);
    orch_run_free(run);
    return ok;
}

bool orch_searched_add_failures(const struct orch_plan *plan, struct orch_searched *searched,
                                const struct orch_plan_item *item, GHashTable *codes,
                                GError **error)
{
    g_autoptr(json_t) swept = json_copy(searched->swept);
    for (int repeat = 1; repeat <= searched->experiment->repeat; repeat++) {
        g_autoptr(GPtrArray) rows =
            orch_cell_runs(plan, item->cell, repeat, swept, ORCH_SEARCHED_HISTORY_MAX, error);
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
        bool ok = rows;
        for (guint i = 0; rows && ok && i < rows->len; i++) {
            const struct orch_history_row *row = rows->pdata[i];
            if (orch_tried_failed_by_itself(orch_verdict_parse(row->state)))
                ok = add_failure(plan, searched, item, repeat, row->key, seen, codes, error);
        }
        if (!ok)
            return false;
    }
    return true;
}
