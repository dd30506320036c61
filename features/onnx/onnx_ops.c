/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of operators and their common functions. To add an operator, add a row, and a function
 * if none fits. Operators support every version of ONNX that PyTorch has written: where an
 * attribute became an input, both are accepted. */
#include "features/onnx/onnx_ops.h"

#include "features/onnx/onnx.h"
#include "features/onnx/onnx_element.h"
#include "lib/base/error.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define NOTES_MAX 256 /* further operators are added to the last note */

/* ---- the table ----------------------------------------------------------------------------- */

#define NET(op) ORCH_NET_##op, ONNX_COUNTED
#define MOVES ORCH_NET_GENERIC, ONNX_MOVES
#define ZERO ORCH_NET_GENERIC, ONNX_ZERO

/* Activations that lib/net lacks map to the most similar one, with one operation per element in
 * either case (cost.h). */
static const struct onnx_op OPS[] = {
    {"Conv", orch_onnx_run_conv, NET(CONV2D), 0},
    {"ConvTranspose", orch_onnx_run_conv, NET(CONV_TRANSPOSE2D), 1},
    {"Gemm", orch_onnx_run_gemm, NET(LINEAR), 0},
    {"MatMul", orch_onnx_run_matmul, NET(TOKEN_LINEAR), 0},
    {"LSTM", orch_onnx_run_recurrent, NET(TOKEN_LINEAR), 4},
    {"GRU", orch_onnx_run_recurrent, NET(TOKEN_LINEAR), 3},
    {"RNN", orch_onnx_run_recurrent, NET(TOKEN_LINEAR), 1},
    {"Einsum", orch_onnx_run_einsum, NET(TOKEN_LINEAR), 0},
    {"BatchNormalization", orch_onnx_run_norm, NET(BATCHNORM2D), 1},
    {"InstanceNormalization", orch_onnx_run_norm, NET(LAYERNORM), 0},
    {"GroupNormalization", orch_onnx_run_norm, NET(LAYERNORM), 2},
    {"LayerNormalization", orch_onnx_run_layernorm, NET(LAYERNORM), 0},
    {"RMSNormalization", orch_onnx_run_layernorm, NET(LAYERNORM), 0},
    {"SimplifiedLayerNormalization", orch_onnx_run_layernorm, NET(LAYERNORM), 0},
    {"LRN", orch_onnx_run_lrn, NET(LRN), 0},
    {"MaxPool", orch_onnx_run_pool, NET(MAXPOOL2D), 0},
    {"AveragePool", orch_onnx_run_pool, NET(AVGPOOL2D), 0},
    {"LpPool", orch_onnx_run_pool, ZERO, 0},
    {"GlobalAveragePool", orch_onnx_run_pool_all, NET(ADAPTIVE_AVGPOOL2D), 0},
    {"GlobalMaxPool", orch_onnx_run_pool_all, NET(MAXPOOL2D), 1},
    {"ReduceMean", orch_onnx_run_reduce, NET(ADAPTIVE_AVGPOOL2D), ONNX_REDUCE_MEAN},
    {"ReduceSum", orch_onnx_run_reduce, ZERO, ONNX_REDUCE_SUM},
    {"ReduceProd", orch_onnx_run_reduce, ZERO, ONNX_REDUCE_PROD},
    {"ReduceMax", orch_onnx_run_reduce, ZERO, ONNX_REDUCE_MAX},
    {"ReduceMin", orch_onnx_run_reduce, ZERO, ONNX_REDUCE_MIN},
    {"ReduceL1", orch_onnx_run_reduce, ZERO, ONNX_REDUCE_OTHER},
    {"ReduceL2", orch_onnx_run_reduce, ZERO, ONNX_REDUCE_OTHER},
    {"ReduceSumSquare", orch_onnx_run_reduce, ZERO, ONNX_REDUCE_OTHER},
    {"ReduceLogSumExp", orch_onnx_run_reduce, ZERO, ONNX_REDUCE_OTHER},
    {"ArgMax", orch_onnx_run_reduce, ZERO, ONNX_REDUCE_ARG},
    {"ArgMin", orch_onnx_run_reduce, ZERO, ONNX_REDUCE_ARG},
    {"Resize", orch_onnx_run_resize, ZERO, 1},
    {"Upsample", orch_onnx_run_resize, ZERO, 0},
    /* activations */
    {"Relu", orch_onnx_run_same_shape, NET(RELU), 0},
    {"LeakyRelu", orch_onnx_run_same_shape, NET(RELU), 0},
    {"PRelu", orch_onnx_run_binary, NET(RELU), ONNX_BINARY_OTHER},
    {"Elu", orch_onnx_run_same_shape, NET(RELU), 0},
    {"Selu", orch_onnx_run_same_shape, NET(RELU), 0},
    {"Celu", orch_onnx_run_same_shape, NET(RELU), 0},
    {"ThresholdedRelu", orch_onnx_run_same_shape, NET(RELU), 0},
    {"Clip", orch_onnx_run_same_shape, NET(RELU6), 0},
    {"Sigmoid", orch_onnx_run_same_shape, NET(SIGMOID), 0},
    {"HardSigmoid", orch_onnx_run_same_shape, NET(SIGMOID), 0},
    {"Silu", orch_onnx_run_same_shape, NET(SILU), 0}, /* onnx_fuse.c */
    {"Swish", orch_onnx_run_same_shape, NET(SILU), 0},
    {"HardSwish", orch_onnx_run_same_shape, NET(SILU), 0},
    {"Mish", orch_onnx_run_same_shape, NET(SILU), 0},
    {"Tanh", orch_onnx_run_same_shape, NET(TANH), 0},
    {"Softplus", orch_onnx_run_same_shape, NET(SIGMOID), 0},
    {"Softsign", orch_onnx_run_same_shape, NET(SIGMOID), 0},
    {"Gelu", orch_onnx_run_same_shape, NET(GELU), 0},
    {"Softmax", orch_onnx_run_same_shape, NET(SOFTMAX), 0},
    {"LogSoftmax", orch_onnx_run_same_shape, NET(SOFTMAX), 0},
    {"Dropout", orch_onnx_run_same_shape, NET(DROPOUT), ONNX_UNARY_SAME},
    /* elements */
    {"Identity", orch_onnx_run_same_shape, MOVES, ONNX_UNARY_SAME},
    {"Cast", orch_onnx_run_same_shape, MOVES, ONNX_UNARY_CAST},
    {"ScatterND", orch_onnx_run_same_shape, MOVES, 0},
    {"ScatterElements", orch_onnx_run_same_shape, MOVES, 0},
    {"Erf", orch_onnx_run_same_shape, ZERO, 0},
    {"Sqrt", orch_onnx_run_same_shape, ZERO, ONNX_UNARY_SQRT},
    {"Exp", orch_onnx_run_same_shape, ZERO, ONNX_UNARY_EXP},
    {"Log", orch_onnx_run_same_shape, ZERO, ONNX_UNARY_LOG},
    {"Neg", orch_onnx_run_same_shape, ZERO, ONNX_UNARY_NEG},
    {"Abs", orch_onnx_run_same_shape, ZERO, ONNX_UNARY_ABS},
    {"Floor", orch_onnx_run_same_shape, ZERO, ONNX_UNARY_FLOOR},
    {"Ceil", orch_onnx_run_same_shape, ZERO, ONNX_UNARY_CEIL},
    {"Round", orch_onnx_run_same_shape, ZERO, ONNX_UNARY_ROUND},
    {"Reciprocal", orch_onnx_run_same_shape, ZERO, ONNX_UNARY_RECIPROCAL},
    {"Not", orch_onnx_run_same_shape, ZERO, ONNX_UNARY_NOT},
    {"Sign", orch_onnx_run_same_shape, ZERO, 0},
    {"Sin", orch_onnx_run_same_shape, ZERO, 0},
    {"Cos", orch_onnx_run_same_shape, ZERO, 0},
    {"CumSum", orch_onnx_run_same_shape, ZERO, 0},
    {"IsNaN", orch_onnx_run_same_shape, ZERO, 0},
    {"Trilu", orch_onnx_run_same_shape, ZERO, 0},
    {"LpNormalization", orch_onnx_run_same_shape, ZERO, 0},
    {"MeanVarianceNormalization", orch_onnx_run_same_shape, ZERO, 0},
    {"QuantizeLinear", orch_onnx_run_same_shape, ZERO, 0},
    {"DequantizeLinear", orch_onnx_run_same_shape, ZERO, 0},
    {"Add", orch_onnx_run_binary, NET(ADD), ONNX_BINARY_ADD},
    {"Sum", orch_onnx_run_binary, NET(ADD), ONNX_BINARY_ADD},
    {"Sub", orch_onnx_run_binary, NET(ADD), ONNX_BINARY_SUB},
    {"Mul", orch_onnx_run_binary, NET(MUL), ONNX_BINARY_MUL},
    {"Div", orch_onnx_run_binary, NET(MUL), ONNX_BINARY_DIV},
    {"Pow", orch_onnx_run_binary, ZERO, ONNX_BINARY_POW},
    {"Mod", orch_onnx_run_binary, ZERO, ONNX_BINARY_MOD},
    {"Min", orch_onnx_run_binary, ZERO, ONNX_BINARY_MIN},
    {"Max", orch_onnx_run_binary, ZERO, ONNX_BINARY_MAX},
    {"Equal", orch_onnx_run_binary, ZERO, ONNX_BINARY_EQUAL},
    {"Less", orch_onnx_run_binary, ZERO, ONNX_BINARY_LESS},
    {"LessOrEqual", orch_onnx_run_binary, ZERO, ONNX_BINARY_LESS_EQUAL},
    {"Greater", orch_onnx_run_binary, ZERO, ONNX_BINARY_GREATER},
    {"GreaterOrEqual", orch_onnx_run_binary, ZERO, ONNX_BINARY_GREATER_EQUAL},
    {"And", orch_onnx_run_binary, ZERO, ONNX_BINARY_AND},
    {"Or", orch_onnx_run_binary, ZERO, ONNX_BINARY_OR},
    {"Where", orch_onnx_run_where, ZERO, 0},
    /* shapes */
    {"Shape", orch_onnx_run_shape, MOVES, 0},
    {"Size", orch_onnx_run_size, MOVES, 0},
    {"Constant", orch_onnx_run_constant, MOVES, 0},
    {"ConstantOfShape", orch_onnx_run_constant_of_shape, MOVES, 0},
    {"Range", orch_onnx_run_range, MOVES, 0},
    {"Reshape", orch_onnx_run_reshape, MOVES, 0},
    {"Flatten", orch_onnx_run_flatten, NET(FLATTEN), 0},
    {"Squeeze", orch_onnx_run_squeeze, MOVES, 0},
    {"Unsqueeze", orch_onnx_run_unsqueeze, MOVES, 0},
    {"Transpose", orch_onnx_run_transpose, MOVES, 0},
    {"Concat", orch_onnx_run_concat, NET(CONCAT), 0},
    {"Slice", orch_onnx_run_slice, MOVES, 0},
    {"Split", orch_onnx_run_split, MOVES, 0},
    {"Gather", orch_onnx_run_gather, MOVES, 0},
    {"Expand", orch_onnx_run_expand, MOVES, 0},
    {"Tile", orch_onnx_run_tile, MOVES, 0},
    {"Pad", orch_onnx_run_pad, MOVES, 0},
    {"DepthToSpace", orch_onnx_run_depth_space, MOVES, 0},
    {"SpaceToDepth", orch_onnx_run_depth_space, MOVES, 1},
};

