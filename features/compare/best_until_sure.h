/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch best --until-sure`: the best setting runs in turns with each other one, until the verdict
 * of each pair is sure (until_sure.h). */
#ifndef ORCH_FEATURES_COMPARE_BEST_UNTIL_SURE_H
#define ORCH_FEATURES_COMPARE_BEST_UNTIL_SURE_H

#include "core/cli/cli.h"
#include "features/compare/ranking.h"
#include "features/compare/until_sure.h"

/** Compares the settings of a ranking, the best first: the better one of a pair meets the next. At
 * most `limit` settings (0: all). Prints each verdict, and which setting is the best. Returns the
 * exit status, or -1 with an error. */
int orch_best_until_sure(struct orch_cli *cli, const struct orch_ranking *ranking,
                         const struct orch_ranking_request *ranked_by,
                         const struct orch_sure_request *request, guint limit, GError **error);

#endif
