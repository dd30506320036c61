/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/record/commit_place.h"

#include "core/record/start_folder.h"
#include "core/record/trialdir.h"
#include "core/record/work_copy_paths.h"
#include "lib/base/error.h"
#include "lib/base/file.h"

#include <string.h>

char *orch_commit_place_path(const struct orch_workspace *base, const char *root, const char *path)
{
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    return orch_path_within(absolute, base->root)
               ? g_strconcat(root, absolute + strlen(base->root), NULL)
               : g_steal_pointer(&absolute);
}

static struct orch_plugins *plugins_in_copy(const struct orch_workspace *base,
                                            const char *const *paths, const char *root)
{
    g_autoptr(GPtrArray) folders = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; paths && paths[i]; i++)
        g_ptr_array_add(folders, orch_commit_place_path(base, root, paths[i]));
    g_ptr_array_add(folders, NULL);
    return orch_plugins_new((const char *const *)folders->pdata);
}

bool orch_commit_place_open(struct orch_commit_place *place, struct orch_workspace *base,
                            struct orch_source *source, bool is_here, const char *folder,
                            const char *const *plugin_paths, GError **error)
{
    *place = (struct orch_commit_place){.base = base};
    if (orch_vcs_keep(base->vcs, source->tree, error))
        place->root = orch_workspace_copy(base, source->tree, error);
    if (!place->root) {
        orch_source_free(source);
        return false;
    }
    place->built = is_here ? g_ptr_array_new() : orch_workspace_drop_built(base, place->root);
    g_autofree char *copy = orch_commit_place_path(base, place->root, folder);
    place->workspace = orch_workspace_at(base, place->root, copy, source, error);
    place->plugins = plugins_in_copy(base, plugin_paths, place->root);
    return place->workspace && orch_workspace_store(place->workspace, ORCH_STORE_WRITE, error);
}

void orch_commit_place_clear(struct orch_commit_place *place)
{
    orch_plugins_free(place->plugins);
    orch_workspace_free(place->workspace);
    g_clear_pointer(&place->built, g_ptr_array_unref);
    g_free(place->root);
    *place = (struct orch_commit_place){0};
}

char *orch_commit_place_built_text(const struct orch_commit_place *place)
{
    enum { NAMED = 3 };
    g_autoptr(GString) names = g_string_new(NULL);
    guint count = place->built ? place->built->len : 0;
    for (guint i = 0; i < count && i < NAMED; i++)
        g_string_append_printf(names, "%s'%s'", i ? ", " : "", (char *)place->built->pdata[i]);
    if (count > NAMED)
        g_string_append_printf(names, " and %u more", count - NAMED);
    return count ? g_strdup_printf("%s of your folder %s not used: the commit has other sources, "
                                   "so the command must build again",
                                   names->str, count == 1 ? "is" : "are")
                 : NULL;
}

bool orch_commit_place_holds(struct orch_plan *plan, const char *what, GError **error)
{
    for (guint i = 0; i < plan->expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = plan->expansion->experiments->pdata[i];
        if (!orch_trial_may_run_in_place(plan, experiment))
            continue;
        g_autoptr(GPtrArray) faults = orch_redirect_faults(plan, experiment);
        if (!faults->len)
            continue;
        orch_error_set(error, ORCH_ERROR_RECIPE, "use relative paths",
                       "%s: %s would use the files of your work tree, not of the commit",
                       (char *)faults->pdata[0], what);
        return false;
    }
    return true;
}
