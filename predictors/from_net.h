/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between graphs (lib/net) and the layer tables that the analytical models read. */
#ifndef ORCH_PREDICTORS_FROM_NET_H
#define ORCH_PREDICTORS_FROM_NET_H

#include "lib/net/net.h"
#include "predictors/geometry.h"

/** A table of the same layers, in the same order, for one image; auxiliary heads are left out.
 * Linear layers along a sequence become 1 x 1 convolutions; attention, embeddings and what the
 * graph does not know are `generic`, their multiply-adds in untimed_macs. The caller frees. */
struct orch_layer_table *orch_layer_table_from_net(const struct orch_net *net);

/** A graph that counts what a layer table says, for one image: pools count as maximum pools,
 * activations as ReLU, norms as batch norms. A layer whose parents the table does not name reads
 * the nearest row above that puts out what it reads. NULL with ORCH_ERROR_RECIPE where there is
 * none (a disconnected layer, named). The caller frees. */
struct orch_net *orch_net_from_layer_table(const struct orch_layer_table *table, GError **error);

#endif
