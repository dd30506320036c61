/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 16-bit floating point for gradients on their way: IEEE half precision (fp16) and bfloat16.
 * Rounding is to nearest, ties to even; NaN stays NaN; fp16 overflows to infinity above 65504. */
#ifndef ORCH_PLUGINS_COMMON_COMM_HALF_H
#define ORCH_PLUGINS_COMMON_COMM_HALF_H

#include <stddef.h>
#include <stdint.h>

enum orch_half { ORCH_HALF_NONE = 0, ORCH_HALF_FP16, ORCH_HALF_BF16 };

/** Rounds `count` floats to 16 bits. `format` is not NONE. */
void orch_half_encode(enum orch_half format, const float *values, size_t count, uint16_t *out);
void orch_half_decode(enum orch_half format, const uint16_t *values, size_t count, float *out);
/** sums[i] += values[i], rounded to 16 bits. */
void orch_half_add(enum orch_half format, const uint16_t *values, uint16_t *sums, size_t count);

#endif
