/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to the gpu scenarios: a device with what is measured on it. Functions that return bool
 * report their error to the host. */
#ifndef ORCH_PLUGINS_VECADD_CUDA_GPU_TRIAL_H
#define ORCH_PLUGINS_VECADD_CUDA_GPU_TRIAL_H

#include "plugins/common/kernels/gpu_clock.h"
#include "plugins/common/kernels/team.h"
#include "plugins/vecadd/vecadd.h"

#include <cuda_runtime_api.h>

/** A kernel that takes so long gains nothing from warm caches: it is not warmed up. */
#define ORCH_VECADD_SLOW_KERNEL_S 1.0

struct gpu_trial {
    const struct vecadd_trial *trial;
    const struct orch_host *host;
    struct orch_team *team; /* fills and checks */
    struct orch_gpu_clock *clock;
    int device;
    cudaEvent_t begin, end;
    float *host_a, *host_b, *host_out; /* managed: the same as a, b, out */
    float *a, *b, *out;
    float *flush, *scratch; /* larger than the L2 cache; NULL: not flushed */
    size_t flush_count;
    double first_kernel_s;
    bool holds; /* samples: a kernel is queued behind another, not launched on an idle GPU */
};

/** True if CUDA accepted a call; else reports WHAT and the error, with what it means for the rest
 * of the trial. */
bool orch_vecadd_cuda_ok(const struct gpu_trial *t, cudaError_t status, const char *what);
#define ORCH_VECADD_TRY(t, call) orch_vecadd_cuda_ok(t, call, #call)

/** True for the three kinds of managed memory. */
bool orch_vecadd_is_managed(const struct gpu_trial *t);
/** Allocates the three arrays on the device (or managed), and frees them. The second returns false
 * where that failed. */
bool orch_vecadd_device_allocate(struct gpu_trial *t);
bool orch_vecadd_device_free(struct gpu_trial *t);
/** Allocates the host's three arrays. Of managed memory: names those of the device. */
bool orch_vecadd_host_allocate(struct gpu_trial *t);
void orch_vecadd_host_free(struct gpu_trial *t);
/** Whether three arrays fit into the card's memory and the host's, asked before anything is
 * allocated. ORCH_OK, or what the trial ends as. */
int orch_vecadd_gpu_memory_fits(const struct gpu_trial *t);

/** Records the second event, waits for it, and gives the time since the first, in seconds. */
bool orch_vecadd_elapsed(struct gpu_trial *t, double *out_s);
/** Brings the inputs to the device, or the result back, in the way of the trial's memory; `*out_s`
 * gets the time. Managed memory without prefetch has nothing to bring, and its result is read by
 * the processor. */
bool orch_vecadd_copy_in(struct gpu_trial *t, double *out_s);
bool orch_vecadd_copy_out(struct gpu_trial *t, double *out_s);
/** Puts managed memory back to where a program begins: with the processor. Nothing for other
 * memory. */
bool orch_vecadd_send_home(struct gpu_trial *t);
/** Runs the kernel once; `*out_s` gets its time between two events: with `holds` that of the kernel
 * alone, else its launch counts, too. */
bool orch_vecadd_run_kernel(struct gpu_trial *t, double *out_s);
/** Empties the L2 cache. */
bool orch_vecadd_flush_l2(struct gpu_trial *t);
/** Measures the bandwidth of the card's memory in bytes a second, read and written bytes counted:
 * the faster of a copy kernel and cudaMemcpy over arrays far larger than the L2 cache. 0 where
 * there is no memory for it. */
bool orch_vecadd_copy_bandwidth(struct gpu_trial *t, double *out_rate);

/** Samples every part by itself, and reports them (gpu_samples.c). */
bool orch_vecadd_gpu_samples(struct gpu_trial *t);

#endif
