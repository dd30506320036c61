/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times of kernels of inference servers: figures of the program that fitted the constants
 * (bench/distil_serving.py, another implementation), and what must hold whatever was fitted. */
#include "lib/steptime/tensor_kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

static const struct orch_gpu_spec *gpu_of(const char *name)
{
    const struct orch_gpu_spec *gpu = orch_gpu_find(name);
    assert_non_null(gpu);
    return gpu;
}

static void assert_near(double value, double wanted)
{
    assert_true(fabs(value / wanted - 1) < 1e-4);
}

static double product_s(const char *gpu, enum orch_number_format format, double m, double n,
                        double k)
{
    const struct orch_tensor_product p = {m, n, k, false};
    return orch_tensor_product_s(gpu_of(gpu), format, &p);
}

static void test_figures(void **state)
{
    (void)state;
    assert_near(product_s("H100", ORCH_FORMAT_16, 4096, 4096, 4096), 1.660672e-4);
    assert_near(product_s("A100-SXM4-80GB", ORCH_FORMAT_16, 16, 8192, 8192), 9.218023e-5);
    assert_near(product_s("L40S", ORCH_FORMAT_16, 128, 128, 16384), 9.869110e-6); /* split */
    assert_near(product_s("L40S", ORCH_FORMAT_FP8, 2048, 4096, 4096), 1.965753e-4);
    struct orch_tensor_attention a = {4, 4096, 32, 8, 128, 0, false};
    assert_near(orch_tensor_attention_s(gpu_of("A100-SXM4-80GB"), &a), 3.337004e-3);
    a.window = 1024;
    assert_near(orch_tensor_attention_s(gpu_of("H100"), &a), 6.773195e-4);
    a.window = 0;
    a.has_fp8_cache = true;
    assert_near(orch_tensor_attention_s(gpu_of("H100"), &a), 1.212511e-3);
    const struct orch_tensor_experts e = {1024, 4096, 2048, 8, 128, 1, 4, false};
    assert_near(orch_tensor_experts_s(gpu_of("H100"), ORCH_FORMAT_FP8_BLOCK, &e), 5.272321e-4);
    assert_near(orch_collective_s(gpu_of("H100"), ORCH_ALL_REDUCE, 2e8, 8), 1.079459e-3);
    assert_near(orch_collective_s(gpu_of("L40S"), ORCH_ALL_GATHER, 2e6, 4), 3.429022e-4);
}

/* Rows that were measured (aiconfigurator, Apache-2.0), of shapes where one mechanism is nearly all
 * of the time: rows and queries made into 8 bits, tokens put into the cache, blocks of queries,
 * steps in depth, and a message's start. */
