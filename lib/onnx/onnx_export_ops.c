/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The operations of lib/net as operators of ONNX. Their meaning is that of the adapter to LibTorch
 * (plugins/common/torch/adapter/graph.cpp). */
#include "lib/onnx/onnx_export_ops.h"

#include "lib/base/error.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- writing ------------------------------------------------------------------------------- */

/* A node being written. */
struct writer {
    struct onnx_writing *w;
    struct onnx_model *m;
    const struct orch_net_node *node;
    const char *in, *out; /* its first input, and its value */
};

/* Adds an operator with one output. Name and output are equal. */
static Onnx__NodeProto *add(const struct writer *a, const char *op, const char *out,
                            const char *const *inputs, int count)
{
    return orch_onnx_model_node(a->m, op, out, inputs, count, &out, 1);
}

static Onnx__NodeProto *add_one(const struct writer *a, const char *op, const char *out,
                                const char *in)
{
    return add(a, op, out, &in, 1);
}

static Onnx__NodeProto *add_two(const struct writer *a, const char *op, const char *out,
                                const char *left, const char *right)
{
    return add(a, op, out, (const char *[]){left, right}, 2);
}

/* The name of a value inside of the node: NODE.PART. */
static const char *inner(const struct writer *a, const char *part)
{
    return orch_onnx_model_text(a->m, "%s.%s", a->node->name, part);
}

static const char *ints(const struct writer *a, const char *part, const int64_t *values, int count)
{
    const char *name = inner(a, part);
    orch_onnx_model_constant_ints(a->m, name, values, count);
    return name;
}

static const char *number(const struct writer *a, const char *part, double value)
{
    const char *name = inner(a, part);
    float rounded = (float)value;
    orch_onnx_model_constant_floats(a->m, name, &rounded, 0, NULL);
    return name;
}

/* Adds tensor `index` of the node as an initializer and returns its name. */
static const char *tensor(const struct writer *a, int index)
{
    const struct orch_net_tensor *t = orch_net_tensor(a->w->e->net, a->node->first_tensor + index);
    orch_onnx_model_initializer(a->m, t->name, a->w->e->values[a->node->first_tensor + index],
                                t->rank, t->shape);
    return t->name;
}

static const char *value_of(const struct writer *a, int input)
{
    return a->w->names[a->node->inputs[input]];
}

/* ---- layers with weights ------------------------------------------------------------------- */

/* The bias of a convolution or linear layer, which may come from a folded norm; NULL: none. */
static const char *bias(const struct writer *a)
{
    const float *shift = a->w->shifts[a->node->id];
    if (!shift)
        return a->node->has_bias ? tensor(a, 1) : NULL;
    const char *name = inner(a, "bias");
    int64_t outputs = orch_net_tensor(a->w->e->net, a->node->first_tensor)->shape[0];
    orch_onnx_model_initializer(a->m, name, shift, 1, &outputs);
    return name;
}

static bool write_conv(const struct writer *a)
{
    const struct orch_net_node *n = a->node;
    const char *inputs[3] = {a->in, tensor(a, 0), bias(a)};
    Onnx__NodeProto *conv = add(a, "Conv", a->out, inputs, inputs[2] ? 3 : 2);
    orch_onnx_model_ints(a->m, conv, "kernel_shape", (int64_t[]){n->kernel_h, n->kernel_w}, 2);
    orch_onnx_model_ints(a->m, conv, "strides", (int64_t[]){n->stride_h, n->stride_w}, 2);
    orch_onnx_model_ints(a->m, conv, "pads", (int64_t[]){n->pad_h, n->pad_w, n->pad_h, n->pad_w},
                         4);
    orch_onnx_model_ints(a->m, conv, "dilations", (int64_t[]){n->dilation, n->dilation}, 2);
    orch_onnx_model_int(a->m, conv, "group", n->groups);
    return true;
}

static bool write_linear(const struct writer *a)
{
    const char *inputs[3] = {a->in, tensor(a, 0), bias(a)};
    Onnx__NodeProto *gemm = add(a, "Gemm", a->out, inputs, inputs[2] ? 3 : 2);
    orch_onnx_model_int(a->m, gemm, "transB", 1);
    return true;
}

/* ONNX's momentum is the share of the old mean, PyTorch's that of the new one. */
static bool write_batchnorm(const struct writer *a)
{
    const char *inputs[5] = {a->in, tensor(a, 0), tensor(a, 1), tensor(a, 2), tensor(a, 3)};
    Onnx__NodeProto *norm = add(a, "BatchNormalization", a->out, inputs, 5);
    orch_onnx_model_float(a->m, norm, "epsilon", a->node->eps);
    orch_onnx_model_float(a->m, norm, "momentum", 1 - a->node->momentum);
    return true;
}

