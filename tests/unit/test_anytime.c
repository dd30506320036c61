/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interval that may be looked at any time: by hand, against its e-value, and its error by
 * simulation (bench/sure_pairs.c has the long version). */
#include "core/stats/anytime.h"

#include <glib.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LOOKS 40
#define SIMULATIONS 400

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("found %.17g, expected %.17g", found, expected);
}

/* An error of 5 % has so many errors in less than one of 10,000 tests. */
static void at_most_5_percent(const char *what, int errors)
{
    if (gsl_cdf_binomial_Q((unsigned)errors, 0.05, SIMULATIONS) < 1e-4)
        fail_msg("%s: %d errors in %d", what, errors, SIMULATIONS);
}

/* Five of six above 0, four of five neighbours alike: t is 0.65. Zeros and the scale do not count.
 */
static void test_by_hand(void **state)
{
    (void)state;
    const double d[] = {1, 0, 2, 3, 0, 4, 5, -6}, large[] = {1e9, 0, 2e9, 3e9, 0, 4e9, 5e9, -6e9};
    double q = gsl_sf_beta(5.35, 1.35) / gsl_sf_beta(0.35, 0.35);
    near(orch_anytime_of(d, 8).log_e, log(q / (0.5 * pow(0.65, 4) * 0.35)), 1e-9);
    near(orch_anytime_of(large, 8).log_e, orch_anytime_of(d, 8).log_e, 1e-12);
    near(orch_anytime_of(d, 8).interval.mid, 1.5, 1e-12);
    near(orch_anytime_of(d, 0).log_e, 0, 0);
}

/* From the tenth value on the interval is bounded, by values of the sample: at first all of it. The
 * points between its ends are not refused, those beyond are. */
static void test_interval_is_of_e_value(void **state)
{
    (void)state;
    const double d[] = {3,  8,  1, 9,  5,  2,  7,  4,  10, 6,  15, 11, 14,
                        12, 13, 0, 18, -2, 17, -1, 16, -3, 19, -4, 20, -5};
    double shifted[G_N_ELEMENTS(d)];
    assert_true(isinf(orch_anytime_of(d, ORCH_ANYTIME_LEAST - 1).interval.low));
    struct orch_anytime a = orch_anytime_of(d, ORCH_ANYTIME_LEAST);
    near(a.interval.low, 1, 0);
    near(a.interval.high, 10, 0);
    a = orch_anytime_of(d, G_N_ELEMENTS(d));
    assert_true(a.interval.low > -5 && a.interval.high < 20);
    for (int side = -1; side <= 1; side += 2) {
        for (size_t i = 0; i < G_N_ELEMENTS(d); i++)
            shifted[i] = d[i] - a.interval.low + 0.5 * side;
        double log_e = orch_anytime_of(shifted, G_N_ELEMENTS(d)).log_e;
        assert_true(side > 0 ? log_e >= log(20) : log_e < log(20));
    }
}

/* Equal differences show no scatter: that there is no difference is never sure, and that there is
 * one only by their signs. */
static void test_constant(void **state)
{
    (void)state;
    const double ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, zeros[LOOKS] = {0};
    struct orch_anytime end;
    assert_int_equal(orch_anytime_decide(ones, 9, 0.1, &end), ORCH_ANYTIME_OPEN);
    assert_true(isinf(end.interval.high));
    assert_int_equal(orch_anytime_decide(ones, 11, 0.1, &end), ORCH_ANYTIME_DIFFERENT);
    assert_int_equal(end.count, ORCH_ANYTIME_LEAST);
    assert_int_equal(orch_anytime_decide(zeros, LOOKS, 0.1, &end), ORCH_ANYTIME_OPEN);
    assert_int_equal(end.count, LOOKS);
    assert_int_equal(orch_anytime_decide(zeros, 0, 0.1, &end), ORCH_ANYTIME_OPEN);
    /* rounding does not make four values of one */
    const double rounded[] = {0.97 - 0.95, 0.98 - 0.96, 0.99 - 0.97, 0.96 - 0.94, 0.92 - 0.90};
    assert_int_equal(orch_anytime_decide(rounded, 5, 1, &end), ORCH_ANYTIME_OPEN);
    /* most differences are above 0, and their mean is below */
    double torn[24];
    for (int i = 0; i < 24; i++)
        torn[i] = i == 23 ? -999 : i + 1;
    end = orch_anytime_of(torn, G_N_ELEMENTS(torn));
    assert_int_equal(end.side, 1);
    assert_int_equal(orch_anytime_verdict(&end, 0.1), ORCH_ANYTIME_OPEN);
}

