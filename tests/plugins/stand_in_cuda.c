/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/plugins/stand_in_cuda.h"

#include "plugins/vecadd/cuda/add_kernels.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct stand_in_cuda stand_in_cuda;
static cudaError_t last;
static bool is_lost;

void stand_in_cuda_reset(void)
{
    stand_in_cuda = (struct stand_in_cuda){.devices = 1,
                                           .driver = CUDART_VERSION,
                                           .has_prefetch = true,
                                           .memory_bytes = 1000000000,
                                           .failure = cudaErrorIllegalAddress};
    last = cudaSuccess;
    is_lost = false;
}

/* The outcome of the next call. */
static cudaError_t call(void)
{
    if (is_lost)
        return stand_in_cuda.failure;
    if (++stand_in_cuda.calls != stand_in_cuda.fail_at)
        return cudaSuccess;
    is_lost = stand_in_cuda.is_sticky;
    return last = stand_in_cuda.failure;
}
#define CALL()                                                                                     \
    do {                                                                                           \
        const cudaError_t outcome_ = call();                                                       \
        if (outcome_ != cudaSuccess)                                                               \
            return outcome_;                                                                       \
    } while (0)

const char *cudaGetErrorName(cudaError_t error)
{
    return error == cudaErrorIllegalAddress ? "cudaErrorIllegalAddress"
           : error == cudaErrorNoDevice     ? "cudaErrorNoDevice"
                                            : "cudaErrorX";
}
const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaErrorIllegalAddress ? "an illegal memory access was encountered" : "a text";
}
cudaError_t cudaGetLastError(void)
{
    const cudaError_t was = is_lost ? stand_in_cuda.failure : last;
    last = cudaSuccess;
    return was;
}
cudaError_t cudaGetDeviceCount(int *count)
{
    if (stand_in_cuda.driver < CUDART_VERSION / 1000 * 1000)
        return cudaErrorInsufficientDriver;
    *count = stand_in_cuda.devices;
    return stand_in_cuda.devices ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaDriverGetVersion(int *version)
{
    *version = stand_in_cuda.driver;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    (void)device;
    *value = attribute == cudaDevAttrConcurrentManagedAccess ? stand_in_cuda.has_prefetch
             : attribute == cudaDevAttrL2CacheSize           ? 65536
             : attribute == cudaDevAttrMemoryClockRate       ? 1000000
             : attribute == cudaDevAttrGlobalMemoryBusWidth  ? 64
                                                             : 1;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device)
{
    (void)device;
    CALL();
    return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char *id, int bytes, int device)
{
    (void)id, (void)bytes, (void)device;
    return cudaErrorInvalidValue;
}
cudaError_t cudaDeviceSynchronize(void)
{
    CALL();
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    CALL();
    *free_bytes = *total = stand_in_cuda.memory_bytes;
    return cudaSuccess;
}

static cudaError_t allocate(void **out, size_t bytes)
{
    CALL();
    *out = aligned_alloc(64, (bytes + 63) / 64 * 64);
    stand_in_cuda.allocations++;
    return cudaSuccess;
}
cudaError_t cudaMalloc(void **out, size_t bytes)
{
    return allocate(out, bytes);
}
cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    return allocate(out, bytes);
}
cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate(out, bytes);
}
/* Frees even where the call fails, so that the test's own checker sees no leak. */
cudaError_t cudaFree(void *memory)
{
    if (memory)
        stand_in_cuda.allocations--;
    free(memory);
    CALL();
    return cudaSuccess;
}
cudaError_t cudaFreeHost(void *memory)
{
    return cudaFree(memory);
}
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    CALL();
    memset(memory, value, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    (void)kind, (void)stream;
    CALL();
    memcpy(to, from, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    return cudaMemsetAsync(memory, value, bytes, 0);
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return cudaMemcpyAsync(to, from, bytes, kind, 0);
}
#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void *memory, size_t bytes, struct cudaMemLocation where,
                                 unsigned flags, cudaStream_t stream)
{
    (void)memory, (void)bytes, (void)where, (void)flags, (void)stream;
#else
cudaError_t cudaMemPrefetchAsync(const void *memory, size_t bytes, int where, cudaStream_t stream)
{
    (void)memory, (void)bytes, (void)where, (void)stream;
#endif
    CALL();
    stand_in_cuda.prefetches++;
    return cudaSuccess;
}
#if CUDART_VERSION >= 13000
cudaError_t cudaMemAdvise(const void *memory, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation where)
#else
cudaError_t cudaMemAdvise(const void *memory, size_t bytes, enum cudaMemoryAdvise advice, int where)
#endif
{
    (void)memory, (void)bytes, (void)advice, (void)where;
    CALL();
    stand_in_cuda.advices++;
    return cudaSuccess;
}

/* ---- events are points of the processor's clock ------------------------------------------------
 */

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    CALL();
    *event = malloc(sizeof(struct timespec));
    stand_in_cuda.allocations++;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return cudaFree(event);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)stream;
    CALL();
    clock_gettime(CLOCK_MONOTONIC, (struct timespec *)(void *)event);
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    (void)event;
    CALL();
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    const struct timespec *a = (void *)begin, *b = (void *)end;
    CALL();
    *ms = (float)(1e3 * (double)(b->tv_sec - a->tv_sec) + (double)(b->tv_nsec - a->tv_nsec) / 1e6);
    return cudaSuccess;
}

/* ---- kernels -----------------------------------------------------------------------------------
 */

/* A kernel or copy that is timed: queued behind another kernel, or launched on an idle device. */
static void count_launch(void)
{
    stand_in_cuda.held += stand_in_cuda.is_busy;
    stand_in_cuda.idle += !stand_in_cuda.is_busy;
    stand_in_cuda.is_busy = false;
}

cudaError_t orch_vecadd_launch(enum vecadd_scenario scenario, float *out, const float *a,
                               const float *b, size_t count, cudaStream_t stream)
{
    (void)scenario, (void)stream;
    CALL();
    count_launch();
    for (size_t i = 0; i + stand_in_cuda.is_wrong < count; i++)
        out[i] = a[i] + b[i];
    return cudaSuccess;
}
double orch_vecadd_grid_threads(enum vecadd_scenario scenario, size_t count)
{
    (void)scenario, (void)count;
    return 1;
}
cudaError_t orch_vecadd_launch_flush(const float *buffer, size_t count, float *scratch,
                                     cudaStream_t stream)
{
    (void)buffer, (void)count, (void)scratch, (void)stream;
    CALL();
    return cudaSuccess;
}
cudaError_t orch_vecadd_launch_hold(cudaStream_t stream)
{
    (void)stream;
    CALL();
    stand_in_cuda.is_busy = true;
    return cudaSuccess;
}
cudaError_t orch_vecadd_launch_copy(float *out, const float *in, size_t count, cudaStream_t stream)
{
    (void)stream;
    CALL();
    count_launch();
    memcpy(out, in, count * sizeof(float));
    return cudaSuccess;
}
