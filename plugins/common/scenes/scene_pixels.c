/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Applies a plan to pixels: resampling by rows, then one linear map of the colours, into which the
 * normalisation is folded. */
#include "plugins/common/data/resize.h"
#include "plugins/common/scenes/scene_transform.h"

#include <string.h>

/* The part [from, to) of the outputs along one axis whose centres lie within the image. */
struct span {
    int from, to;
};

/* Output i has its centre at start + (i + 0.5) ratio. */
static struct span span_of(int in_size, int out_size, double start, double ratio)
{
    struct span span = {0, out_size};
    while (span.from < out_size && start + (span.from + 0.5) * ratio < 0)
        span.from++;
    while (span.to > span.from && start + (span.to - 0.5) * ratio > in_size)
        span.to--;
    return span;
}

/* Exchanges left and right of the outputs. */
static void mirror(struct orch_resize_axis *axis, int size, struct span *span)
{
    float *other = g_new(float, (gsize)size *(gsize)axis->taps);
    int *from = g_new(int, size);
    for (int i = 0; i < size; i++) {
        from[i] = axis->from[size - 1 - i];
        memcpy(other + (size_t)i * (size_t)axis->taps,
               axis->weights + (size_t)(size - 1 - i) * (size_t)axis->taps,
               sizeof(float) * (size_t)axis->taps);
    }
    orch_resize_axis_clear(axis);
    axis->from = from;
    axis->weights = other;
    *span = (struct span){size - span->to, size - span->from};
}

/* Adds up the rows of one output row: 3 x size floats. */
static void blend(const float *rows, const float *weights, int taps, int size, float *restrict out)
{
    memset(out, 0, sizeof(float) * 3 * (size_t)size);
    for (int t = 0; t < taps; t++)
        for (int x = 0; x < 3 * size; x++)
            out[x] += weights[t] * rows[t * 3 * size + x];
}

/* One row of one colour from a blended row. */
static void map_colour(const float *restrict row, int size, struct span span, const float colour[4],
                       float *restrict out)
{
    for (int x = 0; x < span.from; x++)
        out[x] = 0;
    for (int x = span.from; x < span.to; x++)
        out[x] = colour[0] * row[x] + colour[1] * row[size + x] + colour[2] * row[2 * size + x] +
                 colour[3];
    for (int x = span.to; x < size; x++)
        out[x] = 0;
}

static void fold(const struct orch_scene_plan *plan, const struct orch_scene_pixels *pixels,
                 float out[3][4])
{
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 4; i++)
            out[c][i] = plan->colour[c][i] / pixels->deviation;
        out[c][3] -= pixels->mean / pixels->deviation;
    }
}

void orch_scene_plan_apply(const struct orch_scene_plan *plan, const struct orch_scene_image *image,
                           const struct orch_scene_pixels *pixels, float *out)
{
    const int size = pixels->size;
    const struct orch_box w = plan->window;
    const double left = (double)w.x1 * image->width, top = (double)w.y1 * image->height;
    const double ratio_x = ((double)w.x2 - (double)w.x1) * image->width / size;
    const double ratio_y = ((double)w.y2 - (double)w.y1) * image->height / size;
    struct orch_resize_axis across = orch_resize_axis_new(image->width, size, left, ratio_x);
    struct orch_resize_axis down = orch_resize_axis_new(image->height, size, top, ratio_y);
    struct span columns = span_of(image->width, size, left, ratio_x);
    const struct span lines = span_of(image->height, size, top, ratio_y);
    float colour[3][4];
    fold(plan, pixels, colour);
    if (plan->is_mirrored)
        mirror(&across, size, &columns);
    struct orch_resize_rows rows =
        orch_resize_rows_new(image->pixels, image->width, size, &across, down.taps);
    g_autofree float *row = g_new(float, 3 * (gsize)size);
    memset(out, 0, sizeof(float) * 3 * (size_t)size * (size_t)size);
    for (int y = lines.from; y < lines.to; y++) {
        blend(orch_resize_rows_move(&rows, down.from[y]),
              down.weights + (size_t)y * (size_t)down.taps, down.taps, size, row);
        for (int c = 0; c < 3; c++)
            map_colour(row, size, columns, colour[c],
                       out + ((size_t)c * (size_t)size + (size_t)y) * (size_t)size);
    }
    orch_resize_rows_clear(&rows);
    orch_resize_axis_clear(&across);
    orch_resize_axis_clear(&down);
}
