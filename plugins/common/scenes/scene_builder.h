/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to this folder: collects the images and boxes that a reader finds, checks the boxes, and
 * makes a set of them. */
#ifndef ORCH_PLUGINS_COMMON_SCENE_BUILDER_H
#define ORCH_PLUGINS_COMMON_SCENE_BUILDER_H

#include "plugins/common/scenes/scene_open.h"

struct orch_scene_builder;
/** `known` has the names of all classes of the set, NULL-terminated; `list` says where they are
 * listed, for errors. Fails with ORCH_ERROR_RECIPE for a wanted class that is unknown or repeated,
 * with ORCH_ERROR_IO for too many classes. */
struct orch_scene_builder *orch_scene_builder_new(const struct orch_scene_options *options,
                                                  char **known, const char *list, GError **error);
void orch_scene_builder_free(struct orch_scene_builder *builder);

/** False if objects of this class can be skipped: the class is known but not wanted, and images
 * without objects are not kept. */
bool orch_scene_builder_wants(const struct orch_scene_builder *builder, const char *class_name);
/** True if another image fits; else fails with ORCH_ERROR_IO. Call it before
 * orch_scene_builder_add_image. */
bool orch_scene_builder_has_room(const struct orch_scene_builder *builder, const char *from,
                                 int line, GError **error);
/** Adds an image and returns its number. Takes `file`. */
int64_t orch_scene_builder_add_image(struct orch_scene_builder *builder, const char *id,
                                     char *file);
/** Notes why an image cannot be used; takes `what`. */
void orch_scene_builder_refuse(struct orch_scene_builder *builder, const char *from, int line,
                               char *what);

/** A box as it is found. */
struct orch_found_box {
    const char *from; /* the file */
    int line;
    const char *class_name;
    struct orch_box box;  /* relative to the image */
    double written[4];    /* xmin, ymin, xmax, ymax as the file has them, for messages */
    const char *of_image; /* the unit of these, e.g. " in an image of 50 x 40 pixels" */
    bool is_difficult;
};
/** Adds a box to an image, or notes why it cannot be used. A box of a class that is known and not
 * wanted is left out. False with ORCH_ERROR_IO if the set has
 * too many boxes, or the image. */
bool orch_scene_builder_add_box(struct orch_scene_builder *builder, int64_t image,
                                const struct orch_found_box *found, GError **error);

/** Makes the set; the builder is empty afterwards. Fails with ORCH_ERROR_IO for what was noted,
 * unless the options allow it, and for a set without an image of the wanted classes. */
struct orch_scene_set *orch_scene_builder_end(struct orch_scene_builder *builder, GError **error);

#endif
