/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a graph (lib/net) to the layer table that the analytical models read. */
#ifndef ORCH_PREDICTORS_FROM_NET_H
#define ORCH_PREDICTORS_FROM_NET_H

#include "lib/net/net.h"
#include "predictors/geometry.h"

/** A table of the same layers, in the same order, for one image; auxiliary heads are left out.
 * Linear layers along a sequence become 1 x 1 convolutions; attention, embeddings and what the
 * graph does not know are `generic`, their multiply-adds in untimed_macs. The caller frees. */
struct orch_layer_table *orch_layer_table_from_net(const struct orch_net *net);

#endif
