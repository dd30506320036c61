/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks of reinforcement learning are so small (4-128-128-2) that a LibTorch step spends most of
 * its time between operations. These loops need none. A product keeps a tile of 4 rows and 16
 * columns in registers. Each loop is compiled for several instruction sets, without fused
 * multiply-adds, so that all of them give the same numbers. */
#include "plugins/replay/agent/dense_loops.h"

#include "lib/base/x86_levels.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h> /* defines __GLIBC__ */

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) &&                            \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define EACH_CPU __attribute__((target_clones(ORCH_X86_V3, "default")))
#else
#define EACH_CPU
#endif

enum { TILE = ORCH_DENSE_TILE, ROWS = 4, WIDTH = 2 };

typedef float tile_row __attribute__((vector_size(TILE * sizeof(float)), aligned(4)));

/* `rows` rows and `width` tiles of columns of a product. */
static inline __attribute__((always_inline)) void
product_tile(int64_t columns, int64_t depth, struct orch_dense_matrix left, const float *right,
             const float *start, float *out, int rows, int width)
{
    tile_row sums[ROWS][WIDTH];
    for (int r = 0; r < rows; r++)
        for (int w = 0; w < width; w++)
            sums[r][w] = start ? *(const tile_row *)(start + w * TILE) : (tile_row){0};
    for (int64_t k = 0; k < depth; k++) {
        const tile_row *line = (const tile_row *)(right + k * columns);
        for (int r = 0; r < rows; r++)
            for (int w = 0; w < width; w++)
                sums[r][w] += left.values[r * left.row_step + k * left.column_step] * line[w];
    }
    for (int r = 0; r < rows; r++)
        for (int w = 0; w < width; w++)
            *(tile_row *)(out + r * columns + w * TILE) = sums[r][w];
}

/* All rows of `width` tiles of columns. */
static inline __attribute__((always_inline)) void
product_band(int64_t rows, int64_t columns, int64_t depth, struct orch_dense_matrix left,
             const float *right, const float *start, float *out, int width)
{
    int64_t r = 0;
    for (; r + ROWS <= rows; r += ROWS, left.values += ROWS * left.row_step)
        product_tile(columns, depth, left, right, start, out + r * columns, ROWS, width);
    for (; r < rows; r++, left.values += left.row_step)
        product_tile(columns, depth, left, right, start, out + r * columns, 1, width);
}

EACH_CPU void orch_dense_product(int64_t rows, int64_t columns, int64_t depth,
                                 struct orch_dense_matrix left, const float *right,
                                 const float *start, float *out)
{
    int64_t c = 0;
    for (; c + WIDTH * TILE <= columns; c += WIDTH * TILE)
        product_band(rows, columns, depth, left, right + c, start ? start + c : NULL, out + c,
                     WIDTH);
    for (; c < columns; c += TILE)
        product_band(rows, columns, depth, left, right + c, start ? start + c : NULL, out + c, 1);
}

EACH_CPU void orch_dense_relu(float *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = values[i] < 0 ? 0 : values[i]; /* NaN stays */
}

EACH_CPU void orch_dense_relu_back(const float *outputs, float *gradients, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        gradients[i] = outputs[i] > 0 ? gradients[i] : 0;
}

EACH_CPU void orch_dense_sum_rows(const float *values, int64_t rows, int64_t columns, float *out)
{
    for (int64_t c = 0; c < columns; c++)
        out[c] = 0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            out[c] += values[r * columns + c];
}

EACH_CPU void orch_dense_adam(float *values, const float *gradients, float *means, float *squares,
                              int64_t count, int64_t step, double rate)
{
    const double correction1 = 1 - pow(0.9, (double)step),
                 correction2 = 1 - pow(0.999, (double)step);
    const float size = (float)(rate / correction1), root = (float)sqrt(correction2);
    for (int64_t i = 0; i < count; i++) {
        const float g = gradients[i];
        means[i] = means[i] * 0.9f + g * 0.1f;
        squares[i] = squares[i] * 0.999f + g * g * 0.001f;
        values[i] -= size * means[i] / (sqrtf(squares[i]) / root + 1e-8f);
    }
}

EACH_CPU void orch_dense_blend(float *destination, const float *source, int64_t count, float alpha)
{
    for (int64_t i = 0; i < count; i++)
        destination[i] += alpha * (source[i] - destination[i]);
}
