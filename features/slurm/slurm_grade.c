/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/slurm/slurm_grade.h"

#include "lib/base/json.h"

#include <math.h>

static void set_finite(json_t *object, const char *key, double value)
{
    if (isfinite(value))
        json_object_set_new(object, key, orch_json_finite(value));
}

json_t *orch_slurm_forecast_json(struct orch_interval time_s, int64_t p95_bytes)
{
    json_t *object = json_object();
    set_finite(object, "p5_s", time_s.low);
    set_finite(object, "p50_s", time_s.mid);
    set_finite(object, "p95_s", time_s.high);
    if (p95_bytes > 0)
        json_object_set_new(object, "p95_bytes", json_integer(p95_bytes));
    if (json_object_size(object))
        return object;
    json_decref(object);
    return json_null();
}

static double real_of(const json_t *object, const char *key)
{
    double value = NAN;
    return orch_json_get_real(json_object_get(object, key), &value) ? value : (double)NAN;
}

void orch_slurm_grade_read(const json_t *slurm, struct orch_slurm_grade *out)
{
    const json_t *forecast = json_object_get(slurm, "forecast");
    double time_s = real_of(slurm, "time_s");
    *out = (struct orch_slurm_grade){
        .forecast_s.low = real_of(forecast, "p5_s"),
        .forecast_s.mid = real_of(forecast, "p50_s"),
        .forecast_s.high = real_of(forecast, "p95_s"),
        .elapsed_s = real_of(slurm, "elapsed_s"),
        .p95_bytes = orch_json_int(forecast, "p95_bytes", 0),
        .max_rss_bytes = orch_json_int(slurm, "max_rss_bytes", 0),
        .time_s = isfinite(time_s) ? time_s : 0,
        .memory_bytes = orch_json_int(slurm, "memory_bytes", 0),
    };
    bool is_whole = orch_json_int(slurm, "restarts", 0) == 0;
    out->has_time = is_whole && isfinite(out->forecast_s.low) && isfinite(out->forecast_s.mid) &&
                    isfinite(out->forecast_s.high) && isfinite(out->elapsed_s);
    out->has_memory = is_whole && out->p95_bytes > 0 && out->max_rss_bytes > 0;
    out->is_time_within = out->has_time &&
                          out->elapsed_s >= out->forecast_s.low - ORCH_SLURM_ELAPSED_STEP_S &&
                          out->elapsed_s <= out->forecast_s.high + ORCH_SLURM_ELAPSED_STEP_S;
    out->is_memory_within = out->has_memory && out->max_rss_bytes <= out->p95_bytes;
}

void orch_slurm_grade_store(json_t *slurm)
{
    struct orch_slurm_grade grade;
    orch_slurm_grade_read(slurm, &grade);
    if (!grade.has_time && !grade.has_memory)
        return;
    json_t *graded = json_object();
    if (grade.has_time)
        json_object_set_new(graded, "time_within", json_boolean(grade.is_time_within));
    if (grade.has_memory)
        json_object_set_new(graded, "memory_within", json_boolean(grade.is_memory_within));
    json_object_set_new(slurm, "graded", graded);
}
