/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts over a graph. A multiply-add counts as one; biases, norms and activations have none. */
#include "lib/net/net.h"

#include <string.h>

bool orch_net_is_classifier(const struct orch_net *net)
{
    for (const struct orch_net_family *family = orch_net_families(); family->pattern; family++)
        if (strcmp(family->pattern, net->family) == 0)
            return family->is_classifier;
    return false;
}

static bool has_op(const struct orch_net *net, enum orch_net_op op)
{
    for (guint i = 0; i < net->nodes->len; i++)
        if (orch_net_node(net, (int)i)->op == op)
            return true;
    return false;
}

bool orch_net_is_sequence(const struct orch_net *net)
{
    return has_op(net, ORCH_NET_EMBEDDING);
}

bool orch_net_is_attention(const struct orch_net *net)
{
    double of_tokens = 0, all = 0;
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        bool is_of_tokens = node->op == ORCH_NET_ATTENTION || node->op == ORCH_NET_TOKEN_LINEAR ||
                            node->op == ORCH_NET_LINEAR;
        all += (double)node->macs;
        of_tokens += is_of_tokens ? (double)node->macs : 0;
    }
    return has_op(net, ORCH_NET_ATTENTION) && of_tokens > 0.8 * all;
}

bool orch_net_is_written_out(const struct orch_net *net)
{
    for (guint i = 0; i < net->nodes->len; i++)
        if (orch_net_node(net, (int)i)->is_written_out)
            return true;
    return false;
}

int64_t orch_net_node_params(const struct orch_net *net, const struct orch_net_node *node)
{
    int64_t total = 0;
    for (int i = 0; i < node->tensor_count; i++) {
        const struct orch_net_tensor *tensor = orch_net_tensor(net, node->first_tensor + i);
        if (tensor->role == ORCH_NET_WEIGHT || tensor->role == ORCH_NET_BIAS)
            total += tensor->count;
    }
    return total;
}

int64_t orch_net_params(const struct orch_net *net)
{
    int64_t total = 0;
    for (guint i = 0; i < net->nodes->len; i++)
        total += orch_net_node_params(net, orch_net_node(net, (int)i));
    return total;
}

int64_t orch_net_active_params(const struct orch_net *net)
{
    int64_t total = 0;
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        int64_t own = orch_net_node_params(net, node);
        total += node->experts ? own / node->experts * node->chosen : own;
    }
    return total;
}

bool orch_net_has_frozen(const struct orch_net *net)
{
    for (guint i = 0; i < net->tensors->len; i++)
        if (orch_net_tensor(net, (int)i)->is_frozen)
            return true;
    return false;
}

int64_t orch_net_macs(const struct orch_net *net)
{
    int64_t total = 0;
    for (guint i = 0; i < net->nodes->len; i++)
        if (!orch_net_node(net, (int)i)->is_auxiliary)
            total += orch_net_node(net, (int)i)->macs;
    return total;
}

int orch_net_depth(const struct orch_net *net)
{
    g_autofree int *depth = g_new0(int, net->nodes->len + 1);
    int deepest = 0;
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        for (int j = 0; j < node->input_count; j++)
            depth[i] = MAX(depth[i], depth[node->inputs[j]]);
        depth[i] += node->op == ORCH_NET_CONV2D || node->op == ORCH_NET_CONV_TRANSPOSE2D ||
                    node->op == ORCH_NET_LINEAR || node->op == ORCH_NET_TOKEN_LINEAR;
        if (!node->is_auxiliary)
            deepest = MAX(deepest, depth[i]);
    }
    return deepest;
}
