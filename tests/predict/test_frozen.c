/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks of which a part is trained: which gradients are left, in operations, time and memory. */
#include "features/predict/steps/frozen.h"
#include "features/predict/steps/name_groups.h"
#include "lib/base/error.h"
#include "lib/net/build.h"
#include "lib/net/cost.h"
#include "lib/steptime/kernel_step.h"
#include "lib/steptime/traffic.h"
#include "lib/steptime/transfer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

static struct orch_net *make(const char *name)
{
    struct orch_net *net = orch_net_make(&(struct orch_net_options){.name = name}, NULL);
    assert_non_null(net);
    return net;
}

struct facts {
    struct orch_net_memory memory;
    struct orch_roofline_step step;
    double update_bytes;
};

/* A training step of batch 4 on a V100, by the model of networks like it. */
static struct facts facts_of(const struct orch_net *net)
{
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    const struct orch_roofline_work work = {
        .batch = 4, .element_bytes = 2, .training = true, .states_per_weight = 2};
    struct facts out = {.memory = orch_net_memory(net, costs, 4, 2, 2, true),
                        .update_bytes = orch_traffic_update(net, costs, &work).bytes};
    const struct orch_gpu_spec *gpu = orch_gpu_find("V100");
    if (orch_net_is_attention(net)) {
        struct orch_kernel_model model = {0};
        assert_true(orch_kernel_gpu_for(gpu, ORCH_FP16, 0, &model.gpu));
        assert_true(orch_kernel_step(net, costs, &model, &work, NULL, &out.step, NULL));
    } else {
        struct orch_transfer transfer;
        assert_true(orch_transfer_for(gpu, ORCH_FP16, &transfer));
        assert_true(orch_transfer_step(net, costs, &transfer, &work, NULL, &out.step, NULL));
    }
    return out;
}

/* The head alone: nothing flows back, and only its input is kept. */
static void test_head_alone(void **state)
{
    (void)state;
    struct orch_net *net = make("resnet50");
    struct facts whole = facts_of(net);
    struct orch_net_trained_part part;
    orch_net_train_blocks(net, 1, &part);
    assert_int_equal(part.trained, 1);
    assert_int_equal(part.all, 6); /* the stem, four stages, the classifier */
    assert_int_equal(part.params, 2048 * 1000 + 1000);
    struct facts head = facts_of(net);
    assert_true(fabs(head.memory.gradients - 4.0 * 2049000) < 1);
    assert_true(fabs(head.memory.optimizer - 8.0 * 2049000) < 1);
    assert_true(fabs(head.update_bytes / whole.update_bytes - 2049000.0 / 25557032) < 1e-6);
    assert_true(fabs(head.memory.weights - 4.0 * 2049000 - 2.0 * (25557032 - 2049000)) < 1);
    assert_true(head.step.backward_s < 0.02 * whole.step.backward_s);
    assert_true(head.step.forward_s > 0.8 * whole.step.forward_s);
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    for (guint i = 0; i < net->nodes->len; i++) {
        assert_false(costs[i].flows_on);
        assert_int_equal(costs[i].learns, orch_net_node(net, (int)i) == orch_net_head(net));
    }
    orch_net_free(net);
}

/* A frozen layer above a trained one passes the gradient on: one product of two. */
static void test_flow(void **state)
{
    (void)state;
    struct orch_net *net = make("mlp:64,64,64");
    for (int i = 0; i < 2; i++) { /* all but the first layer's */
        const char *names[] = {"weight", "bias"};
        for (guint k = 0; k < net->tensors->len; k++) {
            struct orch_net_tensor *t = net->tensors->pdata[k];
            t->is_frozen |= g_str_has_suffix(t->name, names[i]) && k >= 2;
        }
    }
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    const struct orch_roofline_work work = {.batch = 8, .element_bytes = 4, .training = true};
    int linear = 0;
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        if (node->op != ORCH_NET_LINEAR)
            continue;
        double forward = orch_traffic_forward(node, &costs[i], &work).flops;
        double backward = orch_traffic_backward(node, &costs[i], &work).flops;
        assert_true(fabs(backward / forward - 1) <
                    1e-9); /* weights of the first, data of the rest */
        assert_int_equal(costs[i].learns_weights, linear == 0);
        assert_int_equal(costs[i].flows_on, linear > 0);
        linear++;
    }
    assert_int_equal(linear, 4);
    orch_net_free(net);
}

