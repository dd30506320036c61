/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layers as text: what parses, what is refused with which words, that a network's layers have the
 * text that makes them again, and which layers are computed together. */
#include "lib/base/error.h"
#include "lib/net/layer_spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

/* Parsed and formatted again. */
static const struct {
    const char *text, *canonical;
    int64_t macs, batch;
} GOOD[] = {
    {"conv 64x32x32 -> 128 k3 s2 p1 b16", "conv 64x32x32 -> 128 k3 s2 p1", 64 * 128 * 9 * 16 * 16,
     16},
    {" conv  3x8x8 -> 6 k1 s1 p0 g3 bias", "conv 3x8x8 -> 6 k1 g3 bias", 6 * 64, 0},
    {"dense 512 -> 10 b64", "dense 512 -> 10", 5120, 64},
    {"maxpool 8x9x9 k3 s2 p1", "maxpool 8x9x9 k3 s2 p1", 0, 0},
    {"avgpool 8x8x8 k2 s2", "avgpool 8x8x8 k2", 0, 0},
    {"adaptivepool 8x8x8 -> 1x1", "adaptivepool 8x8x8 -> 1x1", 0, 0},
    {"batchnorm 8x4x4", "batchnorm 8x4x4", 0, 0},
    {"add 8x4x4", "add 8x4x4", 0, 0},
    {"gelu 8x4x4 b1", "gelu 8x4x4", 0, 1},
    {"attention 768x128 h12", "attention 768x128 h12", 2 * 128 * 128 * 768, 0},
};

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(GOOD); i++) {
        GError *error = NULL;
        struct orch_net_layer_spec spec;
        int first;
        if (!orch_net_layer_parse(GOOD[i].text, &spec, &error))
            fail_msg("%s: %s", GOOD[i].text, error->message);
        struct orch_net *net = orch_net_layer_make(&spec, &first, &error);
        assert_non_null(net);
        const struct orch_net_node *node = orch_net_node(net, (int)net->nodes->len - 1);
        g_autofree char *text = orch_net_layer_format(net, node, NULL);
        assert_string_equal(text, GOOD[i].canonical);
        assert_int_equal(orch_net_macs(net), GOOD[i].macs);
        assert_int_equal(spec.batch, GOOD[i].batch);
        assert_int_equal(first, node->id);
        orch_net_free(net);
    }
}

static const struct {
    const char *text, *says;
} BAD[] = {
    {"", "unknown kind ''"},
    {"covn 3x8x8 -> 6 k3", "did you mean 'conv'?"},
    {"conv", "something is missing\n  hint: write it as 'conv 64x32x32 -> 128 k3 s2 p1'"},
    {"conv 3x8 -> 6 k3", "cannot use '3x8'"},
    {"conv 3x8x8 6 k3", "cannot use '6'"},
    {"conv 3x8x8 ->", "something is missing"},
    {"conv 3x8x8 -> 6", "something is missing"},
    {"conv 3x8x8 -> 0 k3", "cannot use '0'"},
    {"conv 3x8x8 -> 6 k0", "cannot use 'k0'"},
    {"conv 3x8x8 -> 6 k3 s0", "cannot use 's0'"},
    {"conv 3x8x8 -> 6 k-3", "cannot use 'k-3'"},
    {"conv 3x8x8 -> 6 k3 h2", "cannot use 'h2'"},
    {"conv 3x8x8 -> 6 k3 b0", "cannot use 'b0'"},
    {"conv 3x8x8 -> 99999999999999999999 k3", "cannot use '99999999999999999999'"},
    {"dense 512 -> 10 bias", "cannot use 'bias'"},
    {"conv 3x4x8 -> 6 k7 p1", "a window of 7x7 is larger than the padded input, 6x10"},
    {"conv 4x8x8 -> 6 k3 g4", "4 groups must divide 4 input and 6 output channels"},
    {"maxpool 3x8x8 k3 p2", "padding 2 of a pool is more than half of its window, 3"},
    {"attention 100x8 h3", "3 heads do not divide 100 channels"},
    {"attention 96x8", "something is missing"},
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(BAD); i++) {
        GError *error = NULL;
        struct orch_net_layer_spec spec = {.kind = "untouched"};
        if (orch_net_layer_parse(BAD[i].text, &spec, &error))
            fail_msg("'%s' was accepted", BAD[i].text);
        if (!strstr(error->message, BAD[i].says))
            fail_msg("'%s': %s", BAD[i].text, error->message);
        assert_int_equal(error->code, ORCH_ERROR_RECIPE);
        assert_string_equal(spec.kind, "untouched");
        g_error_free(error);
    }
}

static struct orch_net *make(const char *name)
{
    struct orch_net_options options = {
        .name = name, .channels = 3, .height = 32, .width = 32, .classes = 10};
    GError *error = NULL;
    struct orch_net *net = orch_net_make(&options, &error);
    assert_non_null(net);
    return net;
}

/* Every convolution, dense layer and pool of these networks can be listed by its text, which makes
 * as many multiply-adds. */
static void test_of_networks(void **state)
{
    static const char *const names[] = {"resnet20", "vgg16", "resnet50-cifar"};
    (void)state;
    for (size_t n = 0; n < G_N_ELEMENTS(names); n++) {
        struct orch_net *net = make(names[n]);
        for (int i = 1; i < (int)net->nodes->len; i++) {
            const struct orch_net_node *node = orch_net_node(net, i);
            g_autofree char *text = orch_net_layer_format(net, node, NULL);
            struct orch_net_layer_spec spec;
            int first;
            if (!orch_net_layer_parse(text, &spec, NULL))
                continue;
            struct orch_net *alone = orch_net_layer_make(&spec, &first, NULL);
            assert_int_equal(orch_net_macs(alone), node->macs);
            orch_net_free(alone);
        }
        orch_net_free(net);
    }
}

static void test_fusions(void **state)
{
    (void)state;
    struct orch_net *net = make("resnet20");
    g_autofree struct orch_net_fusion *fusions = orch_net_fusions(net);
    int with_add = 0, with_relu = 0, parts = 0;
    for (int i = 0; i < (int)net->nodes->len; i++) {
        parts += fusions[i].end != i;
        with_add += fusions[i].norm >= 0 && fusions[i].shortcut >= 0;
        with_relu += fusions[i].norm >= 0 && fusions[i].relu && fusions[i].shortcut < 0;
        if (fusions[i].norm >= 0 && fusions[i].shortcut >= 0) {
            g_autofree char *text = orch_net_layer_format(net, orch_net_node(net, i), &fusions[i]);
            assert_true(g_str_has_prefix(text, "batchnorm+add+relu "));
        }
    }
    /* 9 blocks: the first norm of each and the stem's with ReLU, the second with addition and ReLU
     */
    assert_int_equal(with_add, 9);
    assert_int_equal(with_relu, 10);
    assert_int_equal(parts, 10 + 2 * 9);
    orch_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_bad),
                                       cmocka_unit_test(test_of_networks),
                                       cmocka_unit_test(test_fusions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
