/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The distilled white box: figures of the program that fitted it (bench/distil.py, another
 * implementation of the same formula), and what must hold whatever was fitted. */
#include "lib/steptime/transfer.h"
#include "lib/steptime/transfer_error.h"

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
    } rows[] = {{"V100", "resnet50", 64, ORCH_FP32, true, 0.21167988151182657},
                {"RTX 3090", "vgg16", 128, ORCH_FP16, true, 0.29838249227307767},
                {"K80", "resnet18", 32, ORCH_FP32, false, 0.052120210909401075},
                {"A100-SXM4-40GB", "resnext50_32x4d", 12, ORCH_TF32, true, 0.03864456213835347}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        double s =
            step_s(rows[i].gpu, rows[i].net, rows[i].batch, rows[i].precision, rows[i].training);
        assert_true(fabs(s / rows[i].seconds - 1) < 2e-4); /* coefficients have 4 digits */
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

static struct orch_transfer_error error_of(const char *gpu, enum orch_precision precision,
                                           const char *net)
{
    struct orch_transfer t;
    const struct orch_gpu_spec *spec = orch_gpu_find(gpu);
    bool is_covered = orch_transfer_for(spec, precision, &t);
    return orch_transfer_error_of(spec, precision, net, is_covered ? &t : NULL);
}

/* The rule: the chip's offset is known better with each run, the spread between networks stays. */
static void test_error_after_runs(void **state)
{
    (void)state;
    struct orch_transfer_error e = error_of("RTX-2080", ORCH_FP32, "resnet50");
    assert_int_equal(e.asked, ORCH_ASKED_CHIP);
    double last = orch_transfer_error_half(&e, 0), weight = 0;
    for (int runs = 1; runs < 100; runs *= 3) {
        double half = orch_transfer_error_half(&e, runs);
        double now = orch_transfer_error_weight(&e, runs);
        assert_true(half < last && half > e.spread && now > weight && now < 1);
        last = half;
        weight = now;
    }
    double sd = e.offset_sd, noise = e.spread / 1.6449;
    double known = sd / sqrt(1 + 2 * sd * sd / (noise * noise));
    assert_true(fabs(orch_transfer_error_half(&e, 2) - hypot(e.student * known, e.spread)) < 1e-4);
}

/* What of the question was measured, and that the interval is no narrower where less of it was. */
static void test_error_by_shape(void **state)
{
    (void)state;
    static const struct {
        const char *gpu, *net;
        enum orch_asked asked;
    } rows[] = {
        {"RTX 2080 Ti", "resnet50", ORCH_ASKED_KNOWN},
        {"TITAN RTX", "wide_resnet50_2", ORCH_ASKED_KNOWN},
        {"A100 80GB PCIe", "vgg16", ORCH_ASKED_KNOWN}, /* another board of a measured chip */
        {"RTX 2080 Ti", "googlenet", ORCH_ASKED_NETWORK},
        {"RTX 4090", "resnet50", ORCH_ASKED_CHIP},
        {"H100", "resnet50", ORCH_ASKED_ARCH}};
    for (int precision = 0; precision < ORCH_PRECISION_COUNT; precision++) {
        double halves[ORCH_ASKED_ARCH + 1] = {0};
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
            struct orch_transfer_error e =
                error_of(rows[i].gpu, (enum orch_precision)precision, rows[i].net);
            assert_int_equal(e.asked, rows[i].asked);
            assert_true(e.covered >= 0.85 && e.covered <= 0.95 && e.groups >= 3);
            halves[e.asked] = orch_transfer_error_half(&e, 0);
        }
        assert_true(halves[ORCH_ASKED_KNOWN] < halves[ORCH_ASKED_CHIP]);
        assert_true(halves[ORCH_ASKED_KNOWN] < halves[ORCH_ASKED_NETWORK]);
        assert_true(halves[ORCH_ASKED_CHIP] <= halves[ORCH_ASKED_ARCH]);
        struct orch_transfer_error both =
            error_of("RTX 4090", (enum orch_precision)precision, "googlenet");
        assert_true(both.asked == ORCH_ASKED_CHIP &&
                    orch_transfer_error_half(&both, 0) > halves[ORCH_ASKED_CHIP] &&
                    orch_transfer_error_half(&both, 0) > halves[ORCH_ASKED_NETWORK]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),        cmocka_unit_test(test_order),
        cmocka_unit_test(test_silence),        cmocka_unit_test(test_error_after_runs),
        cmocka_unit_test(test_error_by_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
