/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Equals Pillow's BILINEAR, with which torchvision's weights were trained, up to rounding. */
#include "plugins/common/data/resize.h"

#include "plugins/common/data/private.h"

#include <math.h>
#include <string.h>

struct orch_resize_axis orch_resize_axis_new(int in_size, int out_size, double start, double ratio)
{
    double support = MAX(ratio, 1.0);
    struct orch_resize_axis axis = {.taps = MIN((int)ceil(support) * 2 + 1, in_size)};
    axis.from = g_new(int, out_size);
    axis.weights = g_new0(float, (gsize)out_size *(gsize)axis.taps);
    for (int i = 0; i < out_size; i++) {
        double centre = start + (i + 0.5) * ratio, sum = 0;
        int from = MAX((int)(centre - support + 0.5), 0);
        from = MIN(from, in_size - axis.taps);
        float *weights = axis.weights + (size_t)i * (size_t)axis.taps;
        for (int t = 0; t < axis.taps; t++)
            sum += MAX(0.0, 1.0 - fabs((from + t + 0.5 - centre) / support));
        for (int t = 0; t < axis.taps; t++)
            weights[t] = (float)(MAX(0.0, 1.0 - fabs((from + t + 0.5 - centre) / support)) / sum);
        axis.from[i] = from;
    }
    return axis;
}

void orch_resize_axis_clear(struct orch_resize_axis *axis)
{
    g_free(axis->from);
    g_free(axis->weights);
}

/* Three channels of a pixel, and a fourth value that nothing reads. */
typedef float pixel __attribute__((vector_size(4 * sizeof(float))));

/* Scales one row of RGB bytes in width. `line` has room for the row as floats and one more. */
static void scale_row(const uint8_t *restrict in, int in_width, const struct orch_resize_axis *axis,
                      int width, float *restrict line, float *restrict out)
{
    for (int i = 0; i < 3 * in_width; i++)
        line[i] = in[i];
    for (int x = 0; x < width; x++) {
        const float *weights = axis->weights + (size_t)x * (size_t)axis->taps;
        const float *from = line + (size_t)axis->from[x] * 3;
        pixel sum = {0};
        for (int t = 0; t < axis->taps; t++) {
            pixel value;
            memcpy(&value, from + 3 * t, sizeof value);
            sum += weights[t] * value;
        }
        for (int c = 0; c < 3; c++)
            out[c * width + x] = sum[c];
    }
}

struct orch_resize_rows orch_resize_rows_new(const uint8_t *in, int in_width, int width,
                                             const struct orch_resize_axis *across, int taps)
{
    return (struct orch_resize_rows){
        .in = in,
        .in_width = in_width,
        .width = width,
        .across = across,
        .taps = taps,
        .rows = g_new(float, (gsize)width * 3 * (gsize)taps),
        .line = g_new0(float, (gsize)in_width * 3 + 1),
    };
}

const float *orch_resize_rows_move(struct orch_resize_rows *r, int from)
{
    const size_t row = (size_t)r->width * 3;
    const int to = from + r->taps;
    if (from < r->have_to && from > r->have_from)
        memmove(r->rows, r->rows + row * (size_t)(from - r->have_from),
                row * (size_t)(r->have_to - from) * sizeof *r->rows);
    for (int v = MAX(from, r->have_to); v < to; v++)
        scale_row(r->in + (size_t)v * (size_t)r->in_width * 3, r->in_width, r->across, r->width,
                  r->line, r->rows + row * (size_t)(v - from));
    r->have_from = from;
    r->have_to = to;
    return r->rows;
}

void orch_resize_rows_clear(struct orch_resize_rows *rows)
{
    g_free(rows->rows);
    g_free(rows->line);
}

static uint8_t to_byte(float value)
{
    return (uint8_t)CLAMP(lrintf(value), 0, 255);
}

/* Combines rows scaled in width to an output row; with one channel, to luma (ITU-R BT.601). */
static void blend(const float *rows, const float *weights, int taps, int channels, int width,
                  size_t plane, uint8_t *out)
{
    for (int x = 0; x < width; x++) {
        float sum[3] = {0};
        for (int t = 0; t < taps; t++)
            for (int c = 0; c < 3; c++)
                sum[c] += weights[t] * rows[(t * 3 + c) * width + x];
        if (channels == 1)
            out[x] = to_byte(0.299F * sum[0] + 0.587F * sum[1] + 0.114F * sum[2]);
        for (int c = 0; channels == 3 && c < 3; c++)
            out[(size_t)c * plane + (size_t)x] = to_byte(sum[c]);
    }
}

void orch_image_scale(const uint8_t *in, int in_w, int in_h, int channels, int height, int width,
                      uint8_t *out)
{
    double ratio = MIN((double)in_w / width, (double)in_h / height);
    struct orch_resize_axis across =
        orch_resize_axis_new(in_w, width, (in_w - ratio * width) / 2, ratio);
    struct orch_resize_axis down =
        orch_resize_axis_new(in_h, height, (in_h - ratio * height) / 2, ratio);
    const size_t plane = (size_t)width * (size_t)height;
    struct orch_resize_rows rows = orch_resize_rows_new(in, in_w, width, &across, down.taps);
    for (int y = 0; y < height; y++)
        blend(orch_resize_rows_move(&rows, down.from[y]),
              down.weights + (size_t)y * (size_t)down.taps, down.taps, channels, width, plane,
              out + (size_t)y * (size_t)width);
    orch_resize_rows_clear(&rows);
    orch_resize_axis_clear(&across);
    orch_resize_axis_clear(&down);
}
