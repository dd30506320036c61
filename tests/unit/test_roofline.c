/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The roofline against numbers worked by hand, exchanges against their formulas, and layer tables
 * from graphs against the counts of the graph. */
#include "lib/base/error.h"
#include "lib/devices/gpus.h"
#include "lib/devices/links.h"
#include "lib/devices/prices.h"
#include "lib/net/cost.h"
#include "lib/steptime/roofline.h"
#include "predictors/paleo/paleo.h"
#include "predictors/steps/from_net.h"
#include "predictors/steps/gradient_exchange.h"

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
        fail_msg("%s", error->message);
    return net;
}

static void near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%.12g, wanted %.12g", got, want);
}

static const struct orch_roofline_device UNIT = {
    .peak_flops = 1e12, .bandwidth = 1e11, .compute_share = 1, .memory_share = 1};

/* lenet5's second linear layer is 120 x 84: with a batch of 1 it reads 120 + 10164 values and
 * writes 84, for 2 * 120 * 84 + 84 operations: bound by memory, by far. */
static void test_layer_by_hand(void **state)
{
    (void)state;
    struct orch_net *net = make("lenet5");
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    g_autofree struct orch_roofline_layer *layers =
        g_new0(struct orch_roofline_layer, net->nodes->len);
    struct orch_roofline_work work = {.batch = 1, .element_bytes = 4, .training = false};
    struct orch_roofline_step step;
    assert_true(orch_roofline_step(net, costs, &UNIT, &work, layers, &step, NULL));
    int found = 0;
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        if (node->op != ORCH_NET_LINEAR || node->in_channels != 120)
            continue;
        near(layers[i].forward_s, 4.0 * (120 + 120 * 84 + 84 + 84) / 1e11, 1e-12);
        assert_int_equal(layers[i].bound, ORCH_BOUND_MEMORY);
        near(layers[i].intensity, (2.0 * 120 * 84 + 84) / (4.0 * (120 + 120 * 84 + 84 + 84)),
             1e-12);
        found++;
    }
    assert_int_equal(found, 1);
    assert_true(step.backward_s == 0 && step.update_s == 0);
    orch_net_free(net);
}

/* A processor: the cache's bandwidth for what fits into it, the memory's for what is much larger,
 * and convolutions of few channels below the full share of the peak. */
static void test_processor(void **state)
{
    (void)state;
    struct orch_net *net = make("resnet-cifar:8");
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    struct orch_roofline_device memory = UNIT, cache = UNIT, host = UNIT;
    memory.peak_flops = cache.peak_flops = 1e18;
    cache.caches[0].bytes = 1e6;
    cache.caches[0].bandwidth = 4e11;
    host.bandwidth = 1e18;
    host.is_host = true;
    static const int64_t batches[] = {1, 4096};
    static const double times[] = {4, 1};
    for (int i = 0; i < 2; i++) {
        struct orch_roofline_work work = {.batch = batches[i], .element_bytes = 4};
        struct orch_roofline_step slow, fast, full, narrow;
        struct orch_roofline_device wide = host;
        wide.is_host = false;
        assert_true(orch_roofline_step(net, costs, &memory, &work, NULL, &slow, NULL));
        assert_true(orch_roofline_step(net, costs, &cache, &work, NULL, &fast, NULL));
        near(slow.forward_s, times[i] * fast.forward_s, 0.02);
        assert_true(orch_roofline_step(net, costs, &wide, &work, NULL, &full, NULL));
        assert_true(orch_roofline_step(net, costs, &host, &work, NULL, &narrow, NULL));
        double first = (double)orch_net_operations(&costs[1], 2) * (double)batches[i] / 1e12;
        near(narrow.forward_s - full.forward_s, first * (pow(16.0 / 3, 0.75) - 1), 1e-6);
    }
    orch_net_free(net);
}

static void test_batch_moves_the_bound(void **state)
{
    (void)state;
    struct orch_net *net = make("vgg16");
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    struct orch_roofline_work work = {
        .batch = 1, .element_bytes = 4, .training = true, .states_per_weight = 1};
    struct orch_roofline_step one, many;
    assert_true(orch_roofline_step(net, costs, &UNIT, &work, NULL, &one, NULL));
    work.batch = 64;
    assert_true(orch_roofline_step(net, costs, &UNIT, &work, NULL, &many, NULL));
    assert_true(many.memory_bound_share < one.memory_bound_share);
    assert_true(many.total_s < 64 * one.total_s);
    /* never faster than its operations: 3 passes, but the first layer's data gradient */
    double macs = (double)orch_net_macs(net) * 64;
    assert_true(many.total_s > 2.9 * 2 * macs / UNIT.peak_flops);
    near(many.update_s, 4.0 * 5 * (double)orch_net_params(net) / UNIT.bandwidth, 1e-12);
    orch_net_free(net);
}

