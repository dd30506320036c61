/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of all-reduce algorithms against the formulas of the literature, and the plan of
 * buckets. */
#include "plugins/common/comm/algorithms.h"
#include "plugins/common/comm/alpha_beta.h"
#include "plugins/common/comm/buckets.h"
#include "plugins/common/comm/half.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static double seconds(const char *name, int workers, int per_node)
{
    const struct orch_comm_algorithm *algorithm = orch_comm_algorithm_find(name);
    assert_non_null(algorithm);
    /* 1 MB, 10 us a message, 1 GB/s: 1 ms a copy */
    return 1e6 * orch_comm_seconds(algorithm, (struct orch_comm_shape){workers, per_node}, 1e6,
                                   10e-6, 1e-9);
}

static void near(double found, double expected)
{
    if (!(fabs(found - expected) < 1e-6 * (1 + expected)))
        fail_msg("%g us, expected %g us", found, expected);
}

static void test_formulas(void **state)
{
    (void)state;
    near(seconds("ring", 8, 8), 14 * 10 + 14 / 8.0 * 1000);
    near(seconds("segmented_ring", 8, 8), 14 * 10 + 14 / 8.0 * 1000);
    near(seconds("linear", 8, 8), 14 * 1010);
    near(seconds("reduce_broadcast", 8, 8), 6 * 1010);
    near(seconds("reduce_broadcast", 5, 8), 6 * 1010);
    near(seconds("recursive_doubling", 8, 8), 3 * 1010);
    near(seconds("rabenseifner", 8, 8), 6 * 10 + 14 / 8.0 * 1000);
    /* one node: a tree; one worker a node: a ring; two nodes of 8: both */
    near(seconds("hierarchical", 8, 8), seconds("reduce_broadcast", 8, 8));
    near(seconds("hierarchical", 8, 1), seconds("ring", 8, 8));
    near(seconds("hierarchical", 16, 8), seconds("reduce_broadcast", 8, 8) + seconds("ring", 2, 1));
    assert_true(isnan(seconds("auto", 8, 8)));
}

static void test_one_worker_takes_no_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < orch_comm_algorithm_count; i++)
        if (orch_comm_algorithms[i].cost)
            near(seconds(orch_comm_algorithms[i].name, 1, 1), 0);
    near(orch_comm_bus_factor(1), 0);
    near(orch_comm_bus_factor(4), 1.5);
}

/* The choices of a parameter are the table's names, in its order, each once. */
static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < orch_comm_algorithm_count; i++) {
        assert_string_equal(orch_comm_algorithm_names[i], orch_comm_algorithms[i].name);
        assert_ptr_equal(orch_comm_algorithm_find(orch_comm_algorithm_names[i]),
                         &orch_comm_algorithms[i]);
    }
    assert_null(orch_comm_algorithm_names[orch_comm_algorithm_count]);
    assert_null(orch_comm_algorithm_find("butterfly"));
}

static void test_plan(void **state)
{
    (void)state;
    const size_t tensors[] = {4, 8, 100, 2, 30, 30, 50};
    const struct orch_comm_bucket_sizes sizes = {10, 60};
    struct orch_comm_bucket plan[7];
    assert_int_equal(orch_comm_plan(tensors, 7, &sizes, plan), 4);
    const struct orch_comm_bucket expected[] = {{0, 2, 12}, {2, 1, 100}, {3, 3, 62}, {6, 1, 50}};
    assert_memory_equal(plan, expected, sizeof expected);
    assert_int_equal(orch_comm_plan(tensors, 0, &sizes, plan), 0);
    const struct orch_comm_bucket_sizes usual = ORCH_COMM_BUCKET_SIZES;
    assert_int_equal(orch_comm_plan(tensors, 7, &usual, plan), 1);
    assert_int_equal(plan[0].bytes, 224);
}