/* ---- windows ------------------------------------------------------------------------------- */

/* The padding behind an axis with which `places` windows fit exactly. A ceil_mode of ONNX would
 * count windows that PyTorch leaves out. */
static int64_t pad_behind(int64_t size, int64_t places, int kernel, int stride, int pad)
{
    return MAX(pad, (places - 1) * stride + kernel - size - pad);
}

static bool write_pool(const struct writer *a)
{
    const struct orch_net_node *n = a->node;
    bool is_max = n->op == ORCH_NET_MAXPOOL2D;
    const struct orch_net_shape *x = &orch_net_node(a->w->e->net, n->inputs[0])->out;
    int64_t pads[4] = {n->pad_h, n->pad_w,
                       pad_behind(x->h, n->out.h, n->kernel_h, n->stride_h, n->pad_h),
                       pad_behind(x->w, n->out.w, n->kernel_w, n->stride_w, n->pad_w)};
    Onnx__NodeProto *pool = add_one(a, is_max ? "MaxPool" : "AveragePool", a->out, a->in);
    orch_onnx_model_ints(a->m, pool, "kernel_shape", (int64_t[]){n->kernel_h, n->kernel_w}, 2);
    orch_onnx_model_ints(a->m, pool, "strides", (int64_t[]){n->stride_h, n->stride_w}, 2);
    orch_onnx_model_ints(a->m, pool, "pads", pads, 4);
    if (!is_max)
        orch_onnx_model_int(a->m, pool, "count_include_pad", 1);
    return true;
}

/* The matrix that averages `size` values into `places`, as PyTorch's adaptive pool does: place i
 * has the mean of values floor(i size / places) to ceil((i + 1) size / places) - 1. `is_right`: it
 * is multiplied from the right. */
static const char *averages(const struct writer *a, const char *part, int64_t size, int64_t places,
                            bool is_right)
{
    g_autofree float *matrix = g_new0(float, size *places);
    for (int64_t i = 0; i < places; i++) {
        int64_t begin = i * size / places, end = ((i + 1) * size + places - 1) / places;
        for (int64_t j = begin; j < end; j++)
            matrix[is_right ? j * places + i : i * size + j] = 1 / (float)(end - begin);
    }
    const char *name = inner(a, part);
    const int64_t dims[2] = {is_right ? size : places, is_right ? places : size};
    orch_onnx_model_constant_floats(a->m, name, matrix, 2, dims);
    return name;
}

static bool write_adaptive_pool(const struct writer *a)
{
    const struct orch_net_shape *out = &a->node->out;
    const struct orch_net_shape *x = &orch_net_node(a->w->e->net, a->node->inputs[0])->out;
    if (out->h == 1 && out->w == 1) {
        add_one(a, "GlobalAveragePool", a->out, a->in);
    } else if (x->h % out->h == 0 && x->w % out->w == 0) {
        const int64_t window[2] = {x->h / out->h, x->w / out->w};
        Onnx__NodeProto *pool = add_one(a, "AveragePool", a->out, a->in);
        orch_onnx_model_ints(a->m, pool, "kernel_shape", window, 2);
        orch_onnx_model_ints(a->m, pool, "strides", window, 2);
    } else {
        const char *rows = inner(a, "rows");
        add_two(a, "MatMul", rows, averages(a, "over_rows", x->h, out->h, false), a->in);
        add_two(a, "MatMul", a->out, rows, averages(a, "over_columns", x->w, out->w, true));
    }
    return true;
}

/* ONNX centres an even window differently. */
static bool write_lrn(const struct writer *a)
{
    if (a->node->kernel_h % 2 == 0)
        return false;
    Onnx__NodeProto *norm = add_one(a, "LRN", a->out, a->in);
    orch_onnx_model_float(a->m, norm, "alpha", 1e-4);
    orch_onnx_model_float(a->m, norm, "beta", 0.75);
    orch_onnx_model_float(a->m, norm, "bias", 1);
    orch_onnx_model_int(a->m, norm, "size", a->node->kernel_h);
    return true;
}

/* ---- elements ------------------------------------------------------------------------------ */

static bool write_relu(const struct writer *a)
{
    add_one(a, "Relu", a->out, a->in);
    return true;
}

static bool write_tanh(const struct writer *a)
{
    add_one(a, "Tanh", a->out, a->in);
    return true;
}

static bool write_sigmoid(const struct writer *a)
{
    add_one(a, "Sigmoid", a->out, a->in);
    return true;
}

