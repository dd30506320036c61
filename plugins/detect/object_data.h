/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The images with objects that plugin detect trains and validates on. */
#ifndef ORCH_OBJECT_DATA_H
#define ORCH_OBJECT_DATA_H

#include "plugins/common/scenes/scene_loader.h"

#include <orch/plugin.h>

struct detect_params;
struct orch_object_data;

/** Parts of the data. */
enum orch_object_part {
    ORCH_OBJECTS_TRAIN,    /* training images, in random order, augmented */
    ORCH_OBJECTS_VAL,      /* all validation images */
    ORCH_OBJECTS_VAL_PART, /* the validation images of each epoch */
};

/** Opens the data that the parameters name. Fails where they cannot be read, lack a class, or have
 * no object to learn from in a mode that trains. Free with orch_object_data_free. */
struct orch_object_data *orch_object_data_open(const struct detect_params *params,
                                               const struct orch_host *host, GError **error);
void orch_object_data_free(struct orch_object_data *data);
/** Images of a split that a trial will use, as far as the parameters tell; 0: not known. */
int64_t orch_object_data_planned(const struct detect_params *params, enum orch_split split);
/** Checks classes and transforms, and reports the digests of the data to the host. Returns ORCH_OK,
 * or ORCH_FAILED with the reason reported. */
int orch_object_data_check(const struct detect_params *params, const struct orch_host *host);

/** True if `error` says that a published set is not on this machine. */
bool orch_object_data_is_absent(const struct detect_params *params, const GError *error);

/** Names of the classes, "background" first, NULL-terminated. */
char **orch_object_data_names(const struct orch_object_data *data);
/** Number of classes, with the background. */
int orch_object_data_classes(const struct orch_object_data *data);
int64_t orch_object_data_images(const struct orch_object_data *data, enum orch_object_part part);
/** Objects of class `label`; 0: of all. */
int64_t orch_object_data_objects(const struct orch_object_data *data, enum orch_object_part part,
                                 int label);

/** Batches of a part, in images of 3 x image_size x image_size. Free with orch_scene_loader_free.
 */
struct orch_scene_loader *orch_object_data_loader(const struct orch_object_data *data,
                                                  enum orch_object_part part, int64_t batch,
                                                  GError **error);

#endif
