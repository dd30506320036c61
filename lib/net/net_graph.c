/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graph of a network: freeing it, and access to its parts. */
#include "lib/net/net.h"

#include <string.h>

void orch_net_free(struct orch_net *net)
{
    if (!net)
        return;
    g_free(net->name);
    g_free(net->family);
    g_ptr_array_unref(net->nodes);
    g_ptr_array_unref(net->tensors);
    g_array_unref(net->outputs);
    g_free(net);
}

const struct orch_net_node *orch_net_node(const struct orch_net *net, int id)
{
    return net->nodes->pdata[id];
}

const struct orch_net_tensor *orch_net_tensor(const struct orch_net *net, int index)
{
    return net->tensors->pdata[index];
}

int orch_net_output_count(const struct orch_net *net)
{
    return (int)net->outputs->len;
}

const struct orch_net_node *orch_net_output(const struct orch_net *net, int index)
{
    return orch_net_node(net, g_array_index(net->outputs, int, index));
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
                                        "first_token",  "conv_transpose2d",
                                        "generic"};
    G_STATIC_ASSERT(G_N_ELEMENTS(names) == ORCH_NET_OP_COUNT);
    return (unsigned)op < G_N_ELEMENTS(names) ? names[op] : "?";
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

bool orch_net_is_of_head(const struct orch_net *net, const struct orch_net_node *node)
{
    if (orch_net_output_count(net) == 1)
        return node == orch_net_head(net);
    for (int i = 0; i < orch_net_output_count(net); i++)
        if (orch_net_output(net, i) == node)
            return true;
    return false;
}

bool orch_net_pools_all(const struct orch_net *net, const struct orch_net_node *node)
{
    const struct orch_net_shape *in = &orch_net_node(net, node->inputs[0])->out;
    return (node->op == ORCH_NET_MAXPOOL2D || node->op == ORCH_NET_AVGPOOL2D) && !node->pad_h &&
           !node->pad_w && node->kernel_h == in->h && node->kernel_w == in->w;
}
