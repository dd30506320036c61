/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws and applies the transforms of one image. Applying is one pass over the pixels: crop, flip
 * and normalisation are one table look-up each, because a row's part inside the original is known
 * before the row is made; the rectangles are then set to 0. */
#include "plugins/common/data/transform.h"

#include "plugins/common/data/random.h"

#include <math.h>
#include <string.h>

#define ERASE_ATTEMPTS 10    /* as in torchvision.transforms.RandomErasing.get_params */
#define COPY_STREAM 0xc0b1e5 /* any constants: they tell the streams of one image apart */
#define KIND_STREAM 0x7a45f0
#define SIDE_STREAM 0xf11b5

/* ---- drawing ----------------------------------------------------------------------------------
 */

uint64_t orch_transform_stream(uint64_t seed, int64_t epoch, int64_t place, int64_t copy)
{
    uint64_t stream = orch_random_stream_of(seed, (uint64_t)epoch + 1, (uint64_t)place);
    return copy ? orch_random_stream_of(stream, COPY_STREAM, (uint64_t)copy) : stream;
}

int orch_transform_alternate(uint64_t seed, int64_t row, int64_t epoch, int64_t copy)
{
    uint64_t first = orch_random_stream_of(seed, SIDE_STREAM, (uint64_t)row);
    return (int)((first + (uint64_t)epoch + (uint64_t)copy) & 1);
}

/* Uniform on [0, count) for an int count > 0. */
static int32_t below(uint64_t *random, int count)
{
    return (int32_t)orch_random_below_32(random, (uint32_t)count);
}

static void draw_crop(const struct orch_transform *t, uint64_t *random,
                      struct orch_transform_plan *out)
{
    if (t->size == 0)
        return;
    out->dx = below(random, 2 * t->size + 1) - t->size;
    out->dy = below(random, 2 * t->size + 1) - t->size;
}

static void draw_cutout(const struct orch_transform *t, int width, int height, uint64_t random,
                        struct orch_rectangle *out)
{
    const int x = below(&random, width) - t->size / 2, y = below(&random, height) - t->size / 2;
    const int right = MIN(x + t->size, width), bottom = MIN(y + t->size, height);
    *out = (struct orch_rectangle){MAX(x, 0), MAX(y, 0), right - MAX(x, 0), bottom - MAX(y, 0)};
}

/* Algorithm 1 of Zhong et al. 2020, with torchvision's aspect (uniform on the log scale), rounding,
 * and end after ten rectangles that do not fit. */
static void draw_erase(const struct orch_transform *t, int width, int height, uint64_t random,
                       struct orch_rectangle *out)
{
    if (orch_random_unit(&random) >= t->probability)
        return;
    const double least = log(t->aspect_min), range = log(t->aspect_max) - least;
    for (int i = 0; i < ERASE_ATTEMPTS; i++) {
        const double share = t->area_min + (t->area_max - t->area_min) * orch_random_unit(&random);
        const double area = share * width * height;
        const double aspect = exp(least + range * orch_random_unit(&random));
        const double h = rint(sqrt(area * aspect)), w = rint(sqrt(area / aspect));
        if (h >= height || w >= width)
            continue;
        *out = (struct orch_rectangle){.width = (int32_t)w, .height = (int32_t)h};
        out->x = below(&random, width - out->width + 1);
        out->y = below(&random, height - out->height + 1);
        return;
    }
}

void orch_transforms_draw(const struct orch_transforms *transforms, int width, int height,
                          uint64_t stream, struct orch_transform_plan *out)
{
    *out = (struct orch_transform_plan){0};
    const uint64_t start = stream;
    for (int i = 0; i < transforms->count; i++) {
        const struct orch_transform *t = &transforms->items[i];
        if (t->kind == ORCH_TRANSFORM_CROP) {
            draw_crop(t, &stream, out);
        } else if (t->kind == ORCH_TRANSFORM_FLIP) {
            out->mirror = below(&stream, 2);
        } else if (t->kind != ORCH_TRANSFORM_NORMALISE) {
            const uint64_t own = orch_random_stream_of(start, KIND_STREAM, (uint64_t)t->kind);
            if (t->kind == ORCH_TRANSFORM_CUTOUT)
                draw_cutout(t, width, height, own, &out->cutout);
            else
                draw_erase(t, width, height, own, &out->erase);
        }
    }
}

/* ---- applying ---------------------------------------------------------------------------------
 */

void orch_transforms_table(const struct orch_transforms *transforms, const float mean[3],
                           const float std[3], struct orch_transform_table *out)
{
    for (int i = 0; i < transforms->count; i++)
        if (transforms->items[i].has_values) {
            mean = transforms->items[i].mean;
            std = transforms->items[i].std;
        }
    for (int c = 0; c < 3; c++)
        for (int v = 0; v < 256; v++)
            out->of[c][v] = ((float)v / 255.0F - mean[c]) / (std[c] > 0 ? std[c] : 1.0F);
}

