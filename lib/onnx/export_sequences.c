/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Embeddings, layer norms, and attention. */
#include "lib/onnx/export_writer.h"

#include <float.h>
#include <math.h>

/* `count` rows of the table from the node's first one on; all of them are the table itself. */
static void use_rows(const struct onnx_writer *a, const char *table, int64_t count)
{
    if (count == a->node->in_channels) {
        a->w->names[a->node->id] = table;
        return;
    }
    const char *rows = orch_onnx_writer_inner(a, "rows");
    const int64_t first = a->node->first_row, end = first + count;
    const char *slice[4] = {table, orch_onnx_writer_ints(a, "starts", &first, 1),
                            orch_onnx_writer_ints(a, "ends", &end, 1),
                            orch_onnx_writer_ints(a, "axes", (int64_t[]){0}, 1)};
    orch_onnx_writer_add(a, "Slice", rows, slice, 4);
    a->w->names[a->node->id] = rows;
}

bool orch_onnx_write_embedding(const struct onnx_writer *a)
{
    const char *table = orch_onnx_writer_tensor(a, 0);
    if (a->node->rows == ORCH_NET_ROWS_TOKENS)
        orch_onnx_writer_add_two(a, "Gather", a->out, table, a->in);
    else
        use_rows(a, table, a->node->rows == ORCH_NET_ROWS_POSITIONS ? a->node->out.h : 1);
    return true;
}

/* The mean over the channels of `in`, which keep their axis. */
static const char *channel_mean(const struct onnx_writer *a, const char *part, const char *in)
{
    const char *name = orch_onnx_writer_inner(a, part);
    const int64_t axis = -1;
    if (a->m->opset >= 18) {
        orch_onnx_writer_add_two(
            a, "ReduceMean", name, in,
            orch_onnx_writer_ints(a, orch_onnx_model_text(a->m, "%s.axes", part), &axis, 1));
        return name;
    }
    orch_onnx_model_ints(a->m, orch_onnx_writer_add_one(a, "ReduceMean", name, in), "axes", &axis,
                         1);
    return name;
}

/* An operator since version 17. A norm without a bias divides by the root mean square. */
bool orch_onnx_write_layernorm(const struct onnx_writer *a)
{
    if (a->node->tensor_count < 2)
        return false;
    const char *inputs[3] = {a->in, orch_onnx_writer_tensor(a, 0), orch_onnx_writer_tensor(a, 1)};
    if (a->m->opset >= 17) {
        Onnx__NodeProto *norm = orch_onnx_writer_add(a, "LayerNormalization", a->out, inputs, 3);
        orch_onnx_model_int(a->m, norm, "axis", -1);
        orch_onnx_model_float(a->m, norm, "epsilon", a->node->eps);
        return true;
    }
    const char *centred = orch_onnx_writer_inner(a, "centred"),
               *square = orch_onnx_writer_inner(a, "square"),
               *sum = orch_onnx_writer_inner(a, "sum"), *root = orch_onnx_writer_inner(a, "root"),
               *whole = orch_onnx_writer_inner(a, "whole"),
               *scaled = orch_onnx_writer_inner(a, "scaled");
    orch_onnx_writer_add_two(a, "Sub", centred, a->in, channel_mean(a, "mean", a->in));
    orch_onnx_writer_add_two(a, "Mul", square, centred, centred);
    orch_onnx_writer_add_two(a, "Add", sum, channel_mean(a, "variance", square),
                             orch_onnx_writer_number(a, "eps", a->node->eps));
    orch_onnx_writer_add_one(a, "Sqrt", root, sum);
    orch_onnx_writer_add_two(a, "Div", whole, centred, root);
    orch_onnx_writer_add_two(a, "Mul", scaled, whole, inputs[1]);
    orch_onnx_writer_add_two(a, "Add", a->out, scaled, inputs[2]);
    return true;
}

/* The table of embeddings whose values a linear layer without own ones uses; NULL: none. */
static const char *tied_weight(const struct onnx_writer *a)
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

