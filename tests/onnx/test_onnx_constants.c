/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the ONNX reader computes of constants, of every type and by every operator; patterns that
 * become one operation; and what it refuses. */
#include "tests/onnx/onnx_fixture.h"

#include <math.h>

/* Makes "y" of the input (24 numbers) with as many rows as `value`, a constant of any type, says.
 * Only a value of 4 gives 4 rows of 6. */
static void rows_by(graph *g, const char *value)
{
    whole_numbers(g, "open", "-1");
    node(g, "Cast", value, "whole", "to=7");
    whole_numbers(g, "single", "1");
    node(g, "Reshape", "whole single", "count", "");
    node(g, "Concat", "count open", "to", "axis=0");
    node(g, "Reshape", "x to", "rows", "");
    node(g, "Relu", "rows", "y", "");
    output(g, "y");
}

static void expect_four_rows(Onnx__ModelProto *m, const char *what)
{
    GError *error = NULL;
    g_autoptr(GBytes) bytes = encode(m);
    struct orch_onnx_notes notes = {0};
    struct orch_net *net = read_bytes(bytes, (struct orch_net_shape){0}, &notes, &error);
    if (!net)
        fail_msg("%s: %s", what, error->message);
    const struct orch_net_node *y = last(net);
    if (y->out.c != 6 || y->out.h != 4 || notes.items)
        fail_msg("%s: %d rows of %d%s", what, (int)y->out.h, (int)y->out.c,
                 notes.items ? ", with a note" : "");
    orch_net_free(net);
}

static Onnx__ModelProto *model_of_24(void)
{
    Onnx__ModelProto *m = model_new();
    input(m->graph, "x", "1 24");
    return m;
}

/* ---- arithmetic -------------------------------------------------------------------------------
 */

