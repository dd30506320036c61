/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Remaining time of synthetic jobs: constant, with a warm-up, with noise, with a drift. */
#include "predictors/trial/remaining.h"

#include "lib/base/random.h"

#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define STEPS 400

static double normal(uint64_t *r)
{
    double u = 1 - orch_random_unit(r), v = orch_random_unit(r);
    return sqrt(-2 * log(u)) * cos(2 * G_PI * v);
}

/* Points after each of STEPS steps with these times; returns the whole time. */
static double play(const double *step_s, struct orch_progress_point *points)
{
    points[0] = (struct orch_progress_point){0, 0};
    for (int i = 0; i < STEPS; i++)
        points[i + 1] = (struct orch_progress_point){points[i].t_s + step_s[i], points[i].done + 1};
    return points[STEPS].t_s;
}

/* Relative error of the whole time as foreseen after `n` steps. */
static double error_at(const struct orch_progress_point *points, size_t n, double truth)
{
    struct orch_remaining r;
    assert_true(orch_remaining(points, n + 1, STEPS, points[n].t_s, &r));
    assert_true(r.left_s.low <= r.left_s.mid && r.left_s.mid <= r.left_s.high);
    return (points[n].t_s + r.left_s.mid - truth) / truth;
}

static void test_constant_steps_are_exact(void **state)
{
    (void)state;
    double steps[STEPS];
    struct orch_progress_point points[STEPS + 1];
    for (int i = 0; i < STEPS; i++)
        steps[i] = 0.25;
    double truth = play(steps, points);
    for (size_t n = 1; n < STEPS; n += 7)
        assert_true(fabs(error_at(points, n, truth)) < 1e-9);
}

/* Ten times slower at first: the error goes away once the warm-up is behind the window. */
static void test_warm_up_is_forgotten(void **state)
{
    (void)state;
    double steps[STEPS];
    struct orch_progress_point points[STEPS + 1];
    for (int i = 0; i < STEPS; i++)
        steps[i] = i < 10 ? 1 : 0.1;
    double truth = play(steps, points);
    assert_true(error_at(points, 10, truth) > 1); /* all that it has seen */
    for (size_t n = 30; n < STEPS; n += 10)
        if (fabs(error_at(points, n, truth)) > 1e-9)
            fail_msg("after %zu steps: off by %g", n, error_at(points, n, truth));
}

/* Steps that grow by 60 % over the job: behind, but never by more than that, and less and less. */
static void test_drift_is_bounded(void **state)
{
    (void)state;
    double steps[STEPS];
    struct orch_progress_point points[STEPS + 1];
    uint64_t random = 3;
    for (int i = 0; i < STEPS; i++)
        steps[i] = (1 + 0.6 * i / STEPS) * (1 + 0.02 * normal(&random));
    double truth = play(steps, points), plain = 0;
    for (size_t n = 100; n < STEPS; n += 50) {
        double error = fabs(error_at(points, n, truth));
        double by_mean = fabs(points[n].t_s / (double)n * STEPS - truth) / truth;
        struct orch_remaining r;
        orch_remaining(points, n + 1, STEPS, points[n].t_s, &r);
        plain += by_mean - error;
        if (error > 0.1 || r.drift < 0 || r.drift > 0.25)
            fail_msg("after %zu steps: off by %g, drift %g", n, error, r.drift);
    }
    assert_true(plain > 0.2); /* better than the mean of all steps, summed over the six */
}

/* A fast stretch does not make a drift beyond all measure. */
static void test_a_jump_is_not_followed_to_the_end(void **state)
{
    (void)state;
    double steps[STEPS];
    struct orch_progress_point points[STEPS + 1];
    for (int i = 0; i < STEPS; i++)
        steps[i] = i < 150 ? 1 : 0.5;
    double truth = play(steps, points);
    for (size_t n = 160; n < STEPS; n += 20)
        assert_true(fabs(error_at(points, n, truth)) < 0.6);
    assert_true(fabs(error_at(points, 310, truth)) < 1e-9);
}

/* A share of jobs whose end lies within the interval, with independent and with correlated steps.
 */
static double coverage(double correlation, double sd, uint64_t seed)
{
    int held = 0, all = 0;
    for (int job = 0; job < 300; job++) {
        double steps[STEPS], wave = 0;
        struct orch_progress_point points[STEPS + 1];
        for (int i = 0; i < STEPS; i++) {
            wave = correlation * wave + sqrt(1 - correlation * correlation) * normal(&seed);
            steps[i] = exp(sd * wave);
        }
        double truth = play(steps, points);
        for (size_t n = 100; n < STEPS; n += 100, all++) {
            struct orch_remaining r;
            orch_remaining(points, n + 1, STEPS, points[n].t_s, &r);
            double left = truth - points[n].t_s;
            held += left >= r.left_s.low && left <= r.left_s.high;
        }
    }
    return (double)held / all;
}

static void test_coverage(void **state)
{
    (void)state;
    const struct {
        double correlation, sd;
    } kinds[] = {{0, 0.3}, {0, 0.8}, {0.7, 0.3}, {0.8, 0.3}, {0.9, 0.3}, {0.95, 0.3}};
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        double share = coverage(kinds[i].correlation, kinds[i].sd, 17 + i);
        print_message("correlation %.2f, sd %.1f: coverage %.3f\n", kinds[i].correlation,
                      kinds[i].sd, share);
        if (share < 0.8 || share > 0.98)
            fail_msg("correlation %g, sd %g: coverage %.3f", kinds[i].correlation, kinds[i].sd,
                     share);
    }
}

/* Between two steps time goes on. */
static void test_time_since_the_last_step(void **state)
{
    (void)state;
    struct orch_progress_point points[] = {{0, 0}, {1, 1}, {2, 2}, {3, 3},
                                           {4, 4}, {5, 5}, {6, 6}, {7, 7}};
    struct orch_remaining r;
    assert_true(orch_remaining(points, 8, 10, 7.75, &r));
    assert_true(fabs(r.left_s.mid - 2.25) < 1e-9);
    assert_true(orch_remaining(points, 8, 10, 70, &r));
    assert_true(r.left_s.mid == 0 && r.left_s.low == 0);
}

static void test_nothing_to_say(void **state)
{
    (void)state;
    struct orch_progress_point points[] = {{0, 0}, {1, 0}, {2, 1}};
    struct orch_remaining r;
    assert_false(orch_remaining(points, 0, 10, 0, &r));
    assert_false(orch_remaining(points, 1, 10, 0, &r));
    assert_false(orch_remaining(points, 2, 10, 1, &r)); /* no progress */
    assert_false(orch_remaining(points, 3, 1, 2, &r));  /* it is done */
    assert_false(orch_remaining(points, 3, (double)NAN, 2, &r));
    assert_true(orch_remaining(points, 3, 10, 2, &r));
    assert_true(r.left_s.high > 1.3 * r.left_s.mid &&
                r.left_s.low < r.left_s.mid / 1.3); /* one step says little */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant_steps_are_exact),
        cmocka_unit_test(test_warm_up_is_forgotten),
        cmocka_unit_test(test_drift_is_bounded),
        cmocka_unit_test(test_a_jump_is_not_followed_to_the_end),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_time_since_the_last_step),
        cmocka_unit_test(test_nothing_to_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
