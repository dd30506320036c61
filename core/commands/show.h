/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch show`: prints a run that has ended or a trial that is running. */
#ifndef ORCH_CORE_COMMANDS_SHOW_H
#define ORCH_CORE_COMMANDS_SHOW_H

#include "core/cli/show_lines.h"
#include "core/results/whole_run.h"

/** Prints a running trial (show_active.c). `on` is a GPU for a forecast of the remaining
 * time, or NULL. Returns an exit status, or -1 with an error. */
int orch_cli_show_active(struct orch_cli *cli, struct orch_store *store,
                         const struct orch_active_row *row, const char *on, GError **error);

/** Prints all that is stored of a run that has ended (show_run.c), with what features add. */
bool orch_cli_show_run(struct orch_cli *cli, struct orch_store *store,
                       const struct orch_whole_run *whole, GError **error);

#endif
