/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transforms of training images (data augmentation), in two steps: orch_transforms_draw draws the
 * random integers of one image into a plan, and orch_transform_apply makes the floats that a
 * network reads from the bytes of the image and the plan. The steps are separate so that a GPU
 * kernel can apply the plans that the CPU would apply (pixel.h). */
#ifndef ORCH_PLUGINS_COMMON_TRANSFORM_H
#define ORCH_PLUGINS_COMMON_TRANSFORM_H

#include "plugins/common/data/pixel.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** The transforms in the order in which they are applied. */
enum orch_transform_kind {
    ORCH_TRANSFORM_CROP,      /* pad with black on each side, then cut the size out at random */
    ORCH_TRANSFORM_FLIP,      /* mirror left and right with probability 1/2 */
    ORCH_TRANSFORM_CUTOUT,    /* set a square to the mean colour (DeVries and Taylor 2017) */
    ORCH_TRANSFORM_ERASE,     /* random erasing: a rectangle (Zhong et al. 2020, algorithm 1) */
    ORCH_TRANSFORM_NORMALISE, /* (value / 255 - mean) / std */
    ORCH_TRANSFORM_KINDS
};

struct orch_transform {
    enum orch_transform_kind kind;
    int size;                      /* pixels, >= 0; crop: the padding, cutout: the side */
    bool alternates;               /* flip: by orch_transform_alternate, not drawn */
    double probability;            /* erase: of a rectangle, 0 to 1 */
    double area_min, area_max;     /* erase: share of the image's area, 0 to 1 */
    double aspect_min, aspect_max; /* erase: height / width, > 0; uniform on the log scale */
    bool has_values;               /* normalise: with mean and std below, else with the set's */
    float mean[3], std[3];         /* of a channel, on the scale 0 to 1; std > 0 */
};

/** A list of transforms, each kind at most once, in the order of the kinds. All zeros is the empty
 * list. Normalisation with the set's mean and std is implied where it is not listed. */
struct orch_transforms {
    struct orch_transform items[ORCH_TRANSFORM_KINDS];
    int count;
};

/** Parses `count` texts, each the name of a transform and its values:
 *   crop PIXELS, flip, cutout SIDE,
 *   erase [PROBABILITY [AREA_MIN AREA_MAX [ASPECT_MIN ASPECT_MAX]]]
 *     (default 0.5 0.02 0.33 0.3 3.3, as torchvision.transforms.RandomErasing),
 *   normalise [MEAN STD], or normalise with three means and three deviations.
 * `width` and `height` are those of the images in pixels. Fails with ORCH_ERROR_RECIPE, which names
 * the text, for an unknown name, a value that is missing, not a number or out of range, a size
 * larger than the image, a transform that comes twice, or one out of order; `out` is then
 * untouched. */
bool orch_transforms_parse(const char *const *texts, size_t count, int width, int height,
                           struct orch_transforms *out, GError **error);

/** The list "crop PAD", "flip", without those that are 0 or false. `crop_pad` >= 0, in pixels. */
struct orch_transforms orch_transforms_crop_flip(int crop_pad, bool flip);

/** Start of the random stream of one image: `place` is its position in the order of the epoch, and
 * `copy` counts its copies from 0. */
uint64_t orch_transform_stream(uint64_t seed, int64_t epoch, int64_t place, int64_t copy);

/** Whether an image is mirrored where flips alternate: in every other epoch, beginning with epoch 0
 * or 1 by a hash of `seed` and `row`, its row of the data set. In any two epochs in a row an image
 * is therefore seen from both sides once. Copies alternate, too. Returns 0 or 1. */
int orch_transform_alternate(uint64_t seed, int64_t row, int64_t epoch, int64_t copy);

/** Draws the plan of an image of `width` x `height` pixels. Crop and flip read `stream` one after
 * the other; cutout and erase each read a stream of their own that is derived from it, so that no
 * other transform changes their draws. The centre of the cutout is uniform over the pixels, and the
 * square is clipped at the edges. */
void orch_transforms_draw(const struct orch_transforms *transforms, int width, int height,
                          uint64_t stream, struct orch_transform_plan *out);

/** Fills the table with the values given in `transforms`, else with `mean` and `std` (a std of 0
 * counts as 1). */
void orch_transforms_table(const struct orch_transforms *transforms, const float mean[3],
                           const float std[3], struct orch_transform_table *out);

/** Applies a plan to the bytes of one image (C x H x W). `out` receives as many floats, C x H x W,
 * or H x W x C if `channels_last`. */
void orch_transform_apply(const struct orch_transform_plan *plan,
                          const struct orch_transform_table *table, struct orch_image_shape shape,
                          bool channels_last, const uint8_t *image, float *out);

/** orch_transform_apply for an image that was padded ahead: `image` has C x (H + 2 margin) x (W + 2
 * margin) bytes, and pixel (0, 0) of the original is at (margin, margin). Pixels outside it are
 * black, too. Gives the same floats. `margin` >= 0. */
void orch_transform_apply_padded(const struct orch_transform_plan *plan,
                                 const struct orch_transform_table *table,
                                 struct orch_image_shape shape, int margin, bool channels_last,
                                 const uint8_t *image, float *out);

#endif
