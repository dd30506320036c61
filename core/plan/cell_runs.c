/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/plan/cell_runs.h"

#include "core/recipe/recipe_search.h"
#include "lib/base/json.h"
#include "store/read/listing.h"
#include "store/write/counted.h"

#include <string.h>

enum { RECIPE_BYTES_MAX = 16 << 20 };

GPtrArray *orch_item_runs(const struct orch_plan *plan, const struct orch_plan_item *item,
                          unsigned limit, GError **error)
{
    return orch_store_history_of(plan->store, item->fingerprint, limit, error);
}

/* ---- equal searches ---------------------------------------------------------------------------
 */

/* What a search is, but for how long it goes on: its ranges, its metric, and how it chooses. NULL
 * for an experiment of a recipe that is no search of its own. The caller frees. */
static char *definition_of(const json_t *experiment, bool with_ranges)
{
    const json_t *objective = json_object_get(experiment, "objective");
    json_t *ranges = json_object_get(experiment, "search");
    json_t *metric = json_object_get(objective, "metric");
    if ((with_ranges && !ranges) || !objective)
        return NULL;
    g_autoptr(json_t) all =
        json_pack("[O? O O? O? O?]", with_ranges ? ranges : NULL,
                  metric ? metric : json_object_get(objective, "metrics"),
                  json_object_get(objective, "subject to"), json_object_get(objective, "sampler"),
                  json_object_get(objective, "seed"));
    return all ? orch_json_canonical(all) : NULL;
}

static json_t *parse(const char *canonical)
{
    return orch_json_parse(canonical, strlen(canonical), RECIPE_BYTES_MAX, NULL);
}

struct equal {
    const struct orch_plan *plan;
    const char *experiment; /* of the plan's recipe */
    char *definition, *without_ranges;
    GHashTable *names; /* set of char *: "RECIPE/EXPERIMENT" */
};

static bool add_equal(void *ctx, const char *canonical)
{
    struct equal *equal = ctx;
    g_autoptr(json_t) recipe = parse(canonical);
    const char *recipe_name = orch_json_text(recipe, "recipe", NULL), *name;
    json_t *experiment;
    json_object_foreach(json_object_get(recipe, "experiments"), name, experiment)
    {
        /* the ranges of 'orch try' stand in its command: fingerprints tell its trials apart */
        const bool has_ranges = json_object_get(experiment, "search");
        g_autofree char *definition = definition_of(experiment, has_ranges);
        bool is_own = g_strcmp0(recipe_name, equal->plan->expansion->name) == 0 &&
                      strcmp(name, equal->experiment) == 0;
        if (recipe_name && !is_own && definition &&
            g_strcmp0(definition, has_ranges ? equal->definition : equal->without_ranges) == 0)
            g_hash_table_add(equal->names, g_strconcat(recipe_name, "/", name, NULL));
    }
    return true;
}

/* The names under which the store's recipes have a search like that of the experiment; kept with
 * the plan. Borrowed. */
static GHashTable *equal_searches(const struct orch_plan *plan,
                                  const struct orch_experiment *experiment)
{
    GHashTable *names = g_hash_table_lookup(plan->equal_searches, experiment);
    if (names)
        return names;
    names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_insert(plan->equal_searches, (gpointer)(uintptr_t)experiment, names);
    g_autoptr(json_t) recipe =
        plan->expansion->canonical ? parse(plan->expansion->canonical) : NULL;
    const json_t *own = json_object_get(json_object_get(recipe, "experiments"), experiment->name);
    g_autofree char *definition = definition_of(own, true), *without = definition_of(own, false);
    struct equal equal = {plan, experiment->name, definition, without, names};
    if (definition)
        orch_store_visit_searches(plan->store, add_equal, &equal, NULL);
    return names;
}

/* ---- the runs of an experiment ----------------------------------------------------------------
 */

GPtrArray *orch_cell_runs(const struct orch_plan *plan, const struct orch_cell *cell, int repeat,
                          const json_t *values, unsigned limit, GError **error)
{
    g_autoptr(GPtrArray) rows = orch_store_history(
        plan->store, plan->expansion->name, cell->experiment->name, repeat, values, limit, error);
    GHashTable *others = rows && cell->point ? equal_searches(plan, cell->experiment) : NULL;
    GHashTableIter iter;
    gpointer name;
    if (!others || !g_hash_table_size(others))
        return g_steal_pointer(&rows);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < rows->len; i++)
        g_hash_table_add(seen, ((struct orch_history_row *)rows->pdata[i])->key);
    g_hash_table_iter_init(&iter, others);
    while (g_hash_table_iter_next(&iter, &name, NULL) && rows->len < limit) {
        g_auto(GStrv) parts = g_strsplit(name, "/", 2);
        g_autoptr(GPtrArray) more = orch_store_history(plan->store, parts[0], parts[1], repeat,
                                                       values, limit - rows->len, error);
        if (!more)
            return NULL;
        g_ptr_array_set_free_func(more, (GDestroyNotify)orch_history_row_free);
        while (more->len) {
            struct orch_history_row *row = g_ptr_array_steal_index(more, 0);
            if (g_hash_table_add(seen, row->key))
                g_ptr_array_add(rows, row);
            else
                orch_history_row_free(row);
        }
    }
    return g_steal_pointer(&rows);
}

/* ---- what is counted --------------------------------------------------------------------------
 */

void orch_plan_note_counted(const struct orch_plan *plan, unsigned index)
{
    g_autoptr(GError) problem = NULL;
    g_autofree struct orch_counted *counted = g_new(struct orch_counted, plan->count + 1);
    size_t count = 0;
    for (unsigned i = 0; plan->store && i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        bool has_run = item->state == ORCH_PLAN_DONE || item->state == ORCH_PLAN_PRUNED;
        if ((index == ORCH_ALL_ITEMS || index == i) && has_run && item->run_key)
            counted[count++] = (struct orch_counted){item->cell->experiment->name, item->run_key};
    }
    if (count &&
        !orch_store_count_runs(plan->store, plan->expansion->name, counted, count, &problem))
        g_debug("the runs that the plan uses were not recorded: %s", problem->message);
}
