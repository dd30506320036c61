/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/plan/plan_rate.h"

static bool any_uses_gpus(const struct orch_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].state != ORCH_PLAN_UNUSED && plan->items[i].gpus)
            return true;
    return false;
}

bool orch_plan_rate(const struct orch_plan *plan, struct orch_rate *out, GError **error)
{
    const struct orch_machine *machine = orch_workspace_machine(plan->workspace);
    *out = (struct orch_rate){0};
    if (!machine->gpus->len || !any_uses_gpus(plan))
        return true;
    struct orch_hardware *hardware = orch_hardware_load(error);
    if (!hardware)
        return false;
    const struct orch_gpu_device *device = machine->gpus->pdata[0];
    const struct orch_gpu_spec *gpu = orch_hardware_gpu(hardware, device->model, NULL);
    *out = orch_rate_of(hardware, gpu ? gpu->name : device->model, NULL, false, 0);
    orch_hardware_free(hardware);
    return true;
}

bool orch_machine_rate(struct orch_workspace *workspace, struct orch_rate *out, GError **error)
{
    *out = (struct orch_rate){0};
    struct orch_hardware *hardware = orch_hardware_load(error);
    if (!hardware)
        return false;
    *out = orch_rate_of(hardware, orch_workspace_machine(workspace)->cpu_model, NULL, false, 0);
    orch_hardware_free(hardware);
    return true;
}
