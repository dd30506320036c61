/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best of equal settings: against known expectations of order statistics, Student's t for two
 * settings, and simulated searches. */
#include "core/stats/best_of.h"

#include "lib/base/random.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Expected largest of n normal values (Harter 1961, table 1). */
static void test_excess(void **state)
{
    (void)state;
    assert_true(fabs(orch_best_of_excess(1)) < 1e-9);
    assert_true(fabs(orch_best_of_excess(2) - 0.56419) < 1e-5);
    assert_true(fabs(orch_best_of_excess(10) - 1.53875) < 1e-5);
    assert_true(fabs(orch_best_of_excess(100) - 2.50759) < 1e-5);
    assert_true(isnan(orch_best_of_excess(0)));
}

/* The lead of the better of two settings is the absolute value of Student's t times root 2. */
static void test_lead_of_two(void **state)
{
    (void)state;
    for (double degrees = 2; degrees < 50; degrees *= 3)
        for (double lead = 0.1; lead < 4; lead *= 2) {
            double exact = 2 * gsl_cdf_tdist_Q(lead / sqrt(2), degrees);
            assert_true(fabs(orch_best_of_lead_tail(lead, 2, degrees) - exact) < 0.01);
        }
    assert_true(isnan(orch_best_of_lead_tail(1, 1, 5)));
    assert_true(isnan(orch_best_of_lead_tail(1, 5, 0)));
    assert_true(orch_best_of_lead_tail(0, 5, 5) > 0.999);
    for (double degrees = 4600; degrees < 4800; degrees++) /* where GSL misses quantiles */
        assert_true(
            fabs(orch_best_of_lead_tail(1, 5, degrees) - orch_best_of_lead_tail(1, 5, 900)) < 0.01);
}

static double normal(uint64_t *random)
{
    return gsl_cdf_ugaussian_Pinv(orch_random_unit(random) * (1 - 2e-12) + 1e-12);
}

#define SETTINGS 8
#define REPEATS 3
#define SEARCHES 1000

/* A search over settings with the same number of repeats; `better` is added to the first. */
static struct orch_best_of search(uint64_t *random, double better)
{
    GArray *values[SETTINGS];
    struct orch_best_of of = {.noun = "points",
                              .count = SETTINGS,
                              .best = -HUGE_VAL,
                              .second = -HUGE_VAL,
                              .best_runs = REPEATS,
                              .second_runs = REPEATS,
                              .larger_wins = true};
    for (int i = 0; i < SETTINGS; i++) {
        double sum = 0;
        values[i] = g_array_new(FALSE, FALSE, sizeof(double));
        for (int k = 0; k < REPEATS; k++) {
            double value = normal(random) + (i ? 0 : better);
            g_array_append_val(values[i], value);
            sum += value / REPEATS;
        }
        of.second = fmax(of.second, fmin(of.best, sum));
        of.best = fmax(of.best, sum);
    }
    of.noise = orch_noise_of((const GArray *const *)values, SETTINGS);
    for (int i = 0; i < SETTINGS; i++)
        g_array_unref(values[i]);
    return of;
}

/* Of equal settings the best is too good by the excess, and its lead is called more than luck in 5
 * % of searches; a setting that is far better is not called luck. */
static void test_simulated(void **state)
{
    (void)state;
    uint64_t random = orch_random_stream(1, 0);
    double sum = 0;
    int certain = 0;
    for (int i = 0; i < SEARCHES; i++) {
        const struct orch_best_of of = search(&random, 0);
        sum += of.best / SEARCHES;
        certain += !orch_best_of_may_be_luck(&of);
    }
    assert_true(fabs(sum - orch_best_of_excess(SETTINGS) / sqrt(REPEATS)) < 0.03);
    assert_true(certain > 0.03 * SEARCHES && certain < 0.07 * SEARCHES);
    const struct orch_best_of far = search(&random, 10);
    assert_false(orch_best_of_may_be_luck(&far));
}

static void test_words(void **state)
{
    (void)state;
    struct orch_best_of of = {.noun = "points",
                              .count = 10,
                              .best = 0.9,
                              .second = 0.89,
                              .best_runs = 1,
                              .second_runs = 1,
                              .larger_wins = true,
                              .noise = {.sd = (double)NAN}};
    g_autofree char *unknown = orch_best_of_text(&of);
    assert_non_null(strstr(unknown, "best of 10 points"));
    assert_non_null(strstr(unknown, "Only repeats can show by how much"));
    of.noise = (struct orch_noise){.sd = 0.02, .degrees = 10};
    g_autofree char *lucky = orch_best_of_text(&of);
    assert_non_null(strstr(lucky, "by at most 0.0308"));
    assert_non_null(strstr(lucky, "Without that luck it is 0.8692"));
    assert_non_null(strstr(lucky, "If all 10 points were equally good"));
    of.larger_wins = false;
    of.second = 2;
    g_autofree char *sure = orch_best_of_text(&of);
    assert_non_null(strstr(sure, "Without that luck it is 0.9308"));
    assert_non_null(strstr(sure, "or more in few cases (p "));
    of.noise.sd = 0;
    g_autofree char *exact = orch_best_of_text(&of);
    assert_non_null(strstr(exact, "not luck"));
    assert_false(orch_best_of_may_be_luck(&of));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_excess),
        cmocka_unit_test(test_lead_of_two),
        cmocka_unit_test(test_simulated),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
