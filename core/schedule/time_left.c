/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/schedule/time_left.h"

#include "core/plan/plan_forecast.h"
#include "lib/base/error.h"

#include <math.h>

bool orch_time_left(const GArray *points, double total, double now_s, struct orch_remaining *out)
{
    guint count = points ? points->len : 0;
    g_autofree struct orch_progress_point *copy = g_new(struct orch_progress_point, count + 1);
    for (guint i = 0; i < count; i++) {
        const struct orch_running_point *point =
            &g_array_index(points, struct orch_running_point, i);
        copy[i] = (struct orch_progress_point){point->t_s, point->done};
    }
    return orch_remaining(copy, count, total, now_s, out);
}

bool orch_time_left_of_forecast(struct orch_interval forecast_s, double elapsed_s,
                                struct orch_remaining *out)
{
    if (!(forecast_s.mid > elapsed_s))
        return false;
    *out = (struct orch_remaining){.left_s = {.low = fmax(0, forecast_s.low - elapsed_s),
                                              .mid = forecast_s.mid - elapsed_s,
                                              .high = forecast_s.high - elapsed_s},
                                   .tau_s = (double)NAN,
                                   .estimate = "forecast",
                                   .drift = (double)NAN};
    return true;
}

bool orch_time_left_on_other_gpu(const json_t *record, const char *gpu, double share,
                                 const struct orch_remaining *here,
                                 struct orch_time_left_on_gpu *out, GError **error)
{
    const struct orch_forecasting *forecasting = orch_forecasting();
    *out = (struct orch_time_left_on_gpu){0};
    if (forecasting)
        return forecasting->time_left(record, gpu, share, here, out, error);
    orch_error_set(error, ORCH_ERROR_USAGE, NULL, "this build of orch cannot make forecasts");
    return false;
}

void orch_time_left_on_gpu_release(struct orch_time_left_on_gpu *elsewhere)
{
    g_free(elsewhere->gpu);
    g_free(elsewhere->why);
    *elsewhere = (struct orch_time_left_on_gpu){0};
}
