/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GPU's part of plugin vecadd on a stand-in for the CUDA runtime: what is measured and
 * reported, wrong sums, and every call failing in turn. The kernels themselves are tested by
 * gpu_vecadd on a GPU. */
#include "plugins/vecadd/vecadd.h"
#include "tests/plugins/stand_in_cuda.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* What a trial reported. */
static struct {
    char failure[1024];
    char names[64][32];
    double values[64];
    int count;
} said;

static void on_result(const struct orch_host *host, const char *name, double value)
{
    (void)host;
    int i = 0;
    while (i < said.count && strcmp(said.names[i], name) != 0)
        i++;
    assert_true(i < 64);
    snprintf(said.names[i], sizeof said.names[i], "%s", name);
    said.values[i] = value;
    said.count += i == said.count;
}
static double result(const char *name)
{
    for (int i = 0; i < said.count; i++)
        if (strcmp(said.names[i], name) == 0)
            return said.values[i];
    return NAN;
}
static void on_metric(const struct orch_host *host, const char *name, int64_t step, double value)
{
    (void)host, (void)name, (void)step, (void)value;
}
static void on_text(const struct orch_host *host, const char *text)
{
    (void)host, (void)text;
}
static void on_fail(const struct orch_host *host, const char *text)
{
    (void)host;
    snprintf(said.failure, sizeof said.failure, "%s", text);
}
static bool on_cancelled(const struct orch_host *host)
{
    (void)host;
    return false;
}

static const struct orch_host HOST = {.struct_bytes = offsetof(struct orch_host, slot),
                                      .metric = on_metric,
                                      .result = on_result,
                                      .phase = on_text,
                                      .note = on_text,
                                      .fail = on_fail,
                                      .cancelled = on_cancelled};

static int run(enum vecadd_memory memory, size_t count)
{
    const struct vecadd_trial trial = {
        .scenario = VECADD_GPU_STRIDE,
        .memory = memory,
        .count = count,
        .warmup = 2,
        .threads = 2,
        .seed = 7,
        .is_smoke = true,
        .rule = {.min_count = 3, .max_count = 3, .limit_s = 0.05, .settled = 1}};
    memset(&said, 0, sizeof said);
    return orch_vecadd_gpu_run(&trial, &HOST);
}

static const enum vecadd_memory MEMORIES[] = {VECADD_PAGEABLE, VECADD_PINNED, VECADD_MANAGED,
                                              VECADD_MANAGED_PREFETCH, VECADD_MANAGED_ADVICE};
enum { MEMORY_COUNT = sizeof MEMORIES / sizeof MEMORIES[0] };

static void test_every_memory(void **state)
{
    (void)state;
    for (int m = 0; m < MEMORY_COUNT; m++) {
        stand_in_cuda_reset();
        assert_int_equal(run(MEMORIES[m], 12347), ORCH_OK);
        assert_int_equal(stand_in_cuda.allocations, 0);
        assert_true(fabs(result("wrong_elements") - (0)) <= 0);
        assert_true(fabs(result("kernel_samples") - (3)) <= 0);
        assert_true(fabs(result("bandwidth") * result("kernel_time") - (12 * 12347 / 1e6)) <= 1e-9);
        assert_true(
            fabs(result("bandwidth_share") * result("measured_bandwidth") / result("bandwidth") -
                 1) <= 1e-9);
        assert_true(fabs(result("nominal_bandwidth") - 16) <=
                    1e-9); /* 1 GHz, 64 bits, 2 transfers */
        assert_true(result("total_time") >= result("kernel_time") + result("copy_out_time"));
        assert_true(result("program_time") > 0 && result("context_time") >= 0);
        assert_true((stand_in_cuda.prefetches > 0) == (MEMORIES[m] >= VECADD_MANAGED));
        assert_true((stand_in_cuda.advices > 0) == (MEMORIES[m] == VECADD_MANAGED_ADVICE));
        assert_true((MEMORIES[m] == VECADD_MANAGED) == (result("copy_in_time") == 0));
        /* no sample contains its launch; the first addition of a program does */
        assert_int_equal(stand_in_cuda.idle, 1);
        assert_true(stand_in_cuda.held >= 2 + 3 + 3 + 4); /* warm-up, cold, warm, copies */
    }
}

