/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples, the team of threads, and the processor's additions at odd sizes. */
#include "plugins/common/kernels/samples.h"
#include "plugins/common/kernels/team.h"
#include "plugins/vecadd/cpu_add.h"
#include "plugins/vecadd/summands.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const size_t SIZES[] = {1, 3, 15, 16, 17, 63, 64, 65, 255, 1023, 10007, 65536, 100003};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0], GUARD = 64 };

static float *floats(size_t count)
{
    float *out = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64 + GUARD);
    assert_non_null(out);
    memset(out, 0xff, (count * sizeof(float) + 63) / 64 * 64 + GUARD);
    return out;
}

static void test_kernels(void **state)
{
    (void)state;
    const struct vecadd_vector_kernels *vectors = orch_vecadd_vector_kernels();
    vecadd_kernel *const adds[] = {orch_vecadd_plain, vectors->add_cached, vectors->add_streaming},
                         *const triads[] = {vectors->triad_cached, vectors->triad_streaming};
    struct orch_team *team = orch_team_new(3);
    for (int s = 0; s < SIZE_COUNT; s++) {
        const size_t count = SIZES[s];
        float *a = floats(count), *b = floats(count), *out = floats(count);
        size_t first;
        for (int k = 0; k < 3; k++) {
            orch_vecadd_fill(team, 5, a, b, out, count);
            assert_int_equal(orch_vecadd_wrong(team, 5, out, count, &first), count);
            assert_int_equal(first, 0);
            adds[k](out, a, b, 3, count);
            assert_int_equal(orch_vecadd_wrong(team, 5, out, count, &first), 0);
            assert_true(isnan(out[count])); /* nothing behind the end */
            out[count - 1] += 1;
            assert_int_equal(orch_vecadd_wrong(team, 5, out, count, &first), 1);
            assert_int_equal(first, count - 1);
        }
        for (int k = 0; k < 2; k++) {
            orch_vecadd_poison(team, out, count);
            triads[k](out, a, b, 3, count);
            for (size_t i = 0; i < count; i++)
                assert_true(out[i] == a[i] + 3 * b[i] ||
                            fabsf(out[i] - fmaf(3, b[i], a[i])) < 1e-7f);
        }
        free(a);
        free(b);
        free(out);
    }
    orch_team_free(team);
}

/* Uniform on [-1, 1): mean, variance 1/3, and no two arrays or seeds alike. */
static void test_values(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    double sum = 0, squares = 0, together = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const float a = orch_vecadd_value(1, 0, i), b = orch_vecadd_value(1, 1, i);
        assert_true(a >= -1 && a < 1);
        sum += (double)a;
        squares += (double)a * (double)a;
        together += (double)a * (double)b;
    }
    /* six standard errors */
    assert_true(fabs(sum / COUNT) < 6 * sqrt(1.0 / 3 / COUNT));
    assert_true(fabs(squares / COUNT - 1.0 / 3) < 6 * sqrt(4.0 / 45 / COUNT));
    assert_true(fabs(together / COUNT) < 6 * (1.0 / 3) / sqrt(COUNT));
    assert_true(orch_vecadd_value(1, 0, 0) != orch_vecadd_value(2, 0, 0));
    assert_true(orch_vecadd_value(1, 0, 1) != orch_vecadd_value(1, 0, 1 + ((size_t)1 << 32)));
}

/* Parts are whole lines, and together they are everything. */
static void test_parts(void **state)
{
    (void)state;
    for (int s = 0; s < SIZE_COUNT; s++)
        for (int threads = 1; threads < 20; threads++) {
            size_t at = 0, begin, end;
            for (int i = 0; i < threads; i++) {
                orch_vecadd_part(SIZES[s], i, threads, &begin, &end);
                assert_int_equal(begin, at);
                assert_true(end >= begin && (end == SIZES[s] || end % 16 == 0));
                at = end;
            }
            assert_int_equal(at, SIZES[s]);
        }
}

static void count_work(void *argument, int index, int count)
{
    (void)count;
    ((long *)argument)[16 * index]++;
}

static void test_team(void **state)
{
    (void)state;
    long counts[4 * 16] = {0};
    struct orch_team *team = orch_team_new(4);
    assert_int_equal(orch_team_size(team), 4);
    for (int i = 1; i <= 500; i++) {
        orch_team_run(team, count_work, counts);
        for (int j = 0; j < 4; j++)
            assert_int_equal(counts[16 * j], i);
    }
    orch_team_free(team);
    team = orch_team_new(1);
    orch_team_run(team, count_work, counts);
    assert_int_equal(counts[0], 501);
    orch_team_free(team);
    orch_team_free(NULL);
}

static void test_summary(void **state)
{
    (void)state;
    const struct orch_samples_rule rule = {3, 100, 0, 1, 0.02};
    struct orch_samples samples;
    orch_samples_init(&samples, &rule);
    assert_true(isnan(orch_samples_summarize(&samples).median_s));
    const double times[] = {5, 1, 4, 2, 3, 100, 99},
                 clocks[] = {1000, 1000, 900, 760, 1000, 740, 300};
    for (int i = 0; i < 7; i++)
        orch_samples_add(&samples, times[i], clocks[i]);
    const struct orch_samples_summary s = orch_samples_summarize(&samples);
    assert_int_equal(s.count, 5); /* 740 and 300 MHz are below 75 % of 1000 */
    assert_int_equal(s.dropped, 2);
    assert_true(fabs(s.median_s - (3)) <= 0);
    assert_true(fabs(s.least_s - (1)) <= 0);
    assert_true(fabs(s.most_s - (5)) <= 0);
    assert_true(fabs(s.spread - ((4.0 - 2.0) / 3.0)) <= 1e-12);
    assert_true(fabs(s.clock_mhz - (1000)) <= 0);
    orch_samples_release(&samples);
}

/* How many samples of a sequence are taken: the rule's least when they agree, more when they do
 * not. */
static size_t taken(const struct orch_samples_rule *rule, double spread)
{
    struct orch_samples samples;
    orch_samples_init(&samples, rule);
    for (int i = 0; orch_samples_need_more(&samples); i++)
        orch_samples_add(&samples, 1 + spread * fmod(i * 0.6180339887, 1), 0);
    const size_t count = samples.count;
    orch_samples_release(&samples);
    return count;
}

static void test_stopping(void **state)
{
    (void)state;
    struct orch_samples_rule rule = {10, 100000, 0, 60, 0.02};
    assert_int_equal(taken(&rule, 0), 10);
    const size_t some = taken(&rule, 0.2), many = taken(&rule, 0.4);
    assert_true(some > 10 && many > 2 * some && many < 100000);
    rule.max_count = 12;
    assert_int_equal(taken(&rule, 5), 12);
    rule = (struct orch_samples_rule){10, 1000, 0, 0, 0.02};
    assert_int_equal(taken(&rule, 0), 3); /* the limit of time, from the third on */
    rule = (struct orch_samples_rule){1, 100000000, 0.05, 60, 0.02};
    const double begin = orch_samples_now_s();
    assert_true(taken(&rule, 0) > 10);
    assert_true(orch_samples_now_s() - begin >= 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels), cmocka_unit_test(test_values),
        cmocka_unit_test(test_parts),   cmocka_unit_test(test_team),
        cmocka_unit_test(test_summary), cmocka_unit_test(test_stopping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
