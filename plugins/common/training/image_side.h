/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks on images of another size than the one they were built for. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_IMAGE_SIDE_H
#define ORCH_PLUGINS_COMMON_TRAINING_IMAGE_SIDE_H

#include "lib/net/net.h"

/** Checks that the network computes outputs of the same shapes from square images of `side` pixels:
 * no layer's window is larger than its input, and what lies between images and linear layers ends
 * in one pixel or an adaptive pool. Fails with ORCH_ERROR_RECIPE, naming the layer. */
bool orch_net_takes_side(const struct orch_net *net, int64_t side, GError **error);

#endif