bool orch_onnx_write_token_linear(const struct onnx_writer *a)
{
    const int count = a->node->tensor_count;
    bool is_tied = !count || orch_net_tensor(a->w->e->net, a->node->first_tensor)->rank == 1;
    const char *weight = is_tied ? tied_weight(a) : orch_onnx_writer_tensor(a, 0);
    if (!weight)
        return false;
    const char *turned = orch_onnx_writer_inner(a, "weight.T"),
               *product = orch_onnx_writer_inner(a, "product");
    const int64_t order[2] = {1, 0};
    orch_onnx_model_ints(a->m, orch_onnx_writer_add_one(a, "Transpose", turned, weight), "perm",
                         order, 2);
    bool has_bias = count > !is_tied;
    orch_onnx_writer_add_two(a, "MatMul", has_bias ? product : a->out, a->in, turned);
    if (has_bias)
        orch_onnx_writer_add_two(a, "Add", a->out, product, orch_onnx_writer_tensor(a, !is_tied));
    return true;
}

/* N x T x C to N x heads x T x C / heads, or with `turns` to its transpose. */
static const char *heads_of(const struct onnx_writer *a, const char *part, bool turns)
{
    const char *split = orch_onnx_writer_inner(a, orch_onnx_model_text(a->m, "%s.heads", part));
    const char *name = orch_onnx_writer_inner(a, orch_onnx_model_text(a->m, "%s.by_head", part));
    const int64_t shape[4] = {0, 0, a->node->heads, a->node->out.c / a->node->heads};
    const int64_t order[2][4] = {{0, 2, 1, 3}, {0, 2, 3, 1}};
    orch_onnx_writer_add_two(
        a, "Reshape", split, orch_onnx_writer_inner(a, part),
        orch_onnx_writer_ints(a, orch_onnx_model_text(a->m, "%s.shape", part), shape, 4));
    orch_onnx_model_ints(a->m, orch_onnx_writer_add_one(a, "Transpose", name, split), "perm",
                         order[turns], 4);
    return name;
}

/* What is added to the scores so that no token attends to later ones. All attentions of a network
 * have as many tokens, and share it. */
static const char *causal_mask(const struct onnx_writer *a)
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
bool orch_onnx_write_attention(const struct onnx_writer *a)
{
    int64_t channels = a->node->out.c, width = channels / a->node->heads;
    const int64_t parts[3] = {channels, channels, channels}, order[4] = {0, 2, 1, 3},
                  shape[3] = {0, 0, channels};
    const char *split[2] = {a->in, orch_onnx_writer_ints(a, "parts", parts, 3)};
    const char *names[3] = {orch_onnx_writer_inner(a, "q"), orch_onnx_writer_inner(a, "k"),
                            orch_onnx_writer_inner(a, "v")};
    orch_onnx_model_int(
        a->m,
        orch_onnx_model_node(a->m, "Split", orch_onnx_writer_inner(a, "split"), split, 2, names, 3),
        "axis", 2);
    const char *products = orch_onnx_writer_inner(a, "products"),
               *scores = orch_onnx_writer_inner(a, "scores"),
               *masked = orch_onnx_writer_inner(a, "masked"),
               *shares = orch_onnx_writer_inner(a, "shares"),
               *sums = orch_onnx_writer_inner(a, "sums"),
               *turned = orch_onnx_writer_inner(a, "turned");
    orch_onnx_writer_add_two(a, "MatMul", products, heads_of(a, "q", false),
                             heads_of(a, "k", true));
    orch_onnx_writer_add_two(a, "Mul", scores, products,
                             orch_onnx_writer_number(a, "scale", 1 / sqrt((double)width)));
    if (a->node->is_causal)
        orch_onnx_writer_add_two(a, "Add", masked, scores, causal_mask(a));
    orch_onnx_model_int(
        a->m, orch_onnx_writer_add_one(a, "Softmax", shares, a->node->is_causal ? masked : scores),
        "axis", -1);
    orch_onnx_writer_add_two(a, "MatMul", sums, shares, heads_of(a, "v", false));
    orch_onnx_model_ints(a->m, orch_onnx_writer_add_one(a, "Transpose", turned, sums), "perm",
                         order, 4);
    orch_onnx_writer_add_two(a, "Reshape", a->out, turned,
                             orch_onnx_writer_ints(a, "shape", shape, 3));
    return true;
}

bool orch_onnx_write_first_token(const struct onnx_writer *a)
{
    const char *index = orch_onnx_writer_inner(a, "index");
    const int64_t first = 0;
    orch_onnx_model_constant_int(a->m, index, first);
    orch_onnx_model_int(a->m, orch_onnx_writer_add_two(a, "Gather", a->out, a->in, index), "axis",
                        1);
    return true;
}
