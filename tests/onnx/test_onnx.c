/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ONNX reader on models written here with the messages that it reads. What PyTorch writes is
 * tested by tests/onnx/torch.sh. */
#include "features/onnx/onnx.h"
#include "lib/base/error.h"
#include "lib/net/cost.h"
#include "lib/onnx/onnx_file.h"
#include "tests/onnx/onnx_fixture.h"
#include "tests/unit/tensor_find.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- operators ----------------------------------------------------------------------------- */

/* One operator on an input, with weights "w" (and "v") of the shapes given. */
static const struct {
    const char *op, *input, *weights[2], *inputs, *attributes;
    enum orch_net_op net_op;
    int64_t shape[3], params, macs;
} SINGLE[] = {
    {"Conv",
     "1 3 8 8",
     {"6 3 3 3", "6"},
     "x w v",
     "pads=1,1,1,1",
     ORCH_NET_CONV2D,
     {6, 8, 8},
     168,
     10368},
    {"Conv",
     "4 3 8 8",
     {"6 3 3 3", "6"},
     "x w v",
     "pads=1,1,1,1",
     ORCH_NET_CONV2D,
     {6, 8, 8},
     168,
     10368},
    {"Conv",
     "? 4 9 9",
     {"8 1 3 3"},
     "x w",
     "group=4 strides=2,2",
     ORCH_NET_CONV2D,
     {8, 4, 4},
     72,
     1152},
    {"Conv", "1 1 9 9", {"1 1 3 3"}, "x w", "dilations=2,2", ORCH_NET_CONV2D, {1, 5, 5}, 9, 225},
    {"Conv",
     "1 1 9 8",
     {"1 1 3 3"},
     "x w",
     "strides=2,2 auto_pad=SAME_UPPER",
     ORCH_NET_CONV2D,
     {1, 5, 4},
     9,
     180},
    {"Conv", "1 1 9 9", {"1 1 3 3"}, "x w", "auto_pad=VALID", ORCH_NET_CONV2D, {1, 7, 7}, 9, 441},
    {"Conv", "1 4 10", {"8 4 3"}, "x w", "", ORCH_NET_CONV2D, {8, 8, 1}, 96, 768},
    {"Conv", "1 2 4 4 4", {"3 2 1 2 2"}, "x w", "", ORCH_NET_CONV2D, {3, 4, 9}, 24, 864},
    /* (in - 1) stride - pads + kernel + output_padding; every input is multiplied with a kernel */
    {"ConvTranspose",
     "2 4 5 6",
     {"4 6 3 2", "6"},
     "x w v",
     "strides=2,3 pads=1,0,1,0 output_padding=1,0",
     ORCH_NET_CONV_TRANSPOSE2D,
     {6, 10, 17},
     150,
     4320},
    {"ConvTranspose",
     "1 4 5 5",
     {"4 3 2 2", "6"},
     "x w v",
     "strides=2,2 group=2",
     ORCH_NET_CONV_TRANSPOSE2D,
     {6, 10, 10},
     54,
     1200},
    {"ConvTranspose",
     "1 4 5",
     {"4 3 4"},
     "x w",
     "strides=2, auto_pad=SAME_UPPER",
     ORCH_NET_CONV_TRANSPOSE2D,
     {3, 10, 1},
     48,
     240},
    {"Gemm", "1 10", {"5 10", "5"}, "x w v", "transB=1", ORCH_NET_LINEAR, {5, 1, 1}, 55, 50},
    {"Gemm", "2 10", {"10 5"}, "x w", "", ORCH_NET_LINEAR, {5, 1, 1}, 50, 50},
    {"MatMul", "1 7 10", {"10 5"}, "x w", "", ORCH_NET_TOKEN_LINEAR, {5, 7, 1}, 50, 350},
    {"MatMul", "3 7 10", {"10 5"}, "x w", "", ORCH_NET_TOKEN_LINEAR, {5, 7, 1}, 50, 350},
    {"MatMul", "1 10", {"10 5"}, "x w", "", ORCH_NET_LINEAR, {5, 1, 1}, 50, 50},
    {"MaxPool",
     "1 3 8 8",
     {NULL},
     "x",
     "kernel_shape=3,3 strides=2,2",
     ORCH_NET_MAXPOOL2D,
     {3, 3, 3},
     0,
     0},
    {"MaxPool",
     "1 3 8 8",
     {NULL},
     "x",
     "kernel_shape=3,3 strides=2,2 ceil_mode=1",
     ORCH_NET_MAXPOOL2D,
     {3, 4, 4},
     0,
     0},
    {"AveragePool",
     "1 3 8 8",
     {NULL},
     "x",
     "kernel_shape=2,2 strides=2,2",
     ORCH_NET_AVGPOOL2D,
     {3, 4, 4},
     0,
     0},
    {"AveragePool",
     "1 3 7 7",
     {NULL},
     "x",
     "kernel_shape=1,1",
     ORCH_NET_ADAPTIVE_AVGPOOL2D,
     {3, 7, 7},
     0,
     0},
    {"GlobalAveragePool", "1 3 8 8", {NULL}, "x", "", ORCH_NET_ADAPTIVE_AVGPOOL2D, {3, 1, 1}, 0, 0},
    {"GlobalMaxPool", "1 3 8 8", {NULL}, "x", "", ORCH_NET_MAXPOOL2D, {3, 1, 1}, 0, 0},
    {"ReduceMean",
     "1 3 8 8",
     {NULL},
     "x",
     "axes=2,3 keepdims=0",
     ORCH_NET_ADAPTIVE_AVGPOOL2D,
     {3, 1, 1},
     0,
     0},
    {"Relu", "1 3 8 8", {NULL}, "x", "", ORCH_NET_RELU, {3, 8, 8}, 0, 0},
    {"LeakyRelu", "1 3 8 8", {NULL}, "x", "", ORCH_NET_RELU, {3, 8, 8}, 0, 0},
    {"Clip", "1 3 8 8", {NULL}, "x", "", ORCH_NET_RELU6, {3, 8, 8}, 0, 0},
    {"Sigmoid", "1 3 8 8", {NULL}, "x", "", ORCH_NET_SIGMOID, {3, 8, 8}, 0, 0},
    {"HardSwish", "1 3 8 8", {NULL}, "x", "", ORCH_NET_SILU, {3, 8, 8}, 0, 0},
    {"Tanh", "1 3 8 8", {NULL}, "x", "", ORCH_NET_TANH, {3, 8, 8}, 0, 0},
    {"Gelu", "1 3 8 8", {NULL}, "x", "", ORCH_NET_GELU, {3, 8, 8}, 0, 0},
    {"Softmax", "1 10", {NULL}, "x", "", ORCH_NET_SOFTMAX, {10, 1, 1}, 0, 0},
    {"LogSoftmax", "1 10", {NULL}, "x", "", ORCH_NET_SOFTMAX, {10, 1, 1}, 0, 0},
    {"Dropout", "1 10", {NULL}, "x", "", ORCH_NET_DROPOUT, {10, 1, 1}, 0, 0},
    {"LRN", "1 8 4 4", {NULL}, "x", "size=5", ORCH_NET_LRN, {8, 4, 4}, 0, 0},
    {"LayerNormalization", "1 4 8", {"8", "8"}, "x w v", "", ORCH_NET_LAYERNORM, {8, 4, 1}, 16, 0},
    {"Add", "1 4 8", {"8"}, "x w", "", ORCH_NET_ADD, {8, 4, 1}, 8, 0},
    {"Mul", "1 4 8", {"1"}, "x w", "", ORCH_NET_MUL, {8, 4, 1}, 0, 0},
    {"Mul", "1 4 5 5", {"4 1 1"}, "w x", "", ORCH_NET_MUL, {4, 5, 5}, 4, 0},
    {"Concat", "1 4 8", {"1 1 8"}, "w x", "axis=1", ORCH_NET_CONCAT, {8, 5, 1}, 8, 0},
    {"Concat", "1 4 5 5", {NULL}, "x x", "axis=1", ORCH_NET_CONCAT, {8, 5, 5}, 0, 0},
    {"Flatten", "1 4 5 5", {NULL}, "x", "", ORCH_NET_FLATTEN, {100, 1, 1}, 0, 0},
    {"Transpose", "1 4 5 6", {NULL}, "x", "perm=0,2,3,1", ORCH_NET_GENERIC, {4, 5, 6}, 0, 0},
    {"Slice",
     "1 4 5 6",
     {NULL},
     "x",
     "starts=1, ends=-1, axes=2,",
     ORCH_NET_GENERIC,
     {4, 3, 6},
     0,
     0},
    {"Pad", "1 4 5 6", {NULL}, "x", "pads=0,0,1,2,0,0,3,4", ORCH_NET_GENERIC, {4, 9, 12}, 0, 0},
    {"DepthToSpace", "1 4 5 6", {NULL}, "x", "blocksize=2", ORCH_NET_GENERIC, {1, 10, 12}, 0, 0},
    {"LSTM",
     "1 7 10",
     {"1 20 10", "1 20 5"},
     "x w v",
     "layout=1",
     ORCH_NET_TOKEN_LINEAR,
     {5, 7, 1},
     300,
     2100},
    {"GRU",
     "1 7 10",
     {"2 15 10", "2 15 5"},
     "x w v",
     "layout=1",
     ORCH_NET_TOKEN_LINEAR,
     {5, 7, 2},
     450,
     3150},
    {"RNN",
     "2 7 10",
     {"1 5 10", "1 5 5"},
     "x w v",
     "layout=1",
     ORCH_NET_TOKEN_LINEAR,
     {5, 7, 1},
     75,
     525},
    {"Sum", "1 4 8", {NULL}, "x x x", "", ORCH_NET_ADD, {8, 4, 1}, 0, 0},
};

