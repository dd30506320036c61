/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What several metrics and limits make of settings: the front, the hypervolume by settings, and the
 * number that a sampler minimises. */
#include "features/search/goals.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ROWS = 6, SEEDS = 50 };

/* max accuracy, min latency. The third is dominated, the fifth breaks a limit, the last was
 * stopped.
 */
static const struct orch_goal_row rows[ROWS] = {
    {{{0.5, 10}, 0, {0}}, true},  {{{0.9, 50}, 0, {0}}, true},   {{{0.4, 30}, 0, {0}}, true},
    {{{0.85, 20}, 0, {0}}, true}, {{{0.99, 1}, 0.5, {0}}, true}, {{{0.99, 1}, 0, {0}}, false},
};

static struct orch_search search_of_two(void)
{
    static char accuracy[] = "accuracy", latency[] = "latency", last[] = "last";
    return (struct orch_search){.metric = accuracy,
                                .summary = last,
                                .is_max = true,
                                .more = {{.metric = latency, .summary = last}},
                                .more_count = 1};
}

static void test_front(void **state)
{
    (void)state;
    const struct orch_search search = search_of_two();
    const bool expected[ROWS] = {true, true, false, true, false, false};
    bool is_on[ROWS];
    assert_int_equal(orch_goals_front(&search, rows, ROWS, is_on), 3);
    for (int i = 0; i < ROWS; i++)
        assert_int_equal(is_on[i], expected[i]);
}

/* The box goes from 0.4 to 0.9 and from 10 to 50: an area of 20. */
static void test_volumes(void **state)
{
    (void)state;
    const struct orch_search search = search_of_two();
    double *volumes = orch_goals_volumes(&search, rows, ROWS);
    const double expected[ROWS] = {4 / 20.0,
                                   4 / 20.0,
                                   4 / 20.0,
                                   (4 + 0.35 * 30) / 20,
                                   (4 + 0.35 * 30) / 20,
                                   (4 + 0.35 * 30) / 20};
    for (int i = 0; i < ROWS; i++)
        assert_true(fabs(volumes[i] - expected[i]) < 1e-9);
    g_free(volumes);
}

static void test_scalars(void **state)
{
    (void)state;
    const struct orch_search search = search_of_two();
    unsigned best[ROWS] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double scalars[ROWS];
        unsigned first = 0;
        orch_goals_scalars(&search, rows, ROWS, seed, scalars);
        for (unsigned i = 0; i < 4; i++) {
            assert_true(scalars[i] < scalars[4]);
            first = scalars[i] < scalars[first] ? i : first;
        }
        assert_true(isnan(scalars[5]));
        best[first]++;
    }
    assert_true(best[0] && best[1] && best[3]); /* each of the front, by the weights */
    assert_int_equal(best[2], 0);
}

static void test_limit_of_one_metric(void **state)
{
    (void)state;
    struct orch_search search = search_of_two();
    const struct orch_goal_row one[] = {{{{0.5}, 0, {0}}, true},
                                        {{{0.9}, 0.2, {0}}, true},
                                        {{{0.9}, 0.1, {0}}, true},
                                        {{{0.6}, 0, {0}}, true}};
    double scalars[4];
    search.more_count = 0;
    orch_goals_scalars(&search, one, 4, 1, scalars);
    assert_true(scalars[3] < scalars[0]);
    assert_true(scalars[0] < scalars[2]);
    assert_true(scalars[2] < scalars[1]);
}

static void test_time(void **state)
{
    (void)state;
    static char wall[] = "wall_s", text[] = "wall_s < 2min";
    struct orch_search search = search_of_two();
    search.bounds[0] = (struct orch_search_bound){.metric = wall,
                                                  .is_most = true,
                                                  .is_strict = true,
                                                  .value = 2,
                                                  .unit = "min",
                                                  .text = text};
    search.bound_count = 1;
    assert_null(orch_goals_broken_by_time(&search, 119, 0));
    assert_ptr_equal(orch_goals_broken_by_time(&search, 120, 0), &search.bounds[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_front),   cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_scalars), cmocka_unit_test(test_limit_of_one_metric),
        cmocka_unit_test(test_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
