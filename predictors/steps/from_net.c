/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/steps/from_net.h"

#include "lib/base/error.h"
#include "lib/net/build.h"

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
    [ORCH_NET_FIRST_TOKEN] = ORCH_LAYER_RESHAPE, [ORCH_NET_CONV_TRANSPOSE2D] = ORCH_LAYER_DECONV2D,
    [ORCH_NET_GENERIC] = ORCH_LAYER_GENERIC,
};

static struct orch_layer_shape shape_of(const struct orch_net_node *node)
{
    return (struct orch_layer_shape){node->out.h, node->out.w, node->out.c};
}

/* Sets the window, which convolutions and pools have in common. */
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
    case ORCH_NET_CONV_TRANSPOSE2D:
        set_window(layer, node);
        /* PALEO's gradients treat a convolution without padding apart */
        if (!node->pad_h && !node->pad_w && node->dilation <= 1)
            layer->padding = ORCH_PADDING_VALID;
        layer->dilation = node->dilation;
        layer->groups = node->groups;
        layer->c_in = node->in_channels / node->groups;
        layer->c_out = node->out_channels;
        break;
    case ORCH_NET_TOKEN_LINEAR:
        layer->kernel_h = layer->kernel_w = layer->stride_h = layer->stride_w = 1;
        layer->padding = ORCH_PADDING_VALID;
        layer->c_in = node->in_channels / MAX(1, node->chosen);
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

/* ---- from a table to a graph ------------------------------------------------------------------
 */

static const enum orch_net_op OPS[ORCH_LAYER_TYPE_COUNT] = {
    [ORCH_LAYER_INPUT] = ORCH_NET_INPUT,
    [ORCH_LAYER_CONV2D] = ORCH_NET_CONV2D,
    [ORCH_LAYER_DECONV2D] = ORCH_NET_CONV_TRANSPOSE2D,
    [ORCH_LAYER_POOL2D] = ORCH_NET_MAXPOOL2D,
    [ORCH_LAYER_DROPOUT] = ORCH_NET_DROPOUT,
    [ORCH_LAYER_INNERPRODUCT] = ORCH_NET_LINEAR,
    [ORCH_LAYER_CONCAT] = ORCH_NET_CONCAT,
    [ORCH_LAYER_ELEMENTWISE] = ORCH_NET_ADD,
    [ORCH_LAYER_RESHAPE] = ORCH_NET_FLATTEN,
    [ORCH_LAYER_SOFTMAX] = ORCH_NET_SOFTMAX,
    [ORCH_LAYER_ACTIVATION] = ORCH_NET_RELU,
    [ORCH_LAYER_NORM] = ORCH_NET_BATCHNORM2D,
    [ORCH_LAYER_GENERIC] = ORCH_NET_GENERIC,
};

static bool equal_shapes(struct orch_layer_shape a, struct orch_layer_shape b)
{
    return a.h == b.h && a.w == b.w && a.c == b.c;
}

/* Row that input `k` of row `at` comes from; -1 if there is none. */
static int parent_of(const struct orch_layer_table *table, int at, int k)
{
    const struct orch_layer *layer = orch_layer_at(table, at);
    int row = layer->parents[k];
    for (int i = at - 1; row < 0 && i >= 0; i--)
        if (equal_shapes(orch_layer_at(table, i)->out, layer->inputs[k]))
            row = i;
    for (int i = at - 1; row < 0 && i >= 0; i--) /* flattened */
        if (orch_layer_elements(orch_layer_at(table, i)->out) ==
            orch_layer_elements(layer->inputs[k]))
            row = i;
    return row;
}

static struct orch_net_node node_of(const struct orch_layer *layer)
{
    bool window = layer->kernel_h > 0;
    bool conv = layer->type == ORCH_LAYER_CONV2D || layer->type == ORCH_LAYER_DECONV2D;
    struct orch_net_node node = {
        .op = OPS[layer->type],
        .out = {layer->out.c, layer->out.h, layer->out.w},
        .kernel_h = (int)layer->kernel_h,
        .kernel_w = (int)layer->kernel_w,
        .stride_h = (int)layer->stride_h,
        .stride_w = (int)layer->stride_w,
        .pad_h = (int)layer->pad_h,
        .pad_w = (int)layer->pad_w,
        .dilation = (int)layer->dilation,
        .groups = (int)layer->groups,
        .in_channels = layer->c_in * layer->groups,
        .out_channels = layer->c_out,
        .macs = layer->untimed_macs,
    };
    if (conv && window)
        node.macs += layer->kernel_h * layer->kernel_w * layer->c_in * layer->c_out *
                     (layer->type == ORCH_LAYER_CONV2D ? layer->out.h * layer->out.w
                                                       : layer->inputs[0].h * layer->inputs[0].w);
    if (layer->type == ORCH_LAYER_INNERPRODUCT)
        node.macs += layer->c_in * layer->c_out;
    return node;
}

