/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/record/start_folder.h"

#include "core/record/work_copy.h"
#include "lib/base/file.h"
#include "lib/wire/trial.h"

bool orch_trial_may_run_in_place(const struct orch_plan *plan,
                                 const struct orch_experiment *experiment)
{
    if (experiment->manifest->kind != ORCH_PLUGIN_WRAPPED)
        return false;
    g_autofree char *home = orch_experiment_folder(plan->expansion, experiment);
    return orch_path_within(home, plan->workspace->root) &&
           !orch_plugin_is_ours(experiment->manifest);
}

bool orch_start_folder(struct orch_plan *plan, const struct orch_plan_item *item,
                       const struct orch_run_slot *slot, const char *trial_dir, char **out_cwd,
                       json_t **out_apart, GError **error)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    const struct orch_source *source = plan->workspace->source;
    if (experiment->manifest->kind != ORCH_PLUGIN_WRAPPED)
        return true;
    g_autofree char *home = orch_experiment_folder(plan->expansion, experiment);
    bool is_of_workspace = orch_trial_may_run_in_place(plan, experiment);
    if (!slot->is_apart && is_of_workspace) {
        *out_cwd = g_steal_pointer(&home);
        return true;
    }
    if (is_of_workspace && source && source->tree) {
        *out_apart = orch_apart_make(plan, item, home, trial_dir, out_cwd, error);
        return *out_apart != NULL;
    }
    *out_cwd = g_strdup(ORCH_TRIAL_WORK);
    *out_apart = orch_apart_copy_folder(home, trial_dir, error);
    return *out_apart != NULL;
}
