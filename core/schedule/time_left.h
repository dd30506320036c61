/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The remaining time of a running trial, here and on another GPU. */
#ifndef ORCH_CORE_SCHEDULE_TIME_LEFT_H
#define ORCH_CORE_SCHEDULE_TIME_LEFT_H

#include "core/schedule/schedule.h"
#include "predictors/trial/remaining.h"

/** Estimates the remaining time from progress points (struct orch_running_point; may be NULL).
 * False when they do not suffice yet. */
bool orch_time_left(const GArray *points, double total, double now_s, struct orch_remaining *out);
/** Estimates the remaining time of a trial that reports no progress: its forecast (wall seconds)
 * minus the elapsed time. `estimate` is "forecast"; tau and drift are NaN. False when the trial has
 * already run longer than the median. */
bool orch_time_left_of_forecast(struct orch_interval forecast_s, double elapsed_s,
                                struct orch_remaining *out);
/** The remaining time of a trial on another GPU. */
struct orch_time_left_on_gpu {
    const char *tier; /* "transferred": its own pace times the ratio of analytical step times, or
                         the calibrated analytical model alone; "prior": the roofline alone */
    char *gpu, *why;
    struct orch_interval left_s; /* median and 90 % interval */
};
/** `record`: the active trial's record, with its declared cost and its device; `share`: the
 * fraction of its work that is left; `here`: its remaining time on its own device, or NULL. Fails
 * when the GPU is unknown, the declared cost does not suffice for the analytical model, or neither
 * `here` nor `share` is usable. The caller releases. */
bool orch_time_left_on_other_gpu(const json_t *record, const char *gpu, double share,
                                 const struct orch_remaining *here,
                                 struct orch_time_left_on_gpu *out, GError **error);
void orch_time_left_on_gpu_release(struct orch_time_left_on_gpu *elsewhere);

#endif
