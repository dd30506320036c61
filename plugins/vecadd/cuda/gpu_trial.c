/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trial on a GPU: a first pass as a program makes it that adds once, whose result is checked;
 * then samples of each part by itself; then the result of the last sample is checked as well. */
#include "plugins/vecadd/cuda/gpu_trial.h"

#include "plugins/common/cuda/cuda_compat.h"
#include "plugins/vecadd/cuda/add_kernels.h"
#include "plugins/vecadd/host_memory.h"
#include "plugins/vecadd/summands.h"

#include <glib.h>

#define MIB ((size_t)1 << 20)
enum { BUS_ID_CHARS = 32 };

static void result_ms(const struct gpu_trial *t, const char *name, double seconds)
{
    t->host->result(t->host, name, 1e3 * seconds);
}

static int check_result(struct gpu_trial *t, const char *when)
{
    size_t first;
    const size_t wrong =
        orch_vecadd_wrong(t->team, t->trial->seed, t->host_out, t->trial->count, &first);
    t->host->result(t->host, "wrong_elements", (double)wrong);
    return wrong ? orch_vecadd_fail(
                       t->host,
                       "%s: %zu of %zu sums differ from the reference, the first at index %zu",
                       when, wrong, t->trial->count, first)
                 : ORCH_OK;
}

/* Overwrites the result on the device, so that one of an earlier pass cannot pass for this one's.
 */
static bool poison_device(struct gpu_trial *t)
{
    return ORCH_VECADD_TRY(t, cudaMemsetAsync(t->out, 0xff, t->trial->count * sizeof(float), 0)) &&
           ORCH_VECADD_TRY(t, cudaDeviceSynchronize());
}

/* ---- first pass --------------------------------------------------------------------------------
 */

static bool first_pass(struct gpu_trial *t)
{
    double in_s, out_s, kernel_s, begin = orch_samples_now_s();
    if (!orch_vecadd_device_allocate(t))
        return false;
    double now = orch_samples_now_s();
    result_ms(t, "allocation_time", now - begin); /* replaced by the median below */
    begin = now;
    if (!orch_vecadd_host_allocate(t))
        return false;
    now = orch_samples_now_s();
    if (!orch_vecadd_is_managed(t))
        result_ms(t, "host_allocation_time", now - begin);
    begin = now;
    orch_vecadd_fill(t->team, t->trial->seed, t->host_a, t->host_b, t->host_out, t->trial->count);
    result_ms(t, "fill_time", orch_samples_now_s() - begin);
    if (!orch_vecadd_is_managed(t) && !poison_device(t))
        return false;
    begin = orch_samples_now_s();
    if (!orch_vecadd_copy_in(t, &in_s) || !orch_vecadd_run_kernel(t, &kernel_s) ||
        !orch_vecadd_copy_out(t, &out_s) || !ORCH_VECADD_TRY(t, cudaDeviceSynchronize()))
        return false;
    t->first_kernel_s = kernel_s;
    t->holds = true;
    result_ms(t, "first_kernel_time", kernel_s);
    result_ms(t, "program_time", orch_vecadd_process_age_s());
    return true;
}

/* ---- the trial ---------------------------------------------------------------------------------
 */

/* What empties the L2 cache: twice its size, or nothing where there is no room. */
static bool prepare_flush(struct gpu_trial *t)
{
    const size_t cache = (size_t)orch_cuda_attribute(cudaDevAttrL2CacheSize, t->device, 0);
    const size_t bytes = MAX(cache * 2, MIB);
    void *flush = NULL, *scratch = NULL;
    if (cudaMalloc(&flush, bytes) != cudaSuccess ||
        cudaMalloc(&scratch, sizeof(float)) != cudaSuccess) {
        (void)cudaGetLastError();
        (void)cudaFree(flush);
        t->host->note(
            t->host,
            "too little GPU memory to empty the cache between samples: times may be too short");
        return true;
    }
    t->flush = flush;
    t->scratch = scratch;
    t->flush_count = bytes / sizeof(float);
    /* on Kepler and Maxwell the processor may not touch managed memory while the GPU works */
    return ORCH_VECADD_TRY(t, cudaMemsetAsync(flush, 0, bytes, 0)) &&
           ORCH_VECADD_TRY(t, cudaDeviceSynchronize());
}

