/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The labelled and the unlabelled part of the training images. */
#ifndef ORCH_PLUGINS_SEMISUP_SPLIT_H
#define ORCH_PLUGINS_SEMISUP_SPLIT_H

#include "plugins/semisup/semisup.h"

/** Checks what the parameters ask of a data set with `classes` classes (0: not known yet) and at
 * most `images` training images (0: not known yet). Fails with ORCH_ERROR_RECIPE for P above the
 * number of classes, where no image is left unlabelled, and for K above their
 * number. */
bool orch_semisup_split_fits(const struct orch_semisup_params *params,
                             enum orch_supervision supervision, int64_t classes, int64_t images,
                             GError **error);

/** Splits the session's training images: params->labelled of each class stay its training images,
 * of the others semi->unlabelled has all or params->unlabelled. Sets semi->k. Fails like
 * orch_semisup_split_fits, and for a class with fewer images than are to be labelled. */
bool orch_semisup_split(struct orch_semisup *semi, GError **error);

#endif
