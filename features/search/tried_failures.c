/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials of a search whose results are not used: the points of those that failed, which are tried
 * no more, and what they have cost. */
#include "features/search/tried_private.h"

#include "core/plan/cell_runs.h"
#include "core/plan/plan_forecast.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

/* Earlier runs of a repeat that are looked at. */
#define FAILURES_MAX 1000

bool orch_tried_failed_by_itself(enum orch_verdict verdict)
{
    return verdict == ORCH_VERDICT_FAILED || verdict == ORCH_VERDICT_CRASHED ||
           verdict == ORCH_VERDICT_TIMEOUT || verdict == ORCH_VERDICT_PROTOCOL;
}

/* Counts a run, once. */
static void add_spent(struct orch_tried *tried, const struct orch_plan_item *item, const char *key,
                      double wall_ms)
{
    if (!g_hash_table_add(tried->counted, g_strdup(key)))
        return;
    g_autofree char *name = orch_tried_name(item->cell->point);
    struct orch_tried_spent *spent = g_hash_table_lookup(tried->spent, name);
    if (!spent) {
        spent = g_new0(struct orch_tried_spent, 1);
        g_hash_table_insert(tried->spent, g_steal_pointer(&name), spent);
    }
    spent->seconds += wall_ms / 1000 * orch_plan_item_devices(item);
    spent->trials++;
}

static GPtrArray *history_of(struct orch_plan *plan, const struct orch_cell *cell, GError **error)
{
    return orch_cell_runs(plan, cell, cell->repeat, cell->coords, FAILURES_MAX, error);
}

/* Adds what the attempts before the last one have cost, which the store has. */
static void add_attempts(struct orch_tried *tried, struct orch_plan *plan,
                         const struct orch_plan_item *item)
{
    g_autoptr(GError) problem = NULL;
    g_autoptr(GPtrArray) rows = history_of(plan, item->cell, &problem);
    if (!rows)
        g_debug("the attempts of a trial cannot be read: %s", problem->message);
    for (guint i = 0; rows && i < rows->len; i++) {
        const struct orch_history_row *row = rows->pdata[i];
        if (row->ended_ns >= tried->began_ns && g_strcmp0(row->key, item->run_key) != 0 &&
            strcmp(row->fingerprint, item->fingerprint) == 0 &&
            !orch_verdict_facts(orch_verdict_parse(row->state))->is_reused)
            add_spent(tried, item, row->key, row->wall_ms);
    }
}

bool orch_tried_note_promoted(struct orch_tried *tried, const struct orch_plan *plan,
                              unsigned index, GError **error)
{
    const struct orch_plan_item *item = &plan->items[index];
    struct orch_run *run = orch_store_run(plan->store, item->run_key, error);
    if (!run)
        return false;
    if (g_strcmp0(run->recipe, plan->expansion->name) == 0)
        add_spent(tried, item, run->key, run->wall_ms);
    g_hash_table_remove(tried->ended, GUINT_TO_POINTER(index));
    orch_run_free(run);
    return true;
}

void orch_tried_note_end(struct orch_tried *tried, struct orch_plan *plan, unsigned index,
                         const struct orch_collected *collected)
{
    const struct orch_plan_item *item = &plan->items[index];
    double seconds = collected ? collected->wall_ms / 1000 : (double)NAN;
    g_hash_table_insert(tried->ended, GUINT_TO_POINTER(index), g_memdup2(&seconds, sizeof seconds));
    if (collected && orch_tried_failed_by_itself(collected->verdict))
        g_hash_table_add(tried->failed, item->cell->point);
    if (collected && item->attempts > 1)
        add_attempts(tried, plan, item);
}

static const double *avoid(struct orch_tried *tried, const struct orch_search_point *of,
                           const double *at)
{
    struct orch_tried_avoided *avoided = g_new0(struct orch_tried_avoided, 1);
    avoided->search = of->search;
    avoided->group = of->group;
    memcpy(avoided->at, at, sizeof avoided->at);
    g_ptr_array_add(tried->avoided, avoided);
    return avoided->at;
}

const double *orch_tried_note_rejected(struct orch_tried *tried, const struct orch_search_point *of)
{
    return avoid(tried, of, of->at);
}

