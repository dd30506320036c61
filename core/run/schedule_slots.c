/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Assigns a trial its slot, its share of the CPUs and its GPUs. */
#include "core/run/schedule_private.h"

#include <sched.h>
#include <string.h>

static bool slot_is_free(const struct run *run, unsigned index)
{
    for (guint i = 0; i < run->hosts->len; i++)
        if (((const struct host *)run->hosts->pdata[i])->running.slot.index == index)
            return false;
    return true;
}

static bool gpu_is_free(const struct run *run, unsigned gpu)
{
    for (guint i = 0; i < run->hosts->len; i++) {
        const struct orch_run_slot *slot =
            &((const struct host *)run->hosts->pdata[i])->running.slot;
        for (unsigned j = 0; j < slot->gpu_count; j++)
            if (slot->gpus[j] == gpu)
                return false;
    }
    return true;
}

static bool take_gpus(const struct run *run, unsigned wanted, struct orch_run_slot *slot)
{
    unsigned count = run->options->gpus ? run->options->gpu_count
                                        : orch_workspace_machine(run->plan->workspace)->gpus->len;
    for (unsigned i = 0; i < count && slot->gpu_count < wanted; i++) {
        unsigned gpu = run->options->gpus ? run->options->gpus[i] : i;
        if (gpu_is_free(run, gpu))
            slot->gpus[slot->gpu_count++] = gpu;
    }
    return slot->gpu_count == wanted;
}

/* With several slots, pins each to its own share of the CPUs available to this process. */
static void pin(const struct run *run, struct orch_run_slot *slot)
{
    cpu_set_t allowed;
    if (run->options->slots < 2 || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    int cpus[CPU_SETSIZE], count = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            cpus[count++] = cpu;
    int first = (int)slot->index * slot->threads;
    for (int i = 0; i < slot->threads && first + slot->threads <= count; i++)
        slot->cpus[slot->cpu_count++] = cpus[first + i];
}

bool orch_schedule_take_slot(const struct run *run, const struct orch_experiment *experiment,
                             struct orch_run_slot *slot)
{
    memset(slot, 0, sizeof *slot);
    for (guint i = 0; i < run->hosts->len; i++) {
        const struct host *host = run->hosts->pdata[i];
        if (orch_experiment_runs_alone(host->running.item->cell->experiment))
            return false;
    }
    bool alone = orch_experiment_runs_alone(experiment);
    if ((alone && run->hosts->len) || run->hosts->len >= run->options->slots)
        return false;
    while (!slot_is_free(run, slot->index))
        slot->index++;
    slot->co_runners = run->hosts->len;
    slot->threads = orch_experiment_threads(
        experiment, orch_workspace_machine(run->plan->workspace), run->options->slots);
    if (!alone)
        pin(run, slot);
    return take_gpus(run, orch_experiment_gpus(experiment), slot);
}
