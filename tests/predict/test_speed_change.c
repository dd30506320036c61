/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lasting changes of speed among runs: found when they are larger than the noise, at their place,
 * and hardly ever where there is none. */
#include "features/predict/trial/speed_change.h"
#include "lib/base/random.h"

#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { CELLS = 5, REPEATS = 4, RUNS = CELLS * REPEATS };

static double normal(uint64_t *r)
{
    double u = 1 - orch_random_unit(r), v = orch_random_unit(r);
    return sqrt(-2 * log(u)) * cos(2 * G_PI * v);
}

/* Runs of five settings, whose times differ by a hundred times, in `REPEATS` rounds. */
static void make_runs(double *seconds, size_t *cell, double noise, uint64_t *random)
{
    for (size_t i = 0; i < RUNS; i++) {
        cell[i] = i % CELLS;
        seconds[i] = 0.1 * pow(100, (double)cell[i] / (CELLS - 1)) * exp(noise * normal(random));
    }
}

/* With a run each second. */
static struct orch_speed_change find(const double *seconds, const size_t *cell, size_t n,
                                     double *to_now)
{
    double when_s[3 * RUNS];
    for (size_t i = 0; i < n; i++)
        when_s[i] = (double)i;
    return orch_speed_change_find(seconds, when_s, cell, n, to_now);
}

static void test_no_change_is_hardly_ever_found(void **state)
{
    (void)state;
    uint64_t random = 17;
    int found = 0, all = 2000;
    for (int trial = 0; trial < all; trial++) {
        double seconds[RUNS], to_now[RUNS];
        size_t cell[RUNS];
        make_runs(seconds, cell, 0.1, &random);
        found += find(seconds, cell, RUNS, to_now).since > 0;
    }
    if (found > all / 100)
        fail_msg("%d of %d series without a change have one", found, all);
}

static void test_a_lasting_change_is_found(void **state)
{
    (void)state;
    uint64_t random = 23;
    int found = 0, all = 500;
    double off = 0;
    for (int trial = 0; trial < all; trial++) {
        double seconds[RUNS], to_now[RUNS];
        size_t cell[RUNS], at = 9 + (size_t)(trial % 6);
        make_runs(seconds, cell, 0.05, &random);
        for (size_t i = at; i < RUNS; i++)
            seconds[i] *= 1.3;
        struct orch_speed_change change = find(seconds, cell, RUNS, to_now);
        found += change.since + 1 >= at && change.since <= at + 1;
        off += fabs(log(to_now[0] / 1.3)) / all;
        assert_true(fabs(to_now[RUNS - 1] - 1) < 1e-12);
    }
    if (found < 0.95 * all || off > 0.05)
        fail_msg("%d of %d changes found, factor off by %.3f", found, all, off);
}

/* Two changes: runs before the first are converted by both. */
static void test_changes_add_up(void **state)
{
    (void)state;
    double seconds[3 * RUNS], to_now[3 * RUNS];
    size_t cell[3 * RUNS];
    uint64_t random = 5;
    for (size_t part = 0; part < 3; part++) {
        make_runs(seconds + part * RUNS, cell + part * RUNS, 0.02, &random);
        for (size_t i = 0; i < RUNS; i++)
            seconds[part * RUNS + i] *= part == 0 ? 1 : part == 1 ? 2 : 3;
    }
    struct orch_speed_change change = find(seconds, cell, 3 * RUNS, to_now);
    assert_int_equal(change.since, 2 * RUNS);
    assert_true(fabs(change.factor - 1.5) < 0.05);
    assert_true(fabs(to_now[0] - 3) < 0.1);
    assert_true(fabs(to_now[RUNS] - 1.5) < 0.05);
}

/* A setting that ran once, just before the break after which trials are slower, is slower, too. */
static void test_a_break_separates(void **state)
{
    (void)state;
    double seconds[] = {1, 2.02, 4, 8, 1.5, 3, 6.05}, when_s[] = {1, 2, 3, 4, 100, 101, 102};
    double to_now[7];
    size_t cell[] = {0, 1, 2, 3, 0, 1, 2};
    assert_int_equal(orch_speed_change_find(seconds, when_s, cell, 7, to_now).since, 4);
    assert_true(fabs(to_now[3] - 1.5) < 0.05);
}

/* A sweep over larger and larger problems, and two slow runs, are no change of speed. */
static void test_other_differences_are_none(void **state)
{
    (void)state;
    double seconds[12], to_now[12];
    size_t cell[12];
    for (size_t i = 0; i < 12; i++) {
        cell[i] = i;
        seconds[i] = pow(2, (double)i);
    }
    assert_int_equal(find(seconds, cell, 12, to_now).since, 0);
    for (size_t i = 0; i < 12; i++) {
        cell[i] = i % 3;
        seconds[i] = (1 + 0.01 * (double)(i % 2)) * (i > 9 ? 2 : 1);
    }
    assert_int_equal(find(seconds, cell, 12, to_now).since, 0);
    assert_int_equal(find(seconds, cell, 0, to_now).since, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_change_is_hardly_ever_found),
        cmocka_unit_test(test_a_lasting_change_is_found),
        cmocka_unit_test(test_changes_add_up),
        cmocka_unit_test(test_a_break_separates),
        cmocka_unit_test(test_other_differences_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
