/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/charts/declared_labels.h"

#include "core/cli/cli.h"
#include "core/plugin/plugins.h"
#include "core/report/labels.h"
#include "core/report/metric_bounds.h"
#include "lib/base/json.h"
#include "store/read/names_of.h"

#include <string.h>

/* How a run's recipe names its plugin: "warm", "./warm.plugin". */
struct written {
    const struct orch_run *run;
    char *plugin;
};

static bool read_plugin(void *ctx, const char *canonical)
{
    struct written *w = ctx;
    g_autoptr(json_t) recipe = json_loads(canonical, 0, NULL);
    json_t *experiment =
        json_object_get(json_object_get(recipe, "experiments"), w->run->experiment);
    w->plugin = g_strdup(json_string_value(json_object_get(experiment, "plugin")));
    return false;
}

/* The plugin as the recipe names it; where that is unknown, as a file beside the program. */
static char *plugin_of(struct orch_store *store, const struct orch_run *run)
{
    struct written w = {run, NULL};
    if (run->experiment)
        orch_store_recipes_of(store, &run->id, 1, 1, read_plugin, &w, NULL);
    return w.plugin ? w.plugin : g_strdup_printf("./%s.plugin", run->plugin);
}

/* The folders in which the recipe of a run may lie, which no run records: the work tree's root, and
 * those of the files that the run read, with the folders around them. */
static GPtrArray *folders_of(struct orch_store *store, const struct orch_run *run, const char *root)
{
    GPtrArray *folders = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) inputs = orch_store_inputs(store, run->id, NULL);
    for (guint i = 0; inputs && i < inputs->len; i++) {
        const struct orch_stored_input *input = inputs->pdata[i];
        g_autofree char *below = g_path_get_dirname(input->name);
        while (!g_path_is_absolute(below) && strcmp(below, ".") != 0 && !strstr(below, "..")) {
            char *folder = g_build_filename(root, below, NULL);
            if (g_ptr_array_find_with_equal_func(folders, folder, g_str_equal, NULL))
                g_free(folder);
            else
                g_ptr_array_add(folders, folder);
            char *above = g_path_get_dirname(below);
            g_free(below);
            below = above;
        }
    }
    g_ptr_array_add(folders, g_strdup(root));
    return folders;
}

static const struct orch_manifest *manifest_of(struct orch_plugins *plugins,
                                               struct orch_store *store, const struct orch_run *run,
                                               const char *root)
{
    g_autofree char *folder = orch_cli_recipe_folder();
    const struct orch_manifest *manifest = orch_plugins_find(plugins, run->plugin, folder, NULL);
    if (manifest)
        return manifest;
    g_autofree char *name = plugin_of(store, run);
    g_autoptr(GPtrArray) folders = folders_of(store, run, root);
    for (guint i = 0; !manifest && !g_path_is_absolute(name) && i < folders->len; i++) {
        manifest = orch_plugins_find(plugins, name, folders->pdata[i], NULL);
        manifest = manifest && strcmp(manifest->name, run->plugin) == 0 ? manifest : NULL;
    }
    return manifest;
}

void orch_label_runs(struct orch_trials *trials, const char *root)
{
    struct orch_plugins *plugins = orch_plugins_new(NULL); /* without consent: nothing is asked */
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < trials->all->len; i++) {
        const struct orch_run *run = ((const struct orch_report_trial *)trials->all->pdata[i])->run;
        if (!run || !run->plugin || !g_hash_table_add(seen, run->plugin))
            continue;
        const struct orch_manifest *manifest = manifest_of(plugins, trials->store, run, root);
        if (manifest) {
            orch_labels_add(trials->labels, manifest);
            orch_bounds_add(trials->bounds, manifest);
        }
    }
    orch_plugins_free(plugins);
}
