/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a batch from the bytes of a data set: crop, flip, cutout, erase and normalisation in one
 * kernel. A thread writes one value, neighbouring threads neighbouring values in the order of the
 * memory, because writing the floats is the most of the traffic. Normalisation is a table look-up
 * as on the processor, so that the values are equal to the last bit. */
#include "plugins/common/torch/adapter/pixels.h"

#include <cuda_runtime.h>

namespace
{

const int THREADS = 256;    /* of a block */
const int BLOCKS_Y = 65535; /* CUDA's limit */

__global__ void make_images(struct orch_pixels_work w)
{
    const int values = w.shape.channels * w.shape.height * w.shape.width;
    const int step = (int)(gridDim.x * blockDim.x);
    for (int64_t i = blockIdx.y; i < w.count; i += gridDim.y) {
        const struct orch_transform_plan plan = w.plans[i];
        const uint8_t *image = w.bytes + w.rows[i] * values;
        float *out = w.out + i * values;
        for (int at = (int)(blockIdx.x * blockDim.x + threadIdx.x); at < values; at += step)
            out[at] = orch_pixel_value(&plan, w.table, w.shape, w.channels_last, image, at);
    }
}

const char *text_of(cudaError_t status)
{
    return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

} // namespace

const char *orch_pixels_check(int device)
{
    cudaFuncAttributes attributes;
    cudaError_t status = cudaSetDevice(device);
    if (status == cudaSuccess)
        status = cudaFuncGetAttributes(&attributes, make_images);
    if (status != cudaSuccess)
        cudaGetLastError(); /* or the next call would return it */
    return text_of(status);
}

const char *orch_pixels_launch(int device, const struct orch_pixels_work *work, void *stream)
{
    const cudaError_t status = cudaSetDevice(device);
    if (status != cudaSuccess)
        return text_of(status);
    const int values = work->shape.channels * work->shape.height * work->shape.width;
    const dim3 blocks((unsigned)((values + THREADS - 1) / THREADS),
                      (unsigned)(work->count < BLOCKS_Y ? work->count : BLOCKS_Y));
    make_images<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(*work);
    return text_of(cudaGetLastError());
}

const char *orch_pixels_memory(int device, int64_t *out_free_bytes, int64_t *out_total_bytes)
{
    size_t left = 0, total = 0;
    cudaError_t status = cudaSetDevice(device);
    if (status == cudaSuccess)
        status = cudaMemGetInfo(&left, &total);
    *out_free_bytes = (int64_t)left;
    *out_total_bytes = (int64_t)total;
    return text_of(status);
}
