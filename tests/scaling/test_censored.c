/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times with censored runs: by hand, and the coverage of the interval by simulation. */
#include "features/scaling/censored.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fmax(1e-3, fabs(expected))))
        fail_msg("found %.17g, expected %.17g", found, expected);
}

/* exp(-1), 1 and exp(1): the logarithms have mean 0 and squares that sum to 2. With 2 degrees of
 * freedom the quantile of chi-square at p is -2 ln(1 - p), so both ends are written by hand. */
static void test_by_hand(void **state)
{
    (void)state;
    const double times[] = {1, exp(1), exp(-1)};
    double mean = (1 + exp(1) + exp(-1)) / 3;
    double squares = pow(1 - mean, 2) + pow(exp(1) - mean, 2) + pow(exp(-1) - mean, 2);
    struct orch_censored c = orch_censored_of(times, 3, 0);
    assert_int_equal(c.runs, 3);
    assert_int_equal(c.reached, 3);
    near(c.median, 1);
    near(c.low, exp(-1));
    near(c.high, exp(1));
    near(c.mean, mean);
    near(c.cv, sqrt(squares / 2) / mean);
    near(c.cv_low, sqrt(exp(2 / (-2 * log(0.025))) - 1));
    near(c.cv_high, sqrt(exp(2 / (-2 * log(0.975))) - 1));
    /* 5 runs: the table's quantiles of chi-square with 4 degrees of freedom, 6 digits */
    const double five[] = {10, 11, 12, 13, 14};
    double s = 0, m = 0;
    for (int i = 0; i < 5; i++)
        m += log(five[i]) / 5;
    for (int i = 0; i < 5; i++)
        s += pow(log(five[i]) - m, 2);
    c = orch_censored_of(five, 5, 0);
    near(c.cv, sqrt(10.0 / 4) / 12);
    assert_true(fabs(c.cv_low - sqrt(exp(s / 11.143287) - 1)) < 1e-6);
    assert_true(fabs(c.cv_high - sqrt(exp(s / 0.484419) - 1)) < 1e-6);
}

static void test_censored(void **state)
{
    (void)state;
    const double times[] = {30, 10, 20};
    near(orch_censored_of(times, 3, 0).median, 20);
    near(orch_censored_of(times, 3, 1).median, 25); /* 10 20 30 and one that is longer */
    near(orch_censored_of(times, 3, 2).median, 30);
    struct orch_censored half = orch_censored_of(times, 3, 3); /* 30 and something longer */
    assert_true(isnan(half.median));
    assert_int_equal(half.runs, 6);
    near(half.cv, 0.5); /* mean 20, deviation 10 */
    near(half.cv_low, orch_censored_of(times, 3, 0).cv_low);
    near(half.low, 10);
    near(half.high, 30);
    struct orch_censored none = orch_censored_of(times, 0, 4);
    assert_int_equal(none.runs, 4);
    assert_true(isnan(none.median) && isnan(none.low) && isnan(none.cv) && isnan(none.cv_high));
    struct orch_censored one = orch_censored_of(times, 1, 0);
    near(one.median, 30);
    assert_true(isnan(one.cv) && isnan(one.cv_low));
    const double equal[] = {7, 7, 7};
    struct orch_censored same = orch_censored_of(equal, 3, 0);
    near(same.cv, 0);
    assert_true(isnan(same.cv_low) && isnan(same.cv_high));
}

/* The unit of time does not matter, and more censored runs never make the median shorter. */
static void test_properties(void **state)
{
    (void)state;
    const double seconds[] = {31, 42, 35, 58, 33.5},
                 hours[] = {31.0 / 3600, 42.0 / 3600, 35.0 / 3600, 58.0 / 3600, 33.5 / 3600};
    struct orch_censored a = orch_censored_of(seconds, 5, 1), b = orch_censored_of(hours, 5, 1);
    near(a.cv, b.cv);
    near(a.cv_low, b.cv_low);
    near(a.cv_high, b.cv_high);
    assert_true(a.cv_low < a.cv && a.cv < a.cv_high);
    double before = 0;
    for (size_t censored = 0; censored < 5; censored++) {
        double median = orch_censored_of(seconds, 5, censored).median;
        assert_true(median >= before);
        before = median;
    }
}

/* Against scipy.stats.f of the logarithms' variances; which setting is the first does not matter.
 */
static void test_same_variation(void **state)
{
    (void)state;
    const double many[] = {31, 42, 35, 58, 33.5}, few[] = {10, 10.5, 11, 10.2}, equal[] = {7, 7};
    const struct orch_censored a = orch_censored_of(many, 5, 0), b = orch_censored_of(few, 4, 0),
                               c = orch_censored_of(equal, 2, 0);
    near(orch_censored_same_variation(&a, &b), 0.014088915945356271);
    near(orch_censored_same_variation(&b, &a), 0.014088915945356271);
    near(orch_censored_same_variation(&a, &a), 1);
    assert_true(isnan(orch_censored_same_variation(&a, &c)));
}

/* 95 % of the intervals of log-normal times contain the true coefficient. 4000 repetitions have a
 * standard error of 0.34 points; 5 of them are 1.7. The seed is fixed. */
static void test_coverage(void **state)
{
    (void)state;
    const size_t sizes[] = {2, 5, 20};
    const double sigmas[] = {0.05, 0.3, 1.0};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 1964);
    for (int k = 0; k < 9; k++) {
        double sigma = sigmas[k / 3], truth = sqrt(exp(sigma * sigma) - 1), times[20];
        size_t n = sizes[k % 3];
        int inside = 0;
        for (int i = 0; i < 4000; i++) {
            for (size_t j = 0; j < n; j++)
                times[j] = gsl_ran_lognormal(rng, 3, sigma);
            struct orch_censored c = orch_censored_of(times, n, 0);
            inside += c.cv_low <= truth && truth <= c.cv_high;
        }
        if (abs(inside - 3800) > 69)
            fail_msg("%d of 4000 intervals of %zu times at sigma %g", inside, n, sigma);
    }
    gsl_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),    cmocka_unit_test(test_censored),
        cmocka_unit_test(test_properties), cmocka_unit_test(test_same_variation),
        cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
