/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many trials end within limits with 90 %: against runs that can be counted by hand, and
 * against times drawn by another generator. */
#include "core/schedule/promise.h"
#include "tests/store/fixture.h"

#include <math.h>

#define HOUR_S 3600.0
#define NOW_NS INT64_C(1795262400000000000)

static struct orch_promise_trial trial(double hours, double factor, bool is_repeat)
{
    const double s = hours * HOUR_S;
    return (struct orch_promise_trial){
        .time_s = {s / factor, s, s * factor}, .devices = 1, .is_repeat = is_repeat};
}

static void test_known_times(void **state)
{
    (void)state;
    struct orch_promise_trial trials[10];
    for (unsigned i = 0; i < G_N_ELEMENTS(trials); i++)
        trials[i] = trial(1, 1, true);
    struct orch_promise promise;
    struct orch_limits deadline = {.deadline_ns = NOW_NS + (int64_t)(3.5 * HOUR_S * 1e9)};
    orch_promise_simulate(trials, 10, 2, &deadline, NOW_NS, &promise);
    assert_int_equal(promise.trials, 6);
    assert_int_equal(promise.of, 10);
    assert_true(fabs(promise.more_s - 1.5 * HOUR_S) <= 1);
    assert_true(promise.more_device_s <= 0);
    struct orch_limits budget = {.budget_usd = 9, .usd_per_hour = 2};
    orch_promise_simulate(trials, 10, 2, &budget, NOW_NS, &promise);
    assert_int_equal(promise.trials, 4);
    assert_true(fabs(promise.more_device_s - 5.5 * HOUR_S) <= 1);
    trials[1].is_alone = true; /* 1 h of one trial, 1 h alone, 2 h of two slots */
    orch_promise_simulate(trials, 10, 2, &deadline, NOW_NS, &promise);
    assert_int_equal(promise.trials, 4);
    trials[0] = trial(9, 1, true); /* a shorter trial that fits starts before a longer one */
    trials[1].is_alone = false;
    orch_promise_simulate(trials, 10, 1, &deadline, NOW_NS, &promise);
    assert_int_equal(promise.trials, 3);
    orch_promise_simulate(trials + 1, 3, 1, &deadline, NOW_NS, &promise);
    assert_int_equal(promise.trials, 3);
    assert_true(promise.more_s <= 0);
}

/* A number that a normal distribution gives: the sum of twelve uniform ones. */
static double about_normal(GRand *random)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += g_rand_double(random);
    return sum;
}

/* The share of 4000 runs one after the other in which so many trials end before the deadline. */
static double share_of(unsigned wanted, double deadline_h, double factor, bool is_shared)
{
    GRand *random = g_rand_new_with_seed(7);
    unsigned reached = 0;
    for (int i = 0; i < 4000; i++) {
        double time_h = 0, z = about_normal(random);
        for (unsigned k = 0; k < wanted; k++)
            time_h += exp(log(factor) / 1.645 * (is_shared ? z : about_normal(random)));
        reached += time_h <= deadline_h;
    }
    g_rand_free(random);
    return reached / 4000.0;
}

static void test_share(void **state)
{
    (void)state;
    for (unsigned is_shared = 0; is_shared < 2; is_shared++) {
        struct orch_promise_trial trials[40];
        for (unsigned i = 0; i < G_N_ELEMENTS(trials); i++) {
            trials[i] = trial(1, 1.5, !is_shared);
            trials[i].setting = i;
        }
        struct orch_promise promise;
        struct orch_limits limits = {.deadline_ns = NOW_NS + (int64_t)(20.3 * HOUR_S * 1e9)};
        orch_promise_simulate(trials, 40, 1, &limits, NOW_NS, &promise);
        double held = share_of(promise.trials, 20.3, 1.5, is_shared),
               more = share_of(promise.trials + 1, 20.3, 1.5, is_shared);
        if (held < 0.88 || more > 0.92)
            fail_msg("%u trials end in %.3f of the runs, one more in %.3f", promise.trials, held,
                     more);
    }
}

/* Repeats of one setting share half of their error, so that fewer are sure. */
static void test_repeats(void **state)
{
    (void)state;
    struct orch_promise_trial trials[40];
    struct orch_promise apart, together;
    struct orch_limits limits = {.budget_s = 20.3 * HOUR_S};
    for (unsigned i = 0; i < G_N_ELEMENTS(trials); i++) {
        trials[i] = trial(1, 1.5, true);
        trials[i].setting = i;
    }
    orch_promise_simulate(trials, 40, 3, &limits, NOW_NS, &apart);
    for (unsigned i = 0; i < G_N_ELEMENTS(trials); i++)
        trials[i].setting = 0;
    orch_promise_simulate(trials, 40, 3, &limits, NOW_NS, &together);
    assert_true(together.trials < apart.trials);
    assert_true(together.more_device_s > apart.more_device_s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_times),
                                       cmocka_unit_test(test_share),
                                       cmocka_unit_test(test_repeats)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
