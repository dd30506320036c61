/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A CUDA runtime without a GPU, for tests of what calls it: device memory is the processor's,
 * kernels are loops. One call can be made to fail. */
#ifndef ORCH_TESTS_STAND_IN_CUDA_H
#define ORCH_TESTS_STAND_IN_CUDA_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

struct stand_in_cuda {
    /* what the test sets */
    int devices, driver; /* driver 0: none */
    bool has_prefetch;
    size_t memory_bytes;
    int fail_at; /* the number of the call that fails, from 1; 0: none */
    cudaError_t failure;
    bool is_sticky; /* every later call fails as well */
    bool is_wrong;  /* the kernel leaves the last element out */
    /* what it can ask */
    int calls, prefetches, advices, allocations; /* allocations that are not freed */
    int held, idle; /* additions and copies that were launched behind another kernel, and others */
    bool is_busy;   /* a kernel is running that the next one is queued behind */
};
extern struct stand_in_cuda stand_in_cuda;

/** A device with 1 GB, prefetch, and no failure. */
void stand_in_cuda_reset(void);

#endif