static bool write_relu6(const struct writer *a)
{
    const char *inputs[3] = {a->in, number(a, "low", 0), number(a, "high", 6)};
    add(a, "Clip", a->out, inputs, 3);
    return true;
}

static bool write_silu(const struct writer *a)
{
    const char *gate = inner(a, "gate");
    add_one(a, "Sigmoid", gate, a->in);
    add_two(a, "Mul", a->out, a->in, gate);
    return true;
}

/* The exact one, x / 2 (1 + erf(x / sqrt 2)), which is an operator since version 20. */
static bool write_gelu(const struct writer *a)
{
    if (a->m->opset >= 20) {
        add_one(a, "Gelu", a->out, a->in);
        return true;
    }
    const char *scaled = inner(a, "scaled"), *erf = inner(a, "erf"), *sum = inner(a, "sum"),
               *product = inner(a, "product");
    add_two(a, "Div", scaled, a->in, number(a, "sqrt2", G_SQRT2));
    add_one(a, "Erf", erf, scaled);
    add_two(a, "Add", sum, erf, number(a, "one", 1));
    add_two(a, "Mul", product, a->in, sum);
    add_two(a, "Mul", a->out, product, number(a, "half", 0.5));
    return true;
}

/* Over the channels. */
static bool write_softmax(const struct writer *a)
{
    Onnx__NodeProto *softmax = add_one(a, "Softmax", a->out, a->in);
    orch_onnx_model_int(a->m, softmax, "axis", a->w->axes[a->node->id] == 3 ? 2 : 1);
    return true;
}

static bool write_add(const struct writer *a)
{
    add_two(a, "Add", a->out, a->in, value_of(a, 1));
    return true;
}

static bool write_mul(const struct writer *a)
{
    add_two(a, "Mul", a->out, a->in, value_of(a, 1));
    return true;
}

static bool write_concat(const struct writer *a)
{
    const char *inputs[ORCH_NET_INPUTS_MAX];
    for (int i = 0; i < a->node->input_count; i++)
        inputs[i] = value_of(a, i);
    orch_onnx_model_int(a->m, add(a, "Concat", a->out, inputs, a->node->input_count), "axis", 1);
    return true;
}

static bool write_flatten(const struct writer *a)
{
    orch_onnx_model_int(a->m, add_one(a, "Flatten", a->out, a->in), "axis", 1);
    return true;
}

/* Dropout and stochastic depth do nothing in evaluation: the value is the input's. */
static bool write_nothing(const struct writer *a)
{
    a->w->names[a->node->id] = a->in;
    return true;
}

/* Every stride-th pixel, with channels of zeros before and behind. */
static bool write_pad_shortcut(const struct writer *a)
{
    const struct orch_net_node *n = a->node;
    const struct orch_net_shape *x = &orch_net_node(a->w->e->net, n->inputs[0])->out;
    int64_t extra = n->out.c - x->c, before = extra / 2;
    const int64_t pads[8] = {0, before, 0, 0, 0, extra - before, 0, 0};
    const char *pixels = inner(a, "pixels");
    const char *slice[5] = {a->in, ints(a, "starts", (int64_t[]){0, 0}, 2),
                            ints(a, "ends", (int64_t[]){x->h, x->w}, 2),
                            ints(a, "axes", (int64_t[]){2, 3}, 2),
                            ints(a, "steps", (int64_t[]){n->stride_h, n->stride_w}, 2)};
    add(a, "Slice", pixels, slice, 5);
    const char *pad[2] = {pixels, ints(a, "pads", pads, 8)};
    add(a, "Pad", a->out, pad, 2);
    return true;
}

/* ---- sequences ----------------------------------------------------------------------------- */

/* The first `count` rows of the table; all of them are the table itself. */
static void write_rows(const struct writer *a, const char *table, int64_t count)
{
    if (count == a->node->in_channels) {
        a->w->names[a->node->id] = table;
        return;
    }
    const char *rows = inner(a, "rows");
    const char *slice[4] = {table, ints(a, "starts", (int64_t[]){0}, 1), ints(a, "ends", &count, 1),
                            ints(a, "axes", (int64_t[]){0}, 1)};
    add(a, "Slice", rows, slice, 4);
    a->w->names[a->node->id] = rows;
}

static bool write_embedding(const struct writer *a)
{
    const char *table = tensor(a, 0);
    if (a->node->rows == ORCH_NET_ROWS_TOKENS)
        add_two(a, "Gather", a->out, table, a->in);
    else
        write_rows(a, table, a->node->rows == ORCH_NET_ROWS_POSITIONS ? a->node->out.h : 1);
    return true;
}

