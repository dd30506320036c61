/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spearman's rank correlation against values worked out by hand. */
#include "core/stats/rank_correlation.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TOLERANCE 1e-12
/* p from 9,999 permutations: four standard errors at p = 1/3 */
#define P_TOLERANCE 0.02

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("found %.17g, expected %.17g", found, expected);
}

static const double UP[] = {1, 2, 3, 4, 5};

static void test_one_group(void **state)
{
    (void)state;
    const double swapped[] = {20, 10, 40, 30, 50}, down[] = {9, 7, 5, 3, 1};
    const double tied_x[] = {1, 2, 2, 3}, same[] = {7, 7, 7, 7, 7};
    near(orch_rank_correlation(&(struct orch_rank_group){UP, swapped, 5}), 1 - 6.0 * 4 / 120,
         TOLERANCE);
    near(orch_rank_correlation(&(struct orch_rank_group){UP, down, 5}), -1, TOLERANCE);
    /* ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4 */
    near(orch_rank_correlation(&(struct orch_rank_group){tied_x, UP, 4}), 4.5 / sqrt(4.5 * 5),
         TOLERANCE);
    assert_true(isnan(orch_rank_correlation(&(struct orch_rank_group){UP, swapped, 2})));
    assert_true(isnan(orch_rank_correlation(&(struct orch_rank_group){UP, same, 5})));
    assert_true(isnan(orch_rank_correlation(&(struct orch_rank_group){same, UP, 5})));
}

static void test_interval_of_one_group(void **state)
{
    (void)state;
    const double swapped[] = {2, 1, 4, 3, 5};
    const struct orch_rank_group group = {UP, swapped, 5};
    const struct orch_rank_mean mean = orch_rank_correlation_mean(&group, 1, 1);
    const double half = 1.959963984540054 * sqrt((1 + 0.32) / 2);
    assert_int_equal(mean.groups, 1);
    near(mean.rho.mid, 0.8, TOLERANCE);
    near(mean.rho.low, tanh(atanh(0.8) - half), 1e-9);
    near(mean.rho.high, tanh(atanh(0.8) + half), 1e-9);
    /* of the 120 orders 16 have |rho| >= 0.8: 1 + 4 + 3 with +, as many with - */
    near(mean.p, 16.0 / 120, P_TOLERANCE);
    assert_true(
        isnan(orch_rank_correlation_mean(&(struct orch_rank_group){UP, swapped, 4}, 1, 1).rho.low));
}

static void test_mean_of_groups(void **state)
{
    (void)state;
    const double y[] = {1, 3, 2}, level[] = {101, 102, 103}, same[] = {5, 5, 5};
    const struct orch_rank_group groups[] = {
        {UP, UP, 3}, {UP, level, 3}, {UP, y, 3}, {UP, same, 3}, {UP, UP, 2}};
    const struct orch_rank_mean mean = orch_rank_correlation_mean(groups, 5, 1);
    assert_int_equal(mean.groups, 3); /* without the constant one and the pair of two */
    near(mean.rho.mid, (1 + 1 + 0.5) / 3, TOLERANCE);
    /* sd = sqrt(1/12), t of 2 degrees of freedom 4.302653 */
    near(mean.rho.low, mean.rho.mid - 4.302652729911275 * sqrt(1.0 / 12) / sqrt(3), 1e-9);
    near(mean.rho.high, 1, TOLERANCE); /* cut off at 1 */
    const struct orch_rank_mean two = orch_rank_correlation_mean(groups, 2, 1);
    near(two.p, 2.0 / 36, P_TOLERANCE); /* both up or both down */
    near(orch_rank_correlation_mean(groups, 1, 1).p, 2.0 / 6, P_TOLERANCE);
    near(orch_rank_correlation_mean(groups, 1, 1).p, orch_rank_correlation_mean(groups, 1, 1).p, 0);
    const struct orch_rank_mean none = orch_rank_correlation_mean(groups + 3, 2, 1);
    assert_int_equal(none.groups, 0);
    assert_true(isnan(none.rho.mid) && isnan(none.rho.low) && isnan(none.p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_group),
        cmocka_unit_test(test_interval_of_one_group),
        cmocka_unit_test(test_mean_of_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
