/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/searched.h"

#include "core/plan/cell_runs.h"
#include "core/plan/fingerprint.h"
#include "features/search/run_code.h"
#include "features/search/searched_points.h"
#include "features/search/tried_points.h"
#include "lib/base/json.h"

#include <math.h>

/* Repeats beyond those of the search that may be fresh runs of its best point. */
#define FRESH_MAX 50

static void searched_free(void *data)
{
    struct orch_searched *searched = data;
    g_ptr_array_unref(searched->points);
    g_array_unref(searched->fresh);
    g_ptr_array_unref(searched->front);
    json_decref(searched->swept);
    g_free(searched->name);
    g_free(searched->unit);
    g_free(searched);
}

/* ---- fresh runs of the best point ------------------------------------------------------------ */

/* Adds the value of a run, unless the point was chosen by it or it is there already (`keys`). */
static bool add_fresh(const struct orch_plan *plan, struct orch_searched *searched, const char *key,
                      GHashTable *keys, GError **error)
{
    double value = (double)NAN;
    if (!g_hash_table_add(keys, g_strdup(key)))
        return true;
    struct orch_run *run = orch_searched_run_read(plan->store, searched, key, &value, error);
    if (run && isfinite(value))
        g_array_append_val(searched->fresh, value);
    orch_run_free(run);
    return run;
}

/* Runs that other experiments of the plan have at the same values. */
static bool add_fresh_of_plan(const struct orch_plan *plan, struct orch_searched *searched,
                              GHashTable *keys, GError **error)
{
    const struct orch_plan_item *best = searched->best->item;
    bool ok = true;
    for (unsigned i = 0; ok && i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        if (item->state == ORCH_PLAN_DONE && item->cell->point != best->cell->point &&
            item->cell->experiment->manifest == best->cell->experiment->manifest &&
            json_equal(item->cell->params, best->cell->params))
            ok = add_fresh(plan, searched, item->run_key, keys, error);
    }
    return ok;
}

static bool add_if_same_code(const struct orch_plan *plan, struct orch_searched *searched,
                             const char *key, GHashTable *keys, GHashTable *codes, GError **error)
{
    bool is_same = false;
    struct orch_run *run = orch_store_run(plan->store, key, error);
    bool ok = run && orch_run_code_is_in(plan->store, run, codes, &is_same, error);
    g_autoptr(json_t) facts = ok && run->facts ? json_loads(run->facts, 0, NULL) : NULL;
    g_autofree char *command =
        orch_command_id(searched->best->item->cell->experiment, plan->workspace->root);
    orch_run_free(run);
    is_same = is_same && g_strcmp0(orch_json_text(facts, "command_id", NULL), command) == 0;
    return ok && (!is_same || add_fresh(plan, searched, key, keys, error));
}

/* The runs of a repeat, also those that 'orch try' made by the command of winner_words.h. */
static GPtrArray *runs_of(const struct orch_plan *plan, const struct orch_cell *cell, int repeat,
                          GError **error)
{
    GPtrArray *rows =
        orch_cell_runs(plan, cell, repeat, cell->params, ORCH_SEARCHED_HISTORY_MAX, error);
    GPtrArray *more = rows ? orch_store_history(plan->store, "try", cell->experiment->name, repeat,
                                                cell->params, ORCH_SEARCHED_HISTORY_MAX, error)
                           : NULL;
    if (more)
        g_ptr_array_extend_and_steal(rows, more);
    else
        g_clear_pointer(&rows, g_ptr_array_unref);
    return rows;
}

/* Further repeats of the experiment with the same values, command and code. */
static bool add_fresh_of_store(const struct orch_plan *plan, struct orch_searched *searched,
                               GHashTable *keys, GHashTable *codes, GError **error)
{
    const struct orch_cell *cell = searched->best->item->cell;
    bool ok = true;
    for (int more = 1; ok && more <= FRESH_MAX; more++) {
        g_autoptr(GPtrArray) rows = runs_of(plan, cell, searched->experiment->repeat + more, error);
        ok = rows;
        for (guint i = 0; rows && ok && i < rows->len; i++) {
            const struct orch_history_row *row = rows->pdata[i];
            if (orch_verdict_facts(orch_verdict_parse(row->state))->is_reused)
                ok = add_if_same_code(plan, searched, row->key, keys, codes, error);
        }
    }
    return ok;
}

