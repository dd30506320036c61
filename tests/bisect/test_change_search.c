/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histories of 8 to 200 commits with steps of 1, 2 and 5 deviations of the noise: of those that end
 * with a commit at least 95 % name the right one, and with fewer runs than bisection needs that is
 * right as often. */
#include "tests/bisect/change_paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define PATHS 70
#define SEED 1

struct sum {
    unsigned paths, found, right;
};

/* The least number of repeats with which bisection is right in so many paths. */
static double runs_of_bisection(const struct change_path *path, unsigned right)
{
    struct change_tally tally;
    for (unsigned repeats = 1;; repeats++) {
        change_paths_bisect(path, repeats, PATHS, SEED, &tally);
        if (tally.right >= right)
            return tally.runs;
    }
}

static void search(size_t commits, double step, struct sum *sum)
{
    const struct change_path path = {.places = commits + 1, .step = step, .repeat_most = 60};
    struct change_tally tally;
    change_paths_search(&path, PATHS, SEED, &tally);
    sum->paths += tally.paths;
    sum->found += tally.found;
    sum->right += tally.right;
    double theirs = runs_of_bisection(&path, tally.right);
    print_message("%zu commits, step %g: %u of %u found, %u right, %.1f runs, bisection %.1f\n",
                  commits, step, tally.found, tally.paths, tally.right, tally.runs / PATHS,
                  theirs / PATHS);
    assert_true(tally.runs < theirs);
}

static void search_all(double step)
{
    static const size_t lengths[] = {8, 40, 200};
    struct sum sum = {0};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        search(lengths[i], step, &sum);
    assert_true(sum.found >= 0.95 * sum.paths);
    assert_true(sum.right >= 0.95 * sum.found);
}

static void test_step_of_1(void **state)
{
    (void)state;
    search_all(1);
}

static void test_step_of_2(void **state)
{
    (void)state;
    search_all(2);
}

static void test_step_of_5(void **state)
{
    (void)state;
    search_all(5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_of_1),
        cmocka_unit_test(test_step_of_2),
        cmocka_unit_test(test_step_of_5),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