/* Every 16-bit number survives; halves round to even; what is out of range is infinite. */
static void test_half(void **state)
{
    (void)state;
    const float values[] = {1,         -2.5F,    65504,       65519,        65520,
                            0x1p-24F,  0x1p-25F, 0x3p-25F,    1 + 0x1p-11F, 1 + 0x3p-11F,
                            -0x1p-14F, 1e-8F,    1 + 0x1p-8F, 1 + 0x3p-8F,  3e38F};
    const float fp16[] = {1,         -2.5F, 65504,       65504,       (float)INFINITY,
                          0x1p-24F,  0,     0x1p-23F,    1,           1 + 0x1p-9F,
                          -0x1p-14F, 0,     1 + 0x1p-8F, 1 + 0x3p-8F, (float)INFINITY};
    const float bf16_ends[] = {1, 1 + 0x1p-6F};
    uint16_t bits[15];
    float back[15];
    orch_half_encode(ORCH_HALF_FP16, values, 15, bits);
    orch_half_decode(ORCH_HALF_FP16, bits, 15, back);
    for (int i = 0; i < 15; i++)
        if (back[i] != fp16[i])
            fail_msg("fp16 of %a is %a, expected %a", (double)values[i], (double)back[i],
                     (double)fp16[i]);
    orch_half_encode(ORCH_HALF_BF16, values + 12, 2, bits);
    orch_half_decode(ORCH_HALF_BF16, bits, 2, back);
    assert_memory_equal(back, bf16_ends, sizeof bf16_ends);
    for (int format = ORCH_HALF_FP16; format <= ORCH_HALF_BF16; format++)
        for (uint32_t i = 0; i < 0x10000; i++) {
            const uint16_t one = (uint16_t)i;
            uint16_t again;
            float value;
            orch_half_decode((enum orch_half)format, &one, 1, &value);
            orch_half_encode((enum orch_half)format, &value, 1, &again);
            assert_true(again == one || isnan(value));
        }
}

static void test_half_sum(void **state)
{
    (void)state;
    const float a[] = {1, 0.25F, 60000}, b[] = {2, -0.125F, 60000};
    const float expected[] = {3, 0.125F, (float)INFINITY};
    uint16_t left[3], right[3];
    float sums[3];
    orch_half_encode(ORCH_HALF_FP16, a, 3, left);
    orch_half_encode(ORCH_HALF_FP16, b, 3, right);
    orch_half_add(ORCH_HALF_FP16, left, right, 3);
    orch_half_decode(ORCH_HALF_FP16, right, 3, sums);
    assert_memory_equal(sums, expected, sizeof sums);
}

/* Exact times give alpha and beta back; an error that is left is measured; neither is negative. */
static void test_alpha_beta(void **state)
{
    (void)state;
    struct orch_alpha_beta_point points[4];
    struct orch_alpha_beta fit;
    for (int i = 0; i < 4; i++) {
        const double bytes = 1024.0 * pow(64, i);
        points[i] = (struct orch_alpha_beta_point){{6, 1.5}, bytes, 6 * 2e-6 + 1.5 * bytes * 1e-10};
    }
    assert_true(orch_alpha_beta_fit(points, 4, &fit));
    near(fit.alpha_s * 1e6, 2);
    near(fit.beta_s * 1e10, 1);
    assert_true(fit.error < 1e-9 && fit.log_error < 1e-9);
    points[3].seconds *= 1.1;
    assert_true(orch_alpha_beta_fit(points, 4, &fit));
    assert_true(fit.error > 0.02 && fit.error < 0.06);
    assert_false(orch_alpha_beta_fit(points, 1, &fit));
    points[0].seconds = 1e-9; /* less than any latency */
    assert_true(orch_alpha_beta_fit(points, 2, &fit));
    assert_true(fit.alpha_s >= 0 && fit.beta_s >= 0);
}

/* Times of three sizes that no latency and bandwidth explain: alpha is no latency. */
static void test_no_latency_of_a_bad_fit(void **state)
{
    (void)state;
    static const double seconds[] = {2e-5, 2e-4, 8e-5};
    struct orch_alpha_beta_point points[3];
    struct orch_alpha_beta fit;
    for (size_t i = 0; i < 3; i++)
        points[i] = (struct orch_alpha_beta_point){{1, 1}, 1024 << (4 * i), seconds[i]};
    assert_true(orch_alpha_beta_fit(points, 3, &fit));
    assert_true(fit.error > 0.25 && fit.alpha_s > 0);
    assert_false(orch_alpha_beta_has_latency(&fit));
    fit.error = 0.1;
    assert_true(orch_alpha_beta_has_latency(&fit));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulas),   cmocka_unit_test(test_one_worker_takes_no_time),
        cmocka_unit_test(test_names),      cmocka_unit_test(test_plan),
        cmocka_unit_test(test_alpha_beta), cmocka_unit_test(test_half),
        cmocka_unit_test(test_half_sum),   cmocka_unit_test(test_no_latency_of_a_bad_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
