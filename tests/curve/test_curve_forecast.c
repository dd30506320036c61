/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forecasts of loss curves on curves with a known law: the interval of the limit and of later
 * losses, the form that forecasts best, and the law of schedules. */
#include "features/curve/laws/curve_choose.h"
#include "features/curve/laws/curve_interval.h"
#include "features/curve/laws/schedule_law.h"
#include "lib/base/error.h"
#include "lib/base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { POINTS = 100, SEEN = 60 };

static double normal(uint64_t *r)
{
    double u = 1 - orch_random_unit(r), v = orch_random_unit(r);
    return sqrt(-2 * log(u)) * cos(2 * G_PI * v);
}

/* A curve of 1/(b0 k + b1) + 0.4 with noise whose neighbours correlate by 0.5. */
static void make_curve(double *k, double *loss, uint64_t seed)
{
    uint64_t random = seed;
    double noise = 0;
    for (int i = 0; i < POINTS; i++) {
        noise = 0.5 * noise + 0.01 * normal(&random);
        k[i] = i + 1;
        loss[i] = (1 / (0.05 * k[i] + 0.5) + 0.4) * exp(noise);
    }
}

static void test_coverage_of_the_limit(void **state)
{
    (void)state;
    int held = 0, all = 200;
    for (int trial = 0; trial < all; trial++) {
        double k[POINTS], loss[POINTS];
        struct orch_curve curve;
        make_curve(k, loss, 7919 * (uint64_t)(trial + 1));
        assert_true(orch_curve_fit(k, loss, POINTS, NULL, &curve, NULL));
        struct orch_interval limit = orch_curve_limit_interval(&curve, k, loss, POINTS, HUGE_VAL);
        assert_true(limit.low <= limit.mid && limit.mid <= limit.high);
        held += limit.low <= 0.4 && 0.4 <= limit.high;
    }
    double coverage = (double)held / all;
    if (coverage < 0.85 || coverage > 0.97)
        fail_msg("coverage %.3f", coverage);
}

/* GSL finds no quantile of F for one in seven numbers of degrees of freedom. */
static void test_limits_of_long_curves(void **state)
{
    (void)state;
    for (size_t count = 1000; count < 1400; count += 10) {
        g_autofree double *k = g_new(double, count), *loss = g_new(double, count);
        struct orch_curve curve;
        uint64_t random = 7919 * count;
        for (size_t i = 0; i < count; i++) {
            k[i] = (double)(i + 1);
            loss[i] = 1 / (0.05 * k[i] + 0.4) + 0.3 + 0.01 * normal(&random);
        }
        assert_true(orch_curve_fit(k, loss, count, NULL, &curve, NULL));
        struct orch_interval limit = orch_curve_limit_interval(&curve, k, loss, count, HUGE_VAL);
        assert_true(limit.low > 0.28 && limit.low <= limit.mid && limit.high < 0.32);
    }
}

static void test_long_lines_fall(void **state)
{
    (void)state;
    const struct orch_curve_options line = {.form = ORCH_CURVE_LINE};
    for (size_t count = 30000; count < 33000; count += 100) {
        g_autofree double *k = g_new(double, count), *loss = g_new(double, count);
        uint64_t random = 7919 * count;
        for (size_t i = 0; i < count; i++) {
            k[i] = (double)(i + 1);
            loss[i] = 2 - 1e-5 * k[i] + 0.2 * normal(&random);
        }
        struct orch_stages *stages = orch_stages_fit(k, loss, count, NULL, 0, &line, NULL);
        assert_non_null(stages);
        assert_true(orch_stages_fall(stages, ORCH_CURVE_EQUAL, k, loss, count));
        orch_stages_free(stages);
    }
}

