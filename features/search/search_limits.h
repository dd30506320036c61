/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a search may spend by its objective: money or device time, and the time since the run began.
 */
#ifndef ORCH_FEATURES_SEARCH_SEARCH_LIMITS_H
#define ORCH_FEATURES_SEARCH_SEARCH_LIMITS_H

#include "features/search/tried_points.h"

/** Whether a value is as good as the search wants (`until`). */
bool orch_search_is_reached(const struct orch_search *search, double value);
/** Whether the objective has a budget or a deadline. */
bool orch_search_has_limit(const struct orch_search *search);
/** Whether the price of a device is known (`usd_per_hour` above 0) where a search that will run
 * has a budget of money or a limit on the price; else ORCH_ERROR_USAGE with what names the price.
 */
bool orch_search_limits_known(const struct orch_plan *plan, double usd_per_hour, GError **error);
/** Why no further point of `repeats` trials is begun: the trials of this recipe that have ended,
 * those that run and the point's, each with the mean of the ended ones, would exceed the budget, or
 * `since_ns` has passed the deadline. `out_waits`: only because of those that run, which may take
 * less. NULL: another may begin. Caller frees. */
char *orch_search_limit_reached(const struct orch_search *search,
                                const struct orch_tried_points *points, unsigned repeats,
                                double usd_per_hour, int64_t since_ns, bool *out_waits);

#endif
