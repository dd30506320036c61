/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CUDA runtime as versions 11 to 13 have it, behind one set of functions. For .cu files and for
 * C files that include the runtime's headers. What changed:
 *
 *   13  cudaMemPrefetchAsync and cudaMemAdvise take a cudaMemLocation instead of a device number
 *   13  cudaDeviceProp lost clockRate and memoryClockRate: the attributes remain
 *
 * Functions that can fail return a cudaError_t; orch_cuda_error_text makes a sentence of it.
 * Prefetch and advice need orch_cuda_has_managed_prefetch: Kepler and Maxwell (compute capability
 * below 6.0) do not have it. */
#ifndef ORCH_PLUGINS_COMMON_CUDA_COMPAT_H
#define ORCH_PLUGINS_COMMON_CUDA_COMPAT_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#if CUDART_VERSION < 11000
#error "CUDA 11 or newer is needed; configure with -DORCH_CUDA=off to build without GPU kernels"
#endif

/** The processor, in place of a device number, for orch_cuda_prefetch and orch_cuda_advise. */
#define ORCH_CUDA_HOST (-1)

/** Writes "WHAT: NAME (text)" into `out`, for example "cudaMalloc: cudaErrorMemoryAllocation (out
 * of memory)", with a hint for the errors that the user can do something about. Returns `out`. */
static inline const char *orch_cuda_error_text(char *out, size_t out_bytes, const char *what,
                                               cudaError_t status)
{
    const char *hint = "";
    if (status == cudaErrorInsufficientDriver)
        hint = "; update the driver";
    else if (status == cudaErrorMemoryAllocation)
        hint = "; use smaller arrays, or end other programs on the GPU (nvidia-smi)";
    else if (status == cudaErrorNoKernelImageForDevice)
        hint = "; the build has no code for this GPU: use a CUDA toolkit that supports it";
    else if (status == cudaErrorUnsupportedPtxVersion)
        hint = "; its driver is too old for this build: update the driver";
    else if (status == cudaErrorLaunchTimeout)
        hint = "; a GPU with a display ends long kernels: use smaller arrays";
    else if (status == cudaErrorDevicesUnavailable)
        hint = "; another process has the GPU for itself";
    snprintf(out, out_bytes, "%s: %s (%s)%s", what, cudaGetErrorName(status),
             cudaGetErrorString(status), hint);
    return out;
}

/** True if the context is unusable after this error: every later call of the process fails, too. Of
 * the others cudaGetLastError() clears the state. */
static inline bool orch_cuda_error_is_sticky(cudaError_t status)
{
    if (status == cudaSuccess)
        return false;
    (void)cudaGetLastError();
    return cudaDeviceSynchronize() != cudaSuccess;
}

/** An integer attribute of a device, `otherwise` when the driver does not know it. */
static inline int orch_cuda_attribute(enum cudaDeviceAttr attribute, int device, int otherwise)
{
    int value = 0;
    if (cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess)
        return value;
    (void)cudaGetLastError();
    return otherwise;
}

/** Nominal bandwidth of the device's memory in bytes a second: two transfers a clock, as vendors
 * count; 0 if unknown. */
static inline double orch_cuda_nominal_bandwidth(int device)
{
    const double clock_hz = 1e3 * orch_cuda_attribute(cudaDevAttrMemoryClockRate, device, 0);
    const double bits = orch_cuda_attribute(cudaDevAttrGlobalMemoryBusWidth, device, 0);
    return 2.0 * clock_hz * bits / 8;
}

/** The highest clock of the multiprocessors in Hz; 0 if unknown. */
static inline double orch_cuda_clock_hz(int device)
{
    return 1e3 * orch_cuda_attribute(cudaDevAttrClockRate, device, 0);
}

/** True if managed memory of this device can be prefetched and advised. */
static inline bool orch_cuda_has_managed_prefetch(int device)
{
    return orch_cuda_attribute(cudaDevAttrConcurrentManagedAccess, device, 0) != 0;
}

#if CUDART_VERSION >= 13000
static inline struct cudaMemLocation orch_cuda_location(int device)
{
    struct cudaMemLocation location;
    location.type = device == ORCH_CUDA_HOST ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device == ORCH_CUDA_HOST ? 0 : device;
    return location;
}
#endif

/** Moves managed memory to a device, or to the processor (ORCH_CUDA_HOST), in the order of the
 * stream. */
static inline cudaError_t orch_cuda_prefetch(const void *memory, size_t bytes, int device,
                                             cudaStream_t stream)
{
#if CUDART_VERSION >= 13000
    return cudaMemPrefetchAsync(memory, bytes, orch_cuda_location(device), 0, stream);
#else
    return cudaMemPrefetchAsync(memory, bytes, device == ORCH_CUDA_HOST ? cudaCpuDeviceId : device,
                                stream);
#endif
}

/** Advice about managed memory, for a device or for the processor (ORCH_CUDA_HOST). */
static inline cudaError_t orch_cuda_advise(const void *memory, size_t bytes,
                                           enum cudaMemoryAdvise advice, int device)
{
#if CUDART_VERSION >= 13000
    return cudaMemAdvise(memory, bytes, advice, orch_cuda_location(device));
#else
    return cudaMemAdvise(memory, bytes, advice,
                         device == ORCH_CUDA_HOST ? cudaCpuDeviceId : device);
#endif
}

/**
 * Whether a GPU can be used: the number of devices, else 0 and the reason in `out` ("no CUDA
 * device", a driver that is missing or older than the toolkit). Does not create a context.
 */
static inline int orch_cuda_devices(char *out, size_t out_bytes)
{
    int count = 0, driver = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0)
        return count;
    (void)cudaGetLastError();
    (void)cudaDriverGetVersion(&driver);
    if (driver == 0 || status == cudaErrorNoDevice || status == cudaSuccess)
        snprintf(out, out_bytes, "no CUDA device%s",
                 driver == 0 ? " (there is no NVIDIA driver)" : "");
    else if (status == cudaErrorInsufficientDriver)
        snprintf(out, out_bytes,
                 "no CUDA device: the driver supports CUDA %d.%d, the program was built with "
                 "%d.%d; update the driver",
                 driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
                 CUDART_VERSION % 1000 / 10);
    else
        snprintf(out, out_bytes, "no CUDA device: %s (%s)", cudaGetErrorName(status),
                 cudaGetErrorString(status));
    return 0;
}

#endif
