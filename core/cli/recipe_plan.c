/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/recipe_plan.h"

struct orch_plan *orch_cli_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                                struct orch_plan_options options, unsigned gpu_count,
                                GError **error)
{
    if (!options.slots)
        options.slots = orch_plan_default_slots(cli->workspace, expansion, gpu_count);
    struct orch_diags *diags = orch_diags_new();
    struct orch_plan *plan =
        orch_plan_new(cli->workspace, orch_cli_plugins(cli), expansion, &options, diags, error);
    orch_cli_warnings(cli, diags);
    if (!plan && diags->error_count)
        orch_diags_to_error(diags, error && !*error ? error : NULL);
    orch_diags_free(diags);
    return plan;
}

struct orch_plan *orch_cli_report_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                                       int jobs, GError **error)
{
    if (orch_workspace_has_store(cli->workspace) &&
        !orch_workspace_store(cli->workspace, ORCH_STORE_READ, error))
        return NULL;
    const struct orch_plan_options options = {
        .slots = (unsigned)jobs, .any_slots = !jobs, .reads_only = true};
    return orch_cli_plan(cli, expansion, options, 0, error);
}
