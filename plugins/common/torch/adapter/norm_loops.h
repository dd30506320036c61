/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loops of batch normalisation with the addition and ReLU that follow it, over rows of channels: an
 * image batch N x C x H x W in channels-last memory is N*H*W rows of C values. One pass each over
 * what lies in memory. Rows are floats, or bfloat16 where `half` is true (as uint16_t); everything
 * per channel is float. */
#ifndef ORCH_PLUGINS_COMMON_TORCH_NORM_LOOPS_H
#define ORCH_PLUGINS_COMMON_TORCH_NORM_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Mean and sum of squared deviations of each channel over `rows` > 0 rows of x. */
void orch_norm_sums(bool half, const void *x, int64_t rows, int64_t channels, float *out_mean,
                    float *out_squares);

/** y = x * scale + shift [+ shortcut], then 0 where it is negative if `relu`. `shortcut` may be
 * NULL; y may be x. */
void orch_norm_apply(bool half, const void *x, const void *shortcut, int64_t rows, int64_t channels,
                     const float *scale, const float *shift, bool relu, void *y);

/** g = dy, 0 where y <= 0 (`y` NULL: no ReLU). Sums over the rows: of g, and of g * (x - mean).
 * `out_g` (may be NULL) receives g. */
void orch_norm_back_sums(bool half, const void *dy, const void *y, const void *x, int64_t rows,
                         int64_t channels, const float *mean, float *out_sum, float *out_product,
                         void *out_g);

/** dx = a * g + b * x + c, with g from dy and y as above. */
void orch_norm_back_apply(bool half, const void *dy, const void *y, const void *x, int64_t rows,
                          int64_t channels, const float *a, const float *b, const float *c,
                          void *dx);

#ifdef __cplusplus
}
#endif

#endif
