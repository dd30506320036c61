/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command by which a user wants to hear of a run: --notify, else $ORCH_NOTIFY. It comes only
 * from the user, never from a recipe or a store. */
#ifndef ORCH_CORE_CLI_NOTIFY_H
#define ORCH_CORE_CLI_NOTIFY_H

#include <sys/types.h>

/** The command of --notify, else of $ORCH_NOTIFY; NULL: none. Borrowed. */
const char *orch_cli_notify_command(const char *option);
/** Starts a command of the user in a shell and a process group of its own, with a text on its
 * standard input. Returns 0 or an errno. */
int orch_cli_start_command(const char *command, char **env, const char *text, pid_t *out_pid);
/** Runs a command (NULL: none) for an alert, and does not wait for it: the trials go on meanwhile.
 * It gets the alert as JSON. */
void orch_cli_notify_alert(const char *command, const char *recipe, const char *experiment,
                           const char *key, const char *text);

#endif
