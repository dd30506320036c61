/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps of devices that share a network: what each has, what is waited for, and what must hold. */
#include "features/predict/steps/frozen.h"
#include "features/predict/steps/parallel.h"
#include "features/predict/steps/tensor_split.h"
#include "lib/base/error.h"

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

static void test_words(void **state)
{
    (void)state;
    struct orch_parallel p;
    assert_true(orch_parallel_parse("dp=2,tp=4,pp=3,micro=6", &p, NULL));
    assert_int_equal(orch_parallel_devices(&p), 24);
    assert_int_equal(orch_parallel_replicas(&p), 2);
    assert_int_equal(orch_parallel_micro_batches(&p, 100), 6);
    assert_true(orch_parallel_parse("pp=4", &p, NULL));
    assert_int_equal(orch_parallel_micro_batches(&p, 100), 10);
    assert_int_equal(orch_parallel_micro_batches(&p, 9), 9);
    assert_int_equal(orch_parallel_micro_batches(&p, 26), 13); /* equal parts */
    assert_int_equal(orch_parallel_micro_batches(&p, 3), 3);
    assert_true(orch_parallel_parse("fsdp=8", &p, NULL));
    assert_int_equal(orch_parallel_replicas(&p), 8);
    static const char *const wrong[] = {"",
                                        "dp",
                                        "dp=0",
                                        "dp=x",
                                        "ddp=2",
                                        "dp=2,dp=2",
                                        "d=2",
                                        "dp=2,fsdp=2",
                                        "tp=-1",
                                        "dp=2,",
                                        "dp=60000,tp=60000"};
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        GError *error = NULL;
        assert_false(orch_parallel_parse(wrong[i], &p, &error));
        assert_int_equal(error->code, ORCH_ERROR_USAGE);
        g_clear_error(&error);
    }
}

/* Multiply-adds are shared out, and so are weights but for norms, places and the biases of sums. */
static void test_split(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double sums;      /* that a token takes part in, in widths */
        int width, whole; /* linear layers that every device has whole */
    } rows[] = {{"gpt:3,64,4", 2 * 3 + 1, 64, 0},
                {"llama:3,64,4", 2 * 3 + 1, 64, 0},
                {"opt:3,64,4", 2 * 3 + 1, 64, 0},
                {"bert-mlm:3,64,4", 2 * 3 + 1, 64, 1}, /* a norm behind its last layer but one */
                {"t5:3,64,4", 2 * 3 + 3 * 3 + 1, 64, 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct orch_net *net = make(rows[i].name);
        double values;
        struct orch_net *half = orch_net_split_tensors(net, 2, &values, NULL);
        assert_non_null(half);
        double tokens = (double)net->input.h;
        if (fabs(values - rows[i].sums * rows[i].width * tokens) > 1)
            fail_msg("%s: %g values", rows[i].name, values / tokens / rows[i].width);
        int64_t whole = rows[i].whole * 64 * 64 * net->input.h;
        assert_int_equal(2 * (orch_net_macs(half) - whole), orch_net_macs(net) - whole);
        assert_true(orch_net_params(half) < 0.8 * (double)orch_net_params(net));
        assert_true(orch_net_params(half) >= orch_net_params(net) / 2);
        orch_net_free(half);
        orch_net_free(net);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int ways;
        const char *words;
    } rows[] = {{"gpt2", 5, "the 12 heads of layer"},
                {"resnet50", 2, "tensor parallelism is only for transformers"},
                {"gpt:1,64,4,255", 2, "the 255 outputs of layer"}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct orch_net *net = make(rows[i].name);
        double values;
        GError *error = NULL;
        assert_null(orch_net_split_tensors(net, rows[i].ways, &values, &error));
        if (!strstr(error->message, rows[i].words))
            fail_msg("%s", error->message);
        g_clear_error(&error);
        orch_net_free(net);
    }
}

/* A step of batch 8 of a network on A100s. */
static struct orch_prior_step step_of_net(const struct orch_net *net, const char *ways, double gb_s,
                                          bool training)
{
    const struct orch_gpu_spec *gpu = orch_gpu_find("A100-SXM4-40GB");
    struct orch_prior prior;
    struct orch_parallel p;
    struct orch_prior_step out;
    const struct orch_kernel_switches usual = {0};
    assert_true(orch_prior_for(gpu, ORCH_BF16, net, &usual, &prior, NULL) && prior.is_transferred);
    assert_true(orch_parallel_parse(ways, &p, NULL));
    const struct orch_roofline_work work = {
        .batch = 8, .element_bytes = 2, .training = training, .states_per_weight = 2};
    const struct orch_parallel_links links = {.replicas = {.workers = orch_parallel_replicas(&p),
                                                           .bandwidth = gb_s * 1e9,
                                                           .node_workers = 1},
                                              .within = gb_s * 1e9,
                                              .between = gb_s * 1e9};
    assert_true(orch_parallel_predict(net, &prior, &work, &p, &links, &out, NULL));
    return out;
}

static struct orch_prior_step step_of(const char *name, const char *ways, double gb_s)
{
    struct orch_net *net = make(name);
    struct orch_prior_step out = step_of_net(net, ways, gb_s, true);
    orch_net_free(net);
    return out;
}

