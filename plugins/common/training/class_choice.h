/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which classes a training tells apart. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_CLASS_CHOICE_H
#define ORCH_PLUGINS_COMMON_TRAINING_CLASS_CHOICE_H

#include "plugins/common/data/image_set.h"
#include "plugins/common/training/training.h"

/** Checks the parameter `classes` without reading data: at least two, none twice, and each a class
 * of the data set where its classes are known. Fails with ORCH_ERROR_RECIPE. */
bool orch_classes_check(const struct orch_training *training, GError **error);
/** Checks that the images that were read have at least two classes. Fails with
 * ORCH_ERROR_RECIPE. */
bool orch_classes_suffice(const struct orch_subset *subset, GError **error);

#endif
