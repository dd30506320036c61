/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of a training wait without spinning on a busy machine alone, and as the user says. */
#include "plugins/common/torch/thread_waiting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>

static const char *chosen(double load, const char *policy, const char *spins)
{
    g_unsetenv("OMP_WAIT_POLICY");
    g_unsetenv("GOMP_SPINCOUNT");
    if (policy)
        g_setenv("OMP_WAIT_POLICY", policy, TRUE);
    if (spins)
        g_setenv("GOMP_SPINCOUNT", spins, TRUE);
    orch_thread_waiting_choose(load, 4);
    return g_getenv("GOMP_SPINCOUNT");
}

static void test_choice(void **state)
{
    (void)state;
    assert_null(chosen(0, NULL, NULL));
    assert_null(chosen(5, NULL, NULL)); /* one other program */
    assert_string_equal(chosen(9, NULL, NULL), "1000");
    assert_null(chosen(9, "active", NULL));
    assert_string_equal(chosen(9, NULL, "77"), "77");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
