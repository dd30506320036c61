/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boxes of objects in images. Coordinates are relative to the image's width and height, so that a
 * box remains valid when the image is resized: (0, 0) is the upper left corner of the image, (1, 1)
 * the lower right one. */
#ifndef ORCH_PLUGINS_COMMON_BOX_H
#define ORCH_PLUGINS_COMMON_BOX_H

#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/** Largest number of boxes of one image. Open Images has 742 in one, VOC 2007 has 42. */
#define ORCH_BOXES_OF_IMAGE_MAX 4096

/** Added to the area of the union by matching and non-maximum suppression, as the authors of
 * pytorch-ssd do: with it two empty boxes overlap by 0. */
#define ORCH_BOX_UNION_ADDED 1e-5F

struct orch_box {
    float x1, y1, x2, y2; /* left, top, right, bottom */
};

/** The objects of a batch of images. Those of image i are boxes first[i] to first[i + 1] - 1. */
struct orch_box_batch {
    int64_t images;
    const int64_t *first;         /* images + 1 numbers, ascending from 0 */
    const struct orch_box *boxes; /* first[images] */
    const int32_t *labels;        /* of each box, from 1; 0 is the background */
};

/** Area; 0 for a box that is empty or inverted. */
static inline float orch_box_area(struct orch_box box)
{
    const float width = box.x2 - box.x1, height = box.y2 - box.y1;
    return width > 0 && height > 0 ? width * height : 0;
}

/** The part that two boxes share; empty or inverted if they share none. */
static inline struct orch_box orch_box_overlap(struct orch_box a, struct orch_box b)
{
    return (struct orch_box){a.x1 > b.x1 ? a.x1 : b.x1, a.y1 > b.y1 ? a.y1 : b.y1,
                             a.x2 < b.x2 ? a.x2 : b.x2, a.y2 < b.y2 ? a.y2 : b.y2};
}

/** Intersection over union, 0 to 1, with `added` (>= 0) added to the union. */
static inline float orch_box_iou(struct orch_box a, struct orch_box b, float added)
{
    const float both = orch_box_area(orch_box_overlap(a, b));
    return both > 0 ? both / (orch_box_area(a) + orch_box_area(b) - both + added) : 0;
}

/** True for a box of finite coordinates with a positive width and height. */
static inline bool orch_box_is_proper(struct orch_box box)
{
    return box.x1 < box.x2 && box.y1 < box.y2 && isfinite(box.x2 - box.x1) &&
           isfinite(box.y2 - box.y1);
}

/** The part of a box within the image. */
struct orch_box orch_box_clip(struct orch_box box);

/** Checks a batch: every box is proper, every label is 1 to classes - 1, and no image has more than
 * ORCH_BOXES_OF_IMAGE_MAX boxes. Fails with ORCH_ERROR_RECIPE, which names the image and the box by
 * their positions in the batch, from 0. */
bool orch_box_batch_check(const struct orch_box_batch *batch, int classes, GError **error);

#endif
