/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points of searches in a plan. What a search has tried is what the store has of it (cell_runs.h):
 * a point whose run can be reused, whoever made it, takes the place of one that would have to be
 * chosen, so that a search that was killed goes on where it was, and a colleague's results cost
 * nothing. So does a point whose trial the search's rule stopped: it was tried, though its result
 * is not known. */
#include "core/plan/cell_runs.h"
#include "core/plan/executor.h"
#include "core/plan/plan_private.h"

#include "core/recipe/recipe_search.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

#define HISTORY_MAX 100000 /* runs of an experiment that are looked at */

/* ---- the values of a point ----------------------------------------------------------------------
 */

static bool take_values(struct orch_plan *plan, unsigned index, GError **error)
{
    orch_cell_take_point(plan->items[index].cell);
    return orch_plan_renew(plan, index, error) && orch_plan_settle(plan, index, error);
}

/* Goes on when something fails: the trial is open all the same. */
static void open_again(struct orch_plan *plan, unsigned index)
{
    struct orch_plan_item *item = &plan->items[index];
    orch_cell_open_point(item->cell, ORCH_SEARCH_MIDDLE);
    g_clear_pointer(&item->run_key, g_free);
    item->attempts = 0;
    item->was_pruned = item->stays_pruned = false;
    g_clear_pointer(&item->goes_on_from, g_free);
    item->forced = item->forced && !item->is_disturbed;
    item->is_disturbed = false;
    orch_plan_renew(plan, index, NULL);
    orch_plan_settle(plan, index, NULL);
}

void orch_plan_open_point(struct orch_plan *plan, struct orch_search_point *point)
{
    point->is_chosen = false;
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].cell->point == point)
            open_again(plan, i);
}

bool orch_plan_take_point(struct orch_plan *plan, struct orch_search_point *point, GError **error)
{
    point->is_chosen = true;
    for (unsigned i = 0; i < plan->count; i++) {
        if (plan->items[i].cell->point != point || take_values(plan, i, error))
            continue;
        orch_plan_open_point(plan, point);
        return false;
    }
    return true;
}

bool orch_plan_would_be(struct orch_plan *plan, unsigned index, const double *at, char out[65],
                        GError **error)
{
    struct orch_plan_item *item = &plan->items[index];
    struct orch_search_point *point = item->cell->point;
    GError *problem = NULL;
    memcpy(point->at, at, sizeof point->at);
    point->is_chosen = true;
    bool is_taken = take_values(plan, index, &problem);
    memset(out, 0, 65);
    if (is_taken && item->fingerprint[0])
        memcpy(out, item->own_fingerprint, 65);
    point->is_chosen = false;
    open_again(plan, index);
    if (!problem)
        return true;
    bool is_rejected = g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_RECIPE);
    if (is_rejected)
        g_error_free(problem);
    else
        g_propagate_error(error, problem);
    return is_rejected;
}

/* ---- points of the store ------------------------------------------------------------------------
 */

/* Whether a chosen point of the same search has these coordinates. */
static bool is_taken(const struct orch_plan *plan, const struct orch_search_point *point,
                     const double *at)
{
    for (guint i = 0; i < plan->expansion->points->len; i++) {
        const struct orch_search_point *other = plan->expansion->points->pdata[i];
        if (other->search == point->search && other->group == point->group && other->is_chosen &&
            orch_space_is_same(point->search->space, other->at, at, ORCH_SPACE_EQUAL))
            return true;
    }
    return false;
}

/* Whether a trial of the point reuses a run, or its search's rule stopped it before. */
static bool was_tried(const struct orch_plan *plan, const struct orch_search_point *point)
{
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        if (item->cell->point == point && (item->state == ORCH_PLAN_DONE || item->was_pruned))
            return true;
    }
    return false;
}

/* ---- points that cannot be taken ----------------------------------------------------------------
 */

#define NAMED_MAX 3

