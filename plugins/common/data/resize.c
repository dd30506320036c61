/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scales the largest centred part with the target's aspect ratio by a triangle filter whose width
 * grows with the reduction: bilinear when enlarging, without aliasing when reducing. Equals
 * Pillow's BILINEAR, with which torchvision's weights were trained, up to rounding. */
#include "plugins/common/data/private.h"

#include <math.h>
#include <string.h>

/* Along one axis, output `i` is the weighted sum of `taps` inputs starting at `from[i]`. */
struct axis {
    int taps;
    int *from;
    float *weights; /* `taps` per output */
};

static struct axis axis_new(int in_size, int out_size, double start, double ratio)
{
    double support = MAX(ratio, 1.0);
    struct axis axis = {.taps = MIN((int)ceil(support) * 2 + 1, in_size)};
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

static void axis_clear(struct axis *axis)
{
    g_free(axis->from);
    g_free(axis->weights);
}

/* Scales one row of RGB bytes in width; output is 3 x width. */
static void scale_row(const uint8_t *in, const struct axis *axis, int width, float *out)
{
    for (int x = 0; x < width; x++) {
        const float *weights = axis->weights + (size_t)x * (size_t)axis->taps;
        const uint8_t *from = in + (size_t)axis->from[x] * 3;
        float sum[3] = {0};
        for (int t = 0; t < axis->taps; t++)
            for (int c = 0; c < 3; c++)
                sum[c] += weights[t] * from[3 * t + c];
        for (int c = 0; c < 3; c++)
            out[c * width + x] = sum[c];
    }
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
    struct axis across = axis_new(in_w, width, (in_w - ratio * width) / 2, ratio);
    struct axis down = axis_new(in_h, height, (in_h - ratio * height) / 2, ratio);
    size_t row = (size_t)width * 3, plane = (size_t)width * (size_t)height;
    g_autofree float *rows = g_new(float, row *(size_t)down.taps); /* a window that moves down */
    int have_from = 0, have_to = 0;                                /* its range of input rows */
    for (int y = 0; y < height; y++) {
        int from = down.from[y], to = from + down.taps;
        if (from < have_to && from > have_from)
            memmove(rows, rows + row * (size_t)(from - have_from),
                    row * (size_t)(have_to - from) * sizeof *rows);
        for (int v = MAX(from, have_to); v < to; v++)
            scale_row(in + (size_t)v * (size_t)in_w * 3, &across, width,
                      rows + row * (size_t)(v - from));
        have_from = from;
        have_to = to;
        blend(rows, down.weights + (size_t)y * (size_t)down.taps, down.taps, channels, width, plane,
              out + (size_t)y * (size_t)width);
    }
    axis_clear(&across);
    axis_clear(&down);
}
