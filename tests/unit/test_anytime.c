/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The test that may be stopped at any time: by hand, its interval against its e-value, and its
 * error by simulation (bench/sure_pairs.c has the long version). */
#include "core/stats/anytime.h"

#include <glib.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PAIRS 60
#define SIMULATIONS 3000

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("found %.17g, expected %.17g", found, expected);
}

/* d = 1, 2, 3, 4: sum 10, squares 30, rho 0.3 */
static void test_by_hand(void **state)
{
    (void)state;
    const double d[] = {1, 2, 3, 4}, large[] = {1e9, 2e9, 3e9, 4e9};
    struct orch_anytime a = orch_anytime_of(d, 4), b = orch_anytime_of(large, 4);
    double e = sqrt(0.3 / 4.3) * pow(30 / (30 - 100 / 4.3), 2);
    near(a.log_e, log(e), 1e-12);
    near(b.log_e, a.log_e, 1e-9); /* the scale does not matter */
    near(a.interval.mid, 2.5, 1e-12);
    near(b.interval.high, 1e9 * a.interval.high, 1);
    near(orch_anytime_of(d, 1).log_e, 0, 1e-12);
    assert_true(isinf(orch_anytime_of(d, 3).interval.high));
    assert_true(isfinite(a.interval.high));
}

/* An end of the interval is a mean that the e-value of the shifted differences just refuses. */
static void test_interval_is_of_e_value(void **state)
{
    (void)state;
    const double d[] = {0.3, 1.9, -0.4, 1.1, 0.8, 2.2, 0.1};
    double shifted[G_N_ELEMENTS(d)];
    struct orch_anytime a = orch_anytime_of(d, G_N_ELEMENTS(d));
    for (size_t i = 0; i < G_N_ELEMENTS(d); i++)
        shifted[i] = d[i] - a.interval.low;
    near(orch_anytime_of(shifted, G_N_ELEMENTS(d)).log_e, log(20), 1e-9);
}

/* Equal differences show no scatter: that there is no difference is never sure, and that there is
 * one only by their signs, of which eight are needed. */
static void test_constant(void **state)
{
    (void)state;
    const double ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, zeros[PAIRS] = {0};
    struct orch_anytime end;
    assert_int_equal(orch_anytime_decide(ones, 7, 0.1, &end), ORCH_ANYTIME_OPEN);
    assert_true(isinf(end.interval.high));
    assert_int_equal(orch_anytime_decide(ones, 9, 0.1, &end), ORCH_ANYTIME_DIFFERENT);
    assert_int_equal(end.count, 8);
    near(end.log_e, log(256 / 9.0), 1e-12); /* the integral of p^8 2^8 over p */
    assert_int_equal(orch_anytime_decide(zeros, PAIRS, 0.1, &end), ORCH_ANYTIME_OPEN);
    assert_int_equal(end.count, PAIRS);
    assert_int_equal(orch_anytime_decide(zeros, 0, 0.1, &end), ORCH_ANYTIME_OPEN);
    /* rounding does not make four values of one */
    const double rounded[] = {0.97 - 0.95, 0.98 - 0.96, 0.99 - 0.97, 0.96 - 0.94, 0.92 - 0.90};
    assert_int_equal(orch_anytime_decide(rounded, 5, 1, &end), ORCH_ANYTIME_OPEN);
}

/* The difference of two runs that succeed with these probabilities. */
static double binary(gsl_rng *dice, double a, double b)
{
    return (gsl_rng_uniform(dice) < b) - (gsl_rng_uniform(dice) < a);
}

/* Runs that succeed in 95 and in 85 % are never alike within 5 %, and runs that succeed equally
 * often differ in 5 % of comparisons at most; nor do differences of 1 or -1 by a coin. */
