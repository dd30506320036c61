/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forecasts for a plan's trials, from the first of these tiers that applies:
 *   measured     runs of the same trial (any repeat) on the same device
 *   fitted       a predictor that 'orch predictor train' trained on the experiment's parameters
 *   fitted       a scaling law fitted to runs of the same plugin on the same device
 *   otherwise    the tier of orch_estimator_forecast(), when the plugin declares the trial's cost
 * Without any of these there is no forecast. Trials that end while a plan runs are used in later
 * forecasts.
 */
#ifndef ORCH_FEATURES_PREDICT_TRIAL_FORECASTS_H
#define ORCH_FEATURES_PREDICT_TRIAL_FORECASTS_H

#include "core/plan/plan_forecast.h"
#include "predictors/matrix.h"

struct orch_forecasts;

/** Creates the forecasts of a plan's trials. The store is read at the first forecast. With --smoke
 * there are no forecasts. The plan must outlive the object. */
struct orch_forecasts *orch_forecasts_new(struct orch_plan *plan);
void orch_forecasts_free(struct orch_forecasts *forecasts);
/** The plan's workspace. Borrowed. */
struct orch_workspace *orch_forecasts_workspace(struct orch_forecasts *forecasts);
/** The interface for core/plan. Borrows `forecasts`. */
struct orch_forecaster orch_forecasts_forecaster(struct orch_forecasts *forecasts);

/** True when the same trial (any repeat) has ended ok on this device. */
bool orch_forecasts_has_run(struct orch_forecasts *forecasts, const struct orch_plan_item *item);
/** The cost that the trial's plugin declares (struct orch_cost), or NULL. The caller releases. */
json_t *orch_forecasts_cost(struct orch_forecasts *forecasts, const struct orch_plan_item *item);
/** A text that is equal for trials that differ only in their repeat. The caller frees. */
char *orch_forecasts_cell(struct orch_forecasts *forecasts, const struct orch_plan_item *item);
/** Feature matrix of the plan's items at the indices in `wanted`, measured or not. The columns are
 * the parameters (and the plugin) in which they differ. The caller frees. */
struct orch_matrix *orch_forecasts_features(struct orch_forecasts *forecasts,
                                            const unsigned *wanted, size_t count);

#endif
