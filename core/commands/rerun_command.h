/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command that makes a run again, from the one that made it. */
#ifndef ORCH_CORE_COMMANDS_RERUN_COMMAND_H
#define ORCH_CORE_COMMANDS_RERUN_COMMAND_H

#include "store/store.h"

/** Returns the command line that runs the setting of `run` again, quoted for a shell: the command
 * that made it, with its options `is_of_trial` (struct orch_option) and the values of the swept
 * parameters. The caller frees. NULL with ORCH_ERROR_NOT_FOUND for a run that neither 'orch run'
 * nor 'orch try' made, or whose command had a secret, which is not recorded; with the parser's
 * error for options that this version does not have. */
char *orch_rerun_command(const struct orch_run *run, GError **error);

#endif
