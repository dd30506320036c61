/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loops of a small fully connected network: matrix products, ReLU, Adam. */
#ifndef ORCH_PLUGINS_REPLAY_AGENT_DENSE_LOOPS_H
#define ORCH_PLUGINS_REPLAY_AGENT_DENSE_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

/** Columns of a product are padded to a multiple of this. */
enum { ORCH_DENSE_TILE = 8 };

/** A matrix whose element (r, c) is at values[r * row_step + c * column_step]. */
struct orch_dense_matrix {
    const float *values;
    int64_t row_step, column_step;
};

/** out (rows x columns, row-major) = first row `start` of `columns` values, or 0 if NULL, plus
 * left (rows x depth) times right (depth x columns, row-major). `columns` is a multiple of
 * ORCH_DENSE_TILE. Each sum is taken in the order of the depth, so a row's result does not depend
 * on the number of rows. */
void orch_dense_product(int64_t rows, int64_t columns, int64_t depth, struct orch_dense_matrix left,
                        const float *right, const float *start, float *out);

/** values = max(values, 0). */
void orch_dense_relu(float *values, int64_t count);
/** gradients = 0 where the output of the ReLU was 0. */
void orch_dense_relu_back(const float *outputs, float *gradients, int64_t count);
/** out[c] = sum over rows of values[r][c]. */
void orch_dense_sum_rows(const float *values, int64_t rows, int64_t columns, float *out);
/** One step of Adam (Kingma and Ba 2015, with PyTorch's order of operations, betas 0.9 and 0.999,
 * epsilon 1e-8). `step` counts from 1. */
void orch_dense_adam(float *values, const float *gradients, float *means, float *squares,
                     int64_t count, int64_t step, double rate);
/** destination = (1 - alpha) destination + alpha source. */
void orch_dense_blend(float *destination, const float *source, int64_t count, float alpha);

#endif