static const struct onnx_op UNKNOWN = {"", orch_onnx_run_unknown, ZERO, 0};

static const struct onnx_op *find_op(const char *name)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(OPS); i++)
        if (strcmp(OPS[i].name, name) == 0)
            return &OPS[i];
    return &UNKNOWN;
}

/* ---- notes --------------------------------------------------------------------------------- */

/* Elements of the initializers that it reads and that belong to no layer. */
static int64_t uncounted_params(const struct onnx_call *c)
{
    int64_t total = 0;
    for (int i = 0; i < c->in_count; i++) {
        const Onnx__TensorProto *t = c->in[i] ? c->in[i]->weight : NULL;
        int64_t count = 1;
        for (size_t d = 0; t && d < t->n_dims; d++)
            count *= t->dims[d];
        if (t && count > 1 && g_hash_table_add(c->g->counted, (void *)(uintptr_t)t))
            total += count;
    }
    return total;
}

static void add_note(const struct onnx_call *c, int64_t params)
{
    struct orch_onnx_notes *notes = c->g->notes;
    if (!notes)
        return;
    struct orch_onnx_note *note = NULL;
    for (guint i = 0; notes->items && i < notes->items->len && !note; i++)
        if (strcmp(((struct orch_onnx_note *)notes->items->pdata[i])->op, c->step->op) == 0 ||
            i == NOTES_MAX - 1)
            note = notes->items->pdata[i];
    if (!note) {
        note = g_new0(struct orch_onnx_note, 1);
        note->op = g_strdup(c->step->op);
        note->node = g_strdup(c->step->name);
        note->is_known = true;
        g_ptr_array_add(notes->items, note);
    }
    note->count++;
    note->params += params;
    note->is_known = note->is_known && !c->is_guessed;
}