/* The later part of the curve lies within the interval of forecasts from the first part. */
static void test_coverage_of_forecasts(void **state)
{
    (void)state;
    int held = 0, all = 0;
    for (uint64_t trial = 1; trial <= 40; trial++) {
        double k[POINTS], loss[POINTS];
        struct orch_curve_options plain = {0}, best;
        struct orch_curve curve;
        g_autoptr(GArray) errors = g_array_new(FALSE, FALSE, sizeof(struct orch_curve_forecast));
        make_curve(k, loss, 104729 * trial);
        assert_true(orch_curve_choose(k, loss, SEEN, &plain, &best, errors));
        assert_true(orch_curve_fit(k, loss, SEEN, &best, &curve, NULL));
        for (int i = SEEN; i < POINTS; i++, all++)
            held += fabs(log(orch_curve_loss(&curve, k[i]) / loss[i])) <=
                    orch_curve_forecast_half(errors, k[SEEN - 1], k[i]);
    }
    double coverage = (double)held / all;
    if (coverage < 0.88)
        fail_msg("coverage %.3f", coverage);
}

static void test_few_points_have_no_forecasts(void **state)
{
    (void)state;
    double k[POINTS], loss[POINTS];
    struct orch_curve_options plain = {0}, best;
    g_autoptr(GArray) errors = g_array_new(FALSE, FALSE, sizeof(struct orch_curve_forecast));
    make_curve(k, loss, 1);
    assert_false(orch_curve_choose(k, loss, ORCH_CURVE_CHOICE_POINTS - 1, &plain, &best, errors));
    assert_true(isnan(orch_curve_forecast_half(errors, 10, 20)));
    assert_true(isnan(orch_curve_short_half(3, 10, 20)));
    double near = orch_curve_short_half(8, 10, 20), far = orch_curve_short_half(8, 10, 200);
    assert_true(near > 0 && far > 4 * near && far < 5 * near);
}

/* A loss below the curve's limit is placed by a power law through the last half of the points. */
static void test_slope_of_the_end(void **state)
{
    (void)state;
    double k[POINTS], loss[POINTS];
    for (int i = 0; i < POINTS; i++) {
        k[i] = 10 * (i + 1);
        loss[i] = (i < POINTS / 2 ? 9 : 3) * pow(k[i], -0.25);
    }
    double target = 3 * pow(5000, -0.25), at = orch_curve_reach_by_slope(k, loss, POINTS, target);
    assert_true(fabs(at / 5000 - 1) < 1e-6);
    assert_true(orch_curve_reach_by_slope(k, loss, POINTS, 100) > 0.999 * k[POINTS - 1]);
    assert_true(isnan(orch_curve_reach_by_slope(k, loss, POINTS, 1e-3)));
    assert_true(isnan(orch_curve_reach_by_slope(k, loss, POINTS, 0)));
    assert_true(isnan(orch_curve_reach_by_slope(k, loss, 3, target)));
    for (int i = 0; i < POINTS; i++)
        loss[i] = 1 + 0.01 * i;
    assert_true(isnan(orch_curve_reach_by_slope(k, loss, POINTS, 0.9)));
}

/* A first fifth that follows another law is left out by a relative fit. */
static void test_first_points_may_be_left_out(void **state)
{
    (void)state;
    double k[POINTS], loss[POINTS];
    struct orch_curve_options plain = {0}, best = {0};
    struct orch_curve curve;
    g_autoptr(GArray) errors = g_array_new(FALSE, FALSE, sizeof(struct orch_curve_forecast));
    for (int i = 0; i < POINTS; i++) {
        k[i] = i + 1;
        loss[i] = 1 + 2 * pow(k[i] + 4, -0.5) + (i < 8 ? 3 * (1 - i / 8.0) : 0);
    }
    assert_true(orch_curve_choose(k, loss, POINTS, &plain, &best, errors));
    assert_true(best.is_relative && best.form == ORCH_CURVE_POWER);
    assert_true(orch_curve_fit(k, loss, POINTS, &best, &curve, NULL));
    assert_true(fabs(orch_curve_limit(&curve) - 1) < 0.01);
    assert_int_equal(curve.points, POINTS - POINTS / 5);
}