static void test_wrong_sums(void **state)
{
    (void)state;
    for (int m = 0; m < MEMORY_COUNT; m++) {
        stand_in_cuda_reset();
        stand_in_cuda.is_wrong = true;
        assert_int_equal(run(MEMORIES[m], 12347), ORCH_FAILED);
        assert_string_equal(
            said.failure,
            "first pass: 1 of 12347 sums differ from the reference, the first at index 12346");
        assert_true(fabs(result("wrong_elements") - (1)) <= 0);
        assert_int_equal(stand_in_cuda.allocations, 0);
    }
}

/* Each call fails in turn: the trial ends well (what failed can be done without), or with its
 * reason; nothing is left behind. */
static void test_every_call_fails(void **state)
{
    (void)state;
    for (int m = 0; m < MEMORY_COUNT; m++)
        for (int sticky = 0; sticky < 1 + (m % 3 == 0); sticky++) {
            int failed = 0;
            for (int at = 1;; at++) {
                stand_in_cuda_reset();
                stand_in_cuda.fail_at = at;
                stand_in_cuda.is_sticky = sticky;
                const int status = run(MEMORIES[m], 1001);
                if (stand_in_cuda.calls < at)
                    break; /* all were tried */
                assert_int_equal(stand_in_cuda.allocations, 0);
                failed += status == ORCH_FAILED;
                if (status == ORCH_OK) {
                    assert_true(fabs(result("wrong_elements") - (0)) <= 0);
                    continue;
                }
                assert_int_equal(status, ORCH_FAILED);
                assert_non_null(
                    strstr(said.failure, "cudaErrorIllegalAddress (an illegal memory access"));
                assert_true(!sticky == !strstr(said.failure, "compute-sanitizer"));
            }
            assert_true(failed > 30);
        }
}

static void test_devices(void **state)
{
    (void)state;
    stand_in_cuda_reset();
    stand_in_cuda.devices = 0;
    assert_int_equal(run(VECADD_PAGEABLE, 1001), ORCH_SKIPPED);
    assert_string_equal(said.failure, "no CUDA device");
    stand_in_cuda.driver = 0;
    assert_int_equal(run(VECADD_PAGEABLE, 1001), ORCH_SKIPPED);
    assert_non_null(strstr(said.failure, "no CUDA device (there is no NVIDIA driver)"));
    stand_in_cuda.driver = 10020;
    assert_int_equal(run(VECADD_PAGEABLE, 1001), ORCH_SKIPPED);
    assert_non_null(
        strstr(said.failure, "the driver supports CUDA 10.2, the program was built with"));
    assert_non_null(strstr(said.failure, "update the driver"));
}

/* Kepler and Maxwell. */
static void test_no_prefetch(void **state)
{
    (void)state;
    for (int m = 0; m < MEMORY_COUNT; m++) {
        stand_in_cuda_reset();
        stand_in_cuda.has_prefetch = false;
        const int status = run(MEMORIES[m], 1001);
        assert_int_equal(status, MEMORIES[m] >= VECADD_MANAGED_PREFETCH ? ORCH_SKIPPED : ORCH_OK);
        assert_int_equal(stand_in_cuda.prefetches, 0);
        if (status == ORCH_SKIPPED)
            assert_non_null(strstr(said.failure, "neither prefetch nor advice"));
    }
}

static void test_too_large(void **state)
{
    (void)state;
    for (int m = 0; m < MEMORY_COUNT; m++) {
        stand_in_cuda_reset();
        stand_in_cuda.memory_bytes = 12000; /* 1,000 elements, three times */
        assert_int_equal(run(MEMORIES[m], 1000), ORCH_OK);
        const int allocations = stand_in_cuda.calls;
        assert_int_equal(run(MEMORIES[m], 1001), ORCH_SKIPPED);
        assert_non_null(strstr(said.failure, "three arrays of 1001 elements need"));
        assert_true(!strstr(said.failure, "also with managed memory") ==
                    (MEMORIES[m] < VECADD_MANAGED));
        assert_true(stand_in_cuda.calls - allocations < 20 && stand_in_cuda.allocations == 0);
        stand_in_cuda.memory_bytes = (size_t)1 << 60; /* of the host there is less */
        assert_int_equal(run(MEMORIES[m], (size_t)1 << 50), ORCH_FAILED);
        assert_non_null(strstr(said.failure, "are free for this trial: choose fewer elements"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_memory),     cmocka_unit_test(test_wrong_sums),
        cmocka_unit_test(test_every_call_fails), cmocka_unit_test(test_devices),
        cmocka_unit_test(test_no_prefetch),      cmocka_unit_test(test_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
