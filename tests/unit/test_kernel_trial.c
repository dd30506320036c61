/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trial of plugin gpukernels on a stand-in for the CUDA runtime: what is reported, a kernel with
 * a wrong result, sizes that do not fit, and every call failing in turn. The kernels themselves are
 * tested by gpu_kernels on a GPU. */
#include "plugins/gpukernels/cuda/kernel_case.h"
#include "plugins/gpukernels/gpukernels.h"
#include "tests/plugins/stand_in_cuda.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- a kernel that is a loop: out = 2 in ------------------------------------------------------
 */

static size_t count_of(struct orch_kernel_shape shape)
{
    return shape.rows * shape.columns;
}
static double bytes_of(struct orch_kernel_shape shape)
{
    return 8.0 * (double)count_of(shape);
}
static double no_tolerance(struct orch_kernel_shape shape, double value)
{
    (void)shape, (void)value;
    return 0;
}
static void twice(float *out, const float *in, struct orch_kernel_shape shape)
{
    for (size_t i = 0; i < count_of(shape); i++)
        out[i] = 2 * in[i];
}
static cudaError_t right(float *out, const float *in, struct orch_kernel_shape shape,
                         cudaStream_t stream)
{
    (void)stream;
    twice(out, in, shape);
    return cudaSuccess;
}
static cudaError_t forgets_the_last(float *out, const float *in, struct orch_kernel_shape shape,
                                    cudaStream_t stream)
{
    (void)stream;
    for (size_t i = 0; i + 1 < count_of(shape); i++)
        out[i] = 2 * in[i];
    return cudaSuccess;
}
static const struct orch_kernel_case TWICE = {
    .name = "twice",
    .reference = twice,
    .naive = forgets_the_last,
    .fast = right,
    .out_count = count_of,
    .bytes = bytes_of,
    .tolerance = no_tolerance,
};
const struct orch_kernel_case *const ORCH_KERNEL_CASES[] = {&TWICE, NULL};

/* ---- a host -----------------------------------------------------------------------------------
 */

static char failure[1024];
static double kernel_samples, bandwidth, kernel_time;

static void on_result(const struct orch_host *host, const char *name, double value)
{
    (void)host;
    if (strcmp(name, "kernel_samples") == 0)
        kernel_samples = value;
    if (strcmp(name, "bandwidth") == 0)
        bandwidth = value;
    if (strcmp(name, "kernel_time") == 0)
        kernel_time = value;
}
static void on_text(const struct orch_host *host, const char *text)
{
    (void)host, (void)text;
}
static void on_fail(const struct orch_host *host, const char *text)
{
    (void)host;
    snprintf(failure, sizeof failure, "%s", text);
}
static bool never(const struct orch_host *host)
{
    (void)host;
    return false;
}
static uint64_t on_seed(const struct orch_host *host, const char *name)
{
    (void)host, (void)name;
    return 5;
}
static const struct orch_host HOST = {.struct_bytes = offsetof(struct orch_host, slot),
                                      .result = on_result,
                                      .phase = on_text,
                                      .note = on_text,
                                      .fail = on_fail,
                                      .cancelled = never,
                                      .smoke = never,
                                      .derive_seed = on_seed};

static int run(const char *variant, int64_t rows, int64_t columns)
{
    const struct gpukernels_params params = {.kernel = "twice",
                                             .variant = variant,
                                             .rows = rows,
                                             .columns = columns,
                                             .min_samples = 3,
                                             .time_limit = 1,
                                             .settled = 1};
    failure[0] = 0;
    kernel_samples = bandwidth = kernel_time = 0;
    return orch_gpukernels_run(NULL, &params, &HOST);
}

/* ---- tests ------------------------------------------------------------------------------------
 */

static void test_runs(void **state)
{
    (void)state;
    static const char *const variants[] = {"cpu", "fast"};
    for (int i = 0; i < 2; i++) {
        stand_in_cuda_reset();
        assert_int_equal(run(variants[i], 37, 101), ORCH_OK);
        assert_true(kernel_samples >= 3);
        assert_true(fabs(bandwidth * kernel_time - 8 * 37 * 101 / 1e6) <= 1e-9);
        assert_int_equal(stand_in_cuda.allocations, 0);
    }
}

static void test_wrong_result(void **state)
{
    (void)state;
    stand_in_cuda_reset();
    assert_int_equal(run("naive", 37, 101), ORCH_FAILED);
    assert_non_null(strstr(failure, "element 3736 is "));
    assert_true(kernel_samples <= 0);
    assert_int_equal(stand_in_cuda.allocations, 0);
}

static void test_devices(void **state)
{
    (void)state;
    stand_in_cuda_reset();
    stand_in_cuda.devices = 0;
    assert_int_equal(run("fast", 37, 101), ORCH_SKIPPED);
    assert_string_equal(failure, "no CUDA device");
    stand_in_cuda.driver = 10020;
    assert_int_equal(run("fast", 37, 101), ORCH_SKIPPED);
    assert_non_null(strstr(failure, "the driver supports CUDA 10.2, the program was built with"));
    assert_int_equal(run("cpu", 37, 101), ORCH_OK);
}

/* Asked before anything is allocated, on either side. */
static void test_too_large(void **state)
{
    (void)state;
    stand_in_cuda_reset();
    stand_in_cuda.memory_bytes = 8000; /* 1,000 floats in and out */
    assert_int_equal(run("fast", 10, 100), ORCH_OK);
    const int calls = stand_in_cuda.calls;
    assert_int_equal(run("fast", 1001, 1), ORCH_SKIPPED);
    assert_non_null(strstr(failure, "of the card's memory are free: choose fewer rows"));
    assert_int_equal(stand_in_cuda.calls, calls + 3); /* cudaMemGetInfo, and two empty cudaFree */
    stand_in_cuda.memory_bytes = (size_t)1 << 60;
    assert_int_equal(run("fast", 1000000, 1000000), ORCH_FAILED);
    assert_non_null(strstr(failure, "input, result and reference need 12000.0 GB"));
    assert_int_equal(run("cpu", 1000000, 1000000), ORCH_FAILED);
    assert_non_null(strstr(failure, "are free for this trial: choose fewer rows"));
}

static void test_every_call_fails(void **state)
{
    (void)state;
    for (int at = 1;; at++) {
        stand_in_cuda_reset();
        stand_in_cuda.fail_at = at;
        stand_in_cuda.is_sticky = at % 2;
        const int status = run("fast", 37, 101);
        assert_int_equal(stand_in_cuda.allocations, 0);
        if (stand_in_cuda.calls < at) {
            assert_true(at > 20);
            return;
        }
        if (status == ORCH_OK) /* what is released at the end may fail */
            continue;
        assert_int_equal(status, ORCH_FAILED);
        assert_non_null(strstr(failure, "cudaErrorIllegalAddress (an illegal memory access"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_wrong_result),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_every_call_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