/* Notes a point whose values the plugin rejects. */
static void note_rejected(struct orch_plan *plan, const struct orch_cell *cell, const double *at,
                          const GError *problem)
{
    g_autofree char *values = orch_search_values(cell->point->search, at),
                    *what = orch_error_what(problem);
    char *text = g_strdup_printf("a trial of experiment '%s' with %s is not used by its search: %s",
                                 cell->experiment->name, values, what);
    if (g_ptr_array_find_with_equal_func(plan->rejected, text, g_str_equal, NULL))
        g_free(text); /* another repeat of it */
    else
        g_ptr_array_add(plan->rejected, text);
}

void orch_plan_say_rejected(struct orch_plan *plan, void (*say)(void *ctx, const char *text),
                            void *ctx)
{
    guint end = MIN(plan->rejected->len, plan->rejected_said + NAMED_MAX);
    guint more = plan->rejected->len - end;
    for (guint i = plan->rejected_said; i < end; i++)
        say(ctx, plan->rejected->pdata[i]);
    plan->rejected_said = plan->rejected->len;
    if (!more)
        return;
    g_autofree char *text = g_strdup_printf(
        "%u more trial%s do%s not belong to a search, because the plugin rejects the values", more,
        orch_plural(more), more == 1 ? "es" : "");
    say(ctx, text);
}

bool orch_plan_take_trial(struct orch_plan *plan, unsigned index, const double *at,
                          const char *fingerprint, bool *out_taken, GError **error)
{
    struct orch_search_point *point = plan->items[index].cell->point;
    GError *problem = NULL;
    *out_taken = false;
    if (is_taken(plan, point, at))
        return true;
    memcpy(point->at, at, sizeof point->at);
    if (!orch_plan_take_point(plan, point, &problem)) {
        bool is_rejected = g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_RECIPE);
        if (is_rejected) {
            note_rejected(plan, plan->items[index].cell, at, problem);
            g_error_free(problem);
        } else {
            g_propagate_error(error, problem);
        }
        return is_rejected;
    }
    for (unsigned i = 0; i < plan->count && !*out_taken; i++)
        *out_taken = plan->items[i].cell->point == point &&
                     strcmp(plan->items[i].fingerprint, fingerprint) == 0;
    if (!*out_taken)
        orch_plan_open_point(plan, point);
    return true;
}

/* Gives an open point the values of a run, if they are in its space and no other point has them,
 * and if a trial of the plan reuses a run then. */
static bool take_run(struct orch_plan *plan, const struct orch_cell *cell,
                     const struct orch_history_row *row, GError **error)
{
    struct orch_run *run = orch_store_run(plan->store, row->key, error);
    g_autoptr(json_t) params = run ? orch_store_params(plan->store, run->id, error) : NULL;
    double at[ORCH_SPACE_PARAMS_MAX] = {0};
    GError *problem = NULL;
    orch_run_free(run);
    if (!params)
        return false;
    if (!orch_search_point_of(cell, params, at) || is_taken(plan, cell->point, at))
        return true;
    memcpy(cell->point->at, at, sizeof at);
    if (orch_plan_take_point(plan, cell->point, &problem)) {
        if (!was_tried(plan, cell->point))
            orch_plan_open_point(plan, cell->point);
        return true;
    }
    if (!g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_RECIPE)) {
        g_propagate_error(error, problem);
        return false;
    }
    note_rejected(plan, cell, at, problem); /* today */
    g_error_free(problem);
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const struct orch_history_row *x = *(const struct orch_history_row *const *)a,
                                  *y = *(const struct orch_history_row *const *)b;
    int order = (x->ended_ns > y->ended_ns) - (x->ended_ns < y->ended_ns);
    return order ? order : strcmp(x->key, y->key);
}

