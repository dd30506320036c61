/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Costs against published ones: Lu et al. 2017 (operations by layer type, a multiply-add as one;
 * its ResNet-50 is Caffe's, with an addition for each output of a convolution that ours, without
 * biases, does not make), Simonyan and Zisserman 2014 (parameters without biases), GoogLeNet's 3b.
 */
#include "lib/net/build.h"
#include "lib/net/cost.h"
#include "plugins/netstat/published.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static struct orch_net *make(const char *name)
{
    GError *error = NULL;
    struct orch_net *net = orch_net_make(&(struct orch_net_options){.name = name}, &error);
    if (!net)
        fail_msg("%s: %s", name, error->message);
    return net;
}

static int64_t operations_of(const struct orch_net *net, const struct orch_net_cost *costs,
                             enum orch_net_kind kind)
{
    int64_t sum = 0;
    for (guint i = 0; i < net->nodes->len; i++)
        if (orch_net_kind_of(orch_net_node(net, (int)i)->op) == kind)
            sum += orch_net_operations(&costs[i], 1);
    return sum;
}

static void test_lu2017(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t conv, linear, activation, pool, norm, total;
    } ROWS[] = {
        {"alexnet-grouped", 666434944, 58631144, 658272, 1102176, 2385120, 729211656},
        {"vgg16", 15360178176, 123642856, 13555712, 6121472, 0, 15503498216},
        {"googlenet-bvlc", 1584874032, 1025000, 3226160, 12807424, 4014080, 1605946696},
        {"resnet50-v1", 3855925248, 2049000, 9081856, 1906688, 31761408 + 10587136, 3916830696},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        struct orch_net *net = make(ROWS[i].name);
        g_autofree struct orch_net_cost *costs = orch_net_costs(net);
        struct orch_net_cost sum = orch_net_cost_sum(net, costs);
        assert_int_equal(operations_of(net, costs, ORCH_NET_KIND_CONV), ROWS[i].conv);
        assert_int_equal(operations_of(net, costs, ORCH_NET_KIND_LINEAR), ROWS[i].linear);
        assert_int_equal(operations_of(net, costs, ORCH_NET_KIND_ACTIVATION), ROWS[i].activation);
        assert_int_equal(operations_of(net, costs, ORCH_NET_KIND_POOL), ROWS[i].pool);
        assert_int_equal(operations_of(net, costs, ORCH_NET_KIND_NORM), ROWS[i].norm);
        assert_int_equal(orch_net_operations(&sum, 1), ROWS[i].total);
        orch_net_free(net);
    }
}

/* What papers publish, and what stands between that and the count here. */
static void test_published(void **state)
{
    (void)state;
    static const char *const same[] = {"alexnet-grouped", "vgg16", "googlenet-bvlc"};
    for (unsigned i = 0; i < G_N_ELEMENTS(same); i++) {
        struct orch_net *net = make(same[i]);
        g_autofree struct orch_net_cost *costs = orch_net_costs(net);
        struct orch_net_cost sum = orch_net_cost_sum(net, costs);
        double published = orch_net_published_find(same[i])->operations; /* in whole millions */
        assert_true(fabs((double)orch_net_operations(&sum, 1) - published) <= 0.5e6);
        orch_net_free(net);
    }
    struct orch_net *net = make("resnet50-v1");
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    int64_t biases = 0, sums = 0;
    for (guint i = 0; i < net->nodes->len; i++) {
        enum orch_net_op op = orch_net_node(net, (int)i)->op;
        biases += op == ORCH_NET_CONV2D ? costs[i].activations : 0;
        sums += op == ORCH_NET_ADD ? costs[i].activations : 0;
    }
    struct orch_net_cost sum = orch_net_cost_sum(net, costs);
    double theirs = (double)(orch_net_operations(&sum, 1) + biases - sums);
    assert_true(fabs(theirs - orch_net_published_find("resnet50-v1")->operations) <= 0.5e6);
    orch_net_free(net);
    assert_null(orch_net_published_find("resnet18"));
}

static const struct orch_net_node *named(const struct orch_net *net, const char *name)
{
    for (guint i = 0; i < net->nodes->len; i++)
        if (strcmp(orch_net_node(net, (int)i)->name, name) == 0)
            return orch_net_node(net, (int)i);
    fail_msg("no layer '%s'", name);
    return NULL;
}

static void test_workings(void **state)
{
    (void)state;
    struct orch_net *net = make("alexnet-grouped");
    g_autofree char *params = orch_net_params_work(net, named(net, "conv1"));
    assert_string_equal(params, "(11*11*3)*96 = 34,848");
    g_autofree char *values = orch_net_activations_work(named(net, "conv1"));
    assert_string_equal(values, "55*55*96 = 290,400");
    g_autofree char *macs = orch_net_macs_work(net, named(net, "conv1"));
    assert_string_equal(macs, "(11*11*3)*96*55*55 = 105,415,200");
    g_autofree char *groups = orch_net_params_work(net, named(net, "conv2"));
    assert_string_equal(groups, "(5*5*48)*256 = 307,200");
    g_autofree char *linear = orch_net_macs_work(net, named(net, "fc8"));
    assert_string_equal(linear, "4096*1000 = 4,096,000");
    orch_net_free(net);
    net = make("vgg19");
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    assert_int_equal(orch_net_cost_sum(net, costs).weights, 143652544);
    orch_net_free(net);
}

