/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resampling of RGB images, one axis after the other, by a triangle filter whose width grows with
 * the reduction: bilinear when enlarging, without aliasing when reducing. */
#ifndef ORCH_PLUGINS_COMMON_RESIZE_H
#define ORCH_PLUGINS_COMMON_RESIZE_H

#include <stdint.h>

/** Along one axis, output `i` is the weighted sum of `taps` inputs starting at `from[i]`. */
struct orch_resize_axis {
    int taps;
    int *from;
    float *weights; /* `taps` per output, with a sum of 1 */
};

/** Output i has its centre at start + (i + 0.5) ratio in inputs, of which there are in_size > 0.
 * Inputs that do not exist have no weight. A centre outside of the inputs gives no usable output.
 */
struct orch_resize_axis orch_resize_axis_new(int in_size, int out_size, double start, double ratio);
void orch_resize_axis_clear(struct orch_resize_axis *axis);

/** The input rows that an output row needs, scaled in width: `taps` rows of 3 x width floats, which
 * move down with the output row. */
struct orch_resize_rows {
    const uint8_t *in; /* in_width x RGB, row after row */
    int in_width, width;
    const struct orch_resize_axis *across;
    int taps;
    float *rows;
    float *line;            /* one input row, and a value more */
    int have_from, have_to; /* the input rows that are there */
};

struct orch_resize_rows orch_resize_rows_new(const uint8_t *in, int in_width, int width,
                                             const struct orch_resize_axis *across, int taps);
/** Returns `taps` rows from input row `from` on. `from` must not fall from call to call. */
const float *orch_resize_rows_move(struct orch_resize_rows *rows, int from);
void orch_resize_rows_clear(struct orch_resize_rows *rows);

#endif