static void test_operators(void **state)
{
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(SINGLE); i++) {
        Onnx__ModelProto *m = model_new();
        input(m->graph, "x", SINGLE[i].input);
        for (int j = 0; j < 2 && SINGLE[i].weights[j]; j++)
            weight(m->graph, j ? "v" : "w", SINGLE[i].weights[j]);
        node(m->graph, SINGLE[i].op, SINGLE[i].inputs, "y", SINGLE[i].attributes);
        output(m->graph, "y");
        struct orch_net *net = load(m);
        const struct orch_net_node *n = last(net);
        if (n->op != SINGLE[i].net_op || orch_net_params(net) != SINGLE[i].params ||
            n->macs != SINGLE[i].macs || n->out.c != SINGLE[i].shape[0] ||
            n->out.h != SINGLE[i].shape[1] || n->out.w != SINGLE[i].shape[2])
            fail_msg("row %u, %s %s: %s %dx%dx%d, %d parameters, %d multiply-adds", i, SINGLE[i].op,
                     SINGLE[i].attributes, orch_net_op_name(n->op), (int)n->out.c, (int)n->out.h,
                     (int)n->out.w, (int)orch_net_params(net), (int)n->macs);
        orch_net_free(net);
    }
}

static void test_batchnorm(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 6 4 4");
    weight(m->graph, "bn.weight", "6");
    weight(m->graph, "bn.bias", "6");
    weight(m->graph, "bn.running_mean", "6");
    weight(m->graph, "bn.running_var", "6");
    node(m->graph, "BatchNormalization", "x bn.weight bn.bias bn.running_mean bn.running_var", "y",
         "");
    output(m->graph, "y");
    struct orch_net *net = load(m);
    assert_int_equal(orch_net_params(net), 12);
    assert_string_equal(last(net)->name, "bn");
    assert_int_equal(tensor_find(net, "bn.running_var"), 3);
    assert_int_equal(orch_net_tensor(net, 3)->role, ORCH_NET_RUNNING_VAR);
    orch_net_free(net);
}

/* A product of two values, and the softmax between: attention, two heads of 8. */
static void test_attention(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "2 5 16");
    whole_numbers(m->graph, "heads", "0 0 2 8");
    node(m->graph, "Reshape", "x heads", "h", "");
    node(m->graph, "Transpose", "h", "q", "perm=0,2,1,3");
    node(m->graph, "Transpose", "h", "k", "perm=0,2,3,1");
    node(m->graph, "MatMul", "q k", "s", "");
    node(m->graph, "Softmax", "s", "p", "");
    node(m->graph, "MatMul", "p q", "y", "");
    output(m->graph, "y");
    struct orch_net *net = load(m);
    assert_int_equal(last(net)->op, ORCH_NET_ATTENTION);
    assert_int_equal(orch_net_macs(net), 2 * 2 * 5 * 5 * 8);
    g_autofree char *work = orch_net_macs_work(net, last(net));
    assert_string_equal(work, "5*8*2*5 = 400");
    orch_net_free(net);
}

