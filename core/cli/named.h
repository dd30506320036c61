/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arguments that name recipes and runs, of commands that export some of a store. */
#ifndef ORCH_CORE_CLI_NAMED_H
#define ORCH_CORE_CLI_NAMED_H

#include "core/cli/cli.h"

/** The recipes and runs that arguments name: char * (names, keys), each list ended by NULL. */
struct orch_cli_named {
    GPtrArray *recipes, *runs;
};
/** Reads the cli's arguments: recipe files, and runs by key, name or @last. The caller clears with
 * orch_cli_named_clear, also on failure. */
bool orch_cli_named_read(struct orch_cli *cli, struct orch_store *store, struct orch_cli_named *out,
                         GError **error);
void orch_cli_named_clear(struct orch_cli_named *named);

#endif
