/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One value of a transformed image. The CUDA kernel (plugins/common/torch/adapter/pixels.cu) runs
 * these functions; orch_transform_apply gives the same values faster on a processor, where a row is
 * made at a time. Compiled as C and as CUDA C++, therefore without GLib. */
#ifndef ORCH_PLUGINS_COMMON_PIXEL_H
#define ORCH_PLUGINS_COMMON_PIXEL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define ORCH_PIXEL_FUNCTION static __host__ __device__ inline
#else
#define ORCH_PIXEL_FUNCTION static inline
#endif

/** A rectangle within the image, in pixels from its upper left corner; empty if width is 0. */
struct orch_rectangle {
    int32_t x, y, width, height;
};

/** The integers drawn for one image. Pixel (x, y) of the result is pixel (u + dx, y + dy) of the
 * original, where u is width - 1 - x if mirror is 1 and x if it is 0; it is black where that pixel
 * lies outside the image, and 0 after normalisation inside the two rectangles. */
struct orch_transform_plan {
    int32_t dx, dy;
    int32_t mirror;
    struct orch_rectangle cutout, erase;
};

/** Normalised value of each byte, by channel; channel c uses entry c % 3. */
struct orch_transform_table {
    float of[3][256];
};

struct orch_image_shape {
    int channels, height, width;
};

/** Pixels of a result that are no pixel of the original. */
enum {
    ORCH_PIXEL_BLACK = -1, /* byte 0 */
    ORCH_PIXEL_MEAN = -2,  /* 0 after normalisation */
};

ORCH_PIXEL_FUNCTION bool orch_pixel_is_within(const struct orch_rectangle *r, int x, int y)
{
    return x >= r->x && x - r->x < r->width && y >= r->y && y - r->y < r->height;
}

/** Index, within its channel, of the original pixel that pixel (x, y) of the result shows, or one
 * of the enum. */
ORCH_PIXEL_FUNCTION int orch_pixel_source(const struct orch_transform_plan *plan,
                                          struct orch_image_shape shape, int x, int y)
{
    const int u = (plan->mirror ? shape.width - 1 - x : x) + plan->dx, v = y + plan->dy;
    if (orch_pixel_is_within(&plan->cutout, x, y) || orch_pixel_is_within(&plan->erase, x, y))
        return ORCH_PIXEL_MEAN;
    const bool is_inside = u >= 0 && u < shape.width && v >= 0 && v < shape.height;
    return is_inside ? v * shape.width + u : ORCH_PIXEL_BLACK;
}

/** Value `index` of the result, in the order in which the result lies in memory: C x H x W, or H x
 * W x C if `channels_last`. `image` holds the bytes of the original, C x H x W. */
ORCH_PIXEL_FUNCTION float orch_pixel_value(const struct orch_transform_plan *plan,
                                           const struct orch_transform_table *table,
                                           struct orch_image_shape shape, bool channels_last,
                                           const uint8_t *image, int index)
{
    const int plane = shape.height * shape.width;
    const int channel = channels_last ? index % shape.channels : index / plane;
    const int pixel = channels_last ? index / shape.channels : index - channel * plane;
    const int y = pixel / shape.width;
    const int source = orch_pixel_source(plan, shape, pixel - y * shape.width, y);
    if (source == ORCH_PIXEL_MEAN)
        return 0;
    return table->of[channel % 3][source >= 0 ? image[channel * plane + source] : 0];
}

#endif
