/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of memory. A kind is a row of functions in effect: where the arrays lie, and how data
 * reach the other side. */
#include "plugins/vecadd/cuda/gpu_trial.h"

#include "plugins/common/cuda/cuda_compat.h"
#include "plugins/common/kernels/free_memory.h"
#include "plugins/vecadd/host_memory.h"
#include "plugins/vecadd/summands.h"

#include <stdlib.h>

enum { PAGE_FLOATS = 1024 }; /* of 4 KiB, the smallest page that moves */

bool orch_vecadd_cuda_ok(const struct gpu_trial *t, cudaError_t status, const char *what)
{
    char text[512];
    if (status == cudaSuccess)
        return true;
    orch_cuda_error_text(text, sizeof text, what, status);
    const bool sticky = orch_cuda_error_is_sticky(status);
    orch_vecadd_fail(t->host, "%s%s", text,
                     sticky ? "; compute-sanitizer can show the instruction" : "");
    return false;
}

bool orch_vecadd_is_managed(const struct gpu_trial *t)
{
    return t->trial->memory >= VECADD_MANAGED;
}

static size_t array_bytes(const struct gpu_trial *t)
{
    return t->trial->count * sizeof(float);
}

int orch_vecadd_gpu_memory_fits(const struct gpu_trial *t)
{
    const double bytes = 3.0 * (double)array_bytes(t);
    size_t free_bytes = 0, total_bytes = 0;
    if (!ORCH_VECADD_TRY(t, cudaMemGetInfo(&free_bytes, &total_bytes)))
        return ORCH_FAILED;
    if (bytes > (double)free_bytes)
        return orch_vecadd_skip(
            t->host,
            "three arrays of %zu elements need %.1f GB, and %.1f of the card's %.1f GB are free: "
            "choose fewer elements%s",
            t->trial->count, bytes / 1e9, (double)free_bytes / 1e9, (double)total_bytes / 1e9,
            orch_vecadd_is_managed(t) ? ", also with managed memory" : "");
    return orch_memory_fits(bytes, "three arrays", "fewer elements", t->host) ? ORCH_OK
                                                                              : ORCH_FAILED;
}

static bool allocate(struct gpu_trial *t, float **out)
{
    void *memory = NULL;
    const bool ok =
        orch_vecadd_is_managed(t)
            ? ORCH_VECADD_TRY(t, cudaMallocManaged(&memory, array_bytes(t), cudaMemAttachGlobal))
            : ORCH_VECADD_TRY(t, cudaMalloc(&memory, array_bytes(t)));
    *out = memory;
    return ok;
}

/* Inputs are only read by both sides; the result is written by the device and read by the
 * processor. */
static bool advise(struct gpu_trial *t)
{
    const size_t bytes = array_bytes(t);
    return t->trial->memory != VECADD_MANAGED_ADVICE ||
           (ORCH_VECADD_TRY(t,
                            orch_cuda_advise(t->a, bytes, cudaMemAdviseSetReadMostly, t->device)) &&
            ORCH_VECADD_TRY(t,
                            orch_cuda_advise(t->b, bytes, cudaMemAdviseSetReadMostly, t->device)) &&
            ORCH_VECADD_TRY(
                t, orch_cuda_advise(t->out, bytes, cudaMemAdviseSetPreferredLocation, t->device)));
}

bool orch_vecadd_device_allocate(struct gpu_trial *t)
{
    return allocate(t, &t->a) && allocate(t, &t->b) && allocate(t, &t->out) && advise(t);
}

bool orch_vecadd_device_free(struct gpu_trial *t)
{
    float *const arrays[] = {t->a, t->b, t->out};
    t->a = t->b = t->out = NULL;
    bool ok = true;
    for (int i = 0; i < 3; i++)
        ok = (cudaFree(arrays[i]) == cudaSuccess) && ok;
    return ok;
}

