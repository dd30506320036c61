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

/* Number of GPUs of which the run may use some. */
static unsigned gpu_choices(const struct run *run)
{
    return run->options->gpus ? run->options->gpu_count
                              : orch_workspace_machine(run->plan->workspace)->gpus->len;
}

/* The index of the i-th of them in the machine's GPUs. */
static unsigned gpu_choice(const struct run *run, unsigned i)
{
    return run->options->gpus ? run->options->gpus[i] : i;
}

static const struct lost_gpu *find_lost(const struct run *run, unsigned gpu)
{
    for (guint i = 0; i < run->lost_gpus->len; i++)
        if (((const struct lost_gpu *)run->lost_gpus->pdata[i])->index == gpu)
            return run->lost_gpus->pdata[i];
    return NULL;
}

/* True for a GPU that was not lost. CUDA gives a process only one MIG instance. */
static bool is_usable(const struct run *run, unsigned gpu, unsigned wanted)
{
    const struct orch_gpu_device *device =
        orch_workspace_machine(run->plan->workspace)->gpus->pdata[gpu];
    return !find_lost(run, gpu) && !(device->is_mig && wanted > 1);
}

static bool take_gpus(const struct run *run, unsigned wanted, struct orch_run_slot *slot)
{
    for (unsigned i = 0; i < gpu_choices(run) && slot->gpu_count < wanted; i++) {
        unsigned gpu = gpu_choice(run, i);
        if (is_usable(run, gpu, wanted) && gpu_is_free(run, gpu))
            slot->gpus[slot->gpu_count++] = gpu;
    }
    return slot->gpu_count == wanted;
}

static void free_lost(void *data)
{
    struct lost_gpu *lost = data;
    g_free(lost->why);
    g_free(lost);
}

GPtrArray *orch_schedule_lost_gpus_new(void)
{
    return g_ptr_array_new_with_free_func(free_lost);
}

void orch_schedule_lose_gpu(struct run *run, const char *name, const char *why)
{
    const GPtrArray *gpus = orch_workspace_machine(run->plan->workspace)->gpus;
    for (guint i = 0; i < gpus->len; i++) {
        const struct orch_gpu_device *gpu = gpus->pdata[i];
        if (strcmp(gpu->visible, name) != 0 || find_lost(run, i))
            continue;
        struct lost_gpu *lost = g_new0(struct lost_gpu, 1);
        *lost = (struct lost_gpu){i, g_strdup(why ? why : "a GPU was lost")};
        g_ptr_array_add(run->lost_gpus, lost);
        orch_schedule_emit(run, "GPU %s (%s) is not used any more in this run: %s", name,
                           gpu->model, lost->why);
    }
}

char *orch_schedule_gpu_shortage(const struct run *run, const struct orch_experiment *experiment)
{
    unsigned wanted = orch_experiment_gpus(experiment), left = 0;
    const struct lost_gpu *lost = NULL;
    for (unsigned i = 0; i < gpu_choices(run); i++) {
        const struct lost_gpu *found = find_lost(run, gpu_choice(run, i));
        left += is_usable(run, gpu_choice(run, i), wanted);
        lost = found ? found : lost;
    }
    if (left >= wanted)
        return NULL;
    return g_strdup_printf("it needs %u GPU%s, and %u of %u %s left: %s", wanted,
                           wanted == 1 ? "" : "s", left, gpu_choices(run), left == 1 ? "is" : "are",
                           lost ? lost->why : "'--gpus' allows no more");
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
