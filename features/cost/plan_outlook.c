/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/cost/plan_outlook.h"

#include "features/predict/estimator.h"
#include "features/predict/trial_forecasts.h"
#include "lib/base/json.h"

/* Forecasts a trial: on this machine as `orch plan` does, for another GPU from the declared cost
 * only. False when nothing is known. */
static bool forecast_one(struct orch_forecasts *forecasts, struct orch_estimator *estimator,
                         const struct orch_plan_item *item, const char *gpu, double *out_p50_s)
{
    struct orch_forecaster here = orch_forecasts_forecaster(forecasts);
    g_autoptr(json_t) cost = gpu ? orch_forecasts_cost(forecasts, item) : NULL;
    struct orch_estimate_question question = {cost, gpu, 0};
    struct orch_forecast o;
    bool known = gpu ? cost && orch_estimator_forecast(estimator, &question, &o)
                     : here.forecast(here.ctx, item, &o);
    *out_p50_s = known ? o.p50_s : 0;
    return known;
}

static void add_up(struct orch_plan *plan, const char *gpu, struct orch_plan_outlook *out)
{
    struct orch_forecasts *forecasts = orch_forecasts_new(plan);
    struct orch_estimator *estimator = orch_estimator_new(plan->workspace);
    for (unsigned i = 0; i < plan->count; i++) {
        double p50_s;
        const struct orch_plan_item *item = &plan->items[i];
        if (!orch_plan_will_run(item))
            continue;
        if (forecast_one(forecasts, estimator, item, gpu, &p50_s)) {
            out->known++;
            out->device_s += p50_s * orch_plan_item_charged(item);
        } else {
            out->unknown++;
        }
    }
    orch_estimator_free(estimator);
    orch_forecasts_free(forecasts);
}

bool orch_plan_outlook_read(struct orch_plan *plan, const char *gpu,
                            struct orch_device_prices *prices, struct orch_plan_outlook *out,
                            GError **error)
{
    const struct orch_machine *machine = orch_workspace_machine(plan->workspace);
    bool here_gpu = machine->gpus->len && orch_plan_uses_gpus(plan);
    const struct orch_gpu_device *first = here_gpu ? machine->gpus->pdata[0] : NULL;
    *out = (struct orch_plan_outlook){.device = g_strdup(gpu     ? gpu
                                                         : first ? first->model
                                                                 : machine->cpu_model)};
    out->usd_per_hour = orch_device_prices_find(prices, out->device, !gpu && !first, NULL, NULL);
    add_up(plan, gpu, out);
    return orch_allowances_left_read(plan->workspace->store, plan->expansion, prices,
                                     &out->allowances, error);
}

void orch_plan_outlook_clear(struct orch_plan_outlook *outlook)
{
    g_free(outlook->device);
    *outlook = (struct orch_plan_outlook){0};
}