static void test_inception_module(void **state)
{
    (void)state;
    struct orch_net *naive = make("inception-naive"), *reduced = make("inception-reduced");
    assert_int_equal(orch_net_macs(naive), 1115684864);
    assert_int_equal(orch_net_macs(reduced), 397410304);
    assert_int_equal(orch_net_node(naive, (int)naive->nodes->len - 1)->out.c, 672);
    assert_int_equal(orch_net_node(reduced, (int)reduced->nodes->len - 1)->out.c, 480);
    orch_net_free(naive);
    orch_net_free(reduced);
    GError *error = NULL;
    assert_null(orch_net_make(&(struct orch_net_options){.name = "inception-naive:1,x"}, &error));
    assert_non_null(strstr(error->message, "'x'"));
    g_error_free(error);
}

static void test_fields(void **state)
{
    (void)state;
    const int fives[] = {5, 5, 5}, ones[] = {1, 1, 1}, kernels[] = {7, 3, 3}, strides[] = {2, 2, 1};
    assert_int_equal(orch_net_stack_field(fives, ones, 3), 13);
    assert_int_equal(orch_net_stack_field(kernels, strides, 3), 7 + 2 * 2 + 2 * 4);
    struct orch_net *net = make("vgg16"); /* 212 before the classifier: a known figure */
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    assert_int_equal(costs[named(net, "features.28")->id].field_h, 196);
    assert_int_equal(costs[named(net, "features.28")->id + 2].field_h, 212);
    assert_int_equal(costs[net->nodes->len - 1].field_h, 224);
    orch_net_free(net);
}

static void test_memory(void **state)
{
    (void)state;
    struct orch_net *net = make("mlp:4");
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    double params = 784 * 4 + 4 + 4 * 10 + 10;
    struct orch_net_memory m = orch_net_memory(net, costs, 8, 4, 2, true);
    assert_true(m.weights == 4 * params && m.gradients == 4 * params);
    assert_true(m.optimizer == 8 * params);
    assert_true(m.activations == 4.0 * 8 * (784 + 4 + 10) + 16.0 * 8 * 10); /* and the loss */
    m = orch_net_memory(net, costs, 8, 2, 2, false);
    assert_true(m.gradients == 0 && m.optimizer == 0 && m.activations == 2.0 * 8 * (784 + 784));
    orch_net_free(net);
}

/* A norm whose output is only added gives its memory to the sum; one before ReLU keeps its own. The
 * places of a pool's greatest values are kept in 64 bits. */
static void test_memory_of_residuals(void **state)
{
    (void)state;
    struct orch_net_builder b;
    orch_net_builder_init(&b, "small", "small", (struct orch_net_shape){3, 8, 8}, 10);
    const struct orch_conv conv = {.out = 4, .kernel = 3, .stride = 1, .pad = 1};
    int pool = orch_net_conv(&b, 0, conv, "a");
    pool = orch_net_relu(&b, orch_net_batchnorm(&b, pool, "an"));
    pool = orch_net_maxpool(&b, pool, 2, 2, 0);
    int branch = orch_net_batchnorm(&b, orch_net_conv(&b, pool, conv, "b"), "bn");
    int sum = orch_net_flatten(&b, orch_net_relu(&b, orch_net_add(&b, branch, pool)));
    orch_net_linear(&b, sum, 10, 0, "c");
    struct orch_net *net = orch_net_builder_finish(&b, NULL);
    assert_non_null(net);
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    struct orch_net_memory m = orch_net_memory(net, costs, 2, 4, 1, true);
    /* input, convolution and norm, pool, convolution, sum, scores; places; loss */
    double values = 192 + 2 * 256 + 64 + 64 + 64 + 10;
    assert_true(m.activations == 2 * (4 * values + 8 * 64 + 16 * 10));
    orch_net_free(net);
}

/* Attention in plain operations: the softmax is in fp32 at any precision. */
static void test_scores(void **state)
{
    (void)state;
    struct orch_net *net = make("gpt:3,64,4,100"); /* layers, width, heads, vocabulary */
    double scores = 3 * 4.0 * (double)(net->input.h * net->input.h);
    assert_true(net->input.h > 1 && orch_net_score_bytes(net, 4) == scores * (4 + 1 + 4));
    assert_true(orch_net_score_bytes(net, 2) == scores * (4 + 1 + 2));
    orch_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lu2017),
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_workings),
        cmocka_unit_test(test_inception_module),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_memory_of_residuals),
        cmocka_unit_test(test_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