static bool read_fresh(const struct orch_plan *plan, struct orch_searched *searched,
                       GHashTable *codes, GError **error)
{
    g_autoptr(GHashTable) keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (!searched->best)
        return true;
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].cell->point == searched->best->item->cell->point &&
            plan->items[i].run_key)
            g_hash_table_add(keys, g_strdup(plan->items[i].run_key));
    return add_fresh_of_plan(plan, searched, keys, error) &&
           add_fresh_of_store(plan, searched, keys, codes, error);
}

/* ---- one search ------------------------------------------------------------------------------ */

static int compare_points(const void *a, const void *b)
{
    const struct orch_searched_point *x = *(const struct orch_searched_point *const *)a,
                                     *y = *(const struct orch_searched_point *const *)b;
    return (x->ended_ns > y->ended_ns) - (x->ended_ns < y->ended_ns);
}

struct orch_goal_row *orch_searched_rows(const struct orch_searched *searched)
{
    struct orch_goal_row *rows = g_new0(struct orch_goal_row, searched->points->len + 1);
    for (guint i = 0; i < searched->points->len; i++) {
        const struct orch_searched_point *point = searched->points->pdata[i];
        rows[i].goals = point->goals;
        rows[i].is_final = point->state == ORCH_SEARCHED_ENDED;
    }
    return rows;
}

/* Better values of the first metric come first. */
static int compare_values(const void *a, const void *b, void *search)
{
    const struct orch_searched_point *x = *(const struct orch_searched_point *const *)a,
                                     *y = *(const struct orch_searched_point *const *)b;
    return orch_tried_is_better(search, y->value, x->value) -
           orch_tried_is_better(search, x->value, y->value);
}

static void find_front(struct orch_searched *searched)
{
    const size_t count = searched->points->len;
    g_autofree struct orch_goal_row *rows = orch_searched_rows(searched);
    g_autofree bool *is_on = g_new(bool, count + 1);
    const size_t knee = orch_goals_front(searched->search, rows, count, is_on);
    for (size_t i = 0; i < count; i++)
        if (is_on[i])
            g_ptr_array_add(searched->front, searched->points->pdata[i]);
    g_ptr_array_sort_with_data(searched->front, compare_values,
                               (void *)(uintptr_t)searched->search);
    searched->best = knee < count ? searched->points->pdata[knee] : NULL;
    searched->second = NULL;
}

static void sum_up(struct orch_searched *searched)
{
    double best = (double)NAN, second = (double)NAN;
    g_ptr_array_sort(searched->points, compare_points);
    for (guint i = 0; i < searched->points->len; i++) {
        const struct orch_searched_point *point = searched->points->pdata[i];
        searched->counts[point->state]++;
        searched->device_s += point->device_s;
        searched->broke += point->state == ORCH_SEARCHED_ENDED && point->goals.excess > 0;
        if (point->state != ORCH_SEARCHED_ENDED || point->goals.excess > 0)
            continue;
        if (orch_tried_is_better(searched->search, point->value, best)) {
            searched->second = searched->best;
            second = best;
            searched->best = point;
            best = point->value;
        } else if (orch_tried_is_better(searched->search, point->value, second)) {
            searched->second = point;
            second = point->value;
        }
    }
    if (searched->search->more_count)
        find_front(searched);
}

/* Finds the point that would be the best had all of its trials given a number. */
static void find_spoilt(struct orch_searched *searched)
{
    double best = searched->best ? searched->best->value : (double)NAN;
    for (guint i = 0; !searched->search->more_count && i < searched->points->len; i++) {
        const struct orch_searched_point *point = searched->points->pdata[i];
        const double mean = orch_searched_mean(point->values);
        if (point->state != ORCH_SEARCHED_FAILED ||
            !orch_tried_is_better(searched->search, mean, best))
            continue;
        searched->spoilt = point;
        best = mean;
    }
}

