/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The measuring of ceilings: when samples have settled, and that the products are products. */
#include "features/hardware/measure.h"
#include "features/hardware/own_gemm.h"
#include "lib/base/ident.h"

#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

struct script {
    const double *values;
    unsigned count, calls;
};

static double next_value(void *ctx)
{
    struct script *s = ctx;
    g_usleep(1000);
    return s->values[s->calls++ % s->count];
}

static void test_settling(void **state)
{
    (void)state;
    static const double steady[] = {100}, wild[] = {100, 10}, broken[] = {100, 100, 0};
    struct script s = {steady, 1, 0};
    struct orch_measured m = orch_rate_samples_take(next_value, &s, 0);
    assert_int_equal(m.samples, 5);
    assert_true(m.best == 100 && m.median == 100 && m.spread == 0);
    /* longer than asked for where it does not settle, but not for ever */
    s = (struct script){wild, 2, 0};
    int64_t begin = orch_mono_ns();
    m = orch_rate_samples_take(next_value, &s, 0.02);
    assert_true((double)(orch_mono_ns() - begin) / 1e9 >= 0.08);
    assert_true(m.best == 100 && m.spread > 0.5 && m.samples == s.calls);
    s = (struct script){broken, 3, 0};
    m = orch_rate_samples_take(next_value, &s, 0.01);
    assert_true(m.best == 0 && m.samples == 0);
    assert_int_equal(s.calls, 3);
}

/* The n-th value is n; the sixth takes longer than all the time that may pass. */
static double count_up(void *ctx)
{
    unsigned *calls = ctx;
    if (*calls == 5)
        g_usleep(100000);
    return (double)++*calls;
}

/* Between the middle two of an even number of samples. */
static void test_median(void **state)
{
    (void)state;
    unsigned calls = 0;
    struct orch_measured m = orch_rate_samples_take(count_up, &calls, 0.02);
    assert_int_equal(m.samples, calls);
    assert_true(m.samples >= 5 && m.samples <= 6);
    assert_true(m.median == (calls + 1) / 2.0 && m.best == calls);
}

/* The packed operands of own_gemm.h from a function of row and column. */
static double left(size_t row, size_t inner)
{
    return (double)((row * 7 + inner * 3) % 11) - 5;
}
static double right(size_t inner, size_t column)
{
    return (double)((inner * 5 + column * 2) % 13) - 6;
}

static void check_own(enum orch_own_gemm type, size_t columns, int threads)
{
    const size_t side = ORCH_OWN_GEMM_SIDE, bytes = side * side * sizeof(double);
    double *a64 = NULL, *b64 = NULL, *c64 = NULL;
    assert_int_equal(posix_memalign((void **)&a64, 64, bytes), 0);
    assert_int_equal(posix_memalign((void **)&b64, 64, bytes), 0);
    assert_int_equal(posix_memalign((void **)&c64, 64, bytes), 0);
    memset(c64, 0, bytes);
    float *a32 = (float *)a64, *b32 = (float *)b64, *c32 = (float *)c64;
    for (size_t i = 0; i < side; i++)
        for (size_t k = 0; k < side; k++) {
            size_t at_a = (i / 8 * side + k) * 8 + i % 8,
                   at_b = (i / columns * side + k) * columns + i % columns;
            if (type == ORCH_OWN_FP64)
                a64[at_a] = left(i, k), b64[at_b] = right(k, i);
            else
                a32[at_a] = (float)left(i, k), b32[at_b] = (float)right(k, i);
        }
    orch_own_gemm_run(type, a64, b64, c64, threads);
    for (size_t probe = 0; probe < 200; probe++) {
        size_t i = probe * 541 % side, j = probe * 787 % side;
        double expected = 0; /* whole numbers, exact in both types */
        for (size_t k = 0; k < side; k++)
            expected += left(i, k) * right(k, j);
        size_t tile = i / 8 * (side / columns) + j / columns,
               at = (tile * 8 + i % 8) * columns + j % columns;
        assert_true((type == ORCH_OWN_FP64 ? c64[at] : (double)c32[at]) == expected);
    }
    free(a64);
    free(b64);
    free(c64);
}

static void test_own_products(void **state)
{
    (void)state;
    check_own(ORCH_OWN_FP32, 32, 1);
    check_own(ORCH_OWN_FP64, 16, 1);
    check_own(ORCH_OWN_FP64, 16, 3);
}

/* Seconds of processor time, so that a busy machine changes little. */
static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* FLOP/s of scalar products, one multiply-add after the other. */
static double scalar_rate(const double *a, const double *b, double *c)
{
    enum { N = 256 };
    const double begin = cpu_s();
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            for (size_t k = 0; k < N; k++)
                c[i * N + j] += a[i * N + k] * b[j * N + k];
    return 2.0 * N * N * N / (cpu_s() - begin);
}

/* A ceiling that is no faster than plain code would be none: the kernels use the vectors that the
 * processor has. */
static void test_own_products_use_vectors(void **state)
{
    (void)state;
    const size_t side = ORCH_OWN_GEMM_SIDE;
    double *operands = NULL, scalar = 0;
    assert_int_equal(posix_memalign((void **)&operands, 64, 3 * side * side * sizeof(double)), 0);
    memset(operands, 0, 3 * side * side * sizeof(double));
    double *a = operands, *b = a + side * side, *c = b + side * side;
    for (int i = 0; i < 3; i++)
        scalar = fmax(scalar, scalar_rate(a, b, c));
    for (enum orch_own_gemm type = ORCH_OWN_FP32; type <= ORCH_OWN_FP64; type++) {
        double own = 0;
        for (int i = 0; i < 3; i++) {
            const double begin = cpu_s();
            orch_own_gemm_run(type, a, b, c, 1);
            own = fmax(own, 2.0 * (double)(side * side * side) / (cpu_s() - begin));
        }
        print_message("%s: %.1f times scalar code\n", type == ORCH_OWN_FP32 ? "fp32" : "fp64",
                      own / scalar);
        assert_true(own > 2 * scalar);
    }
    free(operands);
}

/* Every processor has fp32 and fp64, a core is no faster than all of them allow, and memory has a
 * rate. Generous bounds: the machine may be busy. */
static void test_rates(void **state)
{
    (void)state;
    struct orch_cpu_rate fp32 = orch_measure_gemm(ORCH_CPU_FP32, 1, 0.02);
    struct orch_cpu_rate fp64 = orch_measure_gemm(ORCH_CPU_FP64, 1, 0.02);
    assert_true(fp32.measured.best > 1e8 && fp32.measured.best < 1e14);
    assert_true(fp64.measured.best > 1e8 && fp64.measured.best < 1e14);
    assert_true(*fp32.library && *fp64.library);
    struct orch_measured triad = orch_measure_triad(1, 0, 0.02);
    assert_true(triad.best > 1e8 && triad.best < 1e13);
    assert_true(triad.best >= triad.median && triad.samples >= 5);
    struct orch_measured cached = orch_measure_triad(1, 256 << 10, 0.02);
    assert_true(cached.best > 0.8 * triad.best && cached.best < 1e13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settling),     cmocka_unit_test(test_median),
        cmocka_unit_test(test_own_products), cmocka_unit_test(test_own_products_use_vectors),
        cmocka_unit_test(test_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
