/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conversion between graphs (lib/net) and the layer tables of the analytical models. */
#ifndef ORCH_PREDICTORS_FROM_NET_H
#define ORCH_PREDICTORS_FROM_NET_H

#include "lib/net/net.h"
#include "predictors/steps/geometry.h"

/** Makes a table of the same layers in the same order, for one image, without auxiliary heads.
 * Linear layers along a sequence become 1 x 1 convolutions. Attention, embeddings and generic
 * operations become `generic`, with their multiply-adds in untimed_macs. Caller frees. */
struct orch_layer_table *orch_layer_table_from_net(const struct orch_net *net);

/** Makes a graph with the counts of a layer table, for one image: pools become max pools,
 * activations ReLU, norms batch norms. A layer without named parents reads the nearest preceding
 * row with a matching output. Returns NULL with ORCH_ERROR_RECIPE, naming the layer, if there is
 * none. Caller frees. */
struct orch_net *orch_net_from_layer_table(const struct orch_layer_table *table, GError **error);

#endif