/* ---- errors -------------------------------------------------------------------------------------
 */

/* A value of the median 0; `before` is NaN for the first. */
typedef double (*draw_fn)(gsl_rng *dice, double before);

static double normal(gsl_rng *dice, double before)
{
    (void)before;
    return gsl_ran_gaussian_ziggurat(dice, 1);
}

static double log_normal(gsl_rng *dice, double before)
{
    return exp(normal(dice, before)) - 1;
}

static double exponential(gsl_rng *dice, double before)
{
    (void)before;
    return gsl_ran_exponential(dice, 1) - M_LN2;
}

static double t3(gsl_rng *dice, double before)
{
    (void)before;
    return gsl_ran_tdist(dice, 3);
}

static double ar1(gsl_rng *dice, double before)
{
    return isnan(before) ? normal(dice, 0) : 0.4 * before + sqrt(1 - 0.16) * normal(dice, 0);
}

/* The difference of two runs that succeed equally often. */
static double binary(gsl_rng *dice, double before)
{
    (void)before;
    return (gsl_rng_uniform(dice) < 0.5) - (gsl_rng_uniform(dice) < 0.5);
}

static double images(gsl_rng *dice, double before)
{
    (void)before;
    return (double)gsl_ran_binomial(dice, 0.97, 100) - gsl_ran_binomial(dice, 0.97, 100);
}

/* Looked at after each value, the interval ever misses the median in 5 % of samples at most, and
 * so many comparisons without a difference end with one, whatever the noise. */
static void test_error_at_any_time(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        draw_fn draw;
    } noises[] = {{"normal", normal},           {"log-normal", log_normal},
                  {"exponential", exponential}, {"t, 3 degrees", t3},
                  {"AR(1), 0.4", ar1},          {"binary", binary},
                  {"share of images", images}};
    gsl_rng *dice = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t k = 0; k < G_N_ELEMENTS(noises); k++) {
        int missed = 0, wrong = 0;
        for (int i = 0; i < SIMULATIONS; i++) {
            double values[LOOKS], last = NAN;
            bool misses = false, errs = false;
            for (size_t n = 1; n <= LOOKS; n++) {
                values[n - 1] = last = noises[k].draw(dice, last);
                struct orch_anytime now = orch_anytime_of(values, n);
                misses = misses || now.interval.low > 0 || now.interval.high < 0;
                errs = errs || orch_anytime_verdict(&now, 1e-9) == ORCH_ANYTIME_DIFFERENT;
            }
            missed += misses;
            wrong += errs;
        }
        at_most_5_percent(noises[k].name, missed);
        at_most_5_percent(noises[k].name, wrong);
    }
    gsl_rng_free(dice);
}

/* A difference of one standard deviation is found, within three times the pairs of a fixed test,
 * and runs that succeed in 95 and in 85 % are never alike within 5 %. */