static void test_few_values(void **state)
{
    (void)state;
    int alike = 0, found = 0, wrong = 0, coin = 0;
    gsl_rng *dice = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < SIMULATIONS; i++) {
        double d[4][PAIRS];
        struct orch_anytime end;
        for (int j = 0; j < PAIRS; j++) {
            d[0][j] = binary(dice, 0.95, 0.85);
            d[1][j] = binary(dice, 0.9, 0.2);
            d[2][j] = binary(dice, 0.5, 0.5);
            d[3][j] = gsl_rng_uniform(dice) < 0.5 ? -1 : 1;
        }
        alike += orch_anytime_decide(d[0], PAIRS, 0.05, &end) == ORCH_ANYTIME_ALIKE;
        found += orch_anytime_decide(d[1], PAIRS, 0.05, &end) == ORCH_ANYTIME_DIFFERENT;
        wrong += orch_anytime_decide(d[2], PAIRS, 1e-9, &end) == ORCH_ANYTIME_DIFFERENT;
        coin += orch_anytime_decide(d[3], PAIRS, 1e-9, &end) == ORCH_ANYTIME_DIFFERENT;
    }
    gsl_rng_free(dice);
    assert_int_equal(alike, 0);
    assert_true(found > 0.99 * SIMULATIONS);
    assert_true(wrong < 0.05 * SIMULATIONS);
    assert_true(coin < 0.05 * SIMULATIONS);
}

/* At most 5 % of comparisons without a difference end with one, whenever they are looked at. With
 * the ends of the fixed t test it is a third of them. */
static void test_error_at_any_time(void **state)
{
    (void)state;
    int wrong = 0;
    gsl_rng *dice = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < SIMULATIONS; i++) {
        double d[PAIRS];
        struct orch_anytime end;
        for (int j = 0; j < PAIRS; j++)
            d[j] = gsl_ran_gaussian_ziggurat(dice, 1);
        wrong += orch_anytime_decide(d, PAIRS, 1e-9, &end) == ORCH_ANYTIME_DIFFERENT;
    }
    gsl_rng_free(dice);
    assert_true(wrong < 0.05 * SIMULATIONS); /* 2.85 % of 20,000; four standard errors below 5 % */
    assert_true(wrong > 0.01 * SIMULATIONS); /* a test that never decides would pass otherwise */
}

/* A difference of one standard deviation is found, with few pairs, and the interval of the first
 * verdict holds the true mean in more than 95 %. */
static void test_finds(void **state)
{
    (void)state;
    int found = 0, holds = 0;
    double pairs = 0;
    gsl_rng *dice = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < SIMULATIONS; i++) {
        double d[PAIRS];
        struct orch_anytime end;
        for (int j = 0; j < PAIRS; j++)
            d[j] = 1 + gsl_ran_gaussian_ziggurat(dice, 1);
        found += orch_anytime_decide(d, PAIRS, 0.1, &end) == ORCH_ANYTIME_DIFFERENT;
        holds += end.interval.low < 1 && end.interval.high > 1;
        pairs += (double)end.count;
    }
    gsl_rng_free(dice);
    assert_true(found > 0.99 * SIMULATIONS);
    assert_true(holds > 0.95 * SIMULATIONS);
    assert_true(pairs / SIMULATIONS < 1.5 * 10); /* 10: the t test of power 0.8 */
}

static void test_more(void **state)
{
    (void)state;
    const double d[] = {0.1, 2.4, 0.9, -0.3, 1.8};
    struct orch_anytime a = orch_anytime_of(d, G_N_ELEMENTS(d));
    size_t most = orch_anytime_more(&a, 0.01, 0.8);
    assert_true(most > 4 && most < 30);
    assert_true(orch_anytime_more(&a, 0.01, 0.5) < most);
    assert_int_equal(orch_anytime_more(&a, 0.01, 0.8), most); /* the same each time */
    a = orch_anytime_of(d, 2);
    assert_int_equal(orch_anytime_more(&a, 0.01, 0.8), 0);
    const double none[] = {1, -1, 1.1, -1.1, 0.9, -0.9}, few[] = {1, 2, 1, 2, 1, 2};
    a = orch_anytime_of(none, 6);
    assert_int_equal(orch_anytime_more(&a, 1e-6, 0.8), 0); /* beyond the horizon */
    a = orch_anytime_of(few, 6);
    assert_int_equal(orch_anytime_more(&a, 0.01, 0.8), 0); /* the scatter is not known */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_interval_is_of_e_value),
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_few_values),
        cmocka_unit_test(test_error_at_any_time),
        cmocka_unit_test(test_finds),
        cmocka_unit_test(test_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
