/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which limit of a search (`subject to`) a setting would break, forecast before it runs: a Gaussian
 * process over the settings of the search that have ended, for each metric that a limit is about.
 * (The trial's time, `wall_s`, has forecasts of its own, core/plan/plan_forecast.h.) */
#ifndef ORCH_FEATURES_SEARCH_LIMIT_FORECAST_H
#define ORCH_FEATURES_SEARCH_LIMIT_FORECAST_H

#include "features/search/tried_points.h"
#include "lib/base/interval.h"

struct orch_limit_forecasts;

/** Fits the processes. NULL: the search has no such limit. The caller frees. */
struct orch_limit_forecasts *orch_limit_forecasts_new(const struct orch_search *search,
                                                      const struct orch_tried_points *points);
void orch_limit_forecasts_free(struct orch_limit_forecasts *forecasts);
/** Returns the first limit that all of the 90 % interval of a run at this point breaks, or NULL.
 * `*out` is the interval in the unit of the limit, `*out_settings` the number of settings that it
 * was made from. Borrowed. */
const struct orch_search_bound *
orch_limit_forecasts_broken(const struct orch_limit_forecasts *forecasts, const double *at,
                            struct orch_interval *out, unsigned *out_settings);

#endif
