/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What to type after a run that was stopped: by Ctrl-C, a budget or a deadline. */
#ifndef ORCH_CORE_CLI_STOPPED_H
#define ORCH_CORE_CLI_STOPPED_H

#include "core/cli/execute.h"

/** A sentence that says how the trials that are left come to run. With --force the same command
 * would make all runs again, and without it earlier runs may spare what is left. The caller frees.
 */
char *orch_cli_how_to_go_on(const struct orch_cli *cli, const struct orch_plan *plan,
                            const struct orch_execute_options *options);

#endif
