/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens a set of images with boxes that lies on this machine, in the layout of Pascal VOC or of
 * Open Images, and says what is wrong with it by file and line. */
#ifndef ORCH_PLUGINS_COMMON_SCENE_OPEN_H
#define ORCH_PLUGINS_COMMON_SCENE_OPEN_H

#include "plugins/common/scenes/scene_set.h"

/** The classes of Pascal VOC, sorted, NULL-terminated. */
#define ORCH_VOC_CLASSES 20
extern const char *const orch_voc_classes[ORCH_VOC_CLASSES + 1];

struct orch_scene_options {
    const char *name; /* voc2007, open-images, or a folder (absolute, or below one of the places) */
    const char *root; /* NULL: search $ORCH_DATA, the cache, /usr/share/datasets */
    enum orch_split split;
    const char *const *classes; /* the classes that are wanted, which get labels 1, 2, ... in this
                                 * order; objects of other classes of the set are left out */
    size_t class_count;         /* 0: all classes of the set, by name */
    bool with_empty;            /* keep images without an object of the classes that are wanted */
    bool with_groups; /* Open Images: boxes around a group of objects (IsGroupOf) are objects like
                       * others; false: they are difficult, so that nothing is trained on them and
                       * no detection of them counts */
    bool without_truncated; /* objects that leave their image (truncated) are difficult, too */
    bool skips_bad;         /* leave out boxes and images that cannot be used, and count them
                             * (set->left_out); false: they are an error */
};

/** The rule of both layouts: a box that leaves its image is cut at the edge (set->clipped). A box
 * that is empty, inverted or outside of its image cannot be used, nor can an object whose class is
 * in no list, or an image without its file. Objects of classes that are not wanted are not looked
 * at, nor the image that has no other objects, unless it is kept by with_empty.
 *
 * Pascal VOC: FOLDER/Annotations/ID.xml, JPEGImages/ID.jpg, and ImageSets/Main/trainval.txt (else
 * train.txt) or test.txt (else val.txt) with the IDs. FOLDER may also be above VOCdevkit/VOC2007.
 * The classes are those of FOLDER/labels.txt, one a line or between commas, else the 20 of VOC.
 *
 * Open Images: FOLDER/sub-train-annotations-bbox.csv, else train-annotations-bbox.csv (for the test
 * images test or validation), and the images as FOLDER/train/ImageID.jpg. The classes are the
 * names in column ClassName of the training table, else those of class-descriptions-boxable.csv.
 *
 * Fails with NULL: ORCH_ERROR_NOT_FOUND with all searched folders, ORCH_ERROR_RECIPE for classes
 * that the set does not have, ORCH_ERROR_IO with file and line for what is wrong in a file. */
struct orch_scene_set *orch_scene_set_open(const struct orch_scene_options *options,
                                           GError **error);

/** Absolute paths of the files that the set is read from, for digests: lists, annotations, images.
 * Caller unrefs. Fails as orch_scene_set_open. */
GPtrArray *orch_scene_set_files(const struct orch_scene_options *options, GError **error);

#endif
