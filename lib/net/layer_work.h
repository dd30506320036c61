/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operations and bytes of one layer as plugin layerbench reports them and predictors use them. */
#ifndef ORCH_NET_LAYER_WORK_H
#define ORCH_NET_LAYER_WORK_H

#include "lib/net/cost.h"
#include "lib/net/layer_spec.h"

struct orch_net_layer_work {
    double gflop, mbytes; /* of a batch, in 1e9 and 1e6; a multiply-add is two operations */
    double params;
};

/** How a layer runs. */
struct orch_net_layer_run {
    int64_t batch;
    bool trains;       /* forward and backward; else forward only */
    bool input_learns; /* with `trains`: the gradient of the layer's input is computed */
    int value_bytes;   /* of an activation: 4, in half precision 2. Weights have 4 */
};

/** Counts the work of a node; `fusion` as in orch_net_layer_format. `costs` are those of the net.
 * The backward pass of a product (convolution, dense layer, attention) counts two products, one if
 * the input does not learn; other operations count as often as forward. Bytes count what forward
 * reads and writes; backward reads as much again, and the gradient of the output, and writes the
 * gradients of all that was read: twice forward. */
struct orch_net_layer_work orch_net_layer_work(const struct orch_net_cost *costs,
                                               const struct orch_net_node *node,
                                               const struct orch_net_fusion *fusion,
                                               const struct orch_net_layer_run *run);

/** True if the node, or the fusion that ends there, reads the graph's input, whose gradient a
 * network does not compute. */
bool orch_net_layer_is_first(const struct orch_net *net, const struct orch_net_node *node,
                             const struct orch_net_fusion *fusion);
/** False for nodes that a step does not compute: input, flatten, auxiliary heads. */
bool orch_net_layer_does_work(const struct orch_net_node *node);

#endif
