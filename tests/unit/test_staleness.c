/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model of learners and a parameter server on cases whose staleness is known. */
#include "plugins/staleness/learner_times.h"
#include "plugins/staleness/update_table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

static struct staleness_params defaults(void)
{
    return (struct staleness_params){.learners = 2,
                                     .gradients = 1000,
                                     .gradient_time = 1,
                                     .variation = 0.5,
                                     .distribution = "constant",
                                     .mode = "asynchronous"};
}

static struct orch_staleness_run simulate(const struct staleness_params *p)
{
    struct orch_staleness_settings settings;
    struct orch_staleness_run run;
    GError *error = NULL;
    assert_true(orch_staleness_settings_make(p, 7, &settings, &error));
    orch_staleness_simulate(&settings.model, &run);
    orch_staleness_settings_clear(&settings);
    return run;
}

static const struct orch_staleness_update *at(const struct orch_staleness_run *run, guint i)
{
    assert_true(i < run->updates->len);
    return &g_array_index(run->updates, struct orch_staleness_update, i);
}

static void near(double value, double expected, double tolerance)
{
    assert_true(fabs(value - expected) <= tolerance);
}

static double mean_of(const struct orch_staleness_run *run)
{
    double sum = 0;
    for (guint i = 0; i < run->updates->len; i++)
        sum += (double)orch_staleness_of(at(run, i));
    return sum / run->updates->len;
}

/* Homework 7, problem 1. */
static void the_assignment(void **state)
{
    (void)state;
    static const char *const times[] = {"1 2 3 4", "2.5 5"};
    static const struct {
        double time_s;
        int learner;
        int64_t gradient, read, before;
    } expected[] = {{1, 0, 0, 0, 0}, {2, 0, 1, 1, 1}, {2.5, 1, 0, 0, 2},
                    {3, 0, 2, 2, 3}, {4, 0, 3, 4, 4}, {5, 1, 1, 3, 5}};
    struct staleness_params p = defaults();
    p.times = (struct orch_list){2, times};
    struct orch_staleness_run run = simulate(&p);
    assert_int_equal(run.updates->len, 6);
    for (guint i = 0; i < 6; i++) {
        assert_int_equal(at(&run, i)->applied_ns, llround(expected[i].time_s * 1e9));
        assert_int_equal(at(&run, i)->learner, expected[i].learner);
        assert_int_equal(at(&run, i)->gradient, expected[i].gradient);
        assert_int_equal(at(&run, i)->version_read, expected[i].read);
        assert_int_equal(at(&run, i)->version_before, expected[i].before);
    }
    g_autofree char *first = orch_staleness_by_learner(&run, 0);
    g_autofree char *second = orch_staleness_by_learner(&run, 1);
    assert_string_equal(first, "staleness of g[L1,1], g[L1,2], g[L1,3], g[L1,4]: 0, 0, 1, 0");
    assert_string_equal(second, "staleness of g[L2,1], g[L2,2]: 2, 2");
    g_autofree char *working = orch_staleness_working(&run, mean_of(&run));
    assert_string_equal(working,
                        "mean_staleness = (0 + 0 + 2 + 1 + 0 + 2) / 6 = 0.8333333333333334");
    GString *table = orch_staleness_table(&run);
    assert_non_null(strstr(table->str, "\n2.5,\"g[L2,1]\",2,0,0,2,2,\"g[L1,1] g[L1,2]\"\n"));
    g_string_free(table, TRUE);
    orch_staleness_clear(&run);
}

/* After their first gradients n equal learners have a staleness of n - 1, and ties are broken by
 * the number of the learner. */
static void equal_learners(void **state)
{
    (void)state;
    for (int n = 1; n <= 9; n += 2) {
        struct staleness_params p = defaults();
        p.learners = n;
        p.gradients = 20 * n;
        struct orch_staleness_run run = simulate(&p);
        assert_int_equal(run.updates->len, 20 * n);
        for (guint i = 0; i < run.updates->len; i++) {
            assert_int_equal(at(&run, i)->learner, i % (guint)n);
            assert_int_equal(at(&run, i)->applied_ns, (i / (guint)n + 1) * 1000000000LL);
            assert_int_equal(orch_staleness_of(at(&run, i)), (int)i < n ? (int)i : n - 1);
        }
        assert_true(run.waiting_s == 0);
        orch_staleness_clear(&run);
    }
}

/* Every update counts for each other learner that has a gradient under way. So the sum of all
 * staleness is (n - 1) U less the updates that followed each learner's last one, whatever the
 * times; and the mean tends to n - 1. */
static void every_update_is_counted(void **state)
{
    (void)state;
    static const char *const distributions[] = {"constant", "exponential", "lognormal"};
    static const double speeds[] = {1, 2.5, 0.3, 1, 7};
    for (int i = 0; i < 6; i++) {
        struct staleness_params p = defaults();
        p.learners = 5;
        p.speeds = (struct orch_list){5, speeds};
        p.distribution = distributions[i % 3];
        p.gradients = 20000;
        p.pull_time = i < 3 ? 0 : 0.01;
        p.push_time = i < 3 ? 0 : 0.02;
        p.update_time = i < 3 ? 0 : 0.05;
        struct orch_staleness_run run = simulate(&p);
        const int64_t updates = run.versions;
        int64_t expected = 4 * updates, last[5] = {0};
        for (guint k = 0; k < run.updates->len; k++)
            last[at(&run, k)->learner] = k + 1;
        for (int l = 0; l < 5; l++)
            expected -= updates - last[l];
        assert_int_equal(updates, 20000);
        assert_int_equal(llround(mean_of(&run) * (double)updates), expected);
        near(mean_of(&run), 4, 0.02);
        orch_staleness_clear(&run);
    }
}

