/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A generated detection set: clothes of Fashion-MNIST, coloured, at random sizes and places
 * on textured canvases, some of them partly behind others. The objects of the training images are
 * Fashion-MNIST's training images, those of the test images its test images. */
#ifndef ORCH_PLUGINS_COMMON_GENERATED_SCENES_H
#define ORCH_PLUGINS_COMMON_GENERATED_SCENES_H

#include "plugins/common/scenes/scene_set.h"

#define ORCH_GENERATED_SCENES_NAME "fashion-scenes"

struct orch_generated_scenes {
    const char *root; /* where Fashion-MNIST lies; NULL: search the usual places */
    enum orch_split split;
    int64_t count;          /* images, 1 to ORCH_SCENES_MAX */
    int side_min, side_max; /* of a canvas in pixels, 16 to 1024; drawn for width and height */
    int objects_min, objects_max; /* of an image, 1 to 64; fewer where no more find a place */
    double size_min, size_max;    /* longer side of an object, as a share of the canvas's shorter
                                   * side, above 0 to 1 */
    const int64_t *classes;       /* Fashion-MNIST's classes that occur, 0 to 9; their order gives
                                   * the labels 1, 2, ... */
    size_t class_count;           /* 0: all ten */
    uint64_t seed;
};

/** 1 to 4 objects of all classes on canvases of 96 to 160 pixels, a fifth to three fifths as large.
 */
struct orch_generated_scenes orch_generated_scenes_usual(enum orch_split split, int64_t count,
                                                         uint64_t seed);

/** Makes the set in memory. The same options give the same bytes on every machine; with another
 * `count` the images that both have are the same. Fails with NULL and ORCH_ERROR_RECIPE for an
 * option out of range, or as orch_image_set_open where Fashion-MNIST is not there. */
struct orch_scene_set *orch_generated_scenes_new(const struct orch_generated_scenes *options,
                                                 GError **error);

#endif
