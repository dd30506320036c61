/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be counted from a graph. A multiply-add counts as one; biases, norms and activations are
 * not multiply-adds. */
#include "lib/net/net.h"

#include <string.h>

const struct orch_net_node *orch_net_node(const struct orch_net *net, int id)
{
    return net->nodes->pdata[id];
}

const struct orch_net_tensor *orch_net_tensor(const struct orch_net *net, int index)
{
    return net->tensors->pdata[index];
}

int orch_net_tensor_find(const struct orch_net *net, const char *name)
{
    for (guint i = 0; i < net->tensors->len; i++)
        if (strcmp(orch_net_tensor(net, (int)i)->name, name) == 0)
            return (int)i;
    return -1;
}

const struct orch_net_node *orch_net_head(const struct orch_net *net)
{
    static const enum orch_net_op kinds[] = {ORCH_NET_LINEAR, ORCH_NET_CONV2D,
                                             ORCH_NET_TOKEN_LINEAR};
    for (unsigned k = 0; k < G_N_ELEMENTS(kinds); k++)
        for (int i = (int)net->nodes->len - 1; i >= 0; i--)
            if (orch_net_node(net, i)->op == kinds[k] && !orch_net_node(net, i)->is_auxiliary)
                return orch_net_node(net, i);
    return NULL;
}

bool orch_net_is_classifier(const struct orch_net *net)
{
    for (const struct orch_net_family *family = orch_net_families(); family->pattern; family++)
        if (strcmp(family->pattern, net->family) == 0)
            return family->is_classifier;
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
        depth[i] += node->op == ORCH_NET_CONV2D || node->op == ORCH_NET_LINEAR ||
                    node->op == ORCH_NET_TOKEN_LINEAR;
        if (!node->is_auxiliary)
            deepest = MAX(deepest, depth[i]);
    }
    return deepest;
}

const char *orch_net_op_name(enum orch_net_op op)
{
    static const char *const names[] = {"input",        "conv2d",
                                        "batchnorm2d",  "relu",
                                        "tanh",         "maxpool2d",
                                        "avgpool2d",    "adaptive_avgpool2d",
                                        "linear",       "add",
                                        "concat",       "flatten",
                                        "dropout",      "pad_shortcut",
                                        "relu6",        "sigmoid",
                                        "silu",         "gelu",
                                        "softmax",      "lrn",
                                        "mul",          "stochastic_depth",
                                        "embedding",    "layernorm",
                                        "token_linear", "attention",
                                        "first_token",  "generic"};
    G_STATIC_ASSERT(G_N_ELEMENTS(names) == ORCH_NET_OP_COUNT);
    return (unsigned)op < G_N_ELEMENTS(names) ? names[op] : "?";
}
