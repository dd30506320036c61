/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/report.h"

#include "core/commands/execute.h"

#include <string.h>
#include <unistd.h>

struct orch_plan *orch_cli_report_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                                       int jobs, GError **error)
{
    if (orch_workspace_has_store(cli->workspace) &&
        !orch_workspace_store(cli->workspace, ORCH_STORE_READ, error))
        return NULL;
    struct orch_execute_options options = {.jobs = jobs, .any_slots = !jobs, .reads_only = true};
    return orch_execute_make_plan(cli, expansion, &options, 0, error);
}
