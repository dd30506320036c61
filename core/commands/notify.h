/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ORCH_CORE_COMMANDS_NOTIFY_H
#define ORCH_CORE_COMMANDS_NOTIFY_H

#include "core/cli/cli.h"

/** Runs `command` in a shell with a summary of the run as JSON on its standard input, for at most a
 * minute and in its own process group. NULL means $ORCH_NOTIFY; without either nothing is run. The
 * command comes only from the user, never from a recipe. Its failure is reported but has no other
 * effect. `problem` is the error that ended the run, or NULL. */
void orch_cli_notify_end(struct orch_cli *cli, const char *command, const char *recipe, int status,
                         const GError *problem, int64_t started_ns);

#endif
