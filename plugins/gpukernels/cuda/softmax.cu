/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The softmax of each row: out[r][c] = exp(in[r][c] - m) / sum over c of exp(in[r][c] - m), where m
 * is the row's maximum, without which large inputs overflow.
 *
 *   naive  a thread a row: neighbours read words that are a row apart, three times
 *   fast   a block a row: maximum and sum in one pass (Milakov and Gimelshein, Online normalizer
 * calculation for softmax, 2018), then one that writes; the row's second reading is served by the
 * L2 cache */
#include "plugins/gpukernels/cuda/kernel_case.h"

#include <cmath>
#include <cuda_runtime.h>

namespace
{

const unsigned BLOCK = 256, WARP = 32;
const unsigned GRID_MOST = 0x7fffffff;

size_t count_of(struct orch_kernel_shape shape)
{
    return shape.rows * shape.columns;
}

void reference(float *out, const float *in, struct orch_kernel_shape shape)
{
    for (size_t r = 0; r < shape.rows; r++) {
        const float *row = in + r * shape.columns;
        float most = row[0];
        double sum = 0;
        for (size_t c = 1; c < shape.columns; c++)
            most = row[c] > most ? row[c] : most;
        for (size_t c = 0; c < shape.columns; c++)
            sum += std::exp((double)row[c] - (double)most);
        for (size_t c = 0; c < shape.columns; c++)
            out[r * shape.columns + c] = (float)(std::exp((double)row[c] - (double)most) / sum);
    }
}

__global__ void softmax_naive(float *out, const float *in, size_t rows, size_t columns)
{
    const size_t r = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    const float *row = in + r * columns;
    float most = row[0], sum = 0;
    for (size_t c = 1; c < columns; c++)
        most = fmaxf(most, row[c]);
    for (size_t c = 0; c < columns; c++)
        sum += expf(row[c] - most);
    for (size_t c = 0; c < columns; c++)
        out[r * columns + c] = expf(row[c] - most) / sum;
}

/* The maximum of some numbers, and the sum of exp(number - maximum). */
struct part {
    float most, sum;
};

__device__ part join(part a, part b)
{
    const float most = fmaxf(a.most, b.most);
    if (most == -INFINITY) /* neither has numbers: -inf - -inf would be NaN */
        return a;
    return part{most, a.sum * expf(a.most - most) + b.sum * expf(b.most - most)};
}

__device__ part warp_join(part value)
{
    for (unsigned distance = WARP / 2; distance > 0; distance /= 2) {
        const part other = {__shfl_down_sync(0xffffffffu, value.most, distance),
                            __shfl_down_sync(0xffffffffu, value.sum, distance)};
        value = join(value, other);
    }
    return value;
}

__global__ void __launch_bounds__(BLOCK)
    softmax_fast(float *__restrict__ out, const float *__restrict__ in, size_t rows, size_t columns)
{
    __shared__ part warps[BLOCK / WARP];
    for (size_t r = blockIdx.x; r < rows; r += gridDim.x) {
        const float *row = in + r * columns;
        part mine = {-INFINITY, 0};
        for (size_t c = threadIdx.x; c < columns; c += BLOCK)
            mine = join(mine, part{row[c], 1});
        mine = warp_join(mine);
        if (threadIdx.x % WARP == 0)
            warps[threadIdx.x / WARP] = mine;
        __syncthreads();
        part all = warps[0];
        for (unsigned i = 1; i < BLOCK / WARP; i++)
            all = join(all, warps[i]);
        for (size_t c = threadIdx.x; c < columns; c += BLOCK)
            out[r * columns + c] = expf(row[c] - all.most) / all.sum;
        __syncthreads(); /* before the next row's parts */
    }
}

cudaError_t naive(float *out, const float *in, struct orch_kernel_shape shape, cudaStream_t stream)
{
    softmax_naive<<<(unsigned)((shape.rows + BLOCK - 1) / BLOCK), BLOCK, 0, stream>>>(
        out, in, shape.rows, shape.columns);
    return cudaGetLastError();
}

cudaError_t fast(float *out, const float *in, struct orch_kernel_shape shape, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)(shape.rows < GRID_MOST ? shape.rows : GRID_MOST);
    softmax_fast<<<blocks, BLOCK, 0, stream>>>(out, in, shape.rows, shape.columns);
    return cudaGetLastError();
}

double bytes(struct orch_kernel_shape shape)
{
    return 8.0 * (double)count_of(shape);
}

/* expf errs by 2 units in the last place (CUDA C++ Programming Guide, mathematical functions), the
 * sum of up to a million positive terms, one after the other in the naive kernel, by sqrt(columns)
 * units of random sign. */
double tolerance(struct orch_kernel_shape shape, double value)
{
    return 6e-8 * value * (16 + 4 * std::sqrt((double)shape.columns));
}

} // namespace

const struct orch_kernel_case ORCH_KERNEL_SOFTMAX = {"softmax", reference, naive,     fast,
                                                     count_of,  bytes,     tolerance, 0};
