/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/steptime/traffic.h"

static double weight_bytes(const struct orch_net_node *node, const struct orch_net_cost *cost,
                           int element_bytes)
{
    /* an embedding reads only the rows that it looks up */
    return node->op == ORCH_NET_EMBEDDING ? 0 : (double)cost->params * element_bytes;
}

static struct orch_traffic forward_once(const struct orch_net_node *node,
                                        const struct orch_net_cost *cost,
                                        const struct orch_roofline_work *w)
{
    double weights = weight_bytes(node, cost, w->element_bytes);
    double read = (double)cost->read - (node->op == ORCH_NET_EMBEDDING ? 0 : (double)cost->params);
    double batch = (double)w->batch;
    return (struct orch_traffic){(double)orch_net_operations(cost, 2) * batch,
                                 weights +
                                     (read + (double)cost->written) * batch * w->element_bytes};
}

/* Traffic of operations without weights in training, as a multiple of reading and writing once.
 * Batch norm reads its input for the statistics and again to normalise, and in the backward pass
 * input and gradient twice each. Activations and pools read, beside the gradient, their output or
 * the position of the maximum. */
static double forward_rounds(enum orch_net_op op, bool training)
{
    bool norm = op == ORCH_NET_BATCHNORM2D;
    return norm && training ? 1.5 : 1;
}

struct orch_traffic orch_traffic_forward(const struct orch_net_node *node,
                                         const struct orch_net_cost *cost,
                                         const struct orch_roofline_work *w)
{
    struct orch_traffic f = forward_once(node, cost, w);
    f.bytes *= forward_rounds(node->op, w->training);
    return f;
}

static double backward_rounds(enum orch_net_op op)
{
    switch (orch_net_kind_of(op)) {
    case ORCH_NET_KIND_NORM:
        return 2.5;
    case ORCH_NET_KIND_ACTIVATION:
    case ORCH_NET_KIND_POOL:
        return 1.5;
    default:
        return 1;
    }
}

/* Layers with weights compute a data gradient and a weight gradient, each with the multiply-adds of
 * the forward pass; the first layer needs no data gradient, a frozen one no weight gradient, and
 * what lies before all that is trained none. Attention has gradients of both its factors. */
struct orch_traffic orch_traffic_backward(const struct orch_net_node *node,
                                          const struct orch_net_cost *cost,
                                          const struct orch_roofline_work *w)
{
    struct orch_traffic f = forward_once(node, cost, w);
    bool reads_input = node->input_count == 1 && node->inputs[0] == 0;
    double rounds = backward_rounds(node->op);
    if (!cost->learns)
        return (struct orch_traffic){0, 0};
    if (!cost->macs)
        return (struct orch_traffic){f.flops * rounds, f.bytes * rounds};
    double passes = node->op == ORCH_NET_ATTENTION
                        ? (cost->flows_on ? 2 : 0)
                        : (cost->flows_on && !reads_input) + cost->learns_weights;
    return (struct orch_traffic){f.flops * passes, f.bytes * passes};
}

struct orch_traffic orch_traffic_update(const struct orch_net *net,
                                        const struct orch_net_cost *costs,
                                        const struct orch_roofline_work *w)
{
    /* reads weight, gradient and states; writes weight and states, in fp32 */
    double params = 0;
    for (guint i = 0; i < net->nodes->len; i++)
        params += (double)costs[i].trained;
    return (struct orch_traffic){2 * params * (1 + w->states_per_weight),
                                 4 * params * (3 + 2 * w->states_per_weight)};
}