/* ---- schedules ---------------------------------------------------------------------------------
 */

static double rate_of(int schedule, double share)
{
    switch (schedule) {
    case 0:
        return 3e-4;
    case 1:
        return 3e-4 * (0.1 + 0.45 * (1 + cos(G_PI * share)));
    case 2:
        return share < 0.5 ? 3e-4 : 1e-4;
    default:
        return share < 0.7 ? 3e-4 : 3e-4 * (1 - 3 * (share - 0.7));
    }
}

/* The law of the paper, summed step by step. */
static void make_run(int schedule, double *k, double *loss, double *rate)
{
    double sum[POINTS] = {0};
    for (int i = 0; i < POINTS; i++) {
        k[i] = 10 * i;
        rate[i] = rate_of(schedule, (double)i / (POINTS - 1));
        sum[i] = i ? sum[i - 1] + 10 * (rate[i] + rate[i - 1]) / 2 : 0;
        loss[i] = 2 + 0.4 * pow(sum[i] + 0.03, -0.5);
        for (int j = 1; j <= i; j++)
            loss[i] += 1500 * (rate[j] - rate[j - 1]) *
                       (1 - pow(1 + 0.5 * pow(rate[j], -0.5) * (sum[i] - sum[j]), -0.6));
    }
}

static void test_schedule_that_was_not_fitted(void **state)
{
    (void)state;
    double k[4][POINTS], loss[4][POINTS], rate[4][POINTS], said[POINTS], off = 0;
    struct orch_schedule_run runs[4];
    struct orch_schedule_law law;
    for (int s = 0; s < 4; s++) {
        make_run(s, k[s], loss[s], rate[s]);
        runs[s] = (struct orch_schedule_run){k[s], loss[s], POINTS, k[s], rate[s], POINTS};
    }
    assert_true(orch_schedule_law_fit(runs, 3, &law, NULL));
    assert_true(law.relative_error < 1e-3);
    orch_schedule_law_predict(&law, &runs[3], said);
    for (int i = 1; i < POINTS; i++)
        off += fabs(said[i] / loss[3][i] - 1) / (POINTS - 1);
    if (off > 2e-3)
        fail_msg("the fourth schedule is %.3f %% off", 100 * off);
}

static void refuse(const struct orch_schedule_run *runs, size_t count, const char *words)
{
    struct orch_schedule_law law;
    GError *error = NULL;
    assert_false(orch_schedule_law_fit(runs, count, &law, &error));
    assert_int_equal(error->code, ORCH_ERROR_USAGE);
    assert_non_null(strstr(error->message, words));
    g_error_free(error);
}

static void test_schedules_that_are_refused(void **state)
{
    (void)state;
    double k[POINTS], loss[POINTS], rate[POINTS];
    make_run(0, k, loss, rate);
    struct orch_schedule_run run = {k, loss, POINTS, k, rate, POINTS};
    refuse(&run, 1, "never falls");
    refuse(&run, 0, "never falls");
    make_run(1, k, loss, rate);
    run.count = 10;
    refuse(&run, 1, "at least 16");
    run.count = POINTS;
    loss[3] = 0;
    refuse(&run, 1, "not above 0");
    loss[3] = 2;
    rate[2] = -1;
    refuse(&run, 1, "negative");
    memset(rate, 0, sizeof rate);
    refuse(&run, 1, "0 throughout");
    run.rates = 0;
    refuse(&run, 1, "no learning rates");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage_of_the_limit),
        cmocka_unit_test(test_limits_of_long_curves),
        cmocka_unit_test(test_long_lines_fall),
        cmocka_unit_test(test_coverage_of_forecasts),
        cmocka_unit_test(test_few_points_have_no_forecasts),
        cmocka_unit_test(test_slope_of_the_end),
        cmocka_unit_test(test_first_points_may_be_left_out),
        cmocka_unit_test(test_schedule_that_was_not_fitted),
        cmocka_unit_test(test_schedules_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