static void test_finds(void **state)
{
    (void)state;
    enum { PAIRS = 80 };
    int found = 0, alike = 0;
    double pairs = 0;
    gsl_rng *dice = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < SIMULATIONS; i++) {
        double d[PAIRS], success[PAIRS];
        struct orch_anytime end;
        for (int j = 0; j < PAIRS; j++) {
            d[j] = 1 + normal(dice, 0);
            success[j] = (gsl_rng_uniform(dice) < 0.85) - (gsl_rng_uniform(dice) < 0.95);
        }
        found += orch_anytime_decide(d, PAIRS, 0.1, &end) == ORCH_ANYTIME_DIFFERENT;
        pairs += (double)end.count;
        alike += orch_anytime_decide(success, PAIRS, 0.05, &end) == ORCH_ANYTIME_ALIKE;
    }
    gsl_rng_free(dice);
    assert_true(found > 0.95 * SIMULATIONS);
    assert_true(pairs / SIMULATIONS < 3 * 10); /* 10: the t test of power 0.8 */
    assert_int_equal(alike, 0);
}

/* ---- what is noticed ----------------------------------------------------------------------------
 */

static void test_notice(void **state)
{
    (void)state;
    double cold[] = {90, 5, 7, 6, 4, 8, 5.5, 6.5}, trend[16], alike[120], fine[LOOKS];
    gsl_rng *dice = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < 16; i++)
        trend[i] = i + 2 * (i % 2);
    for (int i = 0; i < 120; i++)
        alike[i] = i / 6 % 2 + 0.1 * normal(dice, 0);
    for (int i = 0; i < LOOKS; i++)
        fine[i] = normal(dice, 0);
    gsl_rng_free(dice);
    assert_int_equal(orch_anytime_of(cold, 8).notice, ORCH_ANYTIME_WARM_UP);
    assert_int_equal(orch_anytime_of(cold + 1, 7).notice, ORCH_ANYTIME_NOTHING);
    assert_int_equal(orch_anytime_of(trend, 16).notice, ORCH_ANYTIME_TREND);
    assert_int_equal(orch_anytime_of(alike, 120).notice, ORCH_ANYTIME_DEPENDENCE);
    assert_int_equal(orch_anytime_of(fine, LOOKS).notice, ORCH_ANYTIME_NOTHING);
    assert_null(orch_anytime_notice_text(ORCH_ANYTIME_NOTHING));
}

static void test_more(void **state)
{
    (void)state;
    const double d[] = {0.1, 2.4, 0.9, -0.3, 1.8};
    size_t most = orch_anytime_more(d, 5, 0.01, 0.8);
    assert_true(most > 8 && most < 60);
    assert_true(orch_anytime_more(d, 5, 0.01, 0.5) < most);
    assert_int_equal(orch_anytime_more(d, 5, 0.01, 0.8), most); /* the same each time */
    assert_int_equal(orch_anytime_more(d, 2, 0.01, 0.8), 0);
    const double none[] = {1, -1, 1.1, -1.1, 0.9, -0.9}, few[] = {1, 2, 1, 2, 1, 2};
    assert_int_equal(orch_anytime_more(none, 6, 1e-6, 0.8), 0); /* beyond the horizon */
    assert_int_equal(orch_anytime_more(few, 6, 0.01, 0.8), 0);  /* the scatter is not known */
}

/* Twice the Bayes factor of a t of 3 whose square is divided by 7/3, with 8 degrees of freedom and
 * 5 values a side. */
static void test_gap(void **state)
{
    (void)state;
    double t2 = 9 / (7.0 / 3) / 8, shrunk = 0.3 / 2.8;
    near(orch_anytime_log_e_of_gap(6, 2, 8, 2.5),
         log(2 * sqrt(shrunk) * pow((1 + t2) / (1 + t2 * shrunk), 4.5)), 1e-12);
    near(orch_anytime_log_e_of_gap(-6, 2, 8, 2.5), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),  cmocka_unit_test(test_interval_is_of_e_value),
        cmocka_unit_test(test_constant), cmocka_unit_test(test_error_at_any_time),
        cmocka_unit_test(test_finds),    cmocka_unit_test(test_notice),
        cmocka_unit_test(test_more),     cmocka_unit_test(test_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
