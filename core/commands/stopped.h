/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells how to continue a run that was stopped by Ctrl-C, a budget or a deadline. */
#ifndef ORCH_CORE_COMMANDS_STOPPED_H
#define ORCH_CORE_COMMANDS_STOPPED_H

#include "core/commands/execute.h"

/** Returns a sentence that says how to run the remaining trials. With --force the same command
 * would repeat all runs, and without it earlier runs may be reused for what is left. The caller
 * frees. */
char *orch_cli_how_to_go_on(const struct orch_cli *cli, const struct orch_plan *plan,
                            const struct orch_execute_options *options);

#endif
