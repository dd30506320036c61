/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels one at a time, with an empty L2 cache, and the bandwidth that the card reaches at most.
 */
#include "plugins/vecadd/cuda/add_kernels.h"
#include "plugins/vecadd/cuda/gpu_trial.h"

#include <glib.h>
#include <math.h>

#define MIB ((size_t)1 << 20)
enum { COPY_SAMPLES = 10, COPY_SAMPLES_MOST = 1000 };
#define COPY_LIMIT_S 3.0

bool orch_vecadd_elapsed(struct gpu_trial *t, double *out_s)
{
    float ms = 0;
    if (!ORCH_VECADD_TRY(t, cudaEventRecord(t->end, 0)) ||
        !ORCH_VECADD_TRY(t, cudaEventSynchronize(t->end)) ||
        !ORCH_VECADD_TRY(t, cudaEventElapsedTime(&ms, t->begin, t->end)))
        return false;
    *out_s = (double)ms / 1e3;
    return true;
}

/* Records the first event, so that what is queued next follows it without a gap. */
static bool begin_timing(struct gpu_trial *t)
{
    return (!t->holds || ORCH_VECADD_TRY(t, orch_vecadd_launch_hold(0))) &&
           ORCH_VECADD_TRY(t, cudaEventRecord(t->begin, 0));
}

bool orch_vecadd_run_kernel(struct gpu_trial *t, double *out_s)
{
    return begin_timing(t) &&
           ORCH_VECADD_TRY(
               t, orch_vecadd_launch(t->trial->scenario, t->out, t->a, t->b, t->trial->count, 0)) &&
           orch_vecadd_elapsed(t, out_s);
}

bool orch_vecadd_flush_l2(struct gpu_trial *t)
{
    return !t->flush ||
           ORCH_VECADD_TRY(t, orch_vecadd_launch_flush(t->flush, t->flush_count, t->scratch, 0));
}

/* One copy of `count` floats, by our kernel or by the driver. The L2 cache is emptied before, as it
 * is before an addition: what the cache still holds of the result at the end is not yet written,
 * and would otherwise favour only one of the two. */
static bool time_copy(struct gpu_trial *t, float *out, const float *in, size_t count,
                      bool by_kernel, double *out_s)
{
    return orch_vecadd_flush_l2(t) && begin_timing(t) &&
           (by_kernel ? ORCH_VECADD_TRY(t, orch_vecadd_launch_copy(out, in, count, 0))
                      : ORCH_VECADD_TRY(t, cudaMemcpyAsync(out, in, count * sizeof(float),
                                                           cudaMemcpyDeviceToDevice, 0))) &&
           orch_vecadd_elapsed(t, out_s);
}

static bool median_copy(struct gpu_trial *t, float *out, const float *in, size_t count,
                        bool by_kernel, double *out_s)
{
    const struct orch_samples_rule full = {COPY_SAMPLES, COPY_SAMPLES_MOST,
                                           t->trial->rule.min_s / 2, COPY_LIMIT_S, 0.02};
    const struct orch_samples_rule rule = t->trial->is_smoke ? t->trial->rule : full;
    struct orch_samples samples;
    double time_s = 0;
    orch_samples_init(&samples, &rule);
    bool ok = time_copy(t, out, in, count, by_kernel, &time_s); /* warm-up */
    while (ok && orch_samples_need_more(&samples)) {
        ok = time_copy(t, out, in, count, by_kernel, &time_s);
        orch_samples_add(&samples, time_s, orch_gpu_clock_sm_mhz(t->clock));
    }
    *out_s = orch_samples_summarize(&samples).median_s;
    orch_samples_release(&samples);
    return ok;
}

bool orch_vecadd_copy_bandwidth(struct gpu_trial *t, double *out_rate)
{
    size_t free_bytes = 0, total_bytes = 0;
    *out_rate = 0;
    if (!ORCH_VECADD_TRY(t, cudaMemGetInfo(&free_bytes, &total_bytes)))
        return false;
    /* as much as the addition moves, but at least 256 MiB, so that the L2 cache plays no part */
    const double wanted = t->trial->is_smoke
                              ? (double)MIB
                              : fmax(orch_vecadd_bytes(t->trial->count) / 2, 256.0 * (double)MIB);
    const size_t bytes = (size_t)fmin(wanted, (double)free_bytes / 3) / MIB * MIB,
                 count = bytes / sizeof(float);
    void *in = NULL, *out = NULL;
    if (!bytes || cudaMalloc(&in, bytes) != cudaSuccess || cudaMalloc(&out, bytes) != cudaSuccess) {
        (void)cudaGetLastError();
        (void)cudaFree(in);
        t->host->note(t->host, "the GPU has no free memory to measure its bandwidth with");
        return true;
    }
    double kernel_s = NAN, driver_s = NAN;
    const bool ok = ORCH_VECADD_TRY(t, cudaMemsetAsync(in, 0, bytes, 0)) &&
                    median_copy(t, out, in, count, true, &kernel_s) &&
                    median_copy(t, out, in, count, false, &driver_s);
    if (ok)
        *out_rate = 2.0 * (double)bytes / fmin(kernel_s, driver_s);
    (void)cudaFree(in);
    (void)cudaFree(out);
    return ok;
}
