/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/plan/plan_forecast.h"

#include "core/feature/feature.h"
#include "store/write/forecast.h"

#include <math.h>
#include <string.h>

/* ---- who makes forecasts -----------------------------------------------------------------------
 */

const struct orch_forecasting *orch_forecasting(void)
{
    for (const struct orch_feature *const *f = orch_features(); *f; f++)
        if ((*f)->forecasting)
            return (*f)->forecasting;
    return NULL;
}

static bool no_forecast(void *ctx, const struct orch_plan_item *item, struct orch_forecast *out)
{
    (void)ctx;
    (void)item;
    (void)out;
    return false;
}

static bool nothing_elsewhere(void *ctx, const struct orch_plan_item *item, const char *gpu,
                              struct orch_forecast *out)
{
    (void)gpu;
    return no_forecast(ctx, item, out);
}

struct orch_forecaster orch_forecaster_open(struct orch_plan *plan)
{
    const struct orch_forecasting *forecasting = orch_forecasting();
    return forecasting
               ? forecasting->open(plan)
               : (struct orch_forecaster){.forecast = no_forecast, .elsewhere = nothing_elsewhere};
}

void orch_forecaster_close(struct orch_forecaster *forecaster)
{
    if (forecaster->close)
        forecaster->close(forecaster->ctx);
}

/* ---- the plan's items --------------------------------------------------------------------------
 */

bool orch_plan_uses_gpus(const struct orch_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (orch_plan_will_run(&plan->items[i]) && plan->items[i].gpus)
            return true;
    return false;
}

unsigned orch_plan_item_devices(const struct orch_plan_item *item)
{
    return MAX(1u, item->gpus);
}

double orch_plan_item_charged(const struct orch_plan_item *item)
{
    double declared = orch_experiment_gpu_sum(item->cell->experiment);
    return declared > 0 ? declared : orch_plan_item_devices(item);
}

/* The time at which each slot becomes free, seconds from the start. */
struct slots {
    double free_s[1024];
    unsigned count;
};

static double last(const struct slots *slots)
{
    double end = 0;
    for (unsigned i = 0; i < slots->count; i++)
        end = fmax(end, slots->free_s[i]);
    return end;
}

static void occupy(struct slots *slots, double seconds, bool alone)
{
    unsigned first = 0;
    double end = last(slots);
    for (unsigned i = 1; i < slots->count; i++)
        if (slots->free_s[i] < slots->free_s[first])
            first = i;
    slots->free_s[first] = (alone ? end : slots->free_s[first]) + seconds;
    for (unsigned i = 0; alone && i < slots->count; i++)
        slots->free_s[i] = end + seconds;
}

/* Widths of the interval to one side: squares of independent errors, sum of shared ones. */
struct width {
    double squares, sum;
};

static void widen(struct width *width, double seconds, bool is_independent)
{
    width->squares += is_independent ? seconds * seconds : 0;
    width->sum += is_independent ? 0 : seconds;
}

static double width_of(const struct width *width)
{
    return sqrt(width->squares) + width->sum;
}

void orch_forecast_total(const struct orch_plan *plan, const struct orch_forecaster *forecaster,
                         struct orch_forecast_total *out)
{
    struct slots slots = {.count = CLAMP(plan->options.slots, 1, 1024)};
    struct width below = {0}, above = {0}, device_below = {0}, device_above = {0};
    *out = (struct orch_forecast_total){0};
    double work_s = 0;
    for (unsigned i = 0; i < plan->count; i++) { /* in the order in which they start */
        const struct orch_plan_item *item = &plan->items[plan->order[i]];
        struct orch_forecast f;
        if (!orch_plan_will_run(item))
            continue;
        if (!forecaster->forecast || !forecaster->forecast(forecaster->ctx, item, &f)) {
            out->unknown++;
            continue;
        }
        double devices = orch_plan_item_charged(item);
        bool independent = strcmp(f.model, "repeats") == 0;
        out->known++;
        work_s += f.time_s.mid;
        out->device_s.mid += devices * f.time_s.mid;
        occupy(&slots, f.time_s.mid, orch_experiment_runs_alone(item->cell->experiment));
        widen(&below, f.time_s.mid - f.time_s.low, independent);
        widen(&above, f.time_s.high - f.time_s.mid, independent);
        widen(&device_below, devices * (f.time_s.mid - f.time_s.low), independent);
        widen(&device_above, devices * (f.time_s.high - f.time_s.mid), independent);
    }
    /* errors of trials on parallel slots overlap in time, so the widths are scaled by the same
     * share */
    double share = work_s > 0 ? last(&slots) / work_s : 0;
    out->time_s.mid = last(&slots);
    out->time_s.low = fmax(0, out->time_s.mid - share * width_of(&below));
    out->time_s.high = out->time_s.mid + share * width_of(&above);
    out->device_s.low = fmax(0, out->device_s.mid - width_of(&device_below));
    out->device_s.high = out->device_s.mid + width_of(&device_above);
}

bool orch_forecast_store(struct orch_plan *plan, const struct orch_plan_item *item,
                         const char *run_key, const struct orch_forecast *forecast, int64_t made_ns,
                         bool is_renewed, GError **error)
{
    struct orch_forecast_row row = {.fingerprint = item->fingerprint,
                                    .machine = orch_workspace_machine_key(plan->workspace),
                                    .model = forecast->model,
                                    .tier = forecast->tier,
                                    .run_key = run_key,
                                    .made_ns = made_ns,
                                    .is_beyond = forecast->is_beyond,
                                    .is_renewed = is_renewed,
                                    .time_s = forecast->time_s};
    return orch_store_put_forecast(plan->store, &row, error);
}
