/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/cost/plan_outlook.h"

#include "core/plan/plan_forecast.h"
#include "lib/base/json.h"

/* Forecasts a trial: on this machine as `orch plan` does, for another GPU from the declared cost
 * only. False when nothing is known. */
static bool forecast_one(const struct orch_forecaster *f, const struct orch_plan_item *item,
                         const char *gpu, double *out_p50_s)
{
    struct orch_forecast o;
    bool known = gpu ? f->elsewhere(f->ctx, item, gpu, &o) : f->forecast(f->ctx, item, &o);
    *out_p50_s = known ? o.time_s.mid : 0;
    return known;
}

static void add_up(struct orch_plan *plan, const char *gpu, struct orch_plan_outlook *out)
{
    struct orch_forecaster forecaster = orch_forecaster_open(plan);
    for (unsigned i = 0; i < plan->count; i++) {
        double p50_s;
        const struct orch_plan_item *item = &plan->items[i];
        if (!orch_plan_will_run(item))
            continue;
        if (forecast_one(&forecaster, item, gpu, &p50_s)) {
            out->known++;
            out->device_s += p50_s * orch_plan_item_charged(item);
        } else {
            out->unknown++;
        }
    }
    orch_forecaster_close(&forecaster);
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
