/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layer that the parameter `whiten` is about. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_FIRST_LAYER_H
#define ORCH_PLUGINS_COMMON_TRAINING_FIRST_LAYER_H

#include "plugins/common/training/training.h"

#include <glib.h>

struct orch_net;
struct orch_net_node;

/** The convolution that `whiten` is about: the first one, if it reads the images. Else NULL. */
const struct orch_net_node *orch_first_layer(const struct orch_net *net);

/** Fails with ORCH_ERROR_RECIPE for `whiten` with a network whose first layer is no convolution of
 * the images, has groups or a dilation, or has more filters than there are directions and their
 * negatives. Needs the parameters alone. */
bool orch_first_layer_check(const struct orch_training *training, const struct orch_net *net,
                            GError **error);

#endif
