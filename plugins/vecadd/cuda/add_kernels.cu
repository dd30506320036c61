/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Four ways to add, from slow to fast. An addition reads 8 bytes and writes 4 for one operation, so
 * the memory sets the time:
 *
 *   one        1 thread: every load is waited for
 *   block      256 threads of one multiprocessor: neighbours read neighbouring words (coalesced), 8
 * warps hide little latency grid       a thread for each element: all multiprocessors, 4-byte loads
 *   stride     as many blocks as run at once, 16-byte loads, four of each array on their way: fewer
 * instructions a byte
 *
 * Little's law gives the bytes that must be on their way: bandwidth x latency, 4.8 TB/s x 600 ns =
 * 2.9 MB on an H200, 22 KB a multiprocessor. 'stride' has at least 1024 threads x 8 loads x 16
 * bytes = 131 KB (its registers allow that many on every architecture). Data are read once and
 * written once:
 * __ldcs and __stcs mark them as the first to leave the caches. */
#include "plugins/vecadd/cuda/add_kernels.h"

#include <cuda_runtime.h>

namespace
{

const unsigned BLOCK = 256;
const unsigned GRID_MOST = 0x7fffffff; /* blocks in x, compute capability 3.0 and later */
const int TURN = 4; /* 16-byte loads of each array that a thread has on their way */

__global__ void add_one(float *__restrict__ out, const float *__restrict__ a,
                        const float *__restrict__ b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = a[i] + b[i];
}

__global__ void __launch_bounds__(BLOCK)
    add_block(float *__restrict__ out, const float *__restrict__ a, const float *__restrict__ b,
              size_t count)
{
    for (size_t i = threadIdx.x; i < count; i += blockDim.x)
        out[i] = a[i] + b[i];
}

__global__ void __launch_bounds__(BLOCK)
    add_grid(float *__restrict__ out, const float *__restrict__ a, const float *__restrict__ b,
             size_t count)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = a[i] + b[i];
}

__device__ inline float4 add4(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__global__ void __launch_bounds__(BLOCK)
    add_stride(float *__restrict__ out, const float *__restrict__ a, const float *__restrict__ b,
               size_t count)
{
    const float4 *a4 = reinterpret_cast<const float4 *>(a),
                 *b4 = reinterpret_cast<const float4 *>(b);
    float4 *out4 = reinterpret_cast<float4 *>(out);
    const size_t vectors = count / 4, step = (size_t)gridDim.x * blockDim.x;
    const size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t i = first;
    for (; i + (TURN - 1) * step < vectors; i += TURN * step) {
        float4 left[TURN], right[TURN];
#pragma unroll
        for (int j = 0; j < TURN; j++) {
            left[j] = __ldcs(a4 + i + j * step);
            right[j] = __ldcs(b4 + i + j * step);
        }
#pragma unroll
        for (int j = 0; j < TURN; j++)
            __stcs(out4 + i + j * step, add4(left[j], right[j]));
    }
    for (; i < vectors; i += step)
        __stcs(out4 + i, add4(__ldcs(a4 + i), __ldcs(b4 + i)));
    if (first < count % 4)
        out[4 * vectors + first] = a[4 * vectors + first] + b[4 * vectors + first];
}

__global__ void __launch_bounds__(BLOCK)
    read_all(const float *__restrict__ buffer, size_t count, float *scratch)
{
    float sum = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x)
        sum += buffer[i];
    if (sum == 1.2345e30f) /* never: the sum must be used, or nothing is read */
        *scratch = sum;
}

__global__ void __launch_bounds__(BLOCK)
    copy_stride(float *__restrict__ out, const float *__restrict__ in, size_t count)
{
    const float4 *in4 = reinterpret_cast<const float4 *>(in);
    float4 *out4 = reinterpret_cast<float4 *>(out);
    const size_t vectors = count / 4, step = (size_t)gridDim.x * blockDim.x;
    const size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t i = first;
    for (; i + (TURN - 1) * step < vectors; i += TURN * step) {
        float4 value[TURN];
#pragma unroll
        for (int j = 0; j < TURN; j++)
            value[j] = __ldcs(in4 + i + j * step);
#pragma unroll
        for (int j = 0; j < TURN; j++)
            __stcs(out4 + i + j * step, value[j]);
    }
    for (; i < vectors; i += step)
        __stcs(out4 + i, __ldcs(in4 + i));
    if (first < count % 4)
        out[4 * vectors + first] = in[4 * vectors + first];
}

__global__ void wait_cycles(long long cycles)
{
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

/* Blocks of `kernel` that run at once on the current device, at most as many as `threads` need. */
template <typename KERNEL> unsigned resident_blocks(KERNEL kernel, size_t threads)
{
    int device = 0, processors = 1, blocks = 1;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) !=
            cudaSuccess ||
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, BLOCK, 0) != cudaSuccess ||
        blocks < 1)
        blocks = processors = 1; /* the launch reports what is wrong */
    const size_t needed = (threads + BLOCK - 1) / BLOCK, most = (size_t)blocks * processors;
    return (unsigned)(needed < 1 ? 1 : needed < most ? needed : most);
}

unsigned blocks_of(enum vecadd_scenario scenario, size_t count)
{
    if (scenario == VECADD_GPU_STRIDE)
        return resident_blocks(add_stride, (count + 3) / 4);
    if (scenario == VECADD_GPU_GRID)
        return (unsigned)((count + BLOCK - 1) / BLOCK);
    return 1;
}

} // namespace

cudaError_t orch_vecadd_launch(enum vecadd_scenario scenario, float *out, const float *a,
                               const float *b, size_t count, cudaStream_t stream)
{
    if (scenario == VECADD_GPU_GRID && (count + BLOCK - 1) / BLOCK > GRID_MOST)
        return cudaErrorInvalidConfiguration;
    const unsigned blocks = blocks_of(scenario, count);
    switch (scenario) {
    case VECADD_GPU_1X1:
        add_one<<<1, 1, 0, stream>>>(out, a, b, count);
        break;
    case VECADD_GPU_1X256:
        add_block<<<1, BLOCK, 0, stream>>>(out, a, b, count);
        break;
    case VECADD_GPU_GRID:
        add_grid<<<blocks, BLOCK, 0, stream>>>(out, a, b, count);
        break;
    case VECADD_GPU_STRIDE:
        add_stride<<<blocks, BLOCK, 0, stream>>>(out, a, b, count);
        break;
    default:
        return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}

double orch_vecadd_grid_threads(enum vecadd_scenario scenario, size_t count)
{
    return scenario == VECADD_GPU_1X1 ? 1 : (double)blocks_of(scenario, count) * BLOCK;
}

cudaError_t orch_vecadd_launch_flush(const float *buffer, size_t count, float *scratch,
                                     cudaStream_t stream)
{
    read_all<<<resident_blocks(read_all, count), BLOCK, 0, stream>>>(buffer, count, scratch);
    return cudaGetLastError();
}

cudaError_t orch_vecadd_launch_hold(cudaStream_t stream)
{
    const long long cycles = 40000; /* 20 microseconds at 2 GHz; a launch takes 2 to 10 */
    wait_cycles<<<1, 1, 0, stream>>>(cycles);
    return cudaGetLastError();
}

cudaError_t orch_vecadd_launch_copy(float *out, const float *in, size_t count, cudaStream_t stream)
{
    copy_stride<<<resident_blocks(copy_stride, (count + 3) / 4), BLOCK, 0, stream>>>(out, in,
                                                                                     count);
    return cudaGetLastError();
}
