/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks of which a part is trained: frozen layers, and adapters of low rank (Hu et al. 2022). */
#ifndef ORCH_FEATURES_PREDICT_FROZEN_H
#define ORCH_FEATURES_PREDICT_FROZEN_H

#include "lib/net/net.h"

/* What ends the name of an adapter's first product, whose values are as many as its rank. */
#define ORCH_NET_ADAPTER_DOWN "lora_A"

struct orch_net_trained_part {
    int trained, all;       /* blocks of layers; of adapters: linear layers with one, and all */
    int64_t params, of_all; /* parameters that are trained, and all */
};

/** Freezes all but the last `blocks` blocks of layers (at least 1). A block is a layer group of the
 * zoo; of a file, what has the same name up to its first number ("encoder.layer.11"), or a layer.
 */
void orch_net_train_blocks(struct orch_net *net, int64_t blocks, struct orch_net_trained_part *out);
/** The same with as many of the last blocks as have at most `share` of the parameters, at least
 * one. */
void orch_net_train_share(struct orch_net *net, double share, struct orch_net_trained_part *out);

/** Copies a network, which it frees, frozen, with an adapter of rank `rank` beside each linear
 * layer with weights but the last one: two products, a scale, a sum. Fails with ORCH_ERROR_USAGE,
 * and without changes, where there is no such layer or one is smaller than the rank. The caller
 * frees. */
bool orch_net_add_adapters(struct orch_net **net, int64_t rank, struct orch_net_trained_part *out,
                           GError **error);
/** Holds the frozen weights of linear layers but the last in so many bits: 8 or 4. */
void orch_net_pack_weights(struct orch_net *net, int bits);

#endif