static void einsum(graph *g, const char *equation, const char *inputs, const char *output_name)
{
    node(g, "Einsum", inputs, output_name, "");
    Onnx__AttributeProto *a = attribute(g->node[g->n_node - 1], "equation");
    a->has_s = 1;
    a->s.len = strlen(equation);
    a->s.data = (uint8_t *)g_strdup(equation);
}

/* Sums of products over labelled axes: MaxViT's attention, layers along the tokens, broadcasting.
 */
static void test_einsum(void **state)
{
    (void)state;
    static const struct {
        const char *equation, *a, *b; /* b NULL: a weight of 16 x 6, "": only one operand */
        enum orch_net_op op;
        struct orch_net_shape out;
        int64_t macs, params;
    } rows[] = {
        {"... i d, ... j d -> ... i j",
         "1 64 2 49 32",
         "1 64 2 49 32",
         ORCH_NET_ATTENTION,
         {49, 64, 98},
         64 * 2 * 49 * 49 * 32,
         0},
        {"bhqd,bhkd->bhqk", "1 2 5 8", "1 2 7 8", ORCH_NET_ATTENTION, {7, 2, 5}, 2 * 5 * 7 * 8, 0},
        {"bhqd,bhkd", "1 2 5 8", "1 2 7 8", ORCH_NET_GENERIC, {0, 0, 0}, 2 * 5 * 7 * 8, 0},
        {"btc,co->bto", "1 5 16", NULL, ORCH_NET_TOKEN_LINEAR, {6, 5, 1}, 5 * 16 * 6, 96},
        {"...c,co", "1 5 16", NULL, ORCH_NET_TOKEN_LINEAR, {6, 5, 1}, 5 * 16 * 6, 96},
        {"bct->btc", "1 16 5", "", ORCH_NET_GENERIC, {16, 5, 1}, 0, 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        Onnx__ModelProto *m = model_new();
        bool is_alone = rows[i].b && !rows[i].b[0];
        input(m->graph, "x", rows[i].a);
        if (!rows[i].b)
            weight(m->graph, "w", "16 6");
        else if (!is_alone)
            input(m->graph, "z", rows[i].b);
        einsum(m->graph, rows[i].equation, is_alone ? "x" : rows[i].b ? "x z" : "x w", "y");
        output(m->graph, "y");
        struct orch_net *net = load(m);
        if (rows[i].out.c) {
            assert_int_equal(last(net)->op, rows[i].op);
            assert_int_equal(last(net)->out.c, rows[i].out.c);
            assert_int_equal(last(net)->out.h * last(net)->out.w, rows[i].out.h * rows[i].out.w);
        }
        assert_int_equal(orch_net_macs(net), rows[i].macs);
        assert_int_equal(orch_net_params(net), rows[i].params);
        orch_net_free(net);
    }
}

static void test_bad_einsum(void **state)
{
    (void)state;
    static const char *const equations[] = {"bij,bjk->bik", "ij,jk->ik",      "bij->bi",
                                            "bij,bij->bix", "b..ij,bij->bij", "",
                                            "->",           "bij,bij,bij->b"};
    for (size_t i = 0; i < G_N_ELEMENTS(equations); i++) {
        Onnx__ModelProto *m = model_new();
        GError *error = NULL;
        input(m->graph, "x", "1 4 5");
        einsum(m->graph, equations[i], "x x", "y");
        output(m->graph, "y");
        g_autoptr(GBytes) bytes = encode(m);
        struct orch_net *net = read_bytes(bytes, (struct orch_net_shape){0}, NULL, &error);
        if (net || !strstr(error->message, "has an equation that does not fit its inputs"))
            fail_msg("'%s': %s", equations[i], net ? "was read" : error->message);
        g_error_free(error);
    }
}

/* Scores of two heads for 4 x 4 places, to which `bias` is added as it is or turned. */
static int64_t params_of_scores(const char *dims, const char *numbers, bool is_turned)
{
    Onnx__ModelProto *m = model_new();
    graph *g = m->graph;
    input(g, "q", "1 2 4 8");
    input(g, "k", "1 2 8 4");
    fill(weight(g, "bias", dims), numbers);
    whole_numbers(g, "shape", "1 4 4 2");
    real_number(g, "scale", "0.35");
    if (is_turned) {
        node(g, "Reshape", "bias shape", "r", "");
        node(g, "Transpose", "r", "b", "perm=0,3,1,2");
    }
    node(g, "MatMul", "q k", "products", "");
    node(g, "Mul", "products scale", "scores", "");
    node(g, "Add", is_turned ? "scores b" : "scores bias", "sum", "");
    node(g, "Softmax", "sum", "y", "axis=3");
    output(g, "y");
    struct orch_net *net = load(m);
    int64_t params = orch_net_params(net);
    orch_net_free(net);
    return params;
}

/* What exporters compute and add to attention: a mask has no parameters, a table of biases by
 * distance those of its rows, and other constants what they have. */
static void test_constants_of_scores(void **state)
{
    (void)state;
    GString *table = g_string_new(NULL), *turned = g_string_new(NULL), *whole = g_string_new(NULL);
    GString *mask = g_string_new(NULL);
    for (int head = 0; head < 2; head++)
        for (int i = 0; i < 16; i++) {
            int distance = i / 4 - i % 4; /* -3 to 3: seven rows */
            g_string_append_printf(table, "%s%d", table->len ? " " : "", 10 * head + distance);
            g_string_append_printf(whole, "%s%d", whole->len ? " " : "", 16 * head + i + 1);
        }
    for (int i = 0; i < 16; i++) {
        g_string_append_printf(turned, "%s%d %d", i ? " " : "", i / 4 - i % 4, 10 + i / 4 - i % 4);
        g_string_append_printf(mask, "%s%d", i ? " " : "", i % 4 > i / 4 ? -100 : 0);
    }
    assert_int_equal(params_of_scores("1 2 4 4", table->str, false), 14);
    assert_int_equal(params_of_scores("16 2", turned->str, true), 14);
    assert_int_equal(params_of_scores("1 2 4 4", whole->str, false), 32);
    assert_int_equal(params_of_scores("4 4", mask->str, false), 0);
    GString *const all[] = {table, turned, whole, mask};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        g_string_free(all[i], TRUE);
}

/* A mask that the model chooses from constants is no parameter. */
static void test_chosen_mask(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    graph *g = m->graph;
    input(g, "x", "1 3 4");
    fill(weight(g, "a", "4"), "1 2 3 4");
    fill(weight(g, "b", "4"), "4 3 2 1");
    node(g, "Less", "a b", "is_less", "");
    node(g, "Where", "is_less a b", "chosen", "");
    node(g, "Add", "x chosen", "y", "");
    output(g, "y");
    struct orch_net *net = load(m);
    assert_int_equal(orch_net_params(net), 0);
    orch_net_free(net);
}

/* The flatten that PyTorch writes for x.view(x.size(0), -1). */
static void test_shape_chain(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "? 4 3 3");
    whole_numbers(m->graph, "zero", "0");
    whole_numbers(m->graph, "minus", "-1");
    weight(m->graph, "fc.weight", "10 36");
    weight(m->graph, "fc.bias", "10");
    node(m->graph, "Shape", "x", "shape", "");
    node(m->graph, "Gather", "shape zero", "n", "axis=0");
    node(m->graph, "Concat", "n minus", "to", "axis=0");
    node(m->graph, "Reshape", "x to", "flat", "");
    node(m->graph, "Gemm", "flat fc.weight fc.bias", "y", "transB=1");
    output(m->graph, "y");
    struct orch_net *net = load(m);
    assert_int_equal(orch_net_node(net, 1)->op, ORCH_NET_FLATTEN);
    assert_int_equal(orch_net_params(net), 370);
    assert_string_equal(last(net)->name, "fc");
    assert_int_equal(net->classes, 10);
    orch_net_free(net);
}