/* A barrier: no staleness, one update a round, as long as its slowest learner. */
static void synchronous(void **state)
{
    (void)state;
    static const double speeds[] = {1, 2, 4};
    struct staleness_params p = defaults();
    p.learners = 3;
    p.speeds = (struct orch_list){3, speeds};
    p.mode = "synchronous";
    p.gradients = 30;
    p.update_time = 0.5;
    struct orch_staleness_run run = simulate(&p);
    assert_int_equal(run.updates->len, 30);
    assert_int_equal(run.versions, 10);
    assert_int_equal(run.end_ns, 15000000000LL);
    assert_true(mean_of(&run) == 0);
    near(run.learning_s, 10 * 1.75, 1e-9);
    near(run.waiting_s, 10 * (0.5 + 1 + 1.25), 1e-9);
    orch_staleness_clear(&run);
}

/* No learner reads weights while it is more than the bound ahead; so staleness is at most
 * (n - 1)(2 s + 1). With bound 0 all learners read the same versions, as at a barrier. */
static void bounded(void **state)
{
    (void)state;
    static const double speeds[] = {1, 10, 3, 9};
    for (int64_t bound = 0; bound <= 6; bound += 2) {
        struct staleness_params p = defaults();
        p.learners = 4;
        p.speeds = (struct orch_list){4, speeds};
        p.distribution = "exponential";
        p.mode = "bounded";
        p.bound = bound;
        p.gradients = 4000;
        struct orch_staleness_run run = simulate(&p);
        int64_t lead = 0;
        assert_int_equal(run.updates->len, 4000);
        for (guint i = 0; i < run.updates->len; i++) {
            lead = MAX(lead, at(&run, i)->lead);
            assert_true(orch_staleness_of(at(&run, i)) <= 3 * (2 * bound + 1));
            if (!bound)
                assert_int_equal(at(&run, i)->version_read % 4, 0);
        }
        assert_int_equal(lead, bound);
        assert_true(run.waiting_s > 0);
        orch_staleness_clear(&run);
    }
}

/* A server that is busy takes gradients in the order of their arrival; weights are read when the
 * own update is complete. */
static void a_busy_server(void **state)
{
    (void)state;
    static const char *const times[] = {"1 2", "1.5 2.5"};
    struct staleness_params p = defaults();
    p.times = (struct orch_list){2, times};
    p.update_time = 1;
    struct orch_staleness_run run = simulate(&p);
    static const int64_t applied_ms[] = {2000, 3000, 4000, 5000}, staleness[] = {0, 1, 1, 1};
    for (guint i = 0; i < 4; i++) {
        assert_int_equal(at(&run, i)->applied_ns, applied_ms[i] * 1000000);
        assert_int_equal(orch_staleness_of(at(&run, i)), staleness[i]);
    }
    near(run.learning_s, 1 + 1 + 1.5 + 1, 1e-9);
    near(run.waiting_s, 1 + 1.5 + 1 + 1, 1e-9);
    orch_staleness_clear(&run);
}

static void means_of_distributions(void **state)
{
    (void)state;
    static const char *const names[] = {"exponential", "lognormal"};
    for (int i = 0; i < 2; i++) {
        struct staleness_params p = defaults();
        p.learners = 1;
        p.gradients = 100000;
        p.distribution = names[i];
        struct orch_staleness_run run = simulate(&p);
        /* five standard errors of the mean of the exponential distribution */
        near((double)run.end_ns / 1e9 / 100000, 1, 5 / sqrt(100000));
        orch_staleness_clear(&run);
    }
}

static void refuses(const struct staleness_params *p, const char *text)
{
    struct orch_staleness_settings settings;
    GError *error = NULL;
    assert_false(orch_staleness_settings_make(p, 1, &settings, &error));
    assert_non_null(strstr(error->message, text));
    g_error_free(error);
    orch_staleness_settings_clear(&settings);
}

static void contradictions(void **state)
{
    (void)state;
    static const char *const unsorted[] = {"1 2 2", "3"}, *const letters[] = {"1 x", "3"},
                             *const none[] = {"1", " "}, *const good[] = {"1", "2"};
    static const double speeds[] = {1, 2};
    struct staleness_params p = defaults();
    p.times = (struct orch_list){2, unsorted};
    refuses(&p, "times of learner 1: '2' is not a number above");
    p.times.items = letters;
    refuses(&p, "times of learner 1: 'x' is not a number above");
    p.times.items = none;
    refuses(&p, "times of learner 2 are empty");
    p.times.items = good;
    p.speeds = (struct orch_list){2, speeds};
    refuses(&p, "parameter 'times' excludes 'speeds'");
    p.times.count = 0;
    p.learners = 3;
    refuses(&p, "'speeds' has the values of 2 learners, but 'learners' is 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_assignment),
        cmocka_unit_test(equal_learners),
        cmocka_unit_test(every_update_is_counted),
        cmocka_unit_test(synchronous),
        cmocka_unit_test(bounded),
        cmocka_unit_test(a_busy_server),
        cmocka_unit_test(means_of_distributions),
        cmocka_unit_test(contradictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
