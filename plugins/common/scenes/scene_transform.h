/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transforms of images with boxes (Liu et al. 2016, SSD, section 2.2, "data augmentation", and 3.6,
 * "expand"), in two steps. First a plan is drawn: which part of the plane around the image is seen,
 * whether it is mirrored, and one linear map of the colours. Then the plan is applied: to boxes
 * exactly, to pixels in one resampling, without intermediate images. */
#ifndef ORCH_PLUGINS_COMMON_SCENE_TRANSFORM_H
#define ORCH_PLUGINS_COMMON_SCENE_TRANSFORM_H

#include "plugins/common/scenes/scene_set.h"

/** All zeros: the image is resized, and nothing else. */
struct orch_scene_transforms {
    bool distorts; /* brightness +-32 of 255, contrast and saturation times 0.5 to 1.5, hue +-18
                    * degrees, each with probability 1/2 */
    double expand; /* > 1: with probability 1/2 the image is put at a random place on a canvas of
                    * the mean colour, whose sides are 1 to `expand` times as long */
    bool crops;    /* a random part, that at least one object overlaps by a random threshold */
    bool flips;    /* left and right are exchanged with probability 1/2 */
};

/** Parses "distort", "expand [MOST]" (default 4), "crop" and "flip", each at most once and in this
 * order. Fails with ORCH_ERROR_RECIPE, which names the text; `out` is then untouched. */
bool orch_scene_transforms_parse(const char *const *texts, size_t count,
                                 struct orch_scene_transforms *out, GError **error);

struct orch_scene_plan {
    struct orch_box window; /* what is seen, relative to the image; it may leave the image */
    bool is_mirrored;
    float colour[3][4]; /* a row for R, G, B: weights of R, G, B, and a summand; values to 255 */
};

/** The plan that changes nothing. */
struct orch_scene_plan orch_scene_plan_none(void);

/** Draws a plan for an image of `width` x `height` pixels with `count` objects from a random stream
 * (orch_transform_stream). A crop shows the centre of at least one object, where there is one. */
struct orch_scene_plan orch_scene_plan_draw(const struct orch_scene_transforms *transforms,
                                            int width, int height, const struct orch_box *boxes,
                                            int64_t count, uint64_t stream);

/** The objects of the result: those whose centre is seen, cut at its edge. Writes at most `count`
 * boxes to `out`, and to `out_object` which object each is. Returns their number. */
int64_t orch_scene_plan_boxes(const struct orch_scene_plan *plan, const struct orch_box *boxes,
                              int64_t count, struct orch_box *out, int64_t *out_object);

/** How pixels become floats: (value - mean) / deviation, of values to 255. */
struct orch_scene_pixels {
    int size; /* side of the result in pixels */
    float mean, deviation;
};
#define ORCH_SCENE_MEAN 127.0F
#define ORCH_SCENE_DEVIATION 128.0F

/** Writes 3 x size x size floats. What lies outside of the image is the mean: 0. */
void orch_scene_plan_apply(const struct orch_scene_plan *plan, const struct orch_scene_image *image,
                           const struct orch_scene_pixels *pixels, float *out);

#endif
