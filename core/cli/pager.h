/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Long output on a terminal is shown by the user's pager, as git does. */
#ifndef ORCH_CORE_CLI_PAGER_H
#define ORCH_CORE_CLI_PAGER_H

#include "core/cli/cli.h"

/** Starts the pager for a command that pages, when stdout is a terminal: $ORCH_PAGER, else $PAGER,
 * else less, which prints what fits on one screen. "cat" or an empty text is none. From then on
 * stdout, and stderr where it is a terminal, go through it. */
void orch_pager_start(const struct orch_cli *cli);
/** Ends the output and waits until the user leaves the pager, if one was started. */
void orch_pager_end(void);

#endif
