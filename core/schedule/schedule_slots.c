/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Assigns a trial its slot. */
#include "core/schedule/schedule_private.h"
#include "core/schedule/slot_leases.h"

#include <string.h>

static bool slot_is_free(const struct run *run, unsigned index)
{
    for (guint i = 0; i < run->hosts->len; i++)
        if (((const struct host *)run->hosts->pdata[i])->running.slot.index == index)
            return false;
    return true;
}

/* Of one of the slot's GPUs, or its share of one, else of the machine. */
static struct orch_device_price price_of(const struct orch_run_options *options,
                                         const struct orch_run_slot *slot)
{
    if (!slot->gpu_count)
        return options->machine_price;
    struct orch_device_price price = options->gpu_price;
    if (slot->gpu_millionths)
        price.usd_per_hour *= (double)slot->gpu_millionths / ORCH_GPU_WHOLE;
    return price;
}

/* Says once that trials at once, which declare no GPUs, all have the same ones. */
static void tell_of_seen_gpus(struct run *run, const struct orch_run_slot *slot)
{
    if (!slot->only_sees_gpus || !run->hosts->len || run->has_named_seen_gpus)
        return;
    run->has_named_seen_gpus = true;
    orch_schedule_emit(run, "trials that declare no GPUs see all GPUs, even if other trials use "
                            "them\n  hint: 'resources: { gpus: 1 }' (orch try: --resources gpus=1) "
                            "gives each trial a GPU of its own");
}

enum orch_slot_answer orch_schedule_take_slot(struct run *run,
                                              const struct orch_experiment *experiment,
                                              struct orch_run_slot *slot)
{
    memset(slot, 0, sizeof *slot);
    for (guint i = 0; i < run->hosts->len; i++) {
        const struct host *host = run->hosts->pdata[i];
        if (orch_experiment_runs_alone(host->running.item->cell->experiment))
            return ORCH_SLOT_BUSY;
    }
    bool alone = orch_experiment_runs_alone(experiment);
    if ((alone && run->hosts->len) || run->hosts->len >= run->options->slots)
        return ORCH_SLOT_BUSY;
    while (!slot_is_free(run, slot->index))
        slot->index++;
    slot->co_runners = run->hosts->len;
    slot->threads = orch_experiment_threads(
        experiment, orch_workspace_machine(run->plan->workspace), run->options->slots);
    enum orch_slot_answer answer = orch_schedule_lease(run, experiment, slot);
    if (answer == ORCH_SLOT_TAKEN) {
        slot->price = price_of(run->options, slot);
        tell_of_seen_gpus(run, slot);
    }
    return answer;
}
