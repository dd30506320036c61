/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Initial values of a network's tensors: those with which a training starts. */
#ifndef ORCH_NET_INITIAL_H
#define ORCH_NET_INITIAL_H

#include "lib/net/net.h"

/** Writes the tensor's `count` initial values to `out`, as its `init` says. Each tensor has its own
 * random stream, derived from `seed` and its name, so the values do not depend on the device, the
 * number of threads, or other layers. */
void orch_net_initial_values(const struct orch_net_tensor *tensor, uint64_t seed, float *out);

#endif
