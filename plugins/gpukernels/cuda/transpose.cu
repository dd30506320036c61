/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The transpose of a matrix: out[c][r] = in[r][c].
 *
 *   naive  a thread an element: neighbours read neighbouring words, but write words that are a
 * column apart fast   a block moves a square of 32 x 32 through shared memory, and reads and writes
 * rows of it. A row of the square has 33 words, so that the words of a column lie in different
 * banks (Ruetsch and Micikevicius, Optimizing Matrix Transpose in CUDA) */
#include "plugins/gpukernels/cuda/kernel_case.h"

#include <cuda_runtime.h>

namespace
{

const unsigned BLOCK = 256, SIDE = 32,
               LINES = 8; /* a block of 32 x 8 threads moves 4 lines a thread */

size_t count_of(struct orch_kernel_shape shape)
{
    return shape.rows * shape.columns;
}

void reference(float *out, const float *in, struct orch_kernel_shape shape)
{
    for (size_t r = 0; r < shape.rows; r++)
        for (size_t c = 0; c < shape.columns; c++)
            out[c * shape.rows + r] = in[r * shape.columns + c];
}

__global__ void transpose_naive(float *out, const float *in, size_t rows, size_t columns)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns)
        out[i % columns * rows + i / columns] = in[i];
}

/* Squares are counted along x: a grid may have 2^31 - 1 blocks in x, but 65,535 in y. */
__global__ void __launch_bounds__(BLOCK)
    transpose_fast(float *__restrict__ out, const float *__restrict__ in, size_t rows,
                   size_t columns)
{
    __shared__ float square[SIDE][SIDE + 1];
    const size_t across = (columns + SIDE - 1) / SIDE;
    const size_t top = blockIdx.x / across * SIDE, left = blockIdx.x % across * SIDE;
    for (unsigned line = threadIdx.y; line < SIDE; line += LINES)
        if (top + line < rows && left + threadIdx.x < columns)
            square[line][threadIdx.x] = in[(top + line) * columns + left + threadIdx.x];
    __syncthreads();
    for (unsigned line = threadIdx.y; line < SIDE; line += LINES)
        if (left + line < columns && top + threadIdx.x < rows)
            out[(left + line) * rows + top + threadIdx.x] = square[threadIdx.x][line];
}

cudaError_t naive(float *out, const float *in, struct orch_kernel_shape shape, cudaStream_t stream)
{
    transpose_naive<<<(unsigned)((count_of(shape) + BLOCK - 1) / BLOCK), BLOCK, 0, stream>>>(
        out, in, shape.rows, shape.columns);
    return cudaGetLastError();
}

cudaError_t fast(float *out, const float *in, struct orch_kernel_shape shape, cudaStream_t stream)
{
    const size_t squares = ((shape.rows + SIDE - 1) / SIDE) * ((shape.columns + SIDE - 1) / SIDE);
    transpose_fast<<<(unsigned)squares, dim3(SIDE, LINES), 0, stream>>>(out, in, shape.rows,
                                                                        shape.columns);
    return cudaGetLastError();
}

double bytes(struct orch_kernel_shape shape)
{
    return 8.0 * (double)count_of(shape);
}

/* Nothing is computed. */
double tolerance(struct orch_kernel_shape, double)
{
    return 0;
}

} // namespace

const struct orch_kernel_case ORCH_KERNEL_TRANSPOSE = {"transpose", reference, naive,     fast,
                                                       count_of,    bytes,     tolerance, 0};
