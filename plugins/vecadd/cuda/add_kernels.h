/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels of plugin `vecadd`. Pointers are of the device or managed, and begin at multiples of 16
 * bytes. A launch returns the error of the launch itself; the kernel's own shows at the next
 * synchronisation. */
#ifndef ORCH_PLUGINS_VECADD_CUDA_ADD_KERNELS_H
#define ORCH_PLUGINS_VECADD_CUDA_ADD_KERNELS_H

#include "plugins/vecadd/vecadd.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/** out[i] = a[i] + b[i], 0 <= i < count, as a gpu scenario does it, on the current device. */
cudaError_t orch_vecadd_launch(enum vecadd_scenario scenario, float *out, const float *a,
                               const float *b, size_t count, cudaStream_t stream);
/** Threads of the grid with which that is launched. */
double orch_vecadd_grid_threads(enum vecadd_scenario scenario, size_t count);
/** Reads `count` floats, so that they are all that the L2 cache holds, and none of it waits to be
 * written back. */
cudaError_t orch_vecadd_launch_flush(const float *buffer, size_t count, float *scratch,
                                     cudaStream_t stream);
/** Keeps the GPU busy for about 20 microseconds without touching memory. An event and a kernel that
 * are queued meanwhile follow each other at once; on an idle GPU the event is recorded first, and
 * the time until the kernel is launched counts as the kernel's. */
cudaError_t orch_vecadd_launch_hold(cudaStream_t stream);
/** out[i] = in[i], 16 bytes at a time: the bandwidth that kernels of this card reach. */
cudaError_t orch_vecadd_launch_copy(float *out, const float *in, size_t count, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
