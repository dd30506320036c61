/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows a comparison as a table, in words and as JSON. */
#ifndef ORCH_FEATURES_COMPARE_COMPARE_SHOW_H
#define ORCH_FEATURES_COMPARE_COMPARE_SHOW_H

#include "core/cli/cli.h"
#include "features/compare/comparison.h"

/** Prints a comparison: a table on stdout, and on stderr which runs were compared and how; JSON
 * under --json. */
void orch_cli_compare_show(struct orch_cli *cli, const struct orch_comparison *comparison);

#endif