/* More blocks take longer and need more; all of them are the whole network again. */
static void test_order(void **state)
{
    (void)state;
    static const char *const names[] = {"gpt:6,128,4", "resnet18", "convnext_tiny"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        struct orch_net *net = make(names[i]);
        struct facts whole = facts_of(net), last = {0};
        struct orch_net_trained_part part = {.all = 2};
        orch_net_free(net);
        for (int blocks = 1; blocks <= part.all; blocks++) {
            net = make(names[i]);
            orch_net_train_blocks(net, blocks, &part);
            struct facts now = facts_of(net);
            assert_int_equal(part.trained, blocks);
            assert_true(now.step.total_s > last.step.total_s);
            assert_true(now.memory.total > last.memory.total);
            last = now;
            orch_net_free(net);
        }
        assert_true(fabs(last.step.total_s / whole.step.total_s - 1) < 1e-9);
        assert_true(fabs(last.memory.total / whole.memory.total - 1) < 1e-9);
    }
}

static void test_share(void **state)
{
    (void)state;
    struct orch_net *net = make("gpt:10,128,4");
    struct orch_net_trained_part part;
    orch_net_train_share(net, 0.1, &part);
    assert_true(part.params <= 0.1 * (double)part.of_all && part.trained > 1);
    orch_net_free(net);
    net = make("alexnet"); /* its last block has more: it is trained all the same */
    orch_net_train_share(net, 1e-6, &part);
    assert_int_equal(part.trained, 1);
    orch_net_free(net);
}

/* Parameters as Hugging Face's PEFT has them for rank 8 on all linear layers of Llama 3 8B. */
static void test_adapters(void **state)
{
    (void)state;
    struct orch_net *net = make("llama-3-8b");
    struct facts whole = facts_of(net);
    int64_t macs = orch_net_macs(net);
    struct orch_net_trained_part part;
    assert_true(orch_net_add_adapters(&net, 8, &part, NULL));
    assert_int_equal(part.params, 20971520);
    assert_int_equal(part.of_all, 8030261248 + 20971520);
    assert_int_equal(part.trained, 32 * 5); /* queries, keys and values are one layer here */
    assert_true(orch_net_macs(net) == macs + 20971520 * (int64_t)8192);
    struct facts lora = facts_of(net);
    assert_true(fabs(lora.memory.gradients - 4.0 * 20971520) < 1);
    assert_true(lora.step.backward_s < 0.75 * whole.step.backward_s);
    assert_true(lora.step.backward_s > 0.4 * whole.step.backward_s);
    assert_true(lora.step.forward_s > whole.step.forward_s);
    orch_net_free(net);
}

static void test_no_adapters(void **state)
{
    (void)state;
    struct orch_net_trained_part part;
    struct orch_net *net = make("resnet18");
    GError *error = NULL;
    assert_false(orch_net_add_adapters(&net, 8, &part, &error));
    assert_non_null(strstr(error->message, "no linear layer for adapters except its last"));
    assert_false(orch_net_has_frozen(net));
    g_clear_error(&error);
    orch_net_free(net);
    net = make("gpt:2,64,4");
    assert_false(orch_net_add_adapters(&net, 65, &part, &error));
    assert_non_null(strstr(error->message, "a rank of 65 is more than the width 64"));
    assert_false(orch_net_has_frozen(net));
    g_clear_error(&error);
    orch_net_free(net);
}

/* A file says no groups: names do, up to their first number, with what has no parameters behind. */
static void test_groups_by_names(void **state)
{
    (void)state;
    struct orch_net_builder b;
    orch_net_builder_init(&b, "file", "file", (struct orch_net_shape){1, 8, 1}, 50);
    int x = orch_net_embedding(&b, 0, 50, 16, "m.e");
    for (int i = 0; i < 3; i++) {
        int y = orch_net_layernorm(&b, x, "m.h.%d.norm", i);
        y = orch_net_activation(&b, orch_net_token_linear(&b, y, 16, "m.h.%d.up", i),
                                ORCH_NET_GELU);
        x = orch_net_add(&b, x, orch_net_token_linear(&b, y, 16, "m.h.%d.down", i));
    }
    orch_net_token_linear(&b, orch_net_layernorm(&b, x, "m.norm"), 50, "m.head");
    struct orch_net *net = orch_net_builder_finish(&b, NULL);
    assert_non_null(net);
    assert_true(net->group_count < 3);
    orch_net_group_by_names(net);
    assert_int_equal(net->group_count, 5);
    static const int groups[] = {0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4};
    assert_int_equal(net->nodes->len, G_N_ELEMENTS(groups));
    for (guint i = 0; i < net->nodes->len; i++)
        assert_int_equal(orch_net_node(net, (int)i)->group, groups[i]);
    orch_net_group_by_names(net); /* it has them */
    assert_int_equal(net->group_count, 5);
    orch_net_free(net);
    net = make("mlp:4");
    int before = net->group_count;
    orch_net_group_by_names(net); /* no name has a number */
    assert_int_equal(net->group_count, before);
    orch_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head_alone),      cmocka_unit_test(test_flow),
        cmocka_unit_test(test_order),           cmocka_unit_test(test_share),
        cmocka_unit_test(test_adapters),        cmocka_unit_test(test_no_adapters),
        cmocka_unit_test(test_groups_by_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
