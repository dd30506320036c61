/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A kernel as a row of a table: one file holds its reference, its naive and its fast version, and
 * the row. A file more, and a line in kernel_cases.cu, is all that a further kernel takes. */
#ifndef ORCH_PLUGINS_GPUKERNELS_CUDA_KERNEL_CASE_H
#define ORCH_PLUGINS_GPUKERNELS_CUDA_KERNEL_CASE_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Sizes of a computation: `in` and `out` are rows x columns floats, row after row, unless the case
 * says otherwise. */
struct orch_kernel_shape {
    size_t rows, columns;
};

/** Computes on the processor; `in` and `out` do not overlap. */
typedef void orch_kernel_reference(float *out, const float *in, struct orch_kernel_shape shape);
/** Computes on the current device; pointers are of the device, from cudaMalloc. Returns the error
 * of the launch. */
typedef cudaError_t orch_kernel_launch(float *out, const float *in, struct orch_kernel_shape shape,
                                       cudaStream_t stream);

struct orch_kernel_case {
    const char *name;
    orch_kernel_reference *reference;
    orch_kernel_launch *naive, *fast;
    /** Elements of `out`. */
    size_t (*out_count)(struct orch_kernel_shape shape);
    /** Bytes that the computation must read and write. */
    double (*bytes)(struct orch_kernel_shape shape);
    /** Largest error allowed of an element whose reference is `value`, for inputs in [-1, 1); 0:
     * equal to the last bit. */
    double (*tolerance)(struct orch_kernel_shape shape, double value);
    /** True if `out` begins as it is and is added to (saxpy): both sides start from zeros. */
    int accumulates;
};

extern const struct orch_kernel_case ORCH_KERNEL_SAXPY, ORCH_KERNEL_REDUCTION,
    ORCH_KERNEL_TRANSPOSE, ORCH_KERNEL_SOFTMAX;
/** All cases, NULL-terminated. */
extern const struct orch_kernel_case *const ORCH_KERNEL_CASES[];

/** Blocks of 256 threads for `threads`, at most 32 for each multiprocessor of the current device.
 */
unsigned orch_kernel_blocks(size_t threads);

#ifdef __cplusplus
}
#endif

#endif
