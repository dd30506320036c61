/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The operations of lib/net as operators of ONNX. Their meaning is that of the adapter to LibTorch
 * (plugins/common/torch/adapter/graph.cpp). */
#include "lib/onnx/onnx_export_ops.h"

#include "lib/base/error.h"
#include "lib/onnx/export_writer.h"

#include <string.h>

/* ---- names --------------------------------------------------------------------------------- */

const char *orch_onnx_export_output_name(const struct onnx_writing *w,
                                         const struct orch_net_node *node)
{
    return orch_net_output_count(w->e->net) == 1 ? "output" : node->name;
}

bool orch_onnx_export_flattens(const struct onnx_writing *w, const struct orch_net_node *node)
{
    return w->is_output[node->id] && w->axes[node->id] == 4 && node->out.h == 1 && node->out.w == 1;
}

/* The value's name in the model, which is the output's where the node computes one. */
static const char *value_name(const struct onnx_writing *w, const struct orch_net_node *node)
{
    if (!w->is_output[node->id])
        return node->name;
    const char *name = orch_onnx_export_output_name(w, node);
    if (!orch_onnx_export_flattens(w, node))
        return name;
    return strcmp(name, node->name) == 0 ? orch_onnx_model_text(w->m, "%s.map", name) : node->name;
}

/* ---- the table ----------------------------------------------------------------------------- */

enum { SAME_AXES = 0 };

static const struct {
    bool (*write)(const struct onnx_writer *a); /* NULL, or false: cannot be written */
    int axes;                                   /* of the value; SAME_AXES: the first input's */
    const char *op;                             /* in ONNX, for a `write` that serves several */
} OPS[ORCH_NET_OP_COUNT] = {
    [ORCH_NET_CONV2D] = {orch_onnx_write_conv},
    [ORCH_NET_BATCHNORM2D] = {orch_onnx_write_batchnorm},
    [ORCH_NET_RELU] = {orch_onnx_write_unary, .op = "Relu"},
    [ORCH_NET_TANH] = {orch_onnx_write_unary, .op = "Tanh"},
    [ORCH_NET_MAXPOOL2D] = {orch_onnx_write_pool, .op = "MaxPool"},
    [ORCH_NET_AVGPOOL2D] = {orch_onnx_write_pool, .op = "AveragePool"},
    [ORCH_NET_ADAPTIVE_AVGPOOL2D] = {orch_onnx_write_adaptive_pool},
    [ORCH_NET_LINEAR] = {orch_onnx_write_linear, 2},
    [ORCH_NET_ADD] = {orch_onnx_write_binary, .op = "Add"},
    [ORCH_NET_CONCAT] = {orch_onnx_write_concat},
    [ORCH_NET_FLATTEN] = {orch_onnx_write_flatten, 2},
    [ORCH_NET_DROPOUT] = {orch_onnx_write_nothing},
    [ORCH_NET_PAD_SHORTCUT] = {orch_onnx_write_pad_shortcut},
    [ORCH_NET_RELU6] = {orch_onnx_write_relu6},
    [ORCH_NET_SIGMOID] = {orch_onnx_write_unary, .op = "Sigmoid"},
    [ORCH_NET_SILU] = {orch_onnx_write_silu},
    [ORCH_NET_GELU] = {orch_onnx_write_gelu},
    [ORCH_NET_SOFTMAX] = {orch_onnx_write_softmax},
    [ORCH_NET_LRN] = {orch_onnx_write_lrn},
    [ORCH_NET_MUL] = {orch_onnx_write_binary, .op = "Mul"},
    [ORCH_NET_STOCHASTIC_DEPTH] = {orch_onnx_write_nothing},
    [ORCH_NET_EMBEDDING] = {orch_onnx_write_embedding, 3},
    [ORCH_NET_LAYERNORM] = {orch_onnx_write_layernorm},
    [ORCH_NET_TOKEN_LINEAR] = {orch_onnx_write_token_linear},
    [ORCH_NET_ATTENTION] = {orch_onnx_write_attention},
    [ORCH_NET_FIRST_TOKEN] = {orch_onnx_write_first_token, 2},
};

bool orch_onnx_export_node(struct onnx_writing *w, const struct orch_net_node *node, GError **error)
{
    w->axes[node->id] = OPS[node->op].axes ? OPS[node->op].axes : w->axes[node->inputs[0]];
    w->names[node->id] = value_name(w, node);
    const struct onnx_writer a = {.w = w,
                                  .m = w->m,
                                  .node = node,
                                  .op = OPS[node->op].op,
                                  .in = w->names[node->inputs[0]],
                                  .out = w->names[node->id]};
    if (w->is_folded[node->id] ? orch_onnx_write_nothing(&a)
                               : OPS[node->op].write && OPS[node->op].write(&a))
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                   "network '%s': layer '%s' (%s) cannot be written as ONNX", w->e->net->name,
                   node->name, orch_net_op_name(node->op));
    return false;
}
