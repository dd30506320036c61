/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of a run's searches when its trials have ended. */
#ifndef ORCH_FEATURES_SEARCH_SEARCH_END_H
#define ORCH_FEATURES_SEARCH_SEARCH_END_H

#include "core/cli/cli.h"
#include "features/search/stop_trials.h"
#include "features/search/tried_points.h"

/** Prints for each search its best point, what its rule has stopped, and how far the best value can
 * be trusted. */
bool orch_search_end_print(struct orch_cli *cli, const struct orch_plan *plan,
                           struct orch_tried *tried, struct orch_stop_trials *stops,
                           GError **error);

#endif