/* ---- nodes of the network ------------------------------------------------------------------ */

/* PyTorch's module name, if the weights still have it and are not shared; else NULL. Caller
 * frees. */
static char *layer_name(const struct onnx_call *c, int i)
{
    for (int t = 0; t < c->tensor_count; t++) {
        const char *weight = c->tensors[t].value->weight->name;
        if (weight && g_str_has_suffix(weight, ".weight") && !strstr(weight, "::") &&
            !g_hash_table_contains(c->g->counted, c->tensors[t].value->weight)) {
            g_autofree char *module = g_strndup(weight, strlen(weight) - strlen(".weight"));
            return g_strdup(orch_onnx_text(c->g, module));
        }
    }
    return i ? g_strdup_printf("%s.%d", c->step->name, i) : g_strdup(c->step->name);
}

static void add_tensor(const struct onnx_call *c, const struct onnx_layer_tensor *t)
{
    const Onnx__TensorProto *origin = t->value->weight;
    if (!g_hash_table_add(c->g->counted, (void *)(uintptr_t)origin))
        return;
    int64_t whole = 1, count = 1, shape[4] = {1, 1, 1, 1};
    for (int i = 0; i < t->rank; i++)
        count *= t->shape[i];
    for (size_t i = 0; i < origin->n_dims; i++) {
        whole *= origin->dims[i];
        shape[MIN(i, 3)] *= origin->dims[i];
    }
    const char *name = orch_onnx_text(c->g, origin->name ? origin->name : "");
    if (t->rank && (count == whole || t->is_spread))
        orch_net_layer_tensor(&c->g->builder, name, t->role, t->rank, t->shape);
    else
        orch_net_layer_tensor(&c->g->builder, name, t->role, (int)CLAMP(origin->n_dims, 1, 4),
                              shape);
}