/* Each result is 4 once `shift` is added. */
static void test_arithmetic(void **state)
{
    (void)state;
    static const struct {
        const char *op, *a, *b;
        bool whole;
        const char *shift;
    } rows[] = {
        {"Sqrt", "16", NULL, false, "0"},
        {"Exp", "0", NULL, false, "3"},
        {"Log", "1", NULL, false, "4"},
        {"Neg", "-4", NULL, false, "0"},
        {"Abs", "-4", NULL, false, "0"},
        {"Floor", "4.9", NULL, false, "0"},
        {"Ceil", "3.1", NULL, false, "0"},
        {"Round", "3.6", NULL, false, "0"},
        {"Reciprocal", "0.25", NULL, false, "0"},
        {"Identity", "4", NULL, false, "0"},
        {"Not", "0", NULL, false, "3"},
        {"Not", "7", NULL, false, "4"},
        {"Sum", "4", NULL, false, "0"},
        {"Sum", "1", "3", false, "0"},
        {"Sub", "9", "5", true, "0"},
        {"Mul", "-2", "-2", true, "0"},
        {"Div", "9", "2", true, "0"},
        {"Div", "-9", "2", true, "8"},
        {"Div", "9", "0", true, "4"},
        {"Div", "10", "2.5", false, "0"},
        {"Pow", "2", "2", true, "0"},
        {"Mod", "-1", "5", true, "0"},
        {"Mod", "9", "5", true, "0"},
        {"Mod", "9", "0", true, "4"},
        {"Min", "4", "5", true, "0"},
        {"Max", "4", "3", true, "0"},
        {"Equal", "2", "2", true, "3"},
        {"Equal", "2", "3", true, "4"},
        {"Less", "2", "3", true, "3"},
        {"Less", "3", "3", true, "4"},
        {"LessOrEqual", "3", "3", true, "3"},
        {"LessOrEqual", "4", "3", true, "4"},
        {"Greater", "3", "2", true, "3"},
        {"Greater", "3", "3", true, "4"},
        {"GreaterOrEqual", "3", "3", true, "3"},
        {"GreaterOrEqual", "2", "3", true, "4"},
        {"And", "1", "1", true, "3"},
        {"And", "1", "0", true, "4"},
        {"Or", "0", "1", true, "3"},
        {"Or", "0", "0", true, "4"},
        {"ReduceMean", "3 5", NULL, false, "0"},
        {"ReduceSum", "1 3", NULL, false, "0"},
        {"ReduceProd", "2 2", NULL, false, "0"},
        {"ReduceMax", "4 3 -5", NULL, false, "0"},
        {"ReduceMin", "9 4 5", NULL, false, "0"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        Onnx__ModelProto *m = model_of_24();
        const char *numbers[] = {rows[i].a, rows[i].b}, *names[] = {"a", "b"};
        for (int j = 0; j < 2 && numbers[j]; j++) {
            g_auto(GStrv) words = g_strsplit(numbers[j], " ", 0);
            g_autofree char *dims = g_strdup_printf("%u", g_strv_length(words));
            if (rows[i].whole)
                whole_numbers(m->graph, names[j], numbers[j]);
            else
                fill(weight(m->graph, names[j], dims), numbers[j]);
        }
        whole_numbers(m->graph, "shift", rows[i].shift);
        node(m->graph, rows[i].op, rows[i].b ? "a b" : "a", "r", "");
        node(m->graph, "Cast", "r", "i", "to=7");
        node(m->graph, "Add", "i shift", "four", "");
        rows_by(m->graph, "four");
        g_autofree char *what = g_strdup_printf("%s of %s and %s", rows[i].op, rows[i].a,
                                                rows[i].b ? rows[i].b : "nothing");
        expect_four_rows(m, what);
    }
}

/* Operators that make sequences, and those that choose of them. */
static void test_sequences(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_of_24();
    graph *g = m->graph;
    whole_numbers(g, "from", "10");
    whole_numbers(g, "below", "3");
    whole_numbers(g, "by", "-2");
    whole_numbers(g, "at", "3");
    node(g, "Range", "from below by", "r", ""); /* 10 8 6 4 */
    node(g, "Gather", "r at", "four", "axis=0");
    rows_by(g, "four");
    expect_four_rows(m, "Range and Gather");

    m = model_of_24();
    g = m->graph;
    whole_numbers(g, "from", "5");
    whole_numbers(g, "zero", "0");
    whole_numbers(g, "four", "4");
    node(g, "Range", "from from zero", "none", ""); /* a step of 0 makes nothing */
    node(g, "Size", "none", "size", "");
    node(g, "Add", "size four", "four2", "");
    rows_by(g, "four2");
    expect_four_rows(m, "an empty Range and Size");

    m = model_of_24();
    g = m->graph;
    whole_numbers(g, "one", "1");
    whole_numbers(g, "shape", "2 2");
    whole_numbers(g, "flat", "4");
    node(g, "Expand", "one shape", "ones", "");
    node(g, "Reshape", "ones flat", "list", "");
    node(g, "ReduceSum", "list", "four", "");
    rows_by(g, "four");
    expect_four_rows(m, "Expand and ReduceSum");

    m = model_of_24();
    g = m->graph;
    whole_numbers(g, "a", "1 9 2");
    whole_numbers(g, "b", "3");
    node(g, "Less", "b a", "is_less", "");
    node(g, "Where", "is_less b a", "chosen", ""); /* 1 3 2 */
    whole_numbers(g, "two", "2");
    node(g, "Sub", "chosen two", "less", ""); /* -1 1 0 */
    node(g, "ReduceMax", "less", "most", "");
    node(g, "Add", "most b", "four", "");
    rows_by(g, "four");
    expect_four_rows(m, "Where");
}

/* The four ways in which a Constant holds its value. */
static void test_constants(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        Onnx__ModelProto *m = model_of_24();
        graph *g = m->graph;
        node(g, "Constant", "", "c", "");
        Onnx__NodeProto *n = g->node[0];
        static const char *const names[] = {"value_int", "value_float", "value_ints",
                                            "value_floats"};
        Onnx__AttributeProto *a = attribute(n, names[kind]);
        a->has_i = kind == 0;
        a->i = 4;
        a->has_f = kind == 1;
        a->f = 4.5F;
        for (int64_t i = 1; kind == 2 && i <= 4; i++)
            APPEND(a->ints, a->n_ints, i == 4 ? 4 : 0);
        for (int i = 1; kind == 3 && i <= 4; i++)
            APPEND(a->floats, a->n_floats, i == 4 ? 4.5F : 0);
        node(g, kind < 2 ? "Identity" : "ReduceMax", "c", "four", "");
        rows_by(g, "four");
        expect_four_rows(m, names[kind]);
    }
}

/* ---- types ------------------------------------------------------------------------------------
 */

static void put_raw(Onnx__TensorProto *t, const void *bytes, size_t length)
{
    g_free(t->raw_data.data);
    t->raw_data.data = g_memdup2(bytes, length);
    t->raw_data.len = length;
    t->has_raw_data = 1;
}