/* Adds the weights that the geometry implies; the table's remaining parameters are biases. */
static void add_tensors(struct orch_net_builder *b, const struct orch_layer *layer)
{
    int64_t kernel = MAX(layer->kernel_h, 1) * MAX(layer->kernel_w, 1);
    int64_t weights = kernel * layer->c_in * layer->c_out, biases = layer->params - weights;
    bool is_deconv = layer->type == ORCH_LAYER_DECONV2D;
    int64_t conv[] = {is_deconv ? layer->c_in : layer->c_out,
                      is_deconv ? layer->c_out : layer->c_in, MAX(layer->kernel_h, 1),
                      MAX(layer->kernel_w, 1)};
    int64_t linear[] = {layer->c_out, layer->c_in};
    bool is_linear = layer->type == ORCH_LAYER_INNERPRODUCT;
    if (layer->params <= 0)
        return;
    g_autofree char *weight = g_strconcat(layer->name, ".weight", NULL);
    g_autofree char *bias = g_strconcat(layer->name, ".bias", NULL);
    if (!weights || biases < 0) { /* a norm, or parameters that the geometry does not explain */
        orch_net_layer_tensor(b, weight, ORCH_NET_WEIGHT, 1, &layer->params);
        return;
    }
    orch_net_layer_tensor(b, weight, ORCH_NET_WEIGHT, is_linear ? 2 : 4, is_linear ? linear : conv);
    if (biases > 0)
        orch_net_layer_tensor(b, bias, ORCH_NET_BIAS, 1, &biases);
}

static bool add_row(struct orch_net_builder *b, const struct orch_layer_table *table, int at,
                    int *ids, GError **error)
{
    const struct orch_layer *layer = orch_layer_at(table, at);
    int inputs[ORCH_NET_INPUTS_MAX], count = MIN(layer->input_count, ORCH_NET_INPUTS_MAX);
    struct orch_net_node node = node_of(layer);
    if (layer->type == ORCH_LAYER_INPUT) {
        ids[at] = 0;
        return true;
    }
    for (int k = 0; k < count; k++) {
        int row = parent_of(table, at, k);
        if (row < 0) {
            orch_error_set(error, ORCH_ERROR_RECIPE, "name the parents in a column 'parents'",
                           "network '%s': no earlier layer has the output that layer '%s' reads",
                           table->name, layer->name);
            return false;
        }
        inputs[k] = ids[row];
    }
    node.has_bias = layer->params > 0;
    ids[at] = orch_net_layer(b, &node, inputs, count, g_strdup(layer->name));
    add_tensors(b, layer);
    return true;
}

struct orch_net *orch_net_from_layer_table(const struct orch_layer_table *table, GError **error)
{
    int count = orch_layer_count(table);
    const struct orch_layer *first = count ? orch_layer_at(table, 0) : NULL;
    if (!first || first->type != ORCH_LAYER_INPUT) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "give the first row the type 'input'",
                       "network '%s' does not begin with its input", table->name);
        return NULL;
    }
    struct orch_net_builder b;
    struct orch_net_shape input = {first->out.c, first->out.h, first->out.w};
    const struct orch_layer *last = orch_layer_at(table, count - 1);
    orch_net_builder_init(&b, table->name, "table", input, last->out.c);
    g_autofree int *ids = g_new0(int, count);
    bool ok = true;
    for (int i = 0; ok && i < count; i++)
        ok = add_row(&b, table, i, ids, error);
    struct orch_net *net = orch_net_builder_finish(&b, ok ? error : NULL);
    if (ok)
        return net;
    orch_net_free(net);
    return NULL;
}