static void test_largest_batch_fits(void **state)
{
    (void)state;
    struct orch_net *net = make("resnet50");
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    struct orch_roofline_work work = {
        .batch = 1, .element_bytes = 4, .training = true, .states_per_weight = 1};
    int64_t most = orch_roofline_largest_batch(net, costs, 16e9, 0.7e9, &work);
    work.batch = most;
    assert_true(orch_roofline_memory(net, costs, &work) + 0.7e9 <= 16e9);
    work.batch = most + 1;
    assert_true(orch_roofline_memory(net, costs, &work) + 0.7e9 > 16e9);
    assert_int_equal(orch_roofline_largest_batch(net, costs, 0.2e9, 0, &work), 0);
    /* gradients come while activations go: the larger one counts */
    struct orch_net_memory small = orch_net_memory(net, costs, 8, 4, 1, true);
    work.batch = 8;
    assert_true(small.gradients < small.activations);
    near(orch_roofline_memory(net, costs, &work), small.total, 1e-12);
    assert_int_equal(
        orch_roofline_largest_batch(
            net, costs, small.weights + small.optimizer + 0.9 * small.gradients, 0, &work),
        0);
    orch_net_free(net);
}

/* What PyTorch reserves beside what is kept goes with the batch, the copies of gradients in buckets
 * do not; neither is there without training. */
static void test_reserved(void **state)
{
    (void)state;
    struct orch_net *net = make("resnet50");
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    struct orch_roofline_work work = {
        .batch = 32, .element_bytes = 2, .training = true, .states_per_weight = 1};
    double counted = orch_roofline_memory(net, costs, &work);
    work.reserves_idle = true;
    double idle = (double)orch_net_cost_sum(net, costs).idle * 2 * 32;
    assert_true(idle > 0.1 * counted);
    near(orch_roofline_memory(net, costs, &work), counted + idle, 1e-12);
    work.has_buckets = true;
    near(orch_roofline_memory(net, costs, &work), counted + idle + 4 * (double)orch_net_params(net),
         1e-12);
    work.training = false;
    near(orch_roofline_memory(net, costs, &work),
         orch_net_memory(net, costs, 32, 2, 1, false).total, 1e-12);
    orch_net_free(net);
}

static void expect_bad(struct orch_roofline_device device, int64_t batch, const char *word)
{
    struct orch_net *net = make("lenet5");
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    struct orch_roofline_work work = {.batch = batch, .element_bytes = 4};
    struct orch_roofline_step step;
    g_autoptr(GError) error = NULL;
    assert_false(orch_roofline_step(net, costs, &device, &work, NULL, &step, &error));
    assert_non_null(strstr(error->message, word));
    orch_net_free(net);
}

static void test_bad_input(void **state)
{
    (void)state;
    struct orch_roofline_device device = UNIT;
    expect_bad(device, 0, "batch size must be above 0, found 0");
    device.compute_share = 0;
    expect_bad(device, 1, "fractions");
    device.compute_share = NAN;
    expect_bad(device, 1, "fractions");
    device = UNIT;
    device.peak_flops = 0;
    expect_bad(device, 1, "no known peak");
}

/* 100 MB over 10 GB/s, 4 workers */
static void test_exchange_formulas(void **state)
{
    (void)state;
    struct orch_exchange e = {
        .scheme = ORCH_EXCHANGE_RING, .workers = 4, .bandwidth = 1e10, .latency_s = 1e-5};
    near(orch_exchange_s(&e, 1e8), 2 * 3 * (1e-5 + 1e8 / 4e10), 1e-12);
    e.scheme = ORCH_EXCHANGE_TREE;
    near(orch_exchange_s(&e, 1e8), 2 * 2 * (1e-5 + 1e-2), 1e-12);
    e.scheme = ORCH_EXCHANGE_BUTTERFLY;
    near(orch_exchange_s(&e, 1e8), 2 * (1e-5 + 1e-2), 1e-12);
    e.scheme = ORCH_EXCHANGE_ONE_TO_ALL;
    near(orch_exchange_s(&e, 1e8), 6 * (1e-5 + 1e-2), 1e-12);
    e.scheme = ORCH_EXCHANGE_HIERARCHICAL;
    e.workers = 16;
    e.node_workers = 8;
    e.node_bandwidth = 1e11;
    near(orch_exchange_s(&e, 1e8), 2 * 7 * 1e8 / 8e11 + 2 * (1e-5 + 1e8 / 2e10), 1e-12);
    assert_true(orch_exchange_check(&e, NULL));
    e.workers = 12;
    assert_false(orch_exchange_check(&e, NULL));
    e.workers = 1;
    assert_true(orch_exchange_s(&e, 1e8) == 0);
}

