/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/from_net.h"

static const enum orch_layer_type TYPES[ORCH_NET_OP_COUNT] = {
    [ORCH_NET_INPUT] = ORCH_LAYER_INPUT,         [ORCH_NET_CONV2D] = ORCH_LAYER_CONV2D,
    [ORCH_NET_BATCHNORM2D] = ORCH_LAYER_NORM,    [ORCH_NET_RELU] = ORCH_LAYER_ACTIVATION,
    [ORCH_NET_TANH] = ORCH_LAYER_ACTIVATION,     [ORCH_NET_MAXPOOL2D] = ORCH_LAYER_POOL2D,
    [ORCH_NET_AVGPOOL2D] = ORCH_LAYER_POOL2D,    [ORCH_NET_ADAPTIVE_AVGPOOL2D] = ORCH_LAYER_POOL2D,
    [ORCH_NET_LINEAR] = ORCH_LAYER_INNERPRODUCT, [ORCH_NET_ADD] = ORCH_LAYER_ELEMENTWISE,
    [ORCH_NET_CONCAT] = ORCH_LAYER_CONCAT,       [ORCH_NET_FLATTEN] = ORCH_LAYER_RESHAPE,
    [ORCH_NET_DROPOUT] = ORCH_LAYER_DROPOUT,     [ORCH_NET_PAD_SHORTCUT] = ORCH_LAYER_ACTIVATION,
    [ORCH_NET_RELU6] = ORCH_LAYER_ACTIVATION,    [ORCH_NET_SIGMOID] = ORCH_LAYER_ACTIVATION,
    [ORCH_NET_SILU] = ORCH_LAYER_ACTIVATION,     [ORCH_NET_GELU] = ORCH_LAYER_ACTIVATION,
    [ORCH_NET_SOFTMAX] = ORCH_LAYER_SOFTMAX,     [ORCH_NET_LRN] = ORCH_LAYER_NORM,
    [ORCH_NET_MUL] = ORCH_LAYER_ELEMENTWISE,     [ORCH_NET_STOCHASTIC_DEPTH] = ORCH_LAYER_DROPOUT,
    [ORCH_NET_EMBEDDING] = ORCH_LAYER_GENERIC,   [ORCH_NET_LAYERNORM] = ORCH_LAYER_NORM,
    [ORCH_NET_TOKEN_LINEAR] = ORCH_LAYER_CONV2D, [ORCH_NET_ATTENTION] = ORCH_LAYER_GENERIC,
    [ORCH_NET_FIRST_TOKEN] = ORCH_LAYER_RESHAPE, [ORCH_NET_GENERIC] = ORCH_LAYER_GENERIC,
};

static struct orch_layer_shape shape_of(const struct orch_net_node *node)
{
    return (struct orch_layer_shape){node->out.h, node->out.w, node->out.c};
}

/* A window: what a convolution and a pool have in common. */
static void set_window(struct orch_layer *layer, const struct orch_net_node *node)
{
    layer->kernel_h = node->kernel_h;
    layer->kernel_w = node->kernel_w;
    layer->stride_h = node->stride_h;
    layer->stride_w = node->stride_w;
    layer->padding = ORCH_PADDING_EXPLICIT;
    layer->pad_h = node->pad_h;
    layer->pad_w = node->pad_w;
}

static void set_attributes(struct orch_layer *layer, const struct orch_net_node *node,
                           const struct orch_net_node *first)
{
    switch (node->op) {
    case ORCH_NET_CONV2D:
        set_window(layer, node);
        layer->dilation = node->dilation;
        layer->groups = node->groups;
        layer->c_in = node->in_channels / node->groups;
        layer->c_out = node->out_channels;
        break;
    case ORCH_NET_TOKEN_LINEAR:
        layer->kernel_h = layer->kernel_w = layer->stride_h = layer->stride_w = 1;
        layer->padding = ORCH_PADDING_VALID;
        layer->c_in = node->in_channels;
        layer->c_out = node->out_channels;
        break;
    case ORCH_NET_LINEAR:
        layer->c_in = node->in_channels;
        layer->c_out = node->out_channels;
        break;
    case ORCH_NET_MAXPOOL2D:
    case ORCH_NET_AVGPOOL2D:
        set_window(layer, node);
        break;
    case ORCH_NET_ADAPTIVE_AVGPOOL2D:
        layer->kernel_h = layer->stride_h = MAX(first->out.h / node->out.h, 1);
        layer->kernel_w = layer->stride_w = MAX(first->out.w / node->out.w, 1);
        layer->padding = ORCH_PADDING_VALID;
        break;
    default:
        layer->untimed_macs = node->macs;
    }
}

struct orch_layer_table *orch_layer_table_from_net(const struct orch_net *net)
{
    struct orch_layer_table *table = orch_layer_table_new(net->name);
    g_autofree int *row_of = g_new0(int, net->nodes->len);
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        if (node->is_auxiliary)
            continue;
        struct orch_layer *layer =
            orch_layer_table_add(table, node->name, TYPES[node->op], node->input_count);
        row_of[i] = orch_layer_count(table) - 1;
        for (int k = 0; k < node->input_count; k++) {
            layer->inputs[k] = shape_of(orch_net_node(net, node->inputs[k]));
            layer->parents[k] = row_of[node->inputs[k]];
            layer->no_data_grad |= node->inputs[k] == 0;
        }
        layer->out = shape_of(node);
        layer->params = orch_net_node_params(net, node);
        set_attributes(layer, node, orch_net_node(net, node->input_count ? node->inputs[0] : 0));
    }
    return table;
}