static void test_types_of_raw_data(void **state)
{
    (void)state;
    const float f32 = 4;
    const double f64 = 4;
    const int8_t i8 = 4;
    const uint8_t u8 = 4;
    const int16_t i16 = 4;
    const uint16_t u16 = 4, half = 0x4400;
    const int32_t i32 = 4;
    const uint32_t u32 = 4;
    const int64_t i64 = 4;
    const uint64_t u64 = 4;
    const struct {
        int type;
        const void *bytes;
        size_t length;
    } rows[] = {{1, &f32, 4},  {2, &u8, 1},   {3, &i8, 1},  {4, &u16, 2},
                {5, &i16, 2},  {6, &i32, 4},  {7, &i64, 8}, {10, &half, 2},
                {11, &f64, 8}, {12, &u32, 4}, {13, &u64, 8}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        Onnx__ModelProto *m = model_of_24();
        Onnx__TensorProto *t = tensor("four", "1", rows[i].type);
        put_raw(t, rows[i].bytes, rows[i].length);
        APPEND(m->graph->initializer, m->graph->n_initializer, t);
        rows_by(m->graph, "four");
        g_autofree char *what = g_strdup_printf("raw type %d", rows[i].type);
        expect_four_rows(m, what);
    }
}

/* Numbers in the fields of their type; a half in int32_data by its bits. */
static void test_types_of_typed_data(void **state)
{
    (void)state;
    static const int types[] = {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13};
    for (unsigned i = 0; i < G_N_ELEMENTS(types); i++) {
        Onnx__ModelProto *m = model_of_24();
        Onnx__TensorProto *t = tensor("t", "1", types[i]);
        bool is_bool = types[i] == 9;
        g_clear_pointer(&t->raw_data.data, g_free);
        t->raw_data.len = 0;
        t->has_raw_data = 0;
        switch (types[i]) {
        case 1:
            APPEND(t->float_data, t->n_float_data, 4);
            break;
        case 7:
            APPEND(t->int64_data, t->n_int64_data, 4);
            break;
        case 10:
            APPEND(t->int32_data, t->n_int32_data, 0x4400);
            break;
        case 11:
            APPEND(t->double_data, t->n_double_data, 4);
            break;
        case 12:
        case 13:
            APPEND(t->uint64_data, t->n_uint64_data, 4);
            break;
        default:
            APPEND(t->int32_data, t->n_int32_data, is_bool ? 1 : 4);
            break;
        }
        APPEND(m->graph->initializer, m->graph->n_initializer, t);
        whole_numbers(m->graph, "shift", is_bool ? "3" : "0");
        node(m->graph, "Cast", "t", "i", "to=7");
        node(m->graph, "Add", "i shift", "four", "");
        rows_by(m->graph, "four");
        g_autofree char *what = g_strdup_printf("typed type %d", types[i]);
        expect_four_rows(m, what);
    }
}

/* Halves that are not normal numbers: 2^-24 is the least, infinity is larger than all. */
static void test_halves(void **state)
{
    (void)state;
    static const struct {
        uint16_t bits;
        double scale;
    } rows[] = {
        {0x0001, 67108864}, {0x8001, -67108864}, {0x0400, 65536}, {0xc400, -1}, {0x7bff, 0}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        Onnx__ModelProto *m = model_of_24();
        Onnx__TensorProto *t = tensor("h", "1", 10), *by = tensor("by", "1", 11);
        double scale = rows[i].scale != 0 ? rows[i].scale : 4.0 / 65504; /* the largest */
        put_raw(t, &rows[i].bits, 2);
        put_raw(by, &scale, 8);
        APPEND(m->graph->initializer, m->graph->n_initializer, t);
        APPEND(m->graph->initializer, m->graph->n_initializer, by);
        node(m->graph, "Mul", "h by", "four", "");
        rows_by(m->graph, "four");
        g_autofree char *what = g_strdup_printf("half 0x%04x", rows[i].bits);
        expect_four_rows(m, what);
    }
    Onnx__ModelProto *m = model_of_24();
    static const uint16_t infinity[] = {0x7c00, 0xfc00};
    Onnx__TensorProto *t = tensor("h", "2", 10);
    put_raw(t, infinity, 4);
    APPEND(m->graph->initializer, m->graph->n_initializer, t);
    whole_numbers(m->graph, "ends", "4");
    node(m->graph, "ReduceMax", "h", "most", "");
    node(m->graph, "Cast", "ends", "real", "to=1");
    node(m->graph, "Min", "real most", "four", "");
    rows_by(m->graph, "four");
    expect_four_rows(m, "an infinite half");
}

