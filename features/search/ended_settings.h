/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the settings of a search that have ended say of another one: a Gaussian process over them
 * for each metric of an objective, or of its limits. */
#ifndef ORCH_FEATURES_SEARCH_ENDED_SETTINGS_H
#define ORCH_FEATURES_SEARCH_ENDED_SETTINGS_H

#include "features/search/stop/stop_trial.h"
#include "features/search/tried_points.h"
#include "lib/base/interval.h"

struct orch_limit_forecasts;

/** Fits the metrics of the limits (`subject to`) but `wall_s`, of which trials have forecasts of
 * their own (core/plan/plan_forecast.h). NULL: the search has no such limit. The caller frees. */
struct orch_limit_forecasts *orch_limit_forecasts_new(const struct orch_search *search,
                                                      const struct orch_tried_points *points);
void orch_limit_forecasts_free(struct orch_limit_forecasts *forecasts);
/** Returns the first limit that all of the 90 % interval of a run at this point breaks, or NULL.
 * `*out` is the interval in the unit of the limit, `*out_settings` the number of settings that it
 * was made from. Borrowed. */
const struct orch_search_bound *
orch_limit_forecasts_broken(const struct orch_limit_forecasts *forecasts, const double *at,
                            struct orch_interval *out, unsigned *out_settings);

/** Returns which costs of the first metric would put a trial at this point on the front (struct
 * orch_stop_wanted): one for each front point that it would have to beat, by what the other metrics
 * are expected to be. NULL: of one of these nothing is known yet. The caller unrefs. */
GArray *orch_setting_wanted(const struct orch_search *search,
                            const struct orch_tried_points *points, const double *at);

#endif