/* Whether a point is avoided, or is one of the plan's. */
static bool is_known(const struct orch_tried *tried, const struct orch_plan *plan,
                     const struct orch_search_point *of, const double *at)
{
    const struct orch_space *space = of->search->space;
    for (guint i = 0; i < tried->avoided->len; i++) {
        const struct orch_tried_avoided *avoided = tried->avoided->pdata[i];
        if (avoided->search == of->search && avoided->group == of->group &&
            orch_space_is_same(space, avoided->at, at, ORCH_SPACE_EQUAL))
            return true;
    }
    for (guint i = 0; i < plan->expansion->points->len; i++) {
        const struct orch_search_point *point = plan->expansion->points->pdata[i];
        if (orch_tried_is_of(point, of) && point->is_chosen &&
            orch_space_is_same(space, point->at, at, ORCH_SPACE_EQUAL))
            return true;
    }
    return false;
}

/* Whether a trial of the plan has the fingerprint. */
static bool is_of_plan(const struct orch_plan *plan, const char *fingerprint)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (strcmp(plan->items[i].fingerprint, fingerprint) == 0 ||
            strcmp(plan->items[i].own_fingerprint, fingerprint) == 0)
            return true;
    return false;
}

/* Whether the result of a run is used: add_item counts what it has cost. */
static bool is_used(const struct orch_plan *plan, const char *key)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (g_strcmp0(plan->items[i].run_key, key) == 0)
            return true;
    return false;
}

/* Finds out whether an earlier run would be the same trial again; its point is then in `at`.
 * `*out_own`: it was made for this recipe. */
static bool find_same(struct orch_tried *tried, struct orch_plan *plan, unsigned index,
                      const struct orch_history_row *row, double *at, bool *out_same, bool *out_own,
                      GError **error)
{
    const struct orch_cell *cell = plan->items[index].cell;
    struct orch_run *run = orch_store_run(plan->store, row->key, error);
    g_autoptr(json_t) params = run ? orch_store_params(plan->store, run->id, error) : NULL;
    char fingerprint[65];
    *out_same = false;
    *out_own = run && g_strcmp0(run->recipe, plan->expansion->name) == 0;
    orch_run_free(run);
    if (!params)
        return false;
    if (!orch_search_point_of(cell, params, at))
        return true;
    *out_same =
        g_hash_table_contains(tried->ours, row->fingerprint) || is_of_plan(plan, row->fingerprint);
    if (*out_same || !orch_cell_is_open(cell))
        return true;
    if (!orch_plan_would_be(plan, index, at, fingerprint, error))
        return false;
    *out_same = strcmp(fingerprint, row->fingerprint) == 0;
    return true;
}

/* Keeps the point of an earlier failure, and what the run has cost, if the item would be that trial
 * with the point's values. */
static bool keep_failure(struct orch_tried *tried, struct orch_plan *plan, unsigned index,
                         const struct orch_history_row *row, GError **error)
{
    const struct orch_plan_item *item = &plan->items[index];
    double at[ORCH_SPACE_PARAMS_MAX] = {0};
    bool is_same, is_own;
    if (!find_same(tried, plan, index, row, at, &is_same, &is_own, error))
        return false;
    if (!is_same)
        return true;
    g_hash_table_add(tried->ours, g_strdup(row->fingerprint));
    if (is_own && row->ended_ns < tried->began_ns && !is_used(plan, row->key))
        add_spent(tried, item, row->key, row->wall_ms);
    if (orch_tried_failed_by_itself(orch_verdict_parse(row->state)) &&
        !is_known(tried, plan, item->cell->point, at))
        avoid(tried, item->cell->point, at);
    return true;
}

/* Reads the runs of one repeat whose results are not used. */
static bool read_repeat(struct orch_tried *tried, struct orch_plan *plan, unsigned index,
                        GError **error)
{
    g_autoptr(GPtrArray) rows = history_of(plan, plan->items[index].cell, error);
    bool ok = rows != NULL;
    for (guint i = rows ? rows->len : 0; ok && i-- > 0;) {
        const struct orch_history_row *row = rows->pdata[i];
        if (!orch_verdict_facts(orch_verdict_parse(row->state))->is_reused)
            ok = keep_failure(tried, plan, index, row, error);
    }
    return ok;
}

bool orch_tried_read_failures(struct orch_tried *tried, struct orch_plan *plan, unsigned index,
                              GError **error)
{
    const struct orch_search_point *point = plan->items[index].cell->point;
    char *name = orch_tried_name(point);
    bool ok = true, is_open = orch_cell_is_open(plan->items[index].cell);
    if (!g_hash_table_add(tried->read, name))
        return true;
    /* an open point has the history of all */
    for (unsigned i = 0; ok && i < plan->count; i++)
        if (is_open ? plan->items[i].cell->point == point
                    : orch_tried_is_of(plan->items[i].cell->point, point))
            ok = read_repeat(tried, plan, i, error);
    return ok;
}