/* The mean over the channels of `in`, which keep their axis. */
static const char *channel_mean(const struct writer *a, const char *part, const char *in)
{
    const char *name = inner(a, part);
    const int64_t axis = -1;
    if (a->m->opset >= 18) {
        add_two(a, "ReduceMean", name, in,
                ints(a, orch_onnx_model_text(a->m, "%s.axes", part), &axis, 1));
        return name;
    }
    orch_onnx_model_ints(a->m, add_one(a, "ReduceMean", name, in), "axes", &axis, 1);
    return name;
}

/* An operator since version 17. */
static bool write_layernorm(const struct writer *a)
{
    const char *inputs[3] = {a->in, tensor(a, 0), tensor(a, 1)};
    if (a->m->opset >= 17) {
        Onnx__NodeProto *norm = add(a, "LayerNormalization", a->out, inputs, 3);
        orch_onnx_model_int(a->m, norm, "axis", -1);
        orch_onnx_model_float(a->m, norm, "epsilon", a->node->eps);
        return true;
    }
    const char *centred = inner(a, "centred"), *square = inner(a, "square"), *sum = inner(a, "sum"),
               *root = inner(a, "root"), *whole = inner(a, "whole"), *scaled = inner(a, "scaled");
    add_two(a, "Sub", centred, a->in, channel_mean(a, "mean", a->in));
    add_two(a, "Mul", square, centred, centred);
    add_two(a, "Add", sum, channel_mean(a, "variance", square), number(a, "eps", a->node->eps));
    add_one(a, "Sqrt", root, sum);
    add_two(a, "Div", whole, centred, root);
    add_two(a, "Mul", scaled, whole, inputs[1]);
    add_two(a, "Add", a->out, scaled, inputs[2]);
    return true;
}

/* The table of embeddings whose values a linear layer without own ones uses; NULL: none. */
static const char *tied_weight(const struct writer *a)
{
    const struct orch_net *net = a->w->e->net;
    for (int i = 0; i < a->node->id; i++) {
        const struct orch_net_node *n = orch_net_node(net, i);
        if (n->op == ORCH_NET_EMBEDDING && n->in_channels == a->node->out_channels &&
            n->out_channels == a->node->in_channels)
            return orch_net_tensor(net, n->first_tensor)->name;
    }
    return NULL;
}

static bool write_token_linear(const struct writer *a)
{
    bool is_tied = a->node->tensor_count == 0;
    const char *weight = is_tied ? tied_weight(a) : tensor(a, 0);
    if (!weight)
        return false;
    const char *turned = inner(a, "weight.T"), *product = inner(a, "product");
    const int64_t order[2] = {1, 0};
    orch_onnx_model_ints(a->m, add_one(a, "Transpose", turned, weight), "perm", order, 2);
    add_two(a, "MatMul", a->node->has_bias ? product : a->out, a->in, turned);
    if (a->node->has_bias)
        add_two(a, "Add", a->out, product, tensor(a, 1));
    return true;
}

/* N x T x C to N x heads x T x C / heads, or with `turns` to its transpose. */
static const char *heads_of(const struct writer *a, const char *part, bool turns)
{
    const char *split = inner(a, orch_onnx_model_text(a->m, "%s.heads", part));
    const char *name = inner(a, orch_onnx_model_text(a->m, "%s.by_head", part));
    const int64_t shape[4] = {0, 0, a->node->heads, a->node->out.c / a->node->heads};
    const int64_t order[2][4] = {{0, 2, 1, 3}, {0, 2, 3, 1}};
    add_two(a, "Reshape", split, inner(a, part),
            ints(a, orch_onnx_model_text(a->m, "%s.shape", part), shape, 4));
    orch_onnx_model_ints(a->m, add_one(a, "Transpose", name, split), "perm", order[turns], 4);
    return name;
}

/* What is added to the scores so that no token attends to later ones. All attentions of a network
 * have as many tokens, and share it. */
static const char *causal_mask(const struct writer *a)
{
    static const char name[] = "causal_mask";
    int64_t tokens = a->node->out.h;
    const int64_t dims[2] = {tokens, tokens};
    if (a->w->has_mask)
        return name;
    a->w->has_mask = true;
    g_autofree float *mask = g_new0(float, tokens *tokens);
    for (int64_t i = 0; i < tokens; i++)
        for (int64_t j = i + 1; j < tokens; j++)
            mask[i * tokens + j] = -FLT_MAX;
    orch_onnx_model_constant_floats(a->m, name, mask, 2, dims);
    return name;
}

/* softmax(q k^T / sqrt(width)) v of each head; the input has queries, keys and values of all heads
 * one after the other. */
