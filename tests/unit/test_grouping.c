/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which runs of a group count: the newest of each trial, averaged by seed. */
#include "core/stats/grouping.h"
#include "core/stats/seeds.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* clang-format off */
#include <cmocka.h>
/* clang-format on */

static guint add(struct orch_grouping *g, const char *group, const char *trial, int64_t age_order,
                 uint64_t seed, double value)
{
    const double values[] = {value, 2 * value};
    return orch_grouping_add(g, &(struct orch_grouping_run){group, trial, age_order, seed, values});
}

/* "seed:value/runs" of each mean. */
static void assert_means(const struct orch_grouping *g, guint group, unsigned value,
                         const char *expected)
{
    g_autoptr(GArray) means = orch_grouping_means(g, group, value);
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < means->len; i++) {
        const struct orch_seed_mean *m = &g_array_index(means, struct orch_seed_mean, i);
        g_string_append_printf(text, "%s%d:%g/%u", i ? " " : "", (int)m->seed, m->value, m->runs);
    }
    assert_string_equal(text->str, expected);
}

static void test_newest_counts(void **state)
{
    (void)state;
    for (int is_rising = 0; is_rising < 2; is_rising++) { /* whatever the order of adding */
        struct orch_grouping *g = orch_grouping_new(2);
        assert_int_equal(add(g, "a", "t1", is_rising ? 1 : 3, 7, is_rising ? 10 : 30), 0);
        assert_int_equal(add(g, "a", "t1", 2, 7, 20), 0);
        assert_int_equal(add(g, "a", "t1", is_rising ? 3 : 1, 7, is_rising ? 30 : 10), 0);
        assert_int_equal(add(g, "a", "t2", 0, 8, 50), 0);
        assert_int_equal(orch_grouping_runs(g, 0), 4);
        assert_means(g, 0, 0, "7:30/1 8:50/1");
        assert_means(g, 0, 1, "7:60/1 8:100/1");
        g_autoptr(GArray) counted = orch_grouping_counted(g, 0);
        assert_int_equal(counted->len, 2);
        assert_true(orch_grouping_number(g, g_array_index(counted, guint, 0), 0) == 30);
        orch_grouping_free(g);
    }
}

/* By what tells the runs of a trial apart (a commit), both stay. */
static void test_groups_apart(void **state)
{
    (void)state;
    struct orch_grouping *g = orch_grouping_new(2);
    assert_int_equal(add(g, "before", "t", 1, 7, 1), 0);
    assert_int_equal(add(g, "after", "t", 2, 7, 2), 1);
    assert_int_equal(add(g, "before", "u", 1, 7, 3), 0);
    assert_means(g, 0, 0, "7:2/2");
    assert_means(g, 1, 0, "7:2/1");
    orch_grouping_free(g);
}

/* Runs without a seed or a trial stand alone, and a missing number is none. */
static void test_alone(void **state)
{
    (void)state;
    struct orch_grouping *g = orch_grouping_new(2);
    add(g, "a", NULL, 1, 0, 1);
    add(g, "a", NULL, 1, 0, 2);
    add(g, "a", "t", 1, 9, (double)NAN);
    assert_means(g, 0, 0, "0:1/1 0:2/1");
    assert_int_equal(orch_grouping_runs(g, 0), 3);
    orch_grouping_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_newest_counts),
                                       cmocka_unit_test(test_groups_apart),
                                       cmocka_unit_test(test_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
