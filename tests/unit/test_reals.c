/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/reals.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_sort(void **state)
{
    (void)state;
    double values[] = {3, -1, HUGE_VAL, 0, 3}, sorted[] = {-1, 0, 3, 3, HUGE_VAL};
    orch_reals_sort(values, 5);
    assert_memory_equal(values, sorted, sizeof sorted);
    orch_reals_sort(NULL, 0);
}

static void test_median(void **state)
{
    (void)state;
    double odd[] = {9, 1, 4}, even[] = {8, 1, 2, 4}, large[] = {DBL_MAX, DBL_MAX};
    assert_true(orch_reals_median(odd, 3) == 4);
    assert_true(orch_reals_median(even, 4) == 3);
    assert_true(orch_reals_median(large, 2) == DBL_MAX);
    assert_true(orch_reals_median(odd, 1) == 1);
    assert_true(isnan(orch_reals_median(NULL, 0)));
}

static void test_median_of(void **state)
{
    (void)state;
    const double values[] = {9, NAN, 1, 4, 2, NAN};
    assert_true(orch_reals_median_of(values, 6) == 3);
    assert_true(values[0] == 9);
    assert_true(orch_reals_median_of(values, 1) == 9);
    assert_true(isnan(orch_reals_median_of(values + 1, 1)));
    assert_true(isnan(orch_reals_median_of(NULL, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_median_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