static bool warm_up(struct gpu_trial *t)
{
    double kernel_s = 0;
    bool ok = true;
    for (int i = 0; ok && i < t->trial->warmup && t->first_kernel_s < ORCH_VECADD_SLOW_KERNEL_S;
         i++)
        ok = orch_vecadd_run_kernel(t, &kernel_s);
    return ok;
}

static int measure(struct gpu_trial *t)
{
    t->host->phase(t->host, "first pass");
    if (!first_pass(t))
        return ORCH_FAILED;
    int status = check_result(t, "first pass");
    if (status != ORCH_OK)
        return status;
    if (!orch_vecadd_is_managed(t) && !poison_device(t))
        return ORCH_FAILED;
    orch_vecadd_poison(t->team, t->host_out, t->trial->count);
    t->host->phase(t->host, "sampling");
    if (!prepare_flush(t) || !warm_up(t) || !orch_vecadd_gpu_samples(t))
        return ORCH_FAILED;
    if (t->host->cancelled(t->host))
        return ORCH_CANCELLED;
    return check_result(t, "last sample");
}

static bool open_device(struct gpu_trial *t)
{
    char bus_id[BUS_ID_CHARS] = "";
    const double begin = orch_samples_now_s();
    if (!ORCH_VECADD_TRY(t, cudaSetDevice(t->device)) || !ORCH_VECADD_TRY(t, cudaFree(NULL)))
        return false;
    result_ms(t, "context_time", orch_samples_now_s() - begin);
    if (!ORCH_VECADD_TRY(t, cudaEventCreate(&t->begin)) ||
        !ORCH_VECADD_TRY(t, cudaEventCreate(&t->end)))
        return false;
    if (cudaDeviceGetPCIBusId(bus_id, (int)sizeof bus_id, t->device) == cudaSuccess)
        t->clock = orch_gpu_clock_open(bus_id);
    if (!t->clock)
        t->host->note(
            t->host,
            "without NVML the GPU's clocks are unknown, so samples at a low clock may be included");
    t->host->result(t->host, "thread_count",
                    orch_vecadd_grid_threads(t->trial->scenario, t->trial->count));
    return true;
}

static void close_device(struct gpu_trial *t)
{
    orch_vecadd_host_free(t);
    (void)orch_vecadd_device_free(t);
    (void)cudaFree(t->flush);
    (void)cudaFree(t->scratch);
    if (t->begin)
        (void)cudaEventDestroy(t->begin);
    if (t->end)
        (void)cudaEventDestroy(t->end);
    orch_gpu_clock_close(t->clock);
    (void)cudaGetLastError();
}

int orch_vecadd_gpu_run(const struct vecadd_trial *trial, const struct orch_host *host)
{
    char reason[512];
    struct gpu_trial t = {.trial = trial, .host = host};
    if (!orch_cuda_devices(reason, sizeof reason))
        return orch_vecadd_skip(host, "%s", reason);
    if (trial->memory >= VECADD_MANAGED_PREFETCH && !orch_cuda_has_managed_prefetch(t.device))
        return orch_vecadd_skip(host,
                                "this GPU has neither prefetch nor advice; choose memory: managed");
    if (trial->memory == VECADD_MANAGED &&
        !orch_cuda_attribute(cudaDevAttrManagedMemory, t.device, 1))
        return orch_vecadd_skip(host, "this GPU has no managed memory");
    int status = open_device(&t) ? orch_vecadd_gpu_memory_fits(&t) : ORCH_FAILED;
    if (status == ORCH_OK) {
        t.team = orch_team_new(trial->threads);
        status = measure(&t);
        orch_team_free(t.team);
    }
    close_device(&t);
    return status;
}
