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
#include "predictors/features/matrix.h"

struct orch_forecasts;

/** The interface for core/plan: its forecasters are these forecasts. The store is read at the first
 * forecast. With --smoke there are no forecasts. */
extern const struct orch_forecasting ORCH_FORECASTING_PREDICT;
/** Returns the forecasts of a forecaster that ORCH_FORECASTING_PREDICT opened, which is the only
 * one of the program. Borrowed. */
struct orch_forecasts *orch_forecasts_of(const struct orch_forecaster *forecaster);
/** Returns what forecasts a trial from its declared cost. Borrowed. */
struct orch_estimator *orch_forecasts_estimator(const struct orch_forecasts *forecasts);
/** The remaining time of a running trial on another GPU, as orch_time_left_on_other_gpu
 * (time_left_on_gpu.c). */
bool orch_predict_time_left(const json_t *record, const char *gpu, double share,
                            const struct orch_remaining *here, struct orch_time_left_on_gpu *out,
                            GError **error);

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