static bool write_attention(const struct writer *a)
{
    int64_t channels = a->node->out.c, width = channels / a->node->heads;
    const int64_t parts[3] = {channels, channels, channels}, order[4] = {0, 2, 1, 3},
                  shape[3] = {0, 0, channels};
    const char *split[2] = {a->in, ints(a, "parts", parts, 3)};
    const char *names[3] = {inner(a, "q"), inner(a, "k"), inner(a, "v")};
    orch_onnx_model_int(a->m,
                        orch_onnx_model_node(a->m, "Split", inner(a, "split"), split, 2, names, 3),
                        "axis", 2);
    const char *products = inner(a, "products"), *scores = inner(a, "scores"),
               *masked = inner(a, "masked"), *shares = inner(a, "shares"), *sums = inner(a, "sums"),
               *turned = inner(a, "turned");
    add_two(a, "MatMul", products, heads_of(a, "q", false), heads_of(a, "k", true));
    add_two(a, "Mul", scores, products, number(a, "scale", 1 / sqrt((double)width)));
    if (a->node->is_causal)
        add_two(a, "Add", masked, scores, causal_mask(a));
    orch_onnx_model_int(a->m, add_one(a, "Softmax", shares, a->node->is_causal ? masked : scores),
                        "axis", -1);
    add_two(a, "MatMul", sums, shares, heads_of(a, "v", false));
    orch_onnx_model_ints(a->m, add_one(a, "Transpose", turned, sums), "perm", order, 4);
    add_two(a, "Reshape", a->out, turned, ints(a, "shape", shape, 3));
    return true;
}

static bool write_first_token(const struct writer *a)
{
    const char *index = inner(a, "index");
    const int64_t first = 0;
    orch_onnx_model_constant_int(a->m, index, first);
    orch_onnx_model_int(a->m, add_two(a, "Gather", a->out, a->in, index), "axis", 1);
    return true;
}

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
    bool (*write)(const struct writer *a); /* NULL, or false: cannot be written */
    int axes;                              /* of the value; SAME_AXES: the first input's */
} OPS[ORCH_NET_OP_COUNT] = {
    [ORCH_NET_CONV2D] = {write_conv},
    [ORCH_NET_BATCHNORM2D] = {write_batchnorm},
    [ORCH_NET_RELU] = {write_relu},
    [ORCH_NET_TANH] = {write_tanh},
    [ORCH_NET_MAXPOOL2D] = {write_pool},
    [ORCH_NET_AVGPOOL2D] = {write_pool},
    [ORCH_NET_ADAPTIVE_AVGPOOL2D] = {write_adaptive_pool},
    [ORCH_NET_LINEAR] = {write_linear, 2},
    [ORCH_NET_ADD] = {write_add},
    [ORCH_NET_CONCAT] = {write_concat},
    [ORCH_NET_FLATTEN] = {write_flatten, 2},
    [ORCH_NET_DROPOUT] = {write_nothing},
    [ORCH_NET_PAD_SHORTCUT] = {write_pad_shortcut},
    [ORCH_NET_RELU6] = {write_relu6},
    [ORCH_NET_SIGMOID] = {write_sigmoid},
    [ORCH_NET_SILU] = {write_silu},
    [ORCH_NET_GELU] = {write_gelu},
    [ORCH_NET_SOFTMAX] = {write_softmax},
    [ORCH_NET_LRN] = {write_lrn},
    [ORCH_NET_MUL] = {write_mul},
    [ORCH_NET_STOCHASTIC_DEPTH] = {write_nothing},
    [ORCH_NET_EMBEDDING] = {write_embedding, 3},
    [ORCH_NET_LAYERNORM] = {write_layernorm},
    [ORCH_NET_TOKEN_LINEAR] = {write_token_linear},
    [ORCH_NET_ATTENTION] = {write_attention},
    [ORCH_NET_FIRST_TOKEN] = {write_first_token, 2},
};

bool orch_onnx_export_node(struct onnx_writing *w, const struct orch_net_node *node, GError **error)
{
    w->axes[node->id] = OPS[node->op].axes ? OPS[node->op].axes : w->axes[node->inputs[0]];
    w->names[node->id] = value_name(w, node);
    const struct writer a = {.w = w,
                             .m = w->m,
                             .node = node,
                             .in = w->names[node->inputs[0]],
                             .out = w->names[node->id]};
    if (w->is_folded[node->id] ? write_nothing(&a) : OPS[node->op].write && OPS[node->op].write(&a))
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                   "network '%s': layer '%s' (%s) cannot be written as ONNX", w->e->net->name,
                   node->name, orch_net_op_name(node->op));
    return false;
}