/* ---- patterns ---------------------------------------------------------------------------------
 */

/* x / 2 (1 + tanh(c (x + d x^3))), as GPT-2 writes it. */
static void test_gelu_of_tanh(void **state)
{
    (void)state;
    Onnx__ModelProto *m = model_new();
    graph *g = m->graph;
    input(g, "x", "1 4 8");
    real_number(g, "half", "0.5");
    real_number(g, "three", "3");
    real_number(g, "d", "0.044715");
    real_number(g, "c", "0.7978845608");
    real_number(g, "one", "1");
    node(g, "Pow", "x three", "cube", "");
    node(g, "Mul", "cube d", "scaled", "");
    node(g, "Add", "x scaled", "sum", "");
    node(g, "Mul", "sum c", "in", "");
    node(g, "Tanh", "in", "t", "");
    node(g, "Add", "t one", "s", "");
    node(g, "Mul", "x half", "h", "");
    node(g, "Mul", "h s", "y", "");
    output(g, "y");
    struct orch_net *net = load(m);
    assert_int_equal(last(net)->op, ORCH_NET_GELU);
    orch_net_free(net);

    /* of another value than x it is none */
    m = model_new();
    g = m->graph;
    input(g, "x", "1 4 8");
    real_number(g, "half", "0.5");
    real_number(g, "root", "1.41421356");
    real_number(g, "one", "1");
    node(g, "Relu", "x", "z", "");
    node(g, "Div", "x root", "d", "");
    node(g, "Erf", "d", "e", "");
    node(g, "Add", "e one", "s", "");
    node(g, "Mul", "z s", "p", "");
    node(g, "Mul", "p half", "y", "");
    output(g, "y");
    struct orch_onnx_notes notes = {0};
    net = load_noted(m, &notes);
    assert_int_equal(last(net)->op, ORCH_NET_MUL);
    assert_int_equal(notes.items->len, 1); /* Erf */
    orch_onnx_notes_release(&notes);
    orch_net_free(net);
}

/* The axes as an input, the square as a product; another axis than the last is none. */
static void test_layernorm_of_inputs(void **state)
{
    (void)state;
    for (int is_last = 0; is_last < 2; is_last++) {
        Onnx__ModelProto *m = model_new();
        graph *g = m->graph;
        struct orch_onnx_notes notes = {0};
        input(g, "x", "1 4 8");
        real_number(g, "eps", "0.00001");
        whole_numbers(g, "axes", is_last ? "-1" : "-2");
        node(g, "ReduceMean", "x axes", "mean", "");
        node(g, "Sub", "x mean", "d", "");
        node(g, "Mul", "d d", "sq", "");
        node(g, "ReduceMean", "sq axes", "var", "");
        node(g, "Add", "var eps", "sum", "");
        node(g, "Sqrt", "sum", "sd", "");
        node(g, "Div", "d sd", "y", "");
        output(g, "y");
        struct orch_net *net = load_noted(m, &notes);
        assert_int_equal(last(net)->op == ORCH_NET_LAYERNORM, is_last);
        assert_int_equal(notes.items == NULL, is_last);
        orch_onnx_notes_release(&notes);
        orch_net_free(net);
    }
}

/* ---- refusals ---------------------------------------------------------------------------------
 */

static void test_shapes_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        const char *op, *input, *numbers, *inputs, *attributes, *text;
    } rows[] = {
        {"Flatten", "1 4 4", "0", "x", "axis=5", "works on axis 5"},
        {"Squeeze", "1 4 4", "1", "x n", "", "works on axis 1"},
        {"Unsqueeze", "1 4 4", "0 0", "x n", "", "works on axis 0"},
        {"Unsqueeze", "1 4 4", "0 1 2 3 4 5", "x n", "", "more than 8 axes"},
        {"Unsqueeze", "1 4 4", "9", "x n", "", "works on axis 9"},
        {"Gather", "1 4 4", "0", "x n", "axis=3", "works on axis 3"},
        {"Slice", "1 4 4", "0", "x", "starts=0, ends=1,2", "has 1 starts and 2 ends"},
        {"Pad", "1 4 4", "1 1", "x n", "", "has 2 pads for 3 axes"},
        {"DepthToSpace", "1 6 4 4", "0", "x", "blocksize=2", "has blocks of 2 that do not fit"},
        {"SpaceToDepth", "1 6 4 5", "0", "x", "blocksize=2", "has blocks of 2 that do not fit"},
        {"ReduceMean", "1 4 4", "0", "x", "axes=4,", "needs more axes, but its input is 1x4x4"},
        {"ArgMax", "1 4 4", "0", "x", "axis=-4", "needs more axes, but its input is 1x4x4"},
        {"MaxPool", "1 4", "0", "x", "kernel_shape=2,2", "needs an image"},
        {"GlobalAveragePool", "1 4", "0", "x", "", "needs an image"},
        {"Relu", "1 4", "0", "missing", "", "missing"},
        {"Squeeze", "1 4 4", "0", "-", "", "node 'Squeeze_0' (Squeeze) has no input 1"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        Onnx__ModelProto *m = model_new();
        input(m->graph, "x", rows[i].input);
        whole_numbers(m->graph, "n", rows[i].numbers);
        node(m->graph, rows[i].op, rows[i].inputs, "y", rows[i].attributes);
        output(m->graph, "y");
        load_fails(m, rows[i].text, "");
    }
}