/* A shard gathers weights in any case, gradients of what is trained alone. */
static void test_gathered(void **state)
{
    (void)state;
    struct orch_net *net = make("gpt2-large");
    double block = 12.0 * 1280 * 1280, params = 774030080, ends = params - 36 * block;
    double one = step_of_net(net, "dp=4", 200, false).memory_bytes;
    double shard = step_of_net(net, "fsdp=4", 200, false).memory_bytes;
    double gathered = shard - (one - 0.75 * 4 * params);
    assert_true(fabs(gathered / (2 * (2 * block + ends)) - 1) < 0.01);
    struct orch_net_trained_part part;
    orch_net_train_blocks(net, 1, &part);
    struct orch_net_cost *costs = orch_net_costs(net);
    double trained = (double)orch_net_cost_sum(net, costs).trained;
    one = step_of_net(net, "dp=4", 200, true).memory_bytes;
    shard = step_of_net(net, "fsdp=4", 200, true).memory_bytes;
    gathered = shard - (one - 0.75 * (2 * (params - trained) + 12 * trained));
    assert_true(trained < 0.2 * params);
    assert_true(fabs(gathered / (2 * (2 * block + ends + trained)) - 1) < 0.01);
    g_free(costs);
    orch_net_free(net);
}

static void test_ways(void **state)
{
    (void)state;
    const char *net = "gpt2-large";
    struct orch_prior_step one = step_of(net, "dp=1", 200), dp = step_of(net, "dp=4", 200),
                           fsdp = step_of(net, "fsdp=4", 200), tp = step_of(net, "tp=4", 200),
                           pp = step_of(net, "pp=4", 200), pp1 = step_of(net, "pp=4,micro=1", 200);
    assert_true(dp.total_s.mid >= one.total_s.mid && dp.total_s.mid < 1.3 * one.total_s.mid);
    assert_true(fabs(dp.memory_bytes / one.memory_bytes - 1) < 1e-9);
    /* 12 bytes a weight, of which a fourth is left; gradients come when activations go */
    double states = 12.0 * 774030080, block = 12.0 * 1280 * 1280, ends = 774030080 - 36 * block;
    double least = one.memory_bytes - 0.75 * states;
    assert_true(fsdp.memory_bytes > least + 2 * 3 * block);
    assert_true(fsdp.memory_bytes < least + 2 * (3.1 * block + 2 * ends));
    assert_true(tp.total_s.mid < 0.5 * one.total_s.mid && tp.total_s.mid > one.total_s.mid / 4);
    assert_true(tp.memory_bytes < 0.6 * one.memory_bytes);
    /* 8 micro-batches take 11 stage times, of which there are four; one alone takes all */
    assert_true(pp.total_s.mid < 0.6 * one.total_s.mid &&
                pp.total_s.mid > 11.0 / 32 * one.total_s.mid);
    assert_true(pp1.own.forward_s + pp1.own.backward_s >=
                0.999 * (one.own.forward_s + one.own.backward_s));
    assert_true(pp.memory_bytes < 0.5 * one.memory_bytes);
    /* more of fewer samples wait less, until the host's launches take longer than they */
    struct orch_prior_step pp2 = step_of(net, "pp=4,micro=2", 200);
    assert_true(pp2.total_s.mid > pp.total_s.mid && pp2.own.host_share < 0.5);
    assert_true(pp.own.host_share > 0.5);
    /* slow links */
    assert_true(step_of(net, "fsdp=4", 5).total_s.mid > 1.5 * fsdp.total_s.mid);
    assert_true(step_of(net, "tp=4", 5).total_s.mid > 2 * tp.total_s.mid);
    assert_true(step_of(net, "dp=4", 2).total_s.mid > 1.5 * dp.total_s.mid);
    assert_true(step_of("resnet50", "pp=2", 200).total_s.mid > 0);
}

/* Replicas alone are what workers are. */
static void test_as_workers(void **state)
{
    (void)state;
    struct orch_net *net = make("resnet50");
    struct orch_net_cost *costs = orch_net_costs(net);
    const struct orch_gpu_spec *gpu = orch_gpu_find("V100");
    struct orch_prior prior;
    const struct orch_kernel_switches usual = {0};
    assert_true(orch_prior_for(gpu, ORCH_FP32, net, &usual, &prior, NULL) && prior.is_transferred);
    const struct orch_roofline_work work = {
        .batch = 64, .element_bytes = 4, .training = true, .states_per_weight = 1};
    const struct orch_exchange ring = {
        .workers = 8, .bandwidth = 1e9, .node_workers = 8, .latency_s = 1e-5};
    const struct orch_parallel_links links = {.replicas = ring, .within = 1e9, .between = 1e9};
    struct orch_parallel p;
    struct orch_prior_step workers, replicas;
    assert_true(orch_parallel_parse("dp=8", &p, NULL));
    assert_true(orch_prior_predict(net, costs, &prior, &work, &ring, NULL, &workers, NULL));
    assert_true(orch_parallel_predict(net, &prior, &work, &p, &links, &replicas, NULL));
    assert_true(fabs(workers.total_s.mid / replicas.total_s.mid - 1) < 1e-9);
    assert_true(fabs(workers.exposed_s - replicas.exposed_s) < 1e-9);
    assert_true(fabs(workers.total_s.high / replicas.total_s.high - 1) < 1e-9);
    assert_true(fabs(workers.memory_bytes - replicas.memory_bytes) < 1);
    assert_int_equal(workers.largest_batch, replicas.largest_batch);
    GError *error = NULL;
    assert_true(orch_parallel_parse("pp=200", &p, NULL));
    assert_false(orch_parallel_predict(net, &prior, &work, &p, &links, &replicas, &error));
    assert_non_null(strstr(error->message, "has only 54 layers with multiply-adds"));
    g_clear_error(&error);
    assert_true(orch_parallel_parse("pp=2,micro=65", &p, NULL));
    assert_false(orch_parallel_predict(net, &prior, &work, &p, &links, &replicas, &error));
    assert_non_null(
        strstr(error->message, "a batch of 64 cannot be divided into 65 equal micro-batches"));
    g_clear_error(&error);
    g_free(costs);
    orch_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),      cmocka_unit_test(test_split),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_ways),
        cmocka_unit_test(test_as_workers), cmocka_unit_test(test_gathered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
