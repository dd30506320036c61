/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quotients of means and their intervals, by hand and by simulation. */
#include "features/scaling/quotient.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TOLERANCE 1e-9

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("found %.17g, expected %.17g", found, expected);
}

/* A divisor without spread: the interval is Student's, divided. */
static void test_constant_divisor(void **state)
{
    (void)state;
    const double x[] = {10, 10, 10}, y[] = {1, 2, 3};
    const double half = 4.302652729696142 / sqrt(3); /* t of 2 degrees of freedom, sd 1 */
    struct orch_quotient q = orch_quotient_of(x, y, 3);
    near(q.value.mid, 0.2, TOLERANCE);
    near(q.value.low, (2 - half) / 10, TOLERANCE);
    near(q.value.high, (2 + half) / 10, TOLERANCE);
}

/* Proportional pairs leave no doubt about the quotient, however much they spread. */
static void test_proportional(void **state)
{
    (void)state;
    const double x[] = {-5, -8, -6, -7}, y[] = {10, 16, 12, 14};
    struct orch_quotient q = orch_quotient_of(x, y, 4);
    near(q.value.mid, -2, TOLERANCE);
    near(q.value.low, -2, 1e-6);
    near(q.value.high, -2, 1e-6);
}

static void test_unbounded(void **state)
{
    (void)state;
    const double x[] = {-1, 1, 2}, y[] = {1, 2, 3};
    struct orch_quotient q = orch_quotient_of(x, y, 3);
    near(q.value.mid, 3, TOLERANCE);
    assert_true(isnan(q.value.low) && isnan(q.value.high));
    q = orch_quotient_of(x, y, 1);
    near(q.value.mid, -1, TOLERANCE);
    assert_true(isnan(q.value.low));
    q = orch_quotient_of(NULL, NULL, 0);
    assert_true(q.count == 0 && isnan(q.value.mid));
}

/* Two samples: the ends are the quotients that Welch's test of y - q x just does not refuse, with
 * the degrees of freedom at the estimate. Without scatter the quotient is certain, with one value
 * each nothing is known. */
static void test_samples(void **state)
{
    (void)state;
    const double x[] = {2.0, 2.2, 2.1, 1.9}, y[] = {4.1, 4.4, 3.9};
    struct orch_quotient q = orch_quotient_of_samples(x, 4, y, 3);
    const double xx = 0.05 / 3 / 4, yy = 0.38 / 3 / 2 / 3; /* variances of both means */
    near(q.value.mid, (12.4 / 3) / 2.05, TOLERANCE);
    const double of_x = q.value.mid * q.value.mid * xx;
    const double degrees = pow(of_x + yy, 2) / (of_x * of_x / 3 + yy * yy / 2);
    const double limit = gsl_cdf_tdist_Pinv(0.975, degrees), ends[] = {q.value.low, q.value.high};
    for (int i = 0; i < 2; i++)
        near(fabs(12.4 / 3 - ends[i] * 2.05) / sqrt(ends[i] * ends[i] * xx + yy), limit, 1e-6);
    assert_true(q.value.low < q.value.mid && q.value.mid < q.value.high);
    const double two[] = {2, 2}, six[] = {6, 6, 6};
    q = orch_quotient_of_samples(two, 2, six, 3);
    near(q.value.low, 3, TOLERANCE);
    near(q.value.high, 3, TOLERANCE);
    q = orch_quotient_of_samples(two, 2, six, 1);
    near(q.value.mid, 3, TOLERANCE);
    assert_true(isnan(q.value.low) && isnan(q.value.high));
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(2 * 3.141592653589793 * uniform(state));
}

/* The interval covers the true quotient in 95 of 100 samples of correlated normal pairs: 4,000
 * samples have a standard error of 0.35 points. */
static void test_coverage(void **state)
{
    enum { SAMPLES = 4000, PAIRS = 6 };
    uint64_t random = 1;
    int covered = 0;
    (void)state;
    for (int sample = 0; sample < SAMPLES; sample++) {
        double x[PAIRS], y[PAIRS];
        for (int i = 0; i < PAIRS; i++) {
            double shared = normal(&random);
            x[i] = 10 + shared;
            y[i] = 5 + 0.6 * shared + 0.8 * normal(&random);
        }
        struct orch_quotient q = orch_quotient_of(x, y, PAIRS);
        covered += q.value.low <= 0.5 && 0.5 <= q.value.high;
    }
    near((double)covered / SAMPLES, 0.95, 0.014);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant_divisor), cmocka_unit_test(test_proportional),
        cmocka_unit_test(test_samples),          cmocka_unit_test(test_unbounded),
        cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
