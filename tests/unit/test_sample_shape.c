/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a sample shows its scatter. */
#include "core/stats/sample_shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_scatter(void **state)
{
    (void)state;
    const double equal[] = {1, 1, 1}, all[] = {1, 2, 3}, tie[] = {1, 2, 2, 3, 3, 1},
                 enough[] = {1, 2, 2, 3, 4};
    const double rounded[] = {0.1 + 0.2, 0.3, 1, 2};
    assert_false(orch_sample_shows_scatter(equal, 3));
    assert_true(orch_sample_shows_scatter(all, 3));
    assert_false(orch_sample_shows_scatter(tie, 6));
    assert_true(orch_sample_shows_scatter(enough, 5));
    assert_false(orch_sample_shows_scatter(rounded, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scatter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
