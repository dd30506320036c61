/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each loop is compiled for several instruction sets, and for both types of rows: the type is a
 * constant in the callers, so that the inner loops have no branch and vectorise over channels. */
#include "plugins/common/torch/adapter/norm_loops.h"

#include "lib/base/x86_levels.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__)
#define EACH_CPU __attribute__((target_clones(ORCH_X86_V4, ORCH_X86_V3, "default")))
#else
#define EACH_CPU
#endif
#define INLINE inline __attribute__((always_inline))

static INLINE float get(bool half, const void *rows, int64_t i)
{
    if (!half)
        return ((const float *)rows)[i];
    uint32_t bits = (uint32_t)((const uint16_t *)rows)[i] << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounds to nearest, ties to even; NaN stays one. */
static INLINE void put(bool half, void *rows, int64_t i, float value)
{
    if (!half) {
        ((float *)rows)[i] = value;
        return;
    }
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    ((uint16_t *)rows)[i] = (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded);
}

static INLINE float gradient(bool half, bool relu, const void *dy, const void *y, int64_t i)
{
    float g = get(half, dy, i);
    return relu && get(half, y, i) <= 0 ? 0 : g;
}

/* Sums of differences from the first row, so that a large mean costs no digits. */
static INLINE void sums(bool half, const void *x, int64_t rows, int64_t channels,
                        float *restrict mean, float *restrict squares)
{
    memset(mean, 0, sizeof *mean * (size_t)channels);
    memset(squares, 0, sizeof *squares * (size_t)channels);
    for (int64_t r = 1; r < rows; r++)
        for (int64_t c = 0; c < channels; c++) {
            float d = get(half, x, r * channels + c) - get(half, x, c);
            mean[c] += d;
            squares[c] += d * d;
        }
    for (int64_t c = 0; c < channels; c++) {
        float shift = mean[c] / (float)rows, rest = squares[c] - mean[c] * shift;
        squares[c] = rest > 0 ? rest : rest != rest ? rest : 0;
        mean[c] = get(half, x, c) + shift;
    }
}

/* y may be x. */
static INLINE void apply(bool half, bool adds, bool relu, const void *x, const void *shortcut,
                         int64_t rows, int64_t channels, const float *restrict scale,
                         const float *restrict shift, void *y)
{
    for (int64_t r = 0; r < rows; r++)
#pragma GCC ivdep
        for (int64_t c = 0; c < channels; c++) {
            int64_t i = r * channels + c;
            float value = get(half, x, i) * scale[c] + shift[c];
            if (adds)
                value += get(half, shortcut, i);
            put(half, y, i, relu && value < 0 ? 0 : value);
        }
}

static INLINE void back_sums(bool half, bool relu, bool keeps, const void *dy, const void *y,
                             const void *x, int64_t rows, int64_t channels,
                             const float *restrict mean, float *restrict sum,
                             float *restrict product, void *restrict out_g)
{
    memset(sum, 0, sizeof *sum * (size_t)channels);
    memset(product, 0, sizeof *product * (size_t)channels);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < channels; c++) {
            int64_t i = r * channels + c;
            float g = gradient(half, relu, dy, y, i);
            sum[c] += g;
            product[c] += g * (get(half, x, i) - mean[c]);
            if (keeps)
                put(half, out_g, i, g);
        }
}

static INLINE void back_apply(bool half, bool relu, const void *dy, const void *y, const void *x,
                              int64_t rows, int64_t channels, const float *restrict a,
                              const float *restrict b, const float *restrict c0, void *restrict dx)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < channels; c++) {
            int64_t i = r * channels + c;
            float g = gradient(half, relu, dy, y, i);
            put(half, dx, i, a[c] * g + b[c] * get(half, x, i) + c0[c]);
        }
}

EACH_CPU void orch_norm_sums(bool half, const void *x, int64_t rows, int64_t channels,
                             float *out_mean, float *out_squares)
{
    if (half)
        sums(true, x, rows, channels, out_mean, out_squares);
    else
        sums(false, x, rows, channels, out_mean, out_squares);
}

EACH_CPU void orch_norm_apply(bool half, const void *x, const void *shortcut, int64_t rows,
                              int64_t channels, const float *scale, const float *shift, bool relu,
                              void *y)
{
    switch ((half ? 4 : 0) | (shortcut ? 2 : 0) | (relu ? 1 : 0)) {
    case 0:
        apply(false, false, false, x, shortcut, rows, channels, scale, shift, y);
        break;
    case 1:
        apply(false, false, true, x, shortcut, rows, channels, scale, shift, y);
        break;
    case 2:
        apply(false, true, false, x, shortcut, rows, channels, scale, shift, y);
        break;
    case 3:
        apply(false, true, true, x, shortcut, rows, channels, scale, shift, y);
        break;
    case 4:
        apply(true, false, false, x, shortcut, rows, channels, scale, shift, y);
        break;
    case 5:
        apply(true, false, true, x, shortcut, rows, channels, scale, shift, y);
        break;
    case 6:
        apply(true, true, false, x, shortcut, rows, channels, scale, shift, y);
        break;
    default:
        apply(true, true, true, x, shortcut, rows, channels, scale, shift, y);
        break;
    }
}

EACH_CPU void orch_norm_back_sums(bool half, const void *dy, const void *y, const void *x,
                                  int64_t rows, int64_t channels, const float *mean, float *out_sum,
                                  float *out_product, void *out_g)
{
    switch ((half ? 4 : 0) | (y ? 2 : 0) | (out_g ? 1 : 0)) {
    case 0:
        back_sums(false, false, false, dy, y, x, rows, channels, mean, out_sum, out_product, out_g);
        break;
    case 1:
        back_sums(false, false, true, dy, y, x, rows, channels, mean, out_sum, out_product, out_g);
        break;
    case 2:
        back_sums(false, true, false, dy, y, x, rows, channels, mean, out_sum, out_product, out_g);
        break;
    case 3:
        back_sums(false, true, true, dy, y, x, rows, channels, mean, out_sum, out_product, out_g);
        break;
    case 4:
        back_sums(true, false, false, dy, y, x, rows, channels, mean, out_sum, out_product, out_g);
        break;
    case 5:
        back_sums(true, false, true, dy, y, x, rows, channels, mean, out_sum, out_product, out_g);
        break;
    case 6:
        back_sums(true, true, false, dy, y, x, rows, channels, mean, out_sum, out_product, out_g);
        break;
    default:
        back_sums(true, true, true, dy, y, x, rows, channels, mean, out_sum, out_product, out_g);
        break;
    }
}

EACH_CPU void orch_norm_back_apply(bool half, const void *dy, const void *y, const void *x,
                                   int64_t rows, int64_t channels, const float *a, const float *b,
                                   const float *c, void *dx)
{
    if (half && y)
        back_apply(true, true, dy, y, x, rows, channels, a, b, c, dx);
    else if (half)
        back_apply(true, false, dy, y, x, rows, channels, a, b, c, dx);
    else if (y)
        back_apply(false, true, dy, y, x, rows, channels, a, b, c, dx);
    else
        back_apply(false, false, dy, y, x, rows, channels, a, b, c, dx);
}