/* Arithmetic on shapes: a size halved through Slice, Cast, Mul, Floor, then Resize by it. */
static void test_folding(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 3 9 7");
    whole_numbers(m->graph, "two", "2");
    whole_numbers(m->graph, "four", "4");
    whole_numbers(m->graph, "front", "1 3");
    fill(weight(m->graph, "half", "1"), "0.5");
    node(m->graph, "Shape", "x", "shape", "");
    node(m->graph, "Slice", "shape two four", "places", "");
    node(m->graph, "Cast", "places", "real", "to=1");
    node(m->graph, "Mul", "real half", "scaled", "");
    node(m->graph, "Floor", "scaled", "floored", "");
    node(m->graph, "Cast", "floored", "whole", "to=7");
    node(m->graph, "Concat", "front whole", "sizes", "axis=0");
    node(m->graph, "Resize", "x - - sizes", "y", "");
    output(m->graph, "y");
    struct orch_net *net = load(m);
    assert_int_equal(net->nodes->len, 2);
    assert_shape(last(net), 3, 4, 3);
    orch_net_free(net);
}

static void test_split(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 12 4 4");
    whole_numbers(m->graph, "sizes", "4 8");
    node(m->graph, "Split", "x sizes", "a b", "axis=1");
    node(m->graph, "Squeeze", "b", "c", "axes=0,");
    node(m->graph, "Unsqueeze", "c", "d", "axes=0,");
    node(m->graph, "Concat", "d a a", "y", "axis=1");
    output(m->graph, "y");
    struct orch_net *net = load(m);
    assert_shape(orch_net_node(net, 1), 4, 4, 4);
    assert_shape(orch_net_node(net, 2), 8, 4, 4);
    assert_shape(last(net), 16, 4, 4);
    orch_net_free(net);
}

static void test_embedding(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 9");
    m->graph->input[0]->type->tensor_type->elem_type = 7;
    weight(m->graph, "wte.weight", "100 16");
    node(m->graph, "Gather", "wte.weight x", "e", "");
    node(m->graph, "Transpose", "wte.weight", "t", "perm=1,0");
    node(m->graph, "MatMul", "e t", "y", "");
    output(m->graph, "y");
    struct orch_net *net = load(m);
    assert_shape(orch_net_node(net, 0), 1, 9, 1);
    assert_int_equal(orch_net_node(net, 1)->op, ORCH_NET_EMBEDDING);
    assert_shape(orch_net_node(net, 1), 16, 9, 1);
    assert_int_equal(orch_net_params(net), 1600); /* tied: counted once */
    assert_int_equal(orch_net_macs(net), 9 * 16 * 100);
    orch_net_free(net);
}

/* ---- patterns ------------------------------------------------------------------------------ */

static void test_gelu(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 4 8");
    real_number(m->graph, "root", "1.41421356");
    real_number(m->graph, "one", "1");
    real_number(m->graph, "half", "0.5");
    node(m->graph, "Div", "x root", "d", "");
    node(m->graph, "Erf", "d", "e", "");
    node(m->graph, "Add", "e one", "s", "");
    node(m->graph, "Mul", "x s", "p", "");
    node(m->graph, "Mul", "p half", "y", "");
    output(m->graph, "y");
    struct orch_net *net = load(m);
    assert_int_equal(net->nodes->len, 2);
    assert_int_equal(last(net)->op, ORCH_NET_GELU);
    orch_net_free(net);
}

static void test_silu(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 4 8 8");
    node(m->graph, "Sigmoid", "x", "s", "");
    node(m->graph, "Mul", "x s", "y", "");
    output(m->graph, "y");
    struct orch_net *net = load(m);
    assert_int_equal(net->nodes->len, 2);
    assert_int_equal(last(net)->op, ORCH_NET_SILU);
    orch_net_free(net);
}

