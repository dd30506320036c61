/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points of searches in a plan. What a search has tried is what the store has: a point whose run
 * can be reused, whoever made it, takes the place of one that would have to be chosen, so that a
 * search that was killed goes on where it was, and a colleague's results cost nothing. */
#include "core/plan/plan_private.h"

#include "core/recipe/recipe_search.h"

#include "lib/base/json.h"

#include <math.h>
#include <string.h>

#define HISTORY_MAX 100000 /* runs of an experiment that are looked at */

/* Applies a function to the items of a point until one fails. */
static bool each_item(struct orch_plan *plan, const struct orch_search_point *point,
                      bool (*apply)(struct orch_plan *plan, unsigned index, GError **error),
                      GError **error)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].cell->point == point && !apply(plan, i, error))
            return false;
    return true;
}

static bool take_values(struct orch_plan *plan, unsigned index, GError **error)
{
    orch_cell_take_point(plan->items[index].cell);
    return orch_plan_renew(plan, index, error) && orch_plan_settle(plan, index, error);
}

static bool open_again(struct orch_plan *plan, unsigned index, GError **error)
{
    (void)error;
    struct orch_plan_item *item = &plan->items[index];
    orch_cell_open_point(item->cell);
    g_clear_pointer(&item->run_key, g_free);
    item->attempts = 0;
    item->fingerprint[0] = 0;
    return orch_plan_renew(plan, index, NULL) && orch_plan_settle(plan, index, NULL);
}

bool orch_plan_take_point(struct orch_plan *plan, struct orch_search_point *point, GError **error)
{
    point->is_chosen = true;
    if (each_item(plan, point, take_values, error))
        return true;
    point->is_chosen = false;
    each_item(plan, point, open_again, NULL);
    return false;
}

/* Whether every parameter that is not searched has the cell's value in a run. */
static bool has_fixed_values(const struct orch_cell *cell, const json_t *params)
{
    const char *name;
    json_t *value;
    json_object_foreach(cell->params, name, value)
    {
        const struct orch_param_spec *spec = orch_manifest_param(cell->experiment->manifest, name);
        if (orch_space_find(cell->point->search->space, name) < 0 &&
            orch_cell_identifies(cell, spec) && !json_equal(json_object_get(params, name), value))
            return false;
    }
    return true;
}

/* Whether a chosen point of the same search has these coordinates. */
static bool is_taken(const struct orch_plan *plan, const struct orch_search_point *point,
                     const double *at)
{
    unsigned count = point->search->space->params->len;
    for (guint i = 0; i < plan->expansion->points->len; i++) {
        const struct orch_search_point *other = plan->expansion->points->pdata[i];
        unsigned same = 0;
        if (other->search != point->search || other->group != point->group || !other->is_chosen)
            continue;
        for (unsigned k = 0; k < count; k++)
            same += fabs(other->at[k] - at[k]) < 1e-9 || (isnan(other->at[k]) && isnan(at[k]));
        if (same == count)
            return true;
    }
    return false;
}

/* Sets an open cell's point to that of a run, if it is one of its search that no other cell has. */
static bool set_point(struct orch_plan *plan, const struct orch_cell *cell,
                      const struct orch_history_row *row, GError **error)
{
    struct orch_run *run = orch_store_run(plan->store, row->key, error);
    g_autoptr(json_t) params = run ? orch_store_params(plan->store, run->id, error) : NULL;
    double at[ORCH_SPACE_PARAMS_MAX];
    bool fits = params && has_fixed_values(cell, params) &&
                orch_search_point_of(cell->point->search, params, at) &&
                !is_taken(plan, cell->point, at);
    if (fits)
        memcpy(cell->point->at, at, sizeof at);
    orch_run_free(run);
    return fits;
}

/* The first open item of a search's group, of the first repeat. NULL: there is none. */
static struct orch_plan_item *open_item(struct orch_plan *plan, const struct orch_search *search,
                                        unsigned group)
{
    for (unsigned i = 0; i < plan->count; i++) {
        struct orch_plan_item *item = &plan->items[i];
        if (orch_cell_is_open(item->cell) && item->cell->point->search == search &&
            item->cell->point->group == group && item->cell->repeat == 1)
            return item;
    }
    return NULL;
}

/* Fills the open cells of one search from the store, the oldest runs first. */
static bool fill(struct orch_plan *plan, const struct orch_cell *first, GError **error)
{
    const struct orch_search_point *point = first->point;
    const struct orch_search *search = point->search;
    unsigned group = point->group;
    g_autoptr(GPtrArray) rows =
        orch_store_history(plan->store, plan->expansion->name, first->experiment->name, 1,
                           first->coords, HISTORY_MAX, error);
    if (!rows)
        return false;
    for (guint i = rows->len; i-- > 0;) {
        const struct orch_history_row *row = rows->pdata[i];
        struct orch_plan_item *item = open_item(plan, search, group);
        GError *problem = NULL;
        if (!item)
            return true;
        if (!orch_verdict_facts(orch_verdict_parse(row->state))->is_reused)
            continue;
        if (!set_point(plan, item->cell, row, &problem)) {
            if (problem) {
                g_propagate_error(error, problem);
                return false;
            }
            continue;
        }
        struct orch_search_point *chosen = item->cell->point;
        if (!orch_plan_take_point(plan, chosen, NULL) || item->state == ORCH_PLAN_DONE)
            continue; /* a point that is rejected today is open again */
        chosen->is_chosen = false;
        each_item(plan, chosen, open_again, NULL);
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
        if (!fill(plan, cell, error))
            return false;
    }
    return true;
}