static void test_measured(void **state)
{
    (void)state;
    static const struct {
        const char *gpu;
        double m, n, k, ms;
    } products[] = {{"L40S", 32768, 32, 32, 0.1842},
                    {"B200", 4352, 32, 32, 0.0335},
                    {"H100", 512, 32, 32, 0.0090},
                    {"B200", 16384, 32, 1024, 0.1108},
                    {"L40S", 4097, 32, 1024, 0.0344}};
    /* a deep product in few tiles takes the cycles of its steps */
    assert_true(fabs(product_s("B200", ORCH_FORMAT_16, 128, 128, 2048) / 5.07e-6 - 1) < 0.2);
    assert_true(fabs(product_s("B200", ORCH_FORMAT_FP4, 1, 64, 10240) / 13.0e-6 - 1) < 0.2);
    for (size_t i = 0; i < G_N_ELEMENTS(products); i++) {
        double s = product_s(products[i].gpu, ORCH_FORMAT_FP8, products[i].m, products[i].n,
                             products[i].k);
        assert_true(fabs(s * 1e3 / products[i].ms - 1) < 0.2);
    }
    static const struct {
        const char *gpu;
        double us;
    } starts[] = {{"A100-SXM4-80GB", 9.08}, {"H100", 5.59}, {"L40S", 5.24}, {"B200", 8.89}};
    for (size_t i = 0; i < G_N_ELEMENTS(starts); i++) {
        double s = orch_collective_s(gpu_of(starts[i].gpu), ORCH_ALL_GATHER, 1024, 2);
        assert_true(fabs(s * 1e6 / starts[i].us - 1) < 0.4);
    }
    /* a sum goes around the ring twice; of two GPUs' values each keeps half */
    assert_true(fabs(orch_collective_s(gpu_of("A100"), ORCH_ALL_REDUCE, 512, 8) / 22.6e-6 - 1) <
                0.1);
    double s = orch_collective_s(gpu_of("A100"), ORCH_ALL_GATHER, 1 << 29, 2);
    assert_true(fabs(s / 1790e-6 - 1) < 0.1);
    /* PCIe 5 is twice as fast as L40S's (pipeweave, Apache-2.0, 55e0317) */
    s = orch_collective_s(gpu_of("RTX-PRO-6000-Server"), ORCH_ALL_REDUCE, 1 << 29, 2);
    assert_true(fabs(s / 13.4e-3 - 1) < 0.2);
    /* heads that share their keys lie in one block of Hopper's kernel and for single tokens, others
     * in blocks of their own */
    static const struct {
        const char *gpu;
        struct orch_tensor_attention shape;
        double us;
    } attentions[] = {{"H100", {128, 16, 64, 8, 128, 0, true}, 93.6},
                      {"H100", {1, 4096, 10, 2, 128, 0, true}, 116.3},
                      {"A100-SXM4-80GB", {256, 16, 40, 1, 128, 0, false}, 362.3},
                      {"B200", {128, 16, 24, 4, 128, 0, false}, 83.2},
                      {"A100-SXM4-80GB", {256, 1, 32, 1, 128, 0, false}, 21.5},
                      /* two kernels here, four on Hopper with queries made into 8 bits */
                      {"A100-SXM4-80GB", {1, 16, 32, 8, 128, 0, false}, 11.7},
                      {"H100", {4, 16, 40, 2, 128, 0, true}, 18.1},
                      /* Triton's kernel, which turns 8 bits into 16, is as fast on both */
                      {"B200", {8, 3072, 32, 2, 192, 0, true}, 14481},
                      {"L40S", {8, 1536, 32, 2, 192, 0, true}, 3059}};
    for (size_t i = 0; i < G_N_ELEMENTS(attentions); i++) {
        s = orch_tensor_attention_s(gpu_of(attentions[i].gpu), &attentions[i].shape);
        assert_true(fabs(s * 1e6 / attentions[i].us - 1) < 0.2);
    }
}

/* More work takes longer, fewer bits are faster where the product is large, and memory counts. */
static void test_order(void **state)
{
    (void)state;
    for (double m = 1; m < 1e5; m *= 4)
        assert_true(product_s("B200", ORCH_FORMAT_16, m, 4096, 4096) <=
                    product_s("B200", ORCH_FORMAT_16, 4 * m, 4096, 4096));
    double s16 = product_s("B200", ORCH_FORMAT_16, 16384, 8192, 8192);
    double s8 = product_s("B200", ORCH_FORMAT_FP8, 16384, 8192, 8192);
    double s4 = product_s("B200", ORCH_FORMAT_FP4, 16384, 8192, 8192);
    assert_true(s4 < s8 && s8 < s16);
    double h100 = product_s("H100", ORCH_FORMAT_16, 8, 65536, 8192);
    double h200 = product_s("H200", ORCH_FORMAT_16, 8, 65536, 8192);
    assert_true(h200 < h100 && h200 > h100 * 3352 / 4800);
    struct orch_tensor_attention whole = {1, 16384, 32, 8, 128, 0, false}, window = whole;
    window.window = 1024;
    assert_true(orch_tensor_attention_s(gpu_of("H100"), &window) <
                orch_tensor_attention_s(gpu_of("H100"), &whole) / 4);
}

/* What the table lacks, or what is no size, has no time. */
static void test_unknown(void **state)
{
    (void)state;
    enum orch_number_format format;
    enum orch_collective kind;
    assert_true(isnan(product_s("A100", ORCH_FORMAT_FP8, 64, 64, 64)));
    assert_true(isnan(product_s("H100", ORCH_FORMAT_FP4, 64, 64, 64)));
    assert_true(isnan(product_s("P100", ORCH_FORMAT_16, 64, 64, 64)));
    assert_true(isnan(product_s("H100", ORCH_FORMAT_16, 0, 64, 64)));
    assert_true(isnan(product_s("H100", ORCH_FORMAT_16, 64, (double)NAN, 64)));
    assert_true(isnan(orch_collective_s(gpu_of("H100"), ORCH_ALL_REDUCE, 1e6, 1)));
    assert_true(orch_number_format_find("BFLOAT16", &format) && format == ORCH_FORMAT_16);
    assert_false(orch_number_format_find("fp32", &format));
    assert_false(orch_number_format_find("", &format));
    assert_false(orch_collective_find("broadcast", &kind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_measured),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