/* Taken apart, with weights; and a linear layer as product and sum. */
static void test_layernorm_and_bias(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    graph *g = m->graph;
    input(g, "x", "1 4 8");
    real_number(g, "two", "2");
    real_number(g, "eps", "0.00001");
    weight(g, "ln.weight", "8");
    weight(g, "ln.bias", "8");
    node(g, "Identity", "ln.bias", "ln.copy", ""); /* as PyTorch merges equal weights */
    weight(g, "onnx::MatMul_1", "8 3");
    weight(g, "fc.bias", "3");
    node(g, "ReduceMean", "x", "mean", "axes=-1,");
    node(g, "Sub", "x mean", "d", "");
    node(g, "Pow", "d two", "sq", "");
    node(g, "ReduceMean", "sq", "var", "axes=-1,");
    node(g, "Add", "var eps", "sum", "");
    node(g, "Sqrt", "sum", "sd", "");
    node(g, "Div", "d sd", "q", "");
    node(g, "Mul", "q ln.weight", "m", "");
    node(g, "Add", "m ln.copy", "n", "");
    node(g, "MatMul", "n onnx::MatMul_1", "p", "");
    node(g, "Add", "fc.bias p", "y", "");
    output(g, "y");
    struct orch_net *net = load(m);
    assert_int_equal(net->nodes->len, 3);
    assert_int_equal(orch_net_node(net, 1)->op, ORCH_NET_LAYERNORM);
    assert_int_equal(orch_net_node_params(net, orch_net_node(net, 1)), 16);
    assert_int_equal(last(net)->op, ORCH_NET_TOKEN_LINEAR);
    assert_true(last(net)->has_bias);
    assert_string_equal(last(net)->name, "MatMul_10");
    assert_int_equal(orch_net_params(net), 16 + 27);
    orch_net_free(net);
}

/* ---- costs --------------------------------------------------------------------------------- */

/* The layers of a decoder: what is counted of them, how it is written, and which pixels they see.
 */
static void test_transposed_costs(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 3 8 8");
    weight(m->graph, "down.weight", "4 3 3 3");
    weight(m->graph, "up.weight", "4 6 3 3");
    weight(m->graph, "up.bias", "6");
    node(m->graph, "Conv", "x down.weight", "a", "strides=2,2 pads=1,1,1,1");
    node(m->graph, "ConvTranspose", "a up.weight up.bias", "b",
         "strides=2,2 pads=1,1,1,1 output_padding=1,1");
    node(m->graph, "Relu", "b", "y", "");
    output(m->graph, "y");
    struct orch_net *net = load(m);
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    const struct orch_net_node *up = orch_net_node(net, 2);
    g_autofree char *params = orch_net_params_work(net, up);
    g_autofree char *macs = orch_net_macs_work(net, up);
    assert_string_equal(up->name, "up");
    assert_string_equal(params, "(3*3*6)*4 = 216");
    assert_string_equal(macs, "(3*3*6)*4*4*4 = 3,456");
    assert_int_equal(costs[2].params, 222);
    assert_int_equal(costs[2].weights, 216);
    assert_int_equal(costs[2].macs, 3456);
    assert_int_equal(costs[2].other, 6 * 8 * 8);
    assert_int_equal(costs[2].read, 222 + 4 * 4 * 4);
    assert_int_equal(costs[2].field_h, 5); /* two of the first layer's outputs */
    assert_true(costs[3].is_in_place);
    assert_int_equal(orch_net_depth(net), 2);
    assert_int_equal(orch_net_kind_of(up->op), ORCH_NET_KIND_CONV);
    orch_net_free(net);
}

/* ---- notes --------------------------------------------------------------------------------- */

static void test_notes(void **state)
{
    (void)state;
    struct orch_onnx_notes notes = {0};
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 4 8 8");
    weight(m->graph, "w", "4 8 8");
    weight(m->graph, "v", "7");
    node(m->graph, "Sqrt", "x", "a", "");
    node(m->graph, "Sqrt", "a", "b", "");
    node(m->graph, "Max", "b w", "c", "");
    node(m->graph, "Foo", "c v", "d", "");
    m->graph->node[3]->domain = g_strdup("com.example");
    node(m->graph, "Relu", "d", "y", "");
    output(m->graph, "y");
    struct orch_net *net = load_noted(m, &notes);
    assert_int_equal(notes.items->len, 3);
    struct orch_onnx_note **n = (struct orch_onnx_note **)notes.items->pdata;
    assert_string_equal(n[0]->op, "Sqrt");
    assert_string_equal(n[0]->node, "Sqrt_0");
    assert_int_equal(n[0]->count, 2);
    assert_true(n[0]->is_known);
    assert_int_equal(n[1]->params, 256);
    assert_true(n[1]->is_known);
    assert_string_equal(n[2]->op, "com.example::Foo");
    assert_int_equal(n[2]->params, 7);
    assert_false(n[2]->is_known);
    assert_int_equal(orch_net_params(net), 0);
    assert_shape(last(net), 4, 8, 8);
    orch_onnx_notes_release(&notes);
    assert_null(notes.items);
    orch_net_free(net);
}

/* The shape behind what is unknown is the file's, where it says one. */
/* A recurrent layer whose sequences come first, and similarities of all pairs of a batch: the
 * second axis is the batch, or a sample is the whole batch, and that is said. */
static void test_batch(void **state)
{
    static const struct {
        const char *op, *input, *attributes;
        int64_t macs;
        const char *says; /* NULL: nothing */
    } rows[] = {
        {"LSTM", "3 7 10", "layout=1", 7 * 20 * 15, NULL},
        {"LSTM", "7 3 10", "", 7 * 20 * 15, "the batch is axis 1 of the inputs"},
        {"LSTM", "7 ? 10", "", 7 * 20 * 15, "the batch is axis 1 of the inputs"},
        {"LSTM", "7 1 10", "", 7 * 20 * 15, "its batch of 7 is fixed by LSTM '"},
        {"LSTM", "1 1 10", "", 20 * 15, NULL},
        {"MatMul", "6 8", "", 6 * 6 * 8, "its batch of 6 is fixed by MatMul '"},
        {"MatMul", "? 8", "", 8, "its batch of 1 is fixed by MatMul '"},
        {"Gemm", "6 8", "", 6 * 6 * 8, "its batch of 6 is fixed by Gemm '"},
        {"MatMul", "6 5 8", "", 5 * 5 * 8, NULL},
        {"MatMul", "? 5 8", "", 5 * 5 * 8, NULL},
    };
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        Onnx__ModelProto *m = model_new();
        struct orch_onnx_notes notes = {0};
        bool is_recurrent = strcmp(rows[i].op, "LSTM") == 0, is_stack = strlen(rows[i].input) > 3;
        input(m->graph, "x", rows[i].input);
        weight(m->graph, "w", "1 20 10");
        weight(m->graph, "v", "1 20 5");
        if (!is_recurrent)
            node(m->graph, "Transpose", "x", "t", is_stack ? "perm=0,2,1" : "perm=1,0");
        node(m->graph, rows[i].op, is_recurrent ? "x w v" : "x t", "y", rows[i].attributes);
        output(m->graph, "y");
        struct orch_net *net = load_noted(m, &notes);
        const char *said = notes.batch;
        if (orch_net_macs(net) != rows[i].macs || (said != NULL) != (rows[i].says != NULL) ||
            (said && !g_str_has_prefix(said, rows[i].says)))
            fail_msg("row %u: %d multiply-adds, '%s'", i, (int)orch_net_macs(net), said);
        orch_onnx_notes_release(&notes);
        orch_net_free(net);
    }
}

