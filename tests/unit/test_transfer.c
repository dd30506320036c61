/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The distilled white box: figures of the program that fitted it (bench/distil.py, another
 * implementation of the same formula), and what must hold whatever was fitted. */
#include "lib/steptime/transfer.h"

#include "lib/net/zoo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

static double step_s(const char *gpu, const char *name, int64_t batch,
                     enum orch_precision precision, bool training)
{
    GError *error = NULL;
    struct orch_net *net = orch_net_make(&(struct orch_net_options){.name = name}, &error);
    assert_non_null(net);
    struct orch_net_cost *costs = orch_net_costs(net);
    struct orch_roofline_work work = {.batch = batch,
                                      .element_bytes = orch_precision_bytes(precision),
                                      .training = training,
                                      .states_per_weight = 1};
    struct orch_transfer transfer;
    struct orch_roofline_step step;
    g_autofree struct orch_roofline_layer *layers =
        g_new0(struct orch_roofline_layer, net->nodes->len);
    assert_true(orch_transfer_for(orch_gpu_find(gpu), precision, &transfer));
    assert_true(orch_transfer_step(net, costs, &transfer, &work, layers, &step, &error));
    double sum = step.update_s;
    for (guint i = 0; i < net->nodes->len; i++)
        sum += layers[i].forward_s + layers[i].backward_s;
    assert_true(fabs(sum / step.total_s - 1) < 1e-9); /* layers sum to the step */
    assert_true(training == (step.backward_s > 0));
    g_free(costs);
    orch_net_free(net);
    return step.total_s;
}

static void test_figures(void **state)
{
    (void)state;
    static const struct {
        const char *gpu, *net;
        int64_t batch;
        enum orch_precision precision;
        bool training;
        double seconds;
    } rows[] = {{"V100", "resnet50", 64, ORCH_FP32, true, 0.21140820851697315},
                {"RTX 3090", "vgg16", 128, ORCH_FP16, true, 0.2970488376972867},
                {"K80", "resnet18", 32, ORCH_FP32, false, 0.052198173642969525},
                {"A100-SXM4-40GB", "resnext50_32x4d", 12, ORCH_TF32, true, 0.03845438867668607}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        double s =
            step_s(rows[i].gpu, rows[i].net, rows[i].batch, rows[i].precision, rows[i].training);
        assert_true(fabs(s / rows[i].seconds - 1) < 2e-3); /* coefficients have 3 digits */
    }
}

static void test_order(void **state)
{
    (void)state;
    double last = 0;
    for (int64_t batch = 1; batch <= 4096; batch *= 2) {
        double s = step_s("V100", "resnet50", batch, ORCH_FP32, true);
        assert_true(s > last);
        last = s;
    }
    double small = step_s("V100", "resnet50", 64, ORCH_FP32, true);
    assert_true(step_s("V100", "resnet50", 64, ORCH_FP16, true) < small);
    assert_true(step_s("V100", "resnet50", 64, ORCH_FP64, true) > small);
    assert_true(step_s("V100", "resnet50", 64, ORCH_FP32, false) < small / 2);
    assert_true(step_s("K80", "resnet50", 64, ORCH_FP32, true) > small);
    assert_true(step_s("H100", "resnet50", 64, ORCH_FP32, true) < small);
}

static void test_silence(void **state)
{
    (void)state;
    struct orch_transfer t;
    struct orch_roofline_step step;
    assert_false(orch_transfer_for(orch_gpu_find("MI210"), ORCH_FP32, &t)); /* not NVIDIA's */
    assert_false(orch_transfer_for(orch_gpu_find("V100"), ORCH_TF32, &t));
    assert_false(orch_transfer_for(orch_gpu_find("V100"), ORCH_BF16, &t));
    assert_true(orch_transfer_for(orch_gpu_find("H100"), ORCH_FP32, &t));
    assert_false(t.arch_was_measured);
    struct orch_net *net = orch_net_make(&(struct orch_net_options){.name = "lenet5"}, NULL);
    struct orch_net_cost *costs = orch_net_costs(net);
    struct orch_roofline_work none = {.batch = 0, .element_bytes = 4};
    GError *error = NULL;
    assert_false(orch_transfer_step(net, costs, &t, &none, NULL, &step, &error));
    g_clear_error(&error);
    g_free(costs);
    orch_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
