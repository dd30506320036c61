/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/net/layer_work.h"

struct forward {
    double operations, values, params; /* of one image; values without the parameters */
};

/* Of a fusion: the operations of its parts; what it reads and writes once. */
static struct forward forward_of(const struct orch_net_cost *costs,
                                 const struct orch_net_node *node,
                                 const struct orch_net_fusion *fusion)
{
    const struct orch_net_cost *own = &costs[fusion ? fusion->norm : node->id];
    double params = (double)own->params, operations = (double)orch_net_operations(own, 2);
    if (!fusion)
        return (struct forward){operations, (double)(own->read + own->written) - params, params};
    bool adds = fusion->shortcut >= 0;
    double size = (double)own->activations;
    return (struct forward){operations + size * (fusion->relu + adds), size * (adds ? 3 : 2),
                            params};
}

struct orch_net_layer_work orch_net_layer_work(const struct orch_net_cost *costs,
                                               const struct orch_net_node *node,
                                               const struct orch_net_fusion *fusion,
                                               const struct orch_net_layer_run *run)
{
    struct forward f = forward_of(costs, node, fusion);
    double batch = (double)run->batch;
    bool is_product = node->op == ORCH_NET_CONV2D || node->op == ORCH_NET_CONV_TRANSPOSE2D ||
                      node->op == ORCH_NET_LINEAR || node->op == ORCH_NET_ATTENTION;
    double passes = !run->trains ? 1 : is_product && run->input_learns ? 3 : 2;
    double bytes = f.values * batch * run->value_bytes + f.params * 4;
    return (struct orch_net_layer_work){f.operations * batch * passes / 1e9,
                                        bytes * (run->trains ? 3 : 1) / 1e6, f.params};
}

bool orch_net_layer_is_first(const struct orch_net *net, const struct orch_net_node *node,
                             const struct orch_net_fusion *fusion)
{
    const struct orch_net_node *start = fusion ? orch_net_node(net, fusion->norm) : node;
    for (int i = 0; i < start->input_count; i++)
        if (start->inputs[i] == 0)
            return true;
    return false;
}

bool orch_net_layer_does_work(const struct orch_net_node *node)
{
    return node->op != ORCH_NET_INPUT && node->op != ORCH_NET_FLATTEN && !node->is_auxiliary;
}
