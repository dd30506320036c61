/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows a comparison that runs until it is sure: after each repeat, and at its end. */
#ifndef ORCH_FEATURES_COMPARE_UNTIL_SURE_SHOW_H
#define ORCH_FEATURES_COMPARE_UNTIL_SURE_SHOW_H

#include "core/cli/cli.h"
#include "features/compare/until_sure.h"

/** The listener that prints. */
struct orch_compare_listener orch_cli_compare_listener(struct orch_cli *cli);
/** The exit status of a comparison that ended for this reason. */
int orch_cli_sure_status(enum orch_sure_stop stop);
/** Describes what is known in one line: "4 pairs, 8 runs, $0.027 (32 s): B is 3.4 % slower (-3.1 to
 * 10.3 %), not sure yet; another 6 runs, about $0.02 (24 s), would give a verdict with 80 %". The
 * caller frees. */
char *orch_sure_text(const struct orch_sure *sure, double least);
/** Prints the result: a table on stdout, and on stderr what was run; JSON under --json. `names`: of
 * the sides. */
void orch_cli_sure_show(struct orch_cli *cli, const struct orch_sure *sure,
                        const struct orch_sure_request *request, const char *const names[2]);

#endif