/* Every operator whose first input is left out is refused by its name. */
static void test_no_inputs(void **state)
{
    (void)state;
    static const char *const ops[] = {"Conv",
                                      "Gemm",
                                      "MatMul",
                                      "BatchNormalization",
                                      "LayerNormalization",
                                      "LRN",
                                      "MaxPool",
                                      "GlobalMaxPool",
                                      "ReduceSum",
                                      "Resize",
                                      "Relu",
                                      "Add",
                                      "Where",
                                      "Shape",
                                      "Size",
                                      "ConstantOfShape",
                                      "Range",
                                      "Reshape",
                                      "Flatten",
                                      "Squeeze",
                                      "Unsqueeze",
                                      "Transpose",
                                      "Slice",
                                      "Split",
                                      "Gather",
                                      "Expand",
                                      "Tile",
                                      "Pad",
                                      "DepthToSpace"};
    for (unsigned i = 0; i < G_N_ELEMENTS(ops); i++) {
        Onnx__ModelProto *m = model_new();
        input(m->graph, "x", "1 4");
        node(m->graph, ops[i], "- x", "y", "");
        output(m->graph, "y");
        load_fails(m, "has no input 1", "export the model again");
    }
}

static void test_constants_that_do_not_fit(void **state)
{
    (void)state;
    static const char *const ops[] = {"Constant", "ConstantOfShape"};
    for (unsigned i = 0; i < G_N_ELEMENTS(ops); i++) {
        Onnx__ModelProto *m = model_of_24();
        whole_numbers(m->graph, "shape", "2");
        node(m->graph, ops[i], i ? "shape" : "", "c", "");
        Onnx__AttributeProto *a = attribute(m->graph->node[0], "value");
        a->t = tensor("t", "3", 1);
        a->t->raw_data.len = 4; /* one of three numbers */
        node(m->graph, "Add", "x c", "y", "");
        output(m->graph, "y");
        load_fails(m, "tensor 't'", "");
    }
}

/* Weights of more than 1 MiB are skipped in every field, and their size is checked. */
static void test_large_typed_data(void **state)
{
    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        GError *error = NULL;
        Onnx__ModelProto *m = model_new();
        input(m->graph, "x", "1 1024");
        Onnx__TensorProto *t = tensor("w", "1024 512", 1);
        g_clear_pointer(&t->raw_data.data, g_free);
        t->raw_data.len = 0;
        t->has_raw_data = 0;
        t->n_float_data = (size_t)(1024 * 512 + extra);
        t->float_data = g_new0(float, t->n_float_data);
        APPEND(m->graph->initializer, m->graph->n_initializer, t);
        node(m->graph, "MatMul", "x w", "y", "");
        output(m->graph, "y");
        if (extra) {
            load_fails(m, "tensor 'w'", "");
            continue;
        }
        g_autoptr(GBytes) bytes = encode(m);
        struct orch_net *net = read_bytes(bytes, (struct orch_net_shape){0}, NULL, &error);
        if (!net)
            fail_msg("%s", error->message);
        assert_int_equal(orch_net_params(net), 1024 * 512);
        orch_net_free(net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_types_of_raw_data),
        cmocka_unit_test(test_types_of_typed_data),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_gelu_of_tanh),
        cmocka_unit_test(test_layernorm_of_inputs),
        cmocka_unit_test(test_shapes_that_do_not_fit),
        cmocka_unit_test(test_no_inputs),
        cmocka_unit_test(test_constants_that_do_not_fit),
        cmocka_unit_test(test_large_typed_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
