/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GPUs that the trials of a run may use: those that the user chose, without those that were
 * lost. */
#include "core/schedule/schedule_private.h"
#include "lib/base/text.h"

#include <string.h>

/* Number of GPUs of which the run may use some. */
unsigned orch_schedule_gpu_choices(const struct run *run)
{
    return run->options->gpus ? run->options->gpu_count
                              : orch_workspace_machine(run->plan->workspace)->gpus->len;
}

/* The index of the i-th of them in the machine's GPUs. */
unsigned orch_schedule_gpu_choice(const struct run *run, unsigned i)
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
bool orch_schedule_gpu_is_usable(const struct run *run, unsigned gpu, unsigned wanted)
{
    const struct orch_gpu_device *device =
        orch_workspace_machine(run->plan->workspace)->gpus->pdata[gpu];
    return !find_lost(run, gpu) && !(device->is_mig && wanted > 1);
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
        orch_schedule_emit(run, "this run no longer uses GPU %s (%s): %s", name, gpu->model,
                           lost->why);
    }
}

char *orch_schedule_gpu_shortage(const struct run *run, const struct orch_experiment *experiment)
{
    unsigned wanted = orch_experiment_gpus(experiment), left = 0;
    const struct lost_gpu *lost = NULL;
    for (unsigned i = 0; i < orch_schedule_gpu_choices(run); i++) {
        const struct lost_gpu *found = find_lost(run, orch_schedule_gpu_choice(run, i));
        left += orch_schedule_gpu_is_usable(run, orch_schedule_gpu_choice(run, i), wanted);
        lost = found ? found : lost;
    }
    if (left >= wanted)
        return NULL;
    return g_strdup_printf("it needs %u GPU%s, but only %u of %u %s usable: %s", wanted,
                           orch_plural(wanted), left, orch_schedule_gpu_choices(run),
                           left == 1 ? "is" : "are", lost ? lost->why : "'--gpus' allows no more");
}