static void test_overlap_hides_all_but_the_last(void **state)
{
    (void)state;
    struct orch_exchange e = {.scheme = ORCH_EXCHANGE_BUTTERFLY, .workers = 2, .bandwidth = 1e9};
    double backward[] = {0.1, 0.1, 0.1}, bytes[] = {1e7, 1e7, 1e7};
    near(orch_exchange_exposed_s(&e, backward, bytes, 3, 0), 0.01, 1e-12);
    near(orch_exchange_exposed_s(&e, backward, bytes, 3, 1e9), 0.03, 1e-12); /* one bucket */
    double heavy[] = {1e7, 1e7, 1e9}; /* 1 s on the link, 0.2 s of it behind computing */
    near(orch_exchange_exposed_s(&e, backward, heavy, 3, 0), 0.8 + 0.02, 1e-12);
}

static void test_table_from_net(void **state)
{
    (void)state;
    static const char *const names[] = {"alexnet",      "vgg19",           "googlenet", "resnet50",
                                        "mobilenet_v2", "resnext50_32x4d", "bert-base"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        struct orch_net *net = make(names[i]);
        struct orch_layer_table *table = orch_layer_table_from_net(net);
        int64_t macs = 0, auxiliary = 0;
        for (int k = 0; k < orch_layer_count(table); k++) {
            const struct orch_layer *l = orch_layer_at(table, k);
            int64_t places = l->type == ORCH_LAYER_CONV2D
                                 ? l->kernel_h * l->kernel_w * l->out.h * l->out.w
                             : l->type == ORCH_LAYER_INNERPRODUCT ? 1
                                                                  : 0;
            macs += places * l->c_in * l->c_out + l->untimed_macs;
        }
        for (guint k = 0; k < net->nodes->len; k++)
            if (orch_net_node(net, (int)k)->is_auxiliary)
                auxiliary += orch_net_node_params(net, orch_net_node(net, (int)k));
        assert_int_equal(macs, orch_net_macs(net));
        assert_int_equal(orch_layer_table_params(table) + auxiliary, orch_net_params(net));
        struct orch_paleo_options options = orch_paleo_defaults();
        struct orch_paleo_step step;
        assert_true(orch_paleo_simulate(table, &options, 1, &step, NULL));
        assert_true(step.total_ms > 0 && isfinite(step.total_ms));
        orch_layer_table_free(table);
        orch_net_free(net);
    }
}

/* ---- hardware ------------------------------------------------------------------------------- */

static void test_gpu_names(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"v100", "V100-SXM2-16GB"},
                                           {"Tesla V100-SXM2-16GB", "V100-SXM2-16GB"},
                                           {"Tesla V100-PCIE-16GB", "V100-PCIe-16GB"},
                                           {"Tesla K80", "K80"},
                                           {"k80-board", "K80-board"},
                                           {"NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"},
                                           {"NVIDIA A100 80GB PCIe", "A100-PCIe-80GB"},
                                           {"NVIDIA H100 80GB HBM3", "H100-SXM5"},
                                           {"NVIDIA H200", "H200-SXM"},
                                           {"NVIDIA GeForce RTX 3090", "RTX-3090"},
                                           {"GeForce GTX 1080 Ti", "GTX-1080-Ti"},
                                           {"1080Ti", "GTX-1080-Ti"},
                                           {"Tesla P100-PCIE-16GB", "P100-PCIe-16GB"},
                                           {"Tesla T4", "T4"},
                                           {"Quadro RTX 8000", "Quadro-RTX-8000"}};
    for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++) {
        const struct orch_gpu_spec *spec = orch_gpu_find(pairs[i][0]);
        assert_non_null(spec);
        assert_string_equal(spec->name, pairs[i][1]);
    }
    static const char *const glued[][2] = {
        {"RTX5090", "RTX-5090"},   {"GTX1080Ti", "GTX-1080-Ti"},
        {"TITANRTX", "TITAN-RTX"}, {"TeslaV100", "V100-SXM2-16GB"},
        {"rtx 4090", "RTX-4090"},  {"GeForceRTX3090", "RTX-3090"}};
    for (size_t i = 0; i < G_N_ELEMENTS(glued); i++) {
        const struct orch_gpu_spec *spec = orch_gpu_find(glued[i][0]);
        assert_non_null(spec);
        assert_string_equal(spec->name, glued[i][1]);
    }
    assert_null(orch_gpu_find("V10000"));
    assert_null(orch_gpu_find(""));
}