static void test_declared(void **state)
{
    (void)state;
    struct orch_onnx_notes notes = {0};
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 4 8 8");
    weight(m->graph, "w", "2 3 1 1");
    node(m->graph, "Foo", "x", "a", "");
    APPEND(m->graph->value_info, m->graph->n_value_info, value_info("a", "? 3 5 5"));
    node(m->graph, "Conv", "a w", "y", "");
    output(m->graph, "y");
    struct orch_net *net = load_noted(m, &notes);
    assert_shape(last(net), 2, 5, 5);
    orch_onnx_notes_release(&notes);
    orch_net_free(net);
}

/* ---- graphs -------------------------------------------------------------------------------- */

static void test_order(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 4 8 8");
    node(m->graph, "Add", "b c", "y", "");
    node(m->graph, "Tanh", "a", "c", "");
    node(m->graph, "Sigmoid", "a", "b", "");
    node(m->graph, "Relu", "x", "a", "");
    node(m->graph, "Exp", "x", "nobody", ""); /* wanted by no output: left out */
    output(m->graph, "y");
    struct orch_net *net = load(m);
    assert_int_equal(net->nodes->len, 5);
    assert_int_equal(orch_net_node(net, 1)->op, ORCH_NET_RELU);
    assert_int_equal(last(net)->op, ORCH_NET_ADD);
    orch_net_free(net);
}

static void test_wide_concat(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 2 4 4");
    GString *all = g_string_new("x");
    for (int i = 0; i < 199; i++)
        g_string_append(all, " x");
    node(m->graph, "Concat", all->str, "y", "axis=1");
    g_string_free(all, TRUE);
    output(m->graph, "y");
    struct orch_net *net = load(m);
    assert_shape(last(net), 400, 4, 4);
    orch_net_free(net);
}

static void test_other_input(void **state)
{
    (void)state;
    GError *error = NULL;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "? 3 ? ?");
    weight(m->graph, "w", "6 3 3 3");
    node(m->graph, "Conv", "x w", "c", "");
    node(m->graph, "GlobalAveragePool", "c", "y", "");
    output(m->graph, "y");
    g_autoptr(GBytes) bytes = encode(m);
    assert_null(read_bytes(bytes, (struct orch_net_shape){0}, NULL, &error));
    assert_non_null(strstr(error->message, "has no fixed height"));
    assert_non_null(strstr(error->message, "hint: give the input size"));
    g_clear_error(&error);
    struct orch_net *net = read_bytes(bytes, (struct orch_net_shape){0, 12, 10}, NULL, &error);
    assert_non_null(net);
    assert_shape(orch_net_node(net, 1), 6, 10, 8);
    orch_net_free(net);
    assert_null(read_bytes(bytes, (struct orch_net_shape){4, 12, 10}, NULL, &error));
    assert_non_null(strstr(error->message, "has 4 input channels, but its weights are for 3"));
    g_clear_error(&error);
    assert_null(read_bytes(bytes, (struct orch_net_shape){0, 2, 2}, NULL, &error));
    assert_non_null(strstr(error->message, "the input of the model is too small"));
    g_clear_error(&error);
}

/* ---- faults -------------------------------------------------------------------------------- */

static void test_cycle(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 4");
    node(m->graph, "Add", "x b", "a", "");
    node(m->graph, "Relu", "a", "b", "");
    output(m->graph, "b");
    load_fails(m, "node 'Add_0' (Add) depends on its own output", "export the model again");
}

static void test_pieces(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 4");
    node(m->graph, "Add", "x lost", "y", "");
    output(m->graph, "y");
    load_fails(m, "node 'Add_0' (Add) reads 'lost', which no node defines",
               "export the model again");
    m = model_new();
    input(m->graph, "x", "1 4");
    weight(m->graph, "w", "1 4");
    node(m->graph, "Relu", "w", "y", "");
    output(m->graph, "y");
    load_fails(m, "output 'y' does not depend on the input", "export the model again");
    m = model_new();
    input(m->graph, "x", "1 4");
    output(m->graph, "nothing");
    load_fails(m, "output 'nothing' does not depend on the input", "export the model again");
    m = model_new();
    input(m->graph, "x", "1 4");
    load_fails(m, "has no output", "export");
    m = model_new();
    output(m->graph, "y");
    load_fails(m, "has no input", "export");
}

static void test_twice(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 4");
    node(m->graph, "Relu", "x", "y", "");
    node(m->graph, "Tanh", "x", "y", "");
    output(m->graph, "y");
    load_fails(m, "the value 'y' is defined twice", "export");
    m = model_new();
    input(m->graph, "x", "1 4");
    weight(m->graph, "y", "4");
    node(m->graph, "Relu", "x", "y", "");
    output(m->graph, "y");
    load_fails(m, "the value 'y' is defined twice", "export");
    m = model_new();
    input(m->graph, "x", "1 4");
    weight(m->graph, "w", "4");
    node(m->graph, "Relu", "w", "x", "");
    output(m->graph, "x");
    load_fails(m, "the value 'x' is defined twice", "export");
}

