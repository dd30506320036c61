/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sum of all numbers.
 *
 *   naive  each thread adds its number to the result with an atomic operation: they wait for each
 * other fast   each thread sums many numbers with 16-byte loads, a warp adds by shuffles, a block
 * in shared memory: one atomic operation a block
 *
 * The order of the additions differs from run to run, and with it the last bits (Higham, Accuracy
 * and Stability of Numerical Algorithms, section 4.2: the error of any order is at most (n - 1) u
 * sum|x|, for random signs about sqrt(n) u). */
#include "plugins/gpukernels/cuda/kernel_case.h"

#include <cmath>
#include <cuda_runtime.h>

namespace
{

const unsigned BLOCK = 256, WARP = 32;

size_t count_of(struct orch_kernel_shape shape)
{
    return shape.rows * shape.columns;
}

void reference(float *out, const float *in, struct orch_kernel_shape shape)
{
    double sum = 0;
    for (size_t i = 0; i < count_of(shape); i++)
        sum += (double)in[i];
    *out = (float)sum;
}

__global__ void sum_naive(float *out, const float *in, size_t count)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        atomicAdd(out, in[i]);
}

__device__ float warp_sum(float value)
{
    for (unsigned distance = WARP / 2; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

__global__ void __launch_bounds__(BLOCK)
    sum_fast(float *__restrict__ out, const float *__restrict__ in, size_t count)
{
    __shared__ float warps[BLOCK / WARP];
    const size_t vectors = count / 4, step = (size_t)gridDim.x * blockDim.x;
    const size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const float4 *in4 = reinterpret_cast<const float4 *>(in);
    float sum = first < count % 4 ? in[4 * vectors + first] : 0;
#pragma unroll 4
    for (size_t i = first; i < vectors; i += step) {
        const float4 v = in4[i];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0)
        warps[threadIdx.x / WARP] = sum;
    __syncthreads();
    if (threadIdx.x < WARP) {
        sum = warp_sum(threadIdx.x < BLOCK / WARP ? warps[threadIdx.x] : 0);
        if (threadIdx.x == 0)
            atomicAdd(out, sum);
    }
}

cudaError_t naive(float *out, const float *in, struct orch_kernel_shape shape, cudaStream_t stream)
{
    const size_t count = count_of(shape);
    const cudaError_t status = cudaMemsetAsync(out, 0, sizeof(float), stream);
    if (status != cudaSuccess)
        return status;
    sum_naive<<<(unsigned)((count + BLOCK - 1) / BLOCK), BLOCK, 0, stream>>>(out, in, count);
    return cudaGetLastError();
}

cudaError_t fast(float *out, const float *in, struct orch_kernel_shape shape, cudaStream_t stream)
{
    const size_t count = count_of(shape);
    const cudaError_t status = cudaMemsetAsync(out, 0, sizeof(float), stream);
    if (status != cudaSuccess)
        return status;
    sum_fast<<<orch_kernel_blocks((count + 3) / 4), BLOCK, 0, stream>>>(out, in, count);
    return cudaGetLastError();
}

size_t out_count(struct orch_kernel_shape)
{
    return 1;
}

double bytes(struct orch_kernel_shape shape)
{
    return 4.0 * (double)count_of(shape);
}

/* Partial sums of n random numbers grow to about sqrt(n / 3): n roundings of that size, of random
 * sign, add up to sqrt(n) u sqrt(n / 3) at the worst order (one after the other). Four times that.
 */
double tolerance(struct orch_kernel_shape shape, double)
{
    return 4 * 6e-8 * ((double)count_of(shape) / std::sqrt(3.0) + 1);
}

} // namespace

const struct orch_kernel_case ORCH_KERNEL_REDUCTION = {"reduction", reference, naive,     fast,
                                                       out_count,   bytes,     tolerance, 0};