/* Points that are bad often scatter more, as trainings do that nearly diverge, and they are not
 * what the best one was chosen from: only the better half counts. */
static void find_noise(struct orch_searched *searched)
{
    g_autoptr(GPtrArray) ended = g_ptr_array_new(), settings = g_ptr_array_new();
    for (guint i = 0; i < searched->points->len; i++) {
        struct orch_searched_point *point = searched->points->pdata[i];
        if (point->state == ORCH_SEARCHED_ENDED)
            g_ptr_array_add(ended, point);
    }
    g_ptr_array_sort_with_data(ended, compare_values, (void *)(uintptr_t)searched->search);
    for (guint i = 0; i < (ended->len + 1) / 2; i++)
        g_ptr_array_add(settings, ((struct orch_searched_point *)ended->pdata[i])->values);
    g_ptr_array_add(settings, searched->fresh);
    searched->noise = orch_noise_of((const GArray *const *)(void *)settings->pdata, settings->len);
}

/* The swept values of a cell, without those that are searched. */
static json_t *swept_of(const struct orch_cell *cell)
{
    json_t *swept = json_copy(cell->coords);
    const struct orch_space *space = cell->point->search->space;
    for (unsigned i = 0; i < space->params->len; i++)
        json_object_del(swept, orch_space_param(space, i)->name);
    return swept;
}

static char *name_of(const struct orch_experiment *experiment, const json_t *swept)
{
    GString *name = g_string_new(experiment->name);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)swept, key, value)
    {
        g_autofree char *plain = json_is_string(value)
                                     ? g_strdup(json_string_value(value))
                                     : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        g_string_append_printf(name, " %s=%s", key, plain);
    }
    return g_string_free(name, FALSE);
}

static struct orch_searched *read_search(const struct orch_plan *plan, unsigned first,
                                         GError **error)
{
    const struct orch_plan_item *item = &plan->items[first];
    const struct orch_search_point *of = item->cell->point, *last = NULL;
    struct orch_searched *searched = g_new0(struct orch_searched, 1);
    g_autoptr(GHashTable) codes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    searched->search = of->search;
    searched->group = of->group;
    searched->experiment = item->cell->experiment;
    searched->swept = swept_of(item->cell);
    searched->name = name_of(item->cell->experiment, searched->swept);
    searched->points = orch_searched_points_new();
    searched->front = g_ptr_array_new();
    searched->fresh = g_array_new(FALSE, FALSE, sizeof(double));
    bool ok = true;
    for (unsigned i = first; ok && i < plan->count; i++) {
        const struct orch_search_point *point = plan->items[i].cell->point;
        if (!point || point == last || point->search != of->search || point->group != of->group)
            continue;
        last = point;
        searched->planned++;
        if (point->is_chosen)
            ok = orch_searched_add_point(plan, searched, i, codes, error);
    }
    ok = ok && (!plan->store || orch_searched_add_failures(plan, searched, item, codes, error));
    sum_up(searched);
    find_spoilt(searched);
    if (ok && read_fresh(plan, searched, codes, error)) {
        find_noise(searched);
        return searched;
    }
    searched_free(searched);
    return NULL;
}

static bool is_asked(const struct orch_cell *cell, const GPtrArray *experiments)
{
    return cell->point && cell->wanted &&
           (!experiments->len ||
            g_ptr_array_find_with_equal_func((GPtrArray *)(uintptr_t)experiments,
                                             cell->experiment->name, g_str_equal, NULL));
}

GPtrArray *orch_searched_read(const struct orch_plan *plan, const GPtrArray *experiments,
                              GError **error)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(searched_free);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_cell *cell = plan->items[i].cell;
        if (!is_asked(cell, experiments) || cell->point->number != 1 || cell->repeat != 1)
            continue;
        struct orch_searched *searched = read_search(plan, i, error);
        if (!searched)
            return NULL;
        g_ptr_array_add(all, searched);
    }
    return g_steal_pointer(&all);
}