bool orch_vecadd_host_allocate(struct gpu_trial *t)
{
    float **const arrays[] = {&t->host_a, &t->host_b, &t->host_out};
    if (orch_vecadd_is_managed(t)) {
        t->host_a = t->a;
        t->host_b = t->b;
        t->host_out = t->out;
        return true;
    }
    for (int i = 0; i < 3; i++) {
        void *memory = NULL;
        if (t->trial->memory == VECADD_PINNED) {
            if (!ORCH_VECADD_TRY(t, cudaMallocHost(&memory, array_bytes(t))))
                return false;
        } else if (!(memory = orch_vecadd_floats_new(t->trial->count))) {
            orch_vecadd_fail(t->host, "cannot allocate three arrays of %zu elements",
                             t->trial->count);
            return false;
        }
        *arrays[i] = memory;
    }
    return true;
}

void orch_vecadd_host_free(struct gpu_trial *t)
{
    float *const arrays[] = {t->host_a, t->host_b, t->host_out};
    for (int i = 0; i < 3 && !orch_vecadd_is_managed(t); i++) {
        if (t->trial->memory == VECADD_PINNED)
            (void)cudaFreeHost(arrays[i]);
        else
            free(arrays[i]);
    }
    t->host_a = t->host_b = t->host_out = NULL;
}

bool orch_vecadd_copy_in(struct gpu_trial *t, double *out_s)
{
    const size_t bytes = array_bytes(t);
    *out_s = 0;
    if (t->trial->memory == VECADD_MANAGED)
        return true;
    if (!ORCH_VECADD_TRY(t, cudaEventRecord(t->begin, 0)))
        return false;
    const bool ok = orch_vecadd_is_managed(t)
                        ? ORCH_VECADD_TRY(t, orch_cuda_prefetch(t->a, bytes, t->device, 0)) &&
                              ORCH_VECADD_TRY(t, orch_cuda_prefetch(t->b, bytes, t->device, 0)) &&
                              ORCH_VECADD_TRY(t, orch_cuda_prefetch(t->out, bytes, t->device, 0))
                        : ORCH_VECADD_TRY(t, cudaMemcpyAsync(t->a, t->host_a, bytes,
                                                             cudaMemcpyHostToDevice, 0)) &&
                              ORCH_VECADD_TRY(t, cudaMemcpyAsync(t->b, t->host_b, bytes,
                                                                 cudaMemcpyHostToDevice, 0));
    return ok && orch_vecadd_elapsed(t, out_s);
}

/* Touches a float of each page, which brings the page to the processor. */
static void read_pages(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i += PAGE_FLOATS)
        (void)*(const volatile float *)&values[i];
}

bool orch_vecadd_copy_out(struct gpu_trial *t, double *out_s)
{
    const size_t bytes = array_bytes(t);
    if (t->trial->memory == VECADD_MANAGED) {
        const double begin = orch_samples_now_s();
        read_pages(t->out, t->trial->count);
        *out_s = orch_samples_now_s() - begin;
        return true;
    }
    if (!ORCH_VECADD_TRY(t, cudaEventRecord(t->begin, 0)))
        return false;
    const bool ok = orch_vecadd_is_managed(t)
                        ? ORCH_VECADD_TRY(t, orch_cuda_prefetch(t->out, bytes, ORCH_CUDA_HOST, 0))
                        : ORCH_VECADD_TRY(t, cudaMemcpyAsync(t->host_out, t->out, bytes,
                                                             cudaMemcpyDeviceToHost, 0));
    return ok && orch_vecadd_elapsed(t, out_s);
}

bool orch_vecadd_send_home(struct gpu_trial *t)
{
    if (!orch_vecadd_is_managed(t))
        return true;
    const size_t bytes = array_bytes(t);
    /* What the processor writes goes home, on Kepler and Maxwell, too. Inputs that are advised as
     * read-mostly would leave their copies on the device otherwise. */
    if (t->trial->memory == VECADD_MANAGED_ADVICE || !orch_cuda_has_managed_prefetch(t->device)) {
        orch_vecadd_fill(t->team, t->trial->seed, t->a, t->b, t->out, t->trial->count);
        return true;
    }
    return ORCH_VECADD_TRY(t, orch_cuda_prefetch(t->a, bytes, ORCH_CUDA_HOST, 0)) &&
           ORCH_VECADD_TRY(t, orch_cuda_prefetch(t->b, bytes, ORCH_CUDA_HOST, 0)) &&
           ORCH_VECADD_TRY(t, orch_cuda_prefetch(t->out, bytes, ORCH_CUDA_HOST, 0)) &&
           ORCH_VECADD_TRY(t, cudaDeviceSynchronize());
}
