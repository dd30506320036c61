/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data sets of images with boxes of objects ("scenes"). Boxes and labels are in memory; images are
 * decoded from their files when they are needed, or are in memory, too, if they were made. */
#ifndef ORCH_PLUGINS_COMMON_SCENE_SET_H
#define ORCH_PLUGINS_COMMON_SCENE_SET_H

#include "plugins/common/boxes/box.h"
#include "plugins/common/data/image_set.h"

/** Bounds of a set. Open Images has 1.7 million images with 14.6 million boxes. */
#define ORCH_SCENES_MAX 5000000
#define ORCH_SCENE_BOXES_MAX 50000000
#define ORCH_SCENE_CLASSES_MAX 10000

/** Boxes or images that a reader changed or left out. */
struct orch_scene_faults {
    int64_t count;
    char *first; /* "what is wrong\n  at: FILE:LINE"; NULL if there is none */
};

struct orch_scene_set {
    char *name;
    int64_t count;      /* images */
    int classes;        /* with the background */
    char **class_names; /* `classes` names, NULL-terminated; the first is "background" */
    int64_t *first;     /* count + 1: the boxes of image i are first[i] to first[i + 1] - 1 */
    struct orch_box *boxes;
    int32_t *labels;    /* of each box, 1 to classes - 1 */
    bool *is_difficult; /* of each box */
    char **files;       /* of each image; NULL if the images are in memory */
    char **ids;         /* names of the images within the set, e.g. "000005"; NULL if in memory */
    uint8_t *pixels;    /* images in memory: height x width x RGB, one after the other */
    int64_t *pixels_at; /* count + 1 offsets in `pixels` */
    int32_t *widths, *heights;         /* of the images in memory */
    struct orch_scene_faults clipped;  /* boxes that left their image and were cut at its edge */
    struct orch_scene_faults left_out; /* boxes that were left out as the options allow */
};

void orch_scene_set_free(struct orch_scene_set *set);

/** One image: height x width x RGB. Release with orch_scene_image_release. */
struct orch_scene_image {
    int width, height;
    const uint8_t *pixels;
    uint8_t *owned; /* the decoded pixels; NULL: `pixels` are the set's */
};
/** Fails with ORCH_ERROR_IO, which names the file and the byte. Thread-safe. */
bool orch_scene_image_get(const struct orch_scene_set *set, int64_t i, struct orch_scene_image *out,
                          GError **error);
void orch_scene_image_release(struct orch_scene_image *image);

#endif
