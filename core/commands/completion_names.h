/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names that a shell offers when Tab is pressed: runs and plugins. */
#ifndef ORCH_CORE_COMMANDS_COMPLETION_NAMES_H
#define ORCH_CORE_COMMANDS_COMPLETION_NAMES_H

#include "core/cli/cli.h"

/** Prints the names of a kind, "runs" or "plugins", one a line, and only those without any
 * character that a shell interprets. Prints nothing where there is no store, or it cannot be read:
 * completion has no place for messages. False, without output, for another kind. */
bool orch_completion_names(struct orch_cli *cli, const char *kind);

#endif
