/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of operators: what their lines become, and files that are none. */
#include "features/operators/operator_kinds.h"
#include "features/operators/operators.h"
#include "lib/base/error.h"
#include "lib/net/cost.h"
#include "tests/unit/tensor_find.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *corpus(const char *name)
{
    return g_build_filename(g_getenv("ORCH_SOURCE_DIR"), "tests/operators/corpus/operators", name,
                            NULL);
}

static struct orch_net *load(const char *name, int64_t tokens, GPtrArray *notes)
{
    g_autofree char *path = corpus(name);
    GError *error = NULL;
    struct orch_net *net = orch_operators_load(
        path, (struct orch_net_shape){tokens ? 1 : 0, tokens, tokens ? 1 : 0}, notes, &error);
    if (!net)
        fail_msg("%s: %s", name, error->message);
    return net;
}

static const struct orch_net_node *only(const struct orch_net *net, enum orch_net_op op)
{
    const struct orch_net_node *found = NULL;
    for (guint i = 0; i < net->nodes->len; i++) {
        if (orch_net_node(net, (int)i)->op != op)
            continue;
        assert_null(found);
        found = orch_net_node(net, (int)i);
    }
    assert_non_null(found);
    return found;
}

static bool has_note(const GPtrArray *notes, const char *words)
{
    for (guint i = 0; i < notes->len; i++)
        if (strstr(notes->pdata[i], words))
            return true;
    return false;
}

/* One layer of attention, written out, with an operator that nobody knows. */
static void test_attention(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    struct orch_net *net = load("attention.jsonl", 0, notes);
    assert_true(orch_net_is_sequence(net) && orch_net_is_written_out(net));
    assert_int_equal(net->input.h, 64);
    assert_int_equal(net->classes, 100);
    /* words 3200, norm 64, q k v and out 1056 each, twist 160; not the seven that nobody uses */
    assert_int_equal(orch_net_params(net), 3200 + 64 + 4 * 1056 + 160);
    const struct orch_net_node *attention = only(net, ORCH_NET_ATTENTION);
    assert_int_equal(attention->heads, 4);
    assert_int_equal(attention->macs, 2 * 64 * 64 * 32);
    assert_int_equal(attention->input_count, 3);
    assert_int_equal(attention->out.c, 32);
    /* four products of 32 x 32, and the scores with the embedding's weights */
    assert_int_equal(orch_net_macs(net), attention->macs + 64 * (4 * 32 * 32 + 32 * 100));
    const struct orch_net_node *out = orch_net_node(net, attention->id + 1);
    assert_string_equal(out->name, "out"); /* its copy before and its bias behind are part of it */
    assert_true(out->has_bias && out->op == ORCH_NET_TOKEN_LINEAR);
    assert_true(orch_net_tensor(net, tensor_find(net, "out.weight"))->is_frozen);
    assert_false(orch_net_tensor(net, tensor_find(net, "out.bias"))->is_frozen);
    assert_int_equal(notes->len, 2);
    assert_true(has_note(notes, "operator 'mylib::twist' is not known, so only bytes"));
    assert_true(
        has_note(notes, "1 parameter ('unused.weight'; 7 elements) is used by no operator"));
    orch_net_free(net);
    net = load("attention.jsonl", 32, NULL); /* half the tokens */
    assert_int_equal(only(net, ORCH_NET_ATTENTION)->macs, 2 * 32 * 32 * 32);
    orch_net_free(net);
}

static void test_image(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    struct orch_net *net = load("image.jsonl", 0, notes);
    assert_int_equal(notes->len, 0);
    static const enum orch_net_op ops[] = {ORCH_NET_INPUT,       ORCH_NET_CONV2D,
                                           ORCH_NET_BATCHNORM2D, ORCH_NET_RELU,
                                           ORCH_NET_MAXPOOL2D,   ORCH_NET_CONV_TRANSPOSE2D,
                                           ORCH_NET_CONCAT,      ORCH_NET_ADAPTIVE_AVGPOOL2D,
                                           ORCH_NET_LINEAR};
    assert_int_equal(net->nodes->len, G_N_ELEMENTS(ops)); /* the counter of batches is no layer */
    for (size_t i = 0; i < G_N_ELEMENTS(ops); i++)
        assert_int_equal(orch_net_node(net, (int)i)->op, ops[i]);
    assert_int_equal(orch_net_node(net, 1)->macs, 8 * 16 * 16 * 27);
    assert_int_equal(orch_net_node(net, 5)->macs, 8 * 8 * 8 * 4 * 2 * 2);
    assert_int_equal(orch_net_node(net, 6)->out.c, 12);
    assert_int_equal(orch_net_node(net, 8)->macs, 120);
    struct orch_net_cost *costs = orch_net_costs(net);
    assert_true(costs[3].is_in_place);
    g_free(costs);
    orch_net_free(net);
}