static void test_gpu_table_is_consistent(void **state)
{
    (void)state;
    for (const struct orch_gpu_spec *s = orch_gpu_specs(); s->name; s++) {
        assert_ptr_equal(orch_gpu_find(s->name), s); /* names and aliases do not clash */
        /* two operations a core and cycle; data sheets round and clocks of servers vary */
        double formula = 2.0 * s->cores * s->boost_mhz * 1e6 / 1e12;
        if (s->cores && s->boost_mhz > 0) /* else they are not known */
            near(s->fp32_tflops, formula, 0.05);
        assert_true(s->bandwidth_gbs > 0 && s->memory_gb > 0 && *s->source && *s->confidence);
        assert_true(!s->has_bf16 || s->tensor16_tflops > 0);
    }
    assert_string_equal(orch_link_within(orch_gpu_find("B200"))->name, "nvlink5");
    assert_string_equal(orch_link_within(orch_gpu_find("MI300X"))->name, "infinity-fabric");
    const struct orch_gpu_spec *die = orch_gpu_find("K80"), *board = orch_gpu_find("K80-board");
    near(board->fp32_tflops, 2 * die->fp32_tflops, 1e-3);
    near(board->bandwidth_gbs, 2 * die->bandwidth_gbs, 1e-3);
    assert_true(orch_gpu_peak(orch_gpu_find("V100"), ORCH_BF16) == 0);
    near(orch_gpu_peak(orch_gpu_find("A100"), ORCH_TF32), 156e12, 1e-9);
    near(orch_gpu_peak(orch_gpu_find("P100"), ORCH_FP16), 21.2e12, 1e-9);
}

static void test_links_and_prices(void **state)
{
    (void)state;
    assert_string_equal(orch_link_within(orch_gpu_find("V100"))->name, "nvlink2");
    assert_string_equal(orch_link_within(orch_gpu_find("H100"))->name, "nvlink4");
    assert_string_equal(orch_link_within(orch_gpu_find("K80"))->name, "pcie3");
    assert_string_equal(orch_link_within(orch_gpu_find("RTX-3090"))->name, "pcie4");
    const struct orch_price *k80 =
        orch_price_choose(orch_prices(), (struct orch_price_query){.gpu = "K80"});
    near(orch_price_per_gpu(k80, false), 0.9, 1e-12);
    assert_string_equal(k80->cloud, "aws"); /* the newer offers have ended */
    const struct orch_price *aws =
        orch_price_choose(orch_prices(), (struct orch_price_query){.gpu = "K80", .cloud = "aws"});
    assert_string_equal(aws->cloud, "aws");
    assert_null(orch_price_choose(orch_prices(), (struct orch_price_query){.gpu = "K20"}));
    for (guint i = 0; i < orch_prices()->len; i++) {
        const struct orch_price *p = orch_prices()->pdata[i];
        assert_non_null(orch_gpu_find(p->gpu));
        assert_string_equal(orch_gpu_find(p->gpu)->name, p->gpu);
        assert_true(p->count > 0 && p->usd_per_hour > 0 && *p->as_of && *p->source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layer_by_hand),
        cmocka_unit_test(test_batch_moves_the_bound),
        cmocka_unit_test(test_largest_batch_fits),
        cmocka_unit_test(test_reserved),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_exchange_formulas),
        cmocka_unit_test(test_overlap_hides_all_but_the_last),
        cmocka_unit_test(test_table_from_net),
        cmocka_unit_test(test_processor),
        cmocka_unit_test(test_gpu_names),
        cmocka_unit_test(test_gpu_table_is_consistent),
        cmocka_unit_test(test_links_and_prices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