/* The part [from, to) of a row whose pixels come from the original: pixel x of the result is pixel
 * `first` + `step` * (x - from). */
struct span {
    int from, to, first, step;
};

static struct span span_of(const struct orch_transform_plan *plan, int width, int margin)
{
    const int move = plan->mirror ? -plan->dx : plan->dx;
    struct span s = {.from = CLAMP(-move - margin, 0, width),
                     .to = CLAMP(width - move + margin, 0, width)};
    s.step = plan->mirror ? -1 : 1;
    if (s.from < s.to)
        s.first = (plan->mirror ? width - 1 - s.from : s.from) + plan->dx + margin;
    return s;
}

static void fill(float *out, int count, int64_t step, float value)
{
    for (int i = 0; i < count; i++)
        out[i * step] = value;
}

/* One row of one channel; neighbours are `step` floats apart. */
static inline void make_row(const float *restrict table, const uint8_t *restrict in, struct span s,
                            int width, int64_t step, float *restrict out)
{
    fill(out, s.from, step, table[0]);
    const uint8_t *at = in + s.first;
    float *to = out + s.from * step;
    if (s.step > 0)
        for (int i = 0; i < s.to - s.from; i++)
            to[i * step] = table[at[i]];
    else
        for (int i = 0; i < s.to - s.from; i++)
            to[i * step] = table[at[-i]];
    fill(out + s.to * step, width - s.to, step, table[0]);
}

/* One row of three channels, channels last: in order of the addresses, which is twice as fast as a
 * channel after the other. */
static void make_colour_row(const struct orch_transform_table *table, const uint8_t *restrict in,
                            int64_t plane, struct span s, int width, float *restrict out)
{
    const float(*of)[256] = table->of;
    for (int x = 0; x < s.from; x++)
        for (int c = 0; c < 3; c++)
            out[3 * x + c] = of[c][0];
    const uint8_t *at = in + s.first;
    for (int x = s.from; x < s.to; x++, at += s.step) {
        out[3 * x] = of[0][at[0]];
        out[3 * x + 1] = of[1][at[plane]];
        out[3 * x + 2] = of[2][at[2 * plane]];
    }
    for (int x = s.to; x < width; x++)
        for (int c = 0; c < 3; c++)
            out[3 * x + c] = of[c][0];
}

static void clear(struct orch_rectangle r, struct orch_image_shape shape, bool channels_last,
                  float *out)
{
    if (r.width <= 0)
        return;
    const int64_t step = channels_last ? shape.channels : 1, line = step * shape.width;
    const size_t bytes = sizeof *out * (size_t)r.width * (size_t)step;
    for (int c = 0; c < (channels_last ? 1 : shape.channels); c++)
        for (int y = r.y; y < r.y + r.height; y++)
            memset(out + (c * (int64_t)shape.height + y) * line + r.x * step, 0, bytes);
}

void orch_transform_apply(const struct orch_transform_plan *plan,
                          const struct orch_transform_table *table, struct orch_image_shape shape,
                          bool channels_last, const uint8_t *image, float *out)
{
    orch_transform_apply_padded(plan, table, shape, 0, channels_last, image, out);
}

void orch_transform_apply_padded(const struct orch_transform_plan *plan,
                                 const struct orch_transform_table *table,
                                 struct orch_image_shape shape, int margin, bool channels_last,
                                 const uint8_t *image, float *out)
{
    const int line = shape.width + 2 * margin, lines = shape.height + 2 * margin;
    const int64_t in_plane = (int64_t)lines * line, plane = (int64_t)shape.height * shape.width;
    const struct span inside = span_of(plan, shape.width, margin);
    const struct span outside = {.from = shape.width, .to = shape.width};
    for (int y = 0; y < shape.height; y++) {
        const int row = y + plan->dy + margin;
        const bool is_inside = row >= 0 && row < lines;
        const struct span s = is_inside ? inside : outside;
        const uint8_t *in = image + (is_inside ? (int64_t)row * line : 0);
        if (channels_last && shape.channels == 3) {
            make_colour_row(table, in, in_plane, s, shape.width,
                            out + (int64_t)3 * y * shape.width);
            continue;
        }
        for (int c = 0; c < shape.channels; c++) {
            float *to = channels_last ? out + (int64_t)y * shape.width * shape.channels + c
                                      : out + c * plane + (int64_t)y * shape.width;
            if (channels_last)
                make_row(table->of[c % 3], in + c * in_plane, s, shape.width, shape.channels, to);
            else
                make_row(table->of[c % 3], in + c * in_plane, s, shape.width, 1, to);
        }
    }
    clear(plan->cutout, shape, channels_last, out);
    clear(plan->erase, shape, channels_last, out);
}