static void test_fixed(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    struct orch_net *net = load("fixed.jsonl", 0, notes), *open = load("attention.jsonl", 0, NULL);
    assert_true(has_note(notes, "the batch of 4 is fixed (a size of operator 'view' is 4"));
    assert_int_equal(orch_net_macs(net), 4 * orch_net_macs(open)); /* a sample is the batch */
    orch_net_free(net);
    orch_net_free(open);
    g_autofree char *path = corpus("fixed.jsonl");
    GError *error = NULL;
    assert_null(orch_operators_load(path, (struct orch_net_shape){1, 32, 1}, NULL, &error));
    assert_int_equal(error->code, ORCH_ERROR_USAGE);
    assert_non_null(strstr(error->message,
                           "the length of its sequences is fixed at 64 tokens (it does not run)"));
    g_clear_error(&error);
    path = (g_free(path), corpus("image.jsonl"));
    assert_null(orch_operators_load(path, (struct orch_net_shape){3, 64, 64}, NULL, &error));
    assert_non_null(strstr(error->message, "the input of 3x32x32 is fixed"));
    g_clear_error(&error);
}

/* A row of modules.tsv: a module, its multiply-adds at two batches, its parameters. Returns whether
 * its file is in the corpus. */
static bool check_module(const char *line)
{
    enum { BATCH = 3, OTHER = 5 };
    g_auto(GStrv) cells = g_strsplit(line, "\t", -1);
    assert_int_equal(g_strv_length(cells), 4);
    g_autofree char *file = g_strconcat(g_strdelimit(cells[0], " ", '-'), ".jsonl", NULL);
    g_autofree char *path = corpus(file);
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return false;
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    struct orch_net *net = load(file, 0, notes);
    bool is_fixed = has_note(notes, "of 3 is fixed") || has_note(notes, "of 7 is fixed");
    if (orch_net_macs(net) * (is_fixed ? 1 : BATCH) != atoll(cells[1]) ||
        (!is_fixed && orch_net_macs(net) * OTHER != atoll(cells[2])) ||
        orch_net_params(net) != atoll(cells[3]))
        fail_msg("%s: %lld multiply-adds, %lld parameters", line, (long long)orch_net_macs(net),
                 (long long)orch_net_params(net));
    orch_net_free(net);
    return true;
}

/* Modules of torch.nn, counted by PyTorch's FlopCounterMode (torch_modules.py writes them). */
static void test_modules(void **state)
{
    (void)state;
    g_autofree char *path =
        g_build_filename(g_getenv("ORCH_SOURCE_DIR"), "tests/operators/modules.tsv", NULL);
    g_autofree char *text = NULL;
    int count = 0;
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++)
        count += **line && **line != '#' && check_module(*line);
    assert_int_equal(count, 15);
}

/* A second axis is named, and products that depend on no batch. */
static void test_said(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    orch_net_free(load("LSTM-5.jsonl", 0, notes));
    assert_true(has_note(notes, "the batch is axis 1 of the inputs, 7x3x4"));
    static const char text[] =
        "{\"format\":\"orch operators\",\"version\":1,\"batch\":2,\"sequence\":null,"
        "\"fixed\":{}}\n"
        "{\"parameter\":\"w\",\"shape\":[4,4]}\n"
        "{\"id\":0,\"op\":\"input\",\"in\":[],\"out\":[\"b\",4]}\n"
        "{\"id\":1,\"op\":\"mm\",\"in\":[[\"w\",[4,4]],[\"w\",[4,4]]],\"out\":[4,4]}\n"
        "{\"id\":2,\"op\":\"mm\",\"in\":[[0,[\"b\",4]],[1,[4,4]]],\"out\":[\"b\",4]}\n";
    struct orch_net *net = orch_operators_load_bytes(text, strlen(text), "x.jsonl",
                                                     (struct orch_net_shape){0}, notes, NULL);
    assert_int_equal(orch_net_macs(net), 64 + 16);
    assert_true(has_note(notes, "'x.jsonl': 64 multiply-adds happen once per batch"));
    orch_net_free(net);
}

