/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals against values worked out by hand from Student's t: t(0.975; 2) = 4.302653,
 * t(0.975; 4) = 2.776445. Tolerance 1e-5: the tables give six digits. */
#include "core/stats/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-5 * fmax(1, fabs(expected))))
        fail_msg("found %.9g, expected %.9g", found, expected);
}

static void test_mean(void **state)
{
    (void)state;
    const double values[] = {1, NAN, 2, 3};
    struct orch_stat stat = orch_stat_of(values, 4);
    assert_int_equal(stat.count, 3);
    near(stat.mean, 2);
    near(stat.sd, 1);
    near(stat.half, 4.302653 / sqrt(3));
    near(stat.min, 1);
    near(stat.max, 3);
    stat = orch_stat_of(values, 1);
    assert_true(isnan(stat.half));
    assert_true(isnan(orch_stat_of(values + 1, 1).mean));
    assert_int_equal(orch_stat_of(NULL, 0).count, 0);
}

static void test_welch(void **state)
{
    (void)state;
    /* equal variances and sizes: Welch's degrees of freedom are 2 (n - 1) = 4 */
    const double a[] = {1, 2, 3}, b[] = {5, 6, 7};
    struct orch_difference d = orch_difference_welch(a, 3, b, 3);
    near(d.mean.mid, 4);
    near(d.mean.high - d.mean.low, 2 * 2.776445 * sqrt(2.0 / 3));
    assert_true(d.is_more_than_noise);
    const double close[] = {1.5, 2.5, 3.5};
    assert_false(orch_difference_welch(a, 3, close, 3).is_more_than_noise);
    assert_true(isnan(orch_difference_welch(a, 1, b, 3).mean.low));
    assert_false(orch_difference_welch(a, 1, b, 3).is_more_than_noise);
    /* infinite and very large or small values end nothing */
    const double far[] = {1, INFINITY, 3}, large[] = {1e200, 2e200, 3e200},
                 small[] = {1e-200, 2e-200, 3e-200};
    assert_true(isnan(orch_difference_welch(a, 3, far, 3).mean.low));
    assert_false(orch_difference_welch(far, 3, far, 3).is_more_than_noise);
    near(orch_difference_welch(small, 3, large, 3).mean.mid / 2e200, 1);
    assert_true(isnan(orch_difference_paired(a, far, 3).mean.high));
}

static void test_paired(void **state)
{
    (void)state;
    /* pairs share their luck: 0.1 apart each time is certain although the spread is large */
    const double a[] = {1, 5, 9}, b[] = {1.1, 5.1, 9.1};
    struct orch_difference d = orch_difference_paired(a, b, 3);
    near(d.mean.mid, 0.1);
    assert_true(d.is_paired);
    assert_true(d.is_more_than_noise);
    assert_false(orch_difference_welch(a, 3, b, 3).is_more_than_noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mean), cmocka_unit_test(test_welch),
                                       cmocka_unit_test(test_paired)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
