/* SPDX-License-Identifier: GPL-3.0-or-later */
/* y = y + 2.5 x. Read 8 bytes and write 4 for 2 operations: the memory sets the time.
 *
 *   naive  a thread an element, 4-byte loads
 *   fast   grid-stride loop, 16-byte loads: fewer instructions a byte */
#include "plugins/gpukernels/cuda/kernel_case.h"

#include <cuda_runtime.h>

namespace
{

const unsigned BLOCK = 256;
const float FACTOR = 2.5f;

size_t count_of(struct orch_kernel_shape shape)
{
    return shape.rows * shape.columns;
}

void reference(float *y, const float *x, struct orch_kernel_shape shape)
{
    for (size_t i = 0; i < count_of(shape); i++)
        y[i] += FACTOR * x[i];
}

__global__ void saxpy_naive(float *y, const float *x, size_t count)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        y[i] += FACTOR * x[i];
}

__global__ void __launch_bounds__(BLOCK)
    saxpy_fast(float *__restrict__ y, const float *__restrict__ x, size_t count)
{
    const size_t vectors = count / 4, step = (size_t)gridDim.x * blockDim.x;
    const size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float4 *y4 = reinterpret_cast<float4 *>(y);
    const float4 *x4 = reinterpret_cast<const float4 *>(x);
#pragma unroll 4
    for (size_t i = first; i < vectors; i += step) {
        const float4 add = x4[i];
        float4 sum = y4[i];
        sum.x += FACTOR * add.x;
        sum.y += FACTOR * add.y;
        sum.z += FACTOR * add.z;
        sum.w += FACTOR * add.w;
        y4[i] = sum;
    }
    if (first < count % 4)
        y[4 * vectors + first] += FACTOR * x[4 * vectors + first];
}

cudaError_t naive(float *y, const float *x, struct orch_kernel_shape shape, cudaStream_t stream)
{
    const size_t count = count_of(shape);
    saxpy_naive<<<(unsigned)((count + BLOCK - 1) / BLOCK), BLOCK, 0, stream>>>(y, x, count);
    return cudaGetLastError();
}

cudaError_t fast(float *y, const float *x, struct orch_kernel_shape shape, cudaStream_t stream)
{
    const size_t count = count_of(shape);
    saxpy_fast<<<orch_kernel_blocks((count + 3) / 4), BLOCK, 0, stream>>>(y, x, count);
    return cudaGetLastError();
}

double bytes(struct orch_kernel_shape shape)
{
    return 12.0 * (double)count_of(shape);
}

/* A fused multiply-add rounds once, two operations twice: one unit in the last place of a value up
 * to 2.5. */
double tolerance(struct orch_kernel_shape, double)
{
    return 2.4e-7;
}

} // namespace

const struct orch_kernel_case ORCH_KERNEL_SAXPY = {"saxpy",  reference, naive,     fast,
                                                   count_of, bytes,     tolerance, 1};