static void refuses(const char *text, const char *words)
{
    GError *error = NULL;
    assert_null(orch_operators_load_bytes(text, strlen(text), "x.jsonl", (struct orch_net_shape){0},
                                          NULL, &error));
    if (error->code != ORCH_ERROR_RECIPE || !strstr(error->message, words))
        fail_msg("'%s' is not '%s'", error->message, words);
    assert_non_null(strstr(error->message, "orch.export_ops"));
    g_clear_error(&error);
}

#define HEAD                                                                                       \
    "{\"format\":\"orch operators\",\"version\":1,\"batch\":2,\"sequence\":null,\"fixed\":{}}\n"
#define INPUT "{\"id\":0,\"op\":\"input\",\"in\":[],\"out\":[\"b\",4]}\n"

static void test_no_files(void **state)
{
    (void)state;
    refuses("", "the file has no operators");
    refuses("[1]\n", "line 1: the line is not a JSON object");
    refuses("{\"format\":\"x\"}\n", "the line lacks");
    refuses("{\"format\":\"orch operators\",\"version\":2,\"batch\":1}\n",
            "the version is 2, not 1");
    refuses("{\"format\":\"orch operators\",\"version\":1,\"batch\":0}\n", "out of range");
    refuses(HEAD, "the file has no operators");
    refuses(HEAD "{\"id\":0,\"op\":\"relu\",\"in\":[],\"out\":[4]}\n", "no input before operator");
    refuses(HEAD INPUT INPUT, "must count up from 0");
    refuses(HEAD INPUT "{\"id\":1,\"op\":\"relu\",\"in\":[[1,[4]]],\"out\":[4]}\n",
            "the result of a later operator");
    refuses(HEAD INPUT "{\"id\":1,\"op\":\"relu\",\"in\":[[\"w\",[4]]],\"out\":[4]}\n",
            "the undeclared parameter 'w'");
    refuses(HEAD INPUT "{\"id\":1,\"op\":\"mm\",\"in\":[[0,[\"b\",4]]],\"out\":[4]}\n",
            "the shapes in 'in' and 'out' do not fit operator 'mm'");
    refuses(HEAD INPUT "{\"id\":1,\"op\":\"relu\",\"in\":[[0,[\"s\",4]]],\"out\":[4]}\n",
            "too large or not a number");
    refuses(HEAD "{\"id\":0,\"op\":\"input\",\"in\":[],\"out\":[\"b\",\"4b\"]}\n",
            "the batch size 'b' twice");
    refuses(HEAD "{\"id\":0,\"op\":\"input\",\"in\":[],\"out\":[\"bb\"]}\n",
            "the batch size 'b' twice");
    refuses(HEAD "{\"parameter\":\"w\",\"shape\":[2]}\n{\"parameter\":\"w\",\"shape\":[2]}\n",
            "name is missing or used twice");
}

/* The form in place has the row of the operator, and no other name that begins so has. */
static void test_kinds(void **state)
{
    (void)state;
    assert_ptr_equal(orch_operator_kind("relu_"), orch_operator_kind("relu"));
    assert_int_equal(orch_operator_kind("relu")->op, ORCH_NET_RELU);
    assert_null(orch_operator_kind("rel"));
    assert_null(orch_operator_kind("relu__"));
    assert_null(orch_operator_kind("my::relu"));
    assert_null(orch_operator_kind("_"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attention), cmocka_unit_test(test_image),
        cmocka_unit_test(test_fixed),     cmocka_unit_test(test_no_files),
        cmocka_unit_test(test_kinds),     cmocka_unit_test(test_modules),
        cmocka_unit_test(test_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