static void test_misfits(void **state)
{
    (void)state;
    static const struct {
        const char *op, *input, *weight, *attributes, *text;
    } rows[] = {
        {"Conv", "1 3 8 8", "6 4 3 3", "",
         "node 'Conv_0' (Conv) has 3 input channels, but its weights are for 4"},
        {"Conv", "1 4 8 8", "6 1 3 3", "group=4", "has 4 groups for 6 channels"},
        {"Conv", "1 4 8 8", "6 4 3 3", "group=0", "has 0 groups"},
        {"Conv", "1 4 8 8", "6 4 3 3", "strides=0,1", "has strides that do not fit"},
        {"Conv", "1 4 8 8", "6 4 3 3", "pads=1,1", "has pads that do not fit"},
        {"Conv", "1 4 8 8", "6 4 3 3", "kernel_shape=5,5",
         "kernel_shape that does not fit its weights"},
        {"Conv", "1 4 2 8", "6 4 3 3", "",
         "window of 3 elements, which is too large for its input 1x4x2x8"},
        {"Gemm", "1 9", "8 4", "", "cannot multiply 1x9 with 8x4"},
        {"MatMul", "1 5 9", "8 4", "", "cannot multiply 1x5x9 with 8x4"},
        {"Add", "1 5 9", "8", "", "cannot combine shapes 1x5x9 and 8"},
        {"Concat", "1 5 9", "1 5 8", "axis=1", "cannot combine shapes 1x5x9 and 1x5x8"},
        {"Concat", "1 5 9", "1 5 9", "axis=7", "works on axis 7"},
        {"Conv", "1 0 8 8", "6 4 3 3", "", "has no fixed channels"},
        {"Conv", "1 99999999 8 8", "6 4 3 3", "", "is too large (its channels is 99999999)"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        Onnx__ModelProto *m = model_new();
        input(m->graph, "x", rows[i].input);
        weight(m->graph, "w", rows[i].weight);
        node(m->graph, rows[i].op, "x w", "y", rows[i].attributes);
        output(m->graph, "y");
        load_fails(m, rows[i].text, "hint: ");
    }
}

static void test_reshape_misfit(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *text;
    } rows[] = {{"7 -1", "cannot reshape to 7x-1 from 1x4x4"},
                {"-1 -1", "cannot reshape to"},
                {"5 5", "cannot reshape to 5x5 from 1x4x4"},
                {"9000000000000000000 9000000000000000000", "cannot reshape to"},
                {"1 1 1 1 1 1 1 1 16", "more than 8 axes"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        Onnx__ModelProto *m = model_new();
        input(m->graph, "x", "1 4 4");
        whole_numbers(m->graph, "to", rows[i].shape);
        node(m->graph, "Reshape", "x to", "y", "");
        output(m->graph, "y");
        load_fails(m, rows[i].text, "hint: ");
    }
}

/* A misfit behind something whose shape was guessed says so. */
static void test_misfit_of_guess(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 4 8 8");
    weight(m->graph, "w", "2 3 1 1");
    node(m->graph, "Foo", "x", "a", "");
    node(m->graph, "Relu", "a", "b", "");
    node(m->graph, "Conv", "b w", "y", "");
    output(m->graph, "y");
    load_fails(m, "has 4 input channels, but its weights are for 3",
               "orch does not know the shape after operator 'Foo': write the shapes into the file");
}

/* What runs graphs of its own has another hint, which helps. */
static void test_misfit_of_branches(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 4 8 8");
    weight(m->graph, "w", "2 3 1 1");
    node(m->graph, "If", "x", "a", "");
    node(m->graph, "Conv", "a w", "y", "");
    output(m->graph, "y");
    load_fails(m, "has 4 input channels, but its weights are for 3",
               "export the model without operator 'If', whose inner graphs orch does not read");
}

/* A newer version of the operators than any that is known is noted; other domains have their own.
 */
static void test_newer_opset(void **state)
{
    (void)state;
    static const struct {
        const char *domain;
        int64_t version, noted;
    } rows[] = {{"", 17, 0}, {"", 99, 99}, {"ai.onnx", 99, 99}, {"com.example", 99, 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct orch_onnx_notes notes = {0};
        Onnx__ModelProto *m = model_new();
        Onnx__OperatorSetIdProto *set = g_new(Onnx__OperatorSetIdProto, 1);
        onnx__operator_set_id_proto__init(set);
        set->domain = g_strdup(rows[i].domain);
        set->has_version = 1;
        set->version = rows[i].version;
        APPEND(m->opset_import, m->n_opset_import, set);
        input(m->graph, "x", "1 4 8 8");
        node(m->graph, "Relu", "x", "y", "");
        output(m->graph, "y");
        struct orch_net *net = load_noted(m, &notes);
        assert_int_equal(notes.newer_opset, rows[i].noted);
        orch_onnx_notes_release(&notes);
        orch_net_free(net);
    }
}

/* Weights may be in nodes Constant, as paddle2onnx writes them. */
static void test_weights_in_constants(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 3 8 8");
    node(m->graph, "Constant", "", "w", "");
    attribute(m->graph->node[0], "value")->t = tensor("", "6 3 3 3", 1);
    node(m->graph, "Constant", "", "b", "");
    attribute(m->graph->node[1], "value")->t = tensor("", "6", 1);
    node(m->graph, "Conv", "x w b", "y", "pads=1,1,1,1");
    output(m->graph, "y");
    struct orch_net *net = load(m);
    assert_int_equal(orch_net_params(net), 168);
    orch_net_free(net);
}

static void test_declared_too_large(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 4");
    weight(m->graph, "w", "512 1048576");
    node(m->graph, "MatMul", "x w", "y", "");
    output(m->graph, "y");
    load_fails(m, "tensor 'w' is declared with 536870912 elements (2.0 GiB)",
               "export the model again");
    m = model_new();
    input(m->graph, "x", "1 4");
    weight(m->graph, "w", "4000000000 4000000000");
    output(m->graph, "x");
    load_fails(m, "tensor 'w' has an impossible size", "export");
}

/* A constant that a short file makes large is not filled in. */
static void test_large_constant(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 4");
    whole_numbers(m->graph, "to", "1000000 1000 1000");
    node(m->graph, "ConstantOfShape", "to", "c", "");
    node(m->graph, "ReduceSum", "c", "s", "");
    node(m->graph, "Mul", "x s", "y", "");
    output(m->graph, "y");
    orch_net_free(load(m));
    m = model_new();
    input(m->graph, "x", "1 4");
    whole_numbers(m->graph, "to", "1000000 1000000 1000000");
    node(m->graph, "ConstantOfShape", "to", "c", "");
    node(m->graph, "Add", "x c", "y", "");
    output(m->graph, "y");
    load_fails(m, "has an output of more than 2^40 elements", "hint: ");
}

static void test_no_model(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "hello, this is no model", "PK\3\4", "\x3a\x00"};
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
        GError *error = NULL;
        assert_null(orch_onnx_load_bytes(texts[i], strlen(texts[i]), "test.onnx",
                                         (struct orch_net_shape){0}, NULL, &error));
        assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_RECIPE));
        assert_non_null(strstr(error->message, "test.onnx"));
        g_error_free(error);
    }
}

