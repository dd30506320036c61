/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/gpukernels/cuda/kernel_case.h"

const struct orch_kernel_case *const ORCH_KERNEL_CASES[] = {
    &ORCH_KERNEL_SAXPY, &ORCH_KERNEL_REDUCTION, &ORCH_KERNEL_TRANSPOSE, &ORCH_KERNEL_SOFTMAX,
    nullptr};

unsigned orch_kernel_blocks(size_t threads)
{
    const size_t block = 256, each = 32;
    int device = 0, processors = 1;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
        processors = 1; /* the launch reports what is wrong */
    const size_t needed = (threads + block - 1) / block, most = each * (size_t)processors;
    return (unsigned)(needed < 1 ? 1 : needed < most ? needed : most);
}
