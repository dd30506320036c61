/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch best` with several metrics: the settings that no other one beats in all of them. */
#ifndef ORCH_FEATURES_COMPARE_BEST_FRONT_SHOW_H
#define ORCH_FEATURES_COMPARE_BEST_FRONT_SHOW_H

#include "core/cli/cli.h"
#include "features/compare/ranking.h"

/** Whether the argument names several metrics, or one with its direction: "max acc, min ms". */
bool orch_best_front_is_meant(const char *text);
/** Prints the front of the runs' settings for each task, with at most `limit` settings (0: all),
 * and its knee. `request` has no metric. Each setting has the mean of its runs that ended well and
 * have all metrics. Returns the exit status; -1 with an error. */
int orch_best_front_print(struct orch_cli *cli, struct orch_store *store, const GPtrArray *runs,
                          const struct orch_ranking_request *request, int limit, GError **error);

#endif