static void test_files(void **state)
{
    (void)state;
    GError *error = NULL;
    assert_null(orch_onnx_load("/nonexistent/net.onnx", (struct orch_net_shape){0}, NULL, &error));
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_IO));
    assert_non_null(strstr(error->message, "/nonexistent/net.onnx"));
    g_clear_error(&error);
    assert_null(orch_onnx_load("/", (struct orch_net_shape){0}, NULL, &error));
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_IO));
    g_clear_error(&error);

    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 4");
    node(m->graph, "Relu", "x", "y", "");
    output(m->graph, "y");
    g_autoptr(GBytes) bytes = encode(m);
    g_autofree char *folder = g_dir_make_tmp("orch-onnx-XXXXXX", NULL);
    assert_non_null(folder);
    g_autofree char *path = g_build_filename(folder, "small.onnx", NULL);
    size_t length;
    const char *data = g_bytes_get_data(bytes, &length);
    assert_true(g_file_set_contents(path, data, (gssize)length, &error));
    struct orch_net *net = orch_onnx_load(path, (struct orch_net_shape){0}, NULL, &error);
    assert_non_null(net);
    assert_string_equal(net->name, "small.onnx");
    assert_false(orch_net_is_classifier(net));
    orch_net_free(net);
    assert_true(g_file_set_contents(path, data, (gssize)length - 1, &error));
    assert_null(orch_onnx_load(path, (struct orch_net_shape){0}, NULL, &error));
    assert_non_null(strstr(error->message, "is truncated"));
    g_clear_error(&error);
    g_unlink(path);
    g_rmdir(folder);
}

/* ---- bytes that are not a model's ---------------------------------------------------------- */

/* A little of everything: windows, shapes worked out, patterns, attention. */
static GBytes *mixed_model(void)
{
    Onnx__ModelProto *m = model_new();
    graph *g = m->graph;
    input(g, "x", "2 3 8 8");
    weight(g, "c.weight", "4 3 3 3");
    weight(g, "c.bias", "4");
    weight(g, "fc.weight", "4 6");
    weight(g, "fc.bias", "6");
    whole_numbers(g, "zero", "0");
    whole_numbers(g, "rest", "4 -1");
    whole_numbers(g, "sizes", "2 4");
    node(g, "Conv", "x c.weight c.bias", "a", "pads=1,1,1,1 group=1");
    node(g, "Sigmoid", "a", "s", "");
    node(g, "Mul", "a s", "b", "");
    node(g, "MaxPool", "b", "p", "kernel_shape=2,2 strides=2,2");
    node(g, "Shape", "p", "shape", "");
    node(g, "Gather", "shape zero", "n", "axis=0");
    node(g, "Concat", "n rest", "to", "axis=0");
    node(g, "Reshape", "p to", "r", "");
    node(g, "Transpose", "r", "t", "perm=0,2,1");
    node(g, "MatMul", "t fc.weight", "m", "");
    node(g, "Add", "m fc.bias", "l", "");
    node(g, "Split", "l sizes", "q k", "axis=2");
    node(g, "Transpose", "q", "qt", "perm=0,2,1");
    node(g, "MatMul", "qt k", "y", "");
    node(g, "Slice", "y", "z", "starts=0, ends=1, axes=1,");
    output(g, "z");
    return encode(m);
}

/* Reads, and counts what was read: neither may crash, overflow or leak. */
static bool survives(const uint8_t *data, size_t length)
{
    GError *error = NULL;
    struct orch_onnx_notes notes = {0};
    g_autofree uint8_t *exact = g_memdup2(length ? data : (const uint8_t *)"", MAX(length, 1));
    struct orch_net *net =
        orch_onnx_load_bytes(exact, length, "fuzzed", (struct orch_net_shape){0}, &notes, &error);
    assert_int_equal(net == NULL, error != NULL);
    if (error)
        assert_true(g_utf8_validate(error->message, -1, NULL));
    if (net)
        g_free(orch_net_costs(net));
    bool is_read = net != NULL;
    orch_onnx_notes_release(&notes);
    orch_net_free(net);
    g_clear_error(&error);
    return is_read;
}

static void test_truncations(void **state)
{
    (void)state;
    g_autoptr(GBytes) bytes = mixed_model();
    size_t length;
    const uint8_t *data = g_bytes_get_data(bytes, &length);
    for (size_t i = 0; i < length; i++)
        assert_false(survives(data, i));
    assert_true(survives(data, length));
}

static void test_flips(void **state)
{
    (void)state;
    g_autoptr(GBytes) bytes = mixed_model();
    size_t length;
    const uint8_t *data = g_bytes_get_data(bytes, &length);
    const char *rounds = g_getenv("ORCH_ONNX_FLIPS");
    int count = rounds ? atoi(rounds) : 20000, readable = 0;
    g_autoptr(GRand) random = g_rand_new_with_seed(1);
    g_autofree uint8_t *copy = g_malloc(length);
    for (int i = 0; i < count; i++) {
        memcpy(copy, data, length);
        for (int flips = g_rand_int_range(random, 1, 4); flips > 0; flips--)
            copy[g_rand_int_range(random, 0, (gint32)length)] =
                (uint8_t)g_rand_int_range(random, 0, 256);
        readable += survives(copy, length);
    }
    assert_true(readable > 0); /* else the flips test the decoder only */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_batchnorm),
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_einsum),
        cmocka_unit_test(test_bad_einsum),
        cmocka_unit_test(test_constants_of_scores),
        cmocka_unit_test(test_chosen_mask),
        cmocka_unit_test(test_shape_chain),
        cmocka_unit_test(test_folding),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_embedding),
        cmocka_unit_test(test_gelu),
        cmocka_unit_test(test_silu),
        cmocka_unit_test(test_layernorm_and_bias),
        cmocka_unit_test(test_transposed_costs),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_declared),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_wide_concat),
        cmocka_unit_test(test_other_input),
        cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_misfits),
        cmocka_unit_test(test_reshape_misfit),
        cmocka_unit_test(test_misfit_of_guess),
        cmocka_unit_test(test_misfit_of_branches),
        cmocka_unit_test(test_newer_opset),
        cmocka_unit_test(test_weights_in_constants),
        cmocka_unit_test(test_declared_too_large),
        cmocka_unit_test(test_large_constant),
        cmocka_unit_test(test_no_model),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_flips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