/* The network nodes that the step reads, without duplicates unless the operation reads a node
 * twice. */
static GArray *net_inputs(const struct onnx_call *c)
{
    GArray *inputs = g_array_new(FALSE, FALSE, sizeof(int));
    for (int i = 0; i < c->in_count; i++)
        if (c->in[i] && !orch_onnx_value_is_constant(c->in[i]))
            g_array_append_val(inputs, c->in[i]->node);
    return inputs;
}

/* Joins inputs in stages if there are more than a node can have. */
static void join_inputs(const struct onnx_call *c, GArray *inputs)
{
    struct orch_net_builder *b = &c->g->builder;
    while (inputs->len > ORCH_NET_INPUTS_MAX) {
        struct orch_net_node join = {.op = ORCH_NET_CONCAT};
        for (int i = 0; i < ORCH_NET_INPUTS_MAX; i++) {
            struct orch_net_shape x = orch_net_node(b->net, g_array_index(inputs, int, i))->out;
            join.out.h = i ? join.out.h : x.h;
            join.out.w = i ? join.out.w : x.w;
            join.out.c += x.c;
        }
        int id = orch_net_layer(b, &join, &g_array_index(inputs, int, 0), ORCH_NET_INPUTS_MAX,
                                g_strdup(c->step->name));
        g_array_remove_range(inputs, 0, ORCH_NET_INPUTS_MAX);
        g_array_prepend_val(inputs, id);
    }
}

