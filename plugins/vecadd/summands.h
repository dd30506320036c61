/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers that are added, and whether their sums are right. */
#ifndef ORCH_PLUGINS_VECADD_SUMMANDS_H
#define ORCH_PLUGINS_VECADD_SUMMANDS_H

#include "plugins/common/kernels/team.h"

#include <stddef.h>
#include <stdint.h>

/** Element `index` of array `array` (0 or 1): uniform on [-1, 1), the same for one seed everywhere.
 */
float orch_vecadd_value(uint32_t seed, int array, size_t index);
/** Fills both inputs with their values and the output with a pattern that is no sum (NaN). Each
 * thread of the team writes the part that it adds later, so that pages lie near it. */
void orch_vecadd_fill(struct orch_team *team, uint32_t seed, float *a, float *b, float *out,
                      size_t count);
/** Overwrites `out` with the pattern. */
void orch_vecadd_poison(struct orch_team *team, float *out, size_t count);
/** Number of elements of `out` that differ from the sum of the two values, which are computed anew;
 * `*out_first` is the least index of one. The sum of two floats is rounded in one way only, so they
 * are equal to the last bit. */
size_t orch_vecadd_wrong(struct orch_team *team, uint32_t seed, const float *out, size_t count,
                         size_t *out_first);
/** The part [*out_begin, *out_end) of `count` elements that thread `index` of `threads` works on:
 * whole 64-byte lines. */
void orch_vecadd_part(size_t count, int index, int threads, size_t *out_begin, size_t *out_end);

#endif
