/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ORCH_CORE_CLI_NOTIFY_H
#define ORCH_CORE_CLI_NOTIFY_H

#include "core/cli/cli.h"

/** Runs `command` (NULL: $ORCH_NOTIFY; neither: nothing) in a shell and a process group of its own,
 * with a summary of the run as JSON on its standard input, for at most a minute. It comes from the
 * user alone, never from a recipe. That it fails is said and changes nothing. `problem`: the error
 * that ended the run, or NULL. */
void notify_end(struct orch_cli *cli, const char *command, const char *recipe, int status,
                const GError *problem, int64_t started_ns);

#endif
