/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/compare/allowed_settings.h"

#include "core/plan/setting_limits.h"
#include "core/stats/same_trial.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "store/read/names_of.h"

#include <math.h>
#include <string.h>

/* ---- runs of a store ------------------------------------------------------------------------- */

/* The recipe of a run that was looked up. */
static bool take_recipe(void *ctx, const char *canonical)
{
    *(json_t **)ctx = orch_json_parse(canonical, strlen(canonical), 16 << 20, NULL);
    return false;
}

/* Reads the limits of the search that made a run; none where it was no search. */
static struct orch_search *read_limits(struct orch_store *store, const struct orch_run *run,
                                       GError **error)
{
    g_autoptr(json_t) recipe = NULL;
    struct orch_search *search = g_new0(struct orch_search, 1);
    if (!orch_store_recipes_of(store, &run->id, 1, 1, take_recipe, &recipe, error)) {
        orch_search_free(search);
        return NULL;
    }
    const json_t *experiment =
        json_object_get(json_object_get(recipe, "experiments"), run->experiment);
    g_autoptr(GPtrArray) texts = orch_texts_from_json(
        json_object_get(json_object_get(experiment, "objective"), "subject to"));
    for (guint i = 0; i < texts->len; i++)
        orch_search_bounds_read(search, texts->pdata[i], NULL);
    return search;
}

static char *setting_of(struct orch_store *store, const struct orch_run *run, GError **error)
{
    g_autoptr(json_t) params = orch_run_open_params(store, run, error);
    orch_seed_names_remove(params);
    return params ? orch_run_repeats_text(run, params) : NULL;
}

/* Adds the setting of a run to `broken` if the run breaks a limit. `searches`: by experiment. */
static bool add_broken(struct orch_store *store, const struct orch_run *run, GHashTable *searches,
                       GHashTable *broken, GHashTable *limits, GError **error)
{
    g_autofree char *name = g_strdup_printf("%s %s", run->recipe_key, run->experiment);
    struct orch_search *search = g_hash_table_lookup(searches, name);
    if (!search) {
        if (!(search = read_limits(store, run, error)))
            return false;
        g_hash_table_insert(searches, g_steal_pointer(&name), search);
    }
    if (!search->bound_count)
        return true;
    struct orch_run_numbers *numbers = orch_run_numbers_read(store, run, error);
    char *setting = numbers ? setting_of(store, run, error) : NULL;
    if (setting && orch_limits_excess(search, run, numbers, NULL) > 0) {
        g_hash_table_add(broken, g_steal_pointer(&setting));
        for (unsigned k = 0; k < search->bound_count; k++)
            g_hash_table_add(limits, g_strdup(search->bounds[k].text));
    }
    orch_run_numbers_free(numbers);
    g_free(setting);
    return numbers;
}

static void free_search(void *search)
{
    orch_search_free(search);
}

bool orch_allowed_runs_keep(struct orch_store *store, GPtrArray *runs, char **out_text,
                            GError **error)
{
    g_autoptr(GHashTable) searches =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_search);
    g_autoptr(GHashTable) broken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) limits = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    *out_text = NULL;
    for (guint i = 0; i < runs->len; i++)
        if (!add_broken(store, runs->pdata[i], searches, broken, limits, error))
            return false;
    const guint count = g_hash_table_size(broken);
    if (!count)
        return true;
    for (guint i = runs->len; i-- > 0;) {
        g_autofree char *setting = setting_of(store, runs->pdata[i], error);
        if (!setting)
            return false;
        if (g_hash_table_contains(broken, setting))
            g_ptr_array_remove_index(runs, i);
    }
    g_autofree char **names = (char **)g_hash_table_get_keys_as_array(limits, NULL);
    g_autofree char *all = g_strjoinv(" and ", names);
    *out_text =
        g_strdup_printf("%u setting%s left out, because %s '%s'", count,
                        count == 1 ? " is" : "s are", count == 1 ? "it breaks" : "they break", all);
    return true;
}

/* ---- trials of a report ---------------------------------------------------------------------- */

/* The points of searches of which a trial breaks a limit. NULL with an error. */
static GHashTable *broken_points(const struct orch_trials *trials, GError **error)
{
    g_autoptr(GHashTable) broken = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < trials->all->len; i++) {
        const struct orch_report_trial *trial = trials->all->pdata[i];
        struct orch_search_point *point = trial->item ? trial->item->cell->point : NULL;
        if (!point || !trial->run || !point->search->bound_count)
            continue;
        const double excess =
            orch_limits_excess_of(point->search, trials->store, trial->run->key, error);
        if (isnan(excess))
            return NULL;
        if (excess > 0)
            g_hash_table_add(broken, point);
    }
    return g_steal_pointer(&broken);
}

static bool keep_allowed(struct orch_section_context *a, struct orch_section_grid *grid,
                         GError **error)
{
    const bool is_all = a->item->kind->tests == ORCH_TESTS_ALL;
    if (!is_all && !json_object_get(a->item->spec, "best_of"))
        return true;
    g_autoptr(GHashTable) kept = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) broken = broken_points(grid->trials, error);
    bool is_search = false;
    for (guint i = 0; broken && i < grid->trials->all->len; i++) {
        struct orch_report_trial *trial = grid->trials->all->pdata[i];
        const struct orch_search_point *point = trial->item ? trial->item->cell->point : NULL;
        is_search = is_search || point;
        if (!point || !g_hash_table_contains(broken, point))
            g_hash_table_add(kept, trial);
    }
    if (broken)
        orch_trials_keep(grid->trials, kept);
    const guint count = broken ? g_hash_table_size(broken) : 0;
    if (count)
        orch_section_note(a->section, "%u setting%s left out, because %s a limit of the search",
                          count, count == 1 ? " is" : "s are",
                          count == 1 ? "it breaks" : "they break");
    if (is_all && is_search && !grid->rows->len)
        g_ptr_array_add(grid->rows, g_strdup("setting"));
    return broken;
}

struct orch_section_grid *orch_allowed_grid(struct orch_section_context *a, const char *rows_key,
                                            const char *columns_key, GError **error)
{
    struct orch_section_grid *grid = orch_section_grid_begin(a, rows_key, columns_key, error);
    if (!grid || (keep_allowed(a, grid, error) && orch_section_grid_fill(a, grid, error)))
        return grid;
    orch_section_grid_free(grid);
    return NULL;
}
