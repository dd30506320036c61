/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a training will do, from its parameters alone: nothing is read. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_WORK_H
#define ORCH_PLUGINS_COMMON_TRAINING_WORK_H

#include "plugins/common/data/image_set.h"
#include "plugins/common/data/transform.h"
#include "plugins/common/schedule/lr_schedule.h"
#include "plugins/common/training/training.h"

struct orch_net;

/** Options to open a split of the training's data set. */
struct orch_image_set_options orch_work_data(const struct orch_training *training,
                                             enum orch_split split);
/** Shape of an image, and number of classes (0: known only once a folder has been read). */
void orch_work_shape(const struct orch_training *training, int *out_channels, int *out_side,
                     int64_t *out_classes);
/** Transforms of the training images: `transforms`, or crop_pad and flip. Fails with
 * ORCH_ERROR_RECIPE for an unknown transform, a value that does not fit the images, or where both
 * ways are used. */
bool orch_work_transforms(const struct orch_training *training, struct orch_transforms *out,
                          GError **error);
/** What of it is no augmentation, for validation and features: a normalisation with values of its
 * own. The parameters must have been checked. */
struct orch_transforms orch_work_normalisation(const struct orch_training *training);
/** Schedule of the learning rate over `epochs`. Fails with ORCH_ERROR_RECIPE for milestones that
 * cannot be parsed or that all come too late. */
bool orch_work_schedule(const struct orch_training *training, int64_t epochs,
                        struct orch_schedule *out, GError **error);
/** Checks freeze and layer_rates. Fails with ORCH_ERROR_RECIPE for layer groups that the network
 * does not have, or where none is left to learn. */
bool orch_work_groups_check(const struct orch_training *training, const struct orch_net *net,
                            GError **error);

#endif