/* Adds an upper bound of what lib/net will sum for this layer; false if the total would
 * overflow. */
static bool charge(const struct onnx_call *c)
{
    int64_t own = c->layer.macs, out = 0;
    for (int i = 0; i < c->out_count; i++)
        out += c->out[i] ? orch_onnx_value_count(c->out[i]) : 0;
    for (int i = 0; i < c->in_count; i++)
        own += c->in[i] ? orch_onnx_value_count(c->in[i]) : 0;
    if (__builtin_mul_overflow(out, c->window + 8, &out) ||
        __builtin_add_overflow(own, out, &own) ||
        __builtin_add_overflow(c->g->work, own, &c->g->work) || c->g->work > G_MAXINT64 / 4)
        return orch_onnx_fail(c, "export the model again",
                              "has more operations than can be counted");
    return true;
}

static void add_layers(const struct onnx_call *c)
{
    g_autoptr(GArray) inputs = net_inputs(c);
    if (c->layer.op == ORCH_NET_CONCAT)
        join_inputs(c, inputs);
    int count = MIN((int)inputs->len, ORCH_NET_INPUTS_MAX);
    bool is_first = true;
    for (int i = 0; i < c->out_count; i++) {
        if (!c->out[i])
            continue;
        struct orch_net_node layer = c->layer;
        layer.out = orch_onnx_value_shape(c->g, c->out[i]);
        if (layer.macs % c->g->batch == 0)
            layer.macs /= c->g->batch;
        else
            orch_onnx_mixes(c, true);
        if (!is_first)
            layer.macs = 0;
        c->out[i]->node = orch_net_layer(&c->g->builder, &layer, &g_array_index(inputs, int, 0),
                                         count, layer_name(c, i));
        for (int t = 0; is_first && t < c->tensor_count; t++)
            add_tensor(c, &c->tensors[t]);
        is_first = false;
    }
}

/* ---- a step -------------------------------------------------------------------------------- */

static bool gather_inputs(struct onnx_call *c)
{
    for (int i = 0; i < c->in_count; i++) {
        const char *name = c->step->inputs[i];
        if (!name[0])
            continue;
        c->in[i] = orch_onnx_graph_value(c->g, name);
        if (!c->in[i])
            return orch_onnx_fail(c, "export the model again", "reads '%s', which no node defines",
                                  orch_onnx_text(c->g, name));
    }
    return true;
}

static bool is_fixed(const struct onnx_call *c)
{
    if (c->op->run == orch_onnx_run_shape || c->op->run == orch_onnx_run_size)
        return true;
    for (int i = 0; i < c->in_count; i++)
        if (c->in[i] && !orch_onnx_value_is_constant(c->in[i]))
            return false;
    return true;
}