/* The runs of an open cell's experiment and swept values, of all its repeats, the oldest first. */
static GPtrArray *runs_of(struct orch_plan *plan, const struct orch_cell *cell, GError **error)
{
    g_autoptr(GPtrArray) all =
        g_ptr_array_new_with_free_func((GDestroyNotify)orch_history_row_free);
    for (int repeat = 1; repeat <= cell->experiment->repeat; repeat++) {
        GPtrArray *rows = orch_cell_runs(plan, cell, repeat, cell->coords, HISTORY_MAX, error);
        if (!rows)
            return NULL;
        g_ptr_array_extend_and_steal(all, rows);
    }
    g_ptr_array_sort(all, compare_rows);
    return g_steal_pointer(&all);
}

/* Fills the open cells of one search from the store. `index`: of its first open item. */
static bool fill(struct orch_plan *plan, unsigned index, GError **error)
{
    const struct orch_search_point *first = plan->items[index].cell->point;
    g_autoptr(GPtrArray) rows = runs_of(plan, plan->items[index].cell, error);
    for (guint i = 0; rows && i < rows->len; i++) {
        const struct orch_history_row *row = rows->pdata[i];
        const struct orch_cell *cell = plan->items[index].cell;
        while (cell && !(orch_cell_is_open(cell) && cell->point->search == first->search &&
                         cell->point->group == first->group))
            cell = ++index < plan->count ? plan->items[index].cell : NULL;
        if (!cell)
            return true;
        enum orch_verdict verdict = orch_verdict_parse(row->state);
        bool is_tried = orch_verdict_facts(verdict)->is_reused || verdict == ORCH_VERDICT_PRUNED;
        if (is_tried && !take_run(plan, cell, row, error))
            return false;
    }
    return rows;
}

/* ---- trials in progress -------------------------------------------------------------------------
 */

/* The parameters of a trial's record: name -> canonical value. */
static json_t *params_of(const struct orch_active_row *row)
{
    g_autoptr(json_t) record = row->record ? json_loads(row->record, 0, NULL) : NULL;
    const json_t *rows = json_object_get(record, "params");
    json_t *params = json_object();
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *cells = json_array_get(rows, i);
        const char *name = json_string_value(json_array_get(cells, 0));
        const char *text = json_string_value(json_array_get(cells, 2));
        if (name && text)
            json_object_set_new(params, name, json_loads(text, JSON_DECODE_ANY, NULL));
    }
    return params;
}

/* Gives open points of one search those of its trials that were submitted to an executor and have
 * not been collected. `index`: of its first open item. */
static bool fill_submitted(struct orch_plan *plan, unsigned index, GError **error)
{
    const struct orch_search_point *first = plan->items[index].cell->point;
    for (guint i = 0; plan->actives && i < plan->actives->len; i++) {
        const struct orch_active_row *row = plan->actives->pdata[i];
        const struct orch_cell *cell = plan->items[index].cell;
        double at[ORCH_SPACE_PARAMS_MAX] = {0};
        bool is_taken;
        if (!orch_executor_has_submitted(&row->runner))
            continue;
        while (cell && !(orch_cell_is_open(cell) && cell->point->search == first->search &&
                         cell->point->group == first->group))
            cell = ++index < plan->count ? plan->items[index].cell : NULL;
        if (!cell)
            return true;
        g_autoptr(json_t) params = params_of(row);
        if (orch_search_point_of(cell, params, at) &&
            !orch_plan_take_trial(plan, index, at, row->fingerprint, &is_taken, error))
            return false;
    }
    return true;
}

bool orch_plan_fill_searches(struct orch_plan *plan, GError **error)
{
    const struct orch_search *search = NULL;
    unsigned group = 0;
    for (unsigned i = 0; plan->store && i < plan->count; i++) {
        const struct orch_cell *cell = plan->items[i].cell;
        if (!orch_cell_is_open(cell) || plan->items[i].forced ||
            (cell->point->search == search && cell->point->group == group))
            continue;
        search = cell->point->search;
        group = cell->point->group;
        if (!fill(plan, i, error) || !fill_submitted(plan, i, error))
            return false;
    }
    return true;
}
