/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch show`: what it prints of a run that ended and of a trial that still runs. */
#ifndef ORCH_CORE_CLI_SHOW_H
#define ORCH_CORE_CLI_SHOW_H

#include "core/cli/cli.h"

/** "  name           text" */
void show_line(const char *name, const char *format, ...) G_GNUC_PRINTF(2, 3);
/** Members of an object below a heading; `round_reals`: what was measured is shown with four
 * digits, what was set as it was set. Nothing for an empty object. */
void show_values(const char *heading, const json_t *object, bool round_reals);
/** A trial that has not ended (show_active.c); `on`: a GPU for the rest of it, or NULL. Returns an
 * exit status, or -1 with an error. */
int show_active(struct orch_cli *cli, struct orch_store *store, const struct orch_active_row *row,
                const char *on, GError **error);

#endif