/* False for constants of integer and boolean types, which are indices and sizes, not weights. */
static bool is_trained(const struct onnx_value *v)
{
    return v && v->weight && v->weight->data_type != 6 && v->weight->data_type != ONNX_INT64 &&
           v->weight->data_type != ONNX_BOOL;
}

/* A computed constant derives from its largest initializer. What a condition chose, or a comparison
 * yields, is a mask: no weights. */
static void inherit_weight(const struct onnx_call *c)
{
    if (c->op->run == orch_onnx_run_where)
        return;
    const struct onnx_value *largest = NULL;
    for (int i = 0; i < c->in_count; i++)
        if (is_trained(c->in[i]) &&
            (!largest || orch_onnx_value_count(c->in[i]) > orch_onnx_value_count(largest)))
            largest = c->in[i];
    for (int i = 0; i < c->out_count; i++)
        if (c->out[i] && largest && c->op->run != orch_onnx_run_shape)
            c->out[i]->weight = largest->weight;
}

static void inherit_unknown(const struct onnx_call *c)
{
    const char *guess = c->is_guessed ? c->step->op : NULL;
    for (int i = 0; i < c->in_count && !guess; i++)
        guess = c->in[i] ? c->in[i]->guess : NULL;
    for (int i = 0; i < c->out_count; i++)
        if (c->out[i])
            c->out[i]->guess = guess;
}

static bool check_output(const struct onnx_call *c, const struct onnx_value *v, bool is_constant)
{
    int64_t count = 1;
    for (int i = 0; i < v->rank; i++)
        if (v->dims[i] < 0 || __builtin_mul_overflow(count, MAX(v->dims[i], 1), &count) ||
            count > ONNX_ELEMENTS_MAX)
            return orch_onnx_shape_error(c, v, "has an output of more than 2^40 elements");
    if (orch_onnx_value_count(v) > 0 || is_constant)
        return true;
    g_autofree char *text = orch_onnx_value_format(v);
    return orch_onnx_shape_error(c, v, "has an empty output (%s)", text);
}

static bool run_call(struct onnx_call *c)
{
    if (!gather_inputs(c))
        return false;
    for (int i = 0; i < c->out_count; i++)
        if (c->step->proto->output[i][0])
            c->out[i] = orch_onnx_graph_make(c->g, c->step->proto->output[i]);
    if (!c->out_count || !c->out[0])
        c->op = &UNKNOWN; /* every known operator has a first output */
    c->layer.op = c->op->layer;
    c->count = c->op->count;
    if (!c->op->run(c))
        return false;
    bool fixed = is_fixed(c);
    inherit_unknown(c);
    for (int i = 0; i < c->out_count; i++)
        if (c->out[i] && !check_output(c, c->out[i], fixed))
            return false;
    if (fixed) {
        inherit_weight(c);
        return true;
    }
    if (c->is_view && c->in[0] && c->out[0]) {
        c->out[0]->node = c->in[0]->node;
        c->out[0]->weight = c->in[0]->weight;
        return true;
    }
    if (c->is_guessed || c->count == ONNX_ZERO)
        c->layer.op = ORCH_NET_GENERIC;
    if (c->layer.op == ORCH_NET_GENERIC && (c->is_guessed || c->count != ONNX_MOVES)) {
        c->tensor_count = 0;
        c->layer.macs = 0;
        add_note(c, uncounted_params(c));
    }
    if (!charge(c))
        return false;
    add_layers(c);
    return true;
}

bool orch_onnx_step_run(struct onnx_graph *g, const struct onnx_step *step, GError **error)
{
    struct onnx_call c = {.g = g, .step = step, .op = find_op(step->op), .error = error};
    c.in_count = step->input_count;
    c.out_count = (int)step->proto->n_output;
    c.in = g_new0(struct onnx_value *, (gsize)c.in_count + 1);
    c.out = g_new0(struct onnx_value *, (gsize)c.out_count + 1);
    bool ok = run_call(&c);
    g_free(c.in);
    g_free(c.out);
    return ok;
}
