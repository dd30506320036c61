/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of 'orch show'. */
#ifndef ORCH_CORE_CLI_SHOW_LINES_H
#define ORCH_CORE_CLI_SHOW_LINES_H

#include "core/cli/cli.h"

/** Prints "  name           text". */
void orch_cli_show_line(const char *name, const char *format, ...) G_GNUC_PRINTF(2, 3);
/** Prints the members of an object below a heading; nothing for an empty object. `round_reals`
 * rounds measured values to four digits; settings are printed unchanged. */
void orch_cli_show_values(const char *heading, const json_t *object, bool round_reals);

#endif
