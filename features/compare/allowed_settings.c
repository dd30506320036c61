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
                       GHashTable *broken, GError **error)
{
    g_autofree char *name = g_strdup_printf("%s %s", run->recipe_key, run->experiment);
    struct orch_search *search = g_hash_table_lookup(searches, name);
    if (!search) {
        if (!(search = read_limits(store, run, error)))
            return false;
        g_hash_table_insert(searches, g_steal_pointer(&name), search);
    }
    const double excess =
        search->bound_count ? orch_limits_excess_of(search, store, run->key, error) : 0;
    char *setting = excess > 0 ? setting_of(store, run, error) : NULL;
    if (setting)
        g_hash_table_add(broken, setting);
    return setting || excess <= 0;
}

static char *left_out_text(guint count)
{
    return g_strdup_printf("%u setting%s left out, because %s a limit of the search", count,
                           count == 1 ? " is" : "s are", count == 1 ? "it breaks" : "they break");
}

bool orch_allowed_runs_keep(struct orch_store *store, GPtrArray *runs, char **out_text,
                            GError **error)
{
    g_autoptr(GHashTable) searches =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)orch_search_free);
    g_autoptr(GHashTable) broken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    *out_text = NULL;
    for (guint i = 0; i < runs->len; i++)
        if (!add_broken(store, runs->pdata[i], searches, broken, error))
            return false;
    const guint count = g_hash_table_size(broken);
    for (guint i = count ? runs->len : 0; i-- > 0;) {
        g_autofree char *setting = setting_of(store, runs->pdata[i], error);
        if (!setting)
            return false;
        if (g_hash_table_contains(broken, setting))
            g_ptr_array_remove_index(runs, i);
    }
    *out_text = count ? left_out_text(count) : NULL;
    return true;
}

/* ---- trials of a report ---------------------------------------------------------------------- */

static struct orch_search_point *point_of(const struct orch_report_trial *trial)
{
    return trial->item ? trial->item->cell->point : NULL;
}

static bool keep_allowed(struct orch_section_context *a, struct orch_section_grid *grid,
                         GError **error)
{
    const GPtrArray *all = grid->trials->all;
    g_autoptr(GHashTable) kept = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) broken = g_hash_table_new(NULL, NULL); /* points */
    const bool is_all = a->item->kind->tests == ORCH_TESTS_ALL;
    if (!is_all && !json_object_get(a->item->spec, "best_of"))
        return true;
    for (guint i = 0; i < all->len; i++) {
        const struct orch_report_trial *trial = all->pdata[i];
        struct orch_search_point *point = point_of(trial);
        const double excess =
            point && trial->run && point->search->bound_count
                ? orch_limits_excess_of(point->search, grid->trials->store, trial->run->key, error)
                : 0;
        if (isnan(excess))
            return false;
        if (excess > 0)
            g_hash_table_add(broken, point);
        if (point && is_all && !grid->rows->len)
            g_ptr_array_add(grid->rows, g_strdup("setting"));
    }
    for (guint i = 0; i < all->len; i++)
        if (!g_hash_table_contains(broken, point_of(all->pdata[i])))
            g_hash_table_add(kept, all->pdata[i]);
    orch_trials_keep(grid->trials, kept);
    g_autofree char *text = left_out_text(g_hash_table_size(broken));
    if (g_hash_table_size(broken))
        orch_section_note(a->section, "%s", text);
    return true;
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
