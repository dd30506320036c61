/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks on images of another size than the one they were built for. */
#ifndef ORCH_NET_IMAGE_SIDE_H
#define ORCH_NET_IMAGE_SIDE_H

#include "lib/net/net.h"

/** True if a pool without padding covers its whole input at the size that the network was built for
 * (one window). On images of another size it is evaluated over its whole input, too. */
bool orch_net_pools_all(const struct orch_net *net, const struct orch_net_node *node);

/** Checks that the network computes outputs of the same shapes from square images of `side` pixels:
 * no layer's window is larger than its input, and what lies between images and linear layers ends
 * in one pixel or an adaptive pool. Fails with ORCH_ERROR_RECIPE, naming the layer. */
bool orch_net_takes_side(const struct orch_net *net, int64_t side, GError **error);

#endif
