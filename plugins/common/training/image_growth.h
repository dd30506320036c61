/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Progressive sizes: training begins with smaller images, which cost less, and ends with whole ones
 * (Howard 2018, "Training Imagenet in 3 hours"; FFCV's rn18 schedule). */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_IMAGE_GROWTH_H
#define ORCH_PLUGINS_COMMON_TRAINING_IMAGE_GROWTH_H

#include "plugins/common/training/session.h"

struct orch_net;

/** Checks `first_size` against the images and the network. Fails with ORCH_ERROR_RECIPE. */
bool orch_growth_check(const struct orch_training *t, const struct orch_net *net, GError **error);
/** The side of the images of a batch at `epoch` (0 to the number of epochs, with fractions), for
 * orch_torch_batch.side: a multiple of 4 above first_size, which grows evenly over the first
 * `growth` of the training. 0: whole images. */
int64_t orch_growth_side(const struct orch_session *s, double epoch);

#endif
