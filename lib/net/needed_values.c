/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/net/needed_values.h"

bool orch_net_needs_inputs(const struct orch_net_node *node, const struct orch_net_cost *cost)
{
    switch (node->op) {
    case ORCH_NET_CONV2D:
    case ORCH_NET_CONV_TRANSPOSE2D:
    case ORCH_NET_LINEAR:
    case ORCH_NET_TOKEN_LINEAR:
        return cost->learns_weights;
    case ORCH_NET_ADD:
    case ORCH_NET_CONCAT:
    case ORCH_NET_FLATTEN:
    case ORCH_NET_DROPOUT:
    case ORCH_NET_RELU: /* its output says where it is 0 */
    case ORCH_NET_RELU6:
    case ORCH_NET_AVGPOOL2D:
    case ORCH_NET_ADAPTIVE_AVGPOOL2D:
    case ORCH_NET_FIRST_TOKEN:
        return false;
    case ORCH_NET_GENERIC: /* a factor, or another order of the elements */
        return cost->learns && (node->input_count > 1 || node->tensor_count);
    default:
        return cost->learns;
    }
}

bool orch_net_needs_output(const struct orch_net_node *node, const struct orch_net_cost *cost)
{
    switch (node->op) {
    case ORCH_NET_RELU:
    case ORCH_NET_RELU6:
    case ORCH_NET_TANH:
    case ORCH_NET_SIGMOID:
    case ORCH_NET_SOFTMAX:
    case ORCH_NET_ATTENTION:
        return cost->learns;
    default:
        return false;
    }
}

bool orch_net_may_be_sum(const struct orch_net_node *node)
{
    bool is_factor = node->op == ORCH_NET_GENERIC && node->input_count == 1 && node->tensor_count;
    return node->op == ORCH_NET_BATCHNORM2D || is_factor;
}
