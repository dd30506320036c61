/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers for people: as many digits as their uncertainty leaves, and ends of an interval that can
 * be told apart, whatever their size. */
#include "core/stats/numbers.h"
#include "core/stats/spread.h"

#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void is_text(char *text, const char *want)
{
    assert_string_equal(text, want);
    g_free(text);
}

static void test_intervals(void **state)
{
    (void)state;
    is_text(orch_interval_format(0.0995, 0.1005), "0.09950 to 0.10050");
    is_text(orch_interval_format(-0.11, 1.15), "-0.11 to 1.15");
    is_text(orch_interval_format(1180, 1290), "1180 to 1290");
    is_text(orch_interval_format(NAN, 1), "-");
    is_text(orch_interval_format(1, INFINITY), "1 to inf");
    /* narrow ones at any size */
    is_text(orch_interval_format(0.27, 0.27 + 2e-11), "0.270000000000 to 0.270000000020");
    is_text(orch_interval_format(1234567.25, 1234567.75), "1234567.25 to 1234567.75");
    is_text(orch_interval_format(1234500, 1234700), "1234500 to 1234700");
    is_text(orch_interval_format(5.1e7, 5.5e7), "5.10e+07 to 5.50e+07");
    is_text(orch_interval_format(2.1e-6, 2.2e-6), "2.100e-06 to 2.200e-06");
    /* rounding is no width */
    is_text(orch_interval_format(0.27, 0.27), "0.2700, all equal");
    is_text(orch_interval_format(0.27, 0.27 + 1e-16), "0.2700, all equal");
    is_text(orch_interval_format(0, 0), "0, all equal");
}

/* The ends of any interval that is wider than rounding look different. */
static void test_ends_differ(void **state)
{
    (void)state;
    for (int size = -12; size <= 14; size++)
        for (int width = 0; width < 11; width++)
            for (int lead = 1; lead < 100; lead += 7) {
                double low = lead / 9.7 * pow(10, size), high = low * (1 + 2.3 * pow(10, -width));
                g_autofree char *text = orch_interval_format(low, high);
                g_auto(GStrv) ends = g_strsplit(text, " to ", 2);
                assert_non_null(ends[1]);
                if (strcmp(ends[0], ends[1]) == 0)
                    fail_msg("%.17g to %.17g is '%s'", low, high, text);
                double half = (high - low) / 2;
                assert_true(fabs(g_ascii_strtod(ends[0], NULL) - low) <= 0.06 * half);
                assert_true(fabs(g_ascii_strtod(ends[1], NULL) - high) <= 0.06 * half);
            }
}

static void test_grouped(void **state)
{
    (void)state;
    static const char *const TEXTS[][2] = {
        {"1171488", "1,171,488"},
        {"64*18304 = 1171488", "64*18,304 = 1,171,488"},
        {"9999 and 10000", "9999 and 10,000"},
        {"-12345.678901 [10000, 20000] (10000..20000)",
         "-12,345.678901 [10,000, 20,000] (10,000..20,000)"},
        {"0.123456789", "0.123456789"},
        {"in all 23456789 ms.", "in all 23,456,789 ms."},
        /* no numbers, or grouped already */
        {"k=100000 run 01234567 3f212345 12345abc", "k=100000 run 01234567 3f212345 12345abc"},
        {"1806.01427 123456789012.dkr 1,171,488", "1806.01427 123456789012.dkr 1,171,488"},
        {"1.2345e+12 v12345 a_12345 12345_a", "1.2345e+12 v12345 a_12345 12345_a"},
        {"", ""}};
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
        is_text(orch_digits_grouped(TEXTS[i][0]), TEXTS[i][1]);
}

static void test_within(void **state)
{
    (void)state;
    is_text(orch_within_format(1.10342, 1.0921, 1.1152), "1.103");
    is_text(orch_within_format(0.27, 0.27, 0.27), "0.2700");
    is_text(orch_within_format(0.4001323, NAN, NAN), "0.4001");
    is_text(orch_within_format(NAN, 1, 2), "-");
    is_text(orch_mean_format(0.91234, 0.00431), "0.9123 +- 0.0043");
    is_text(orch_mean_format(12345678, 1234), "12345678 +- 1234");
}

static struct orch_spread spread_of(const double *values, size_t count)
{
    return orch_spread_of(values, count, "x", NULL);
}

static void test_runs(void **state)
{
    (void)state;
    struct orch_spread few = spread_of((double[]){0.8110, 0.8120}, 2);
    is_text(orch_spread_format(&few), "0.8115 (0.8110..0.8120)");
    /* one digit of the range is enough to tell two runs apart */
    few = spread_of((double[]){0.4001284, 0.4001362}, 2);
    is_text(orch_spread_format(&few), "0.400132 (0.400128..0.400136)");
    few = spread_of((double[]){1234567, 1234569}, 2);
    is_text(orch_spread_format(&few), "1234568 (1234567..1234569)");
    few = spread_of((double[]){0.27, 0.27}, 2);
    is_text(orch_spread_format(&few), "0.2700");
}

/* Where a repeat of a time will lie is never below 0; of two values, t is 12.7. */
static void test_next(void **state)
{
    (void)state;
    const double times[] = {1.0, 1.4, 0.7};
    struct orch_spread next = orch_spread_of_next(times, 3, "wall_s", "s");
    assert_true(next.low > 0 && next.low < 0.7 && next.high > 1.4);
    const double plain[] = {1.0, 1.4};
    next = orch_spread_of_next(plain, 2, "x", NULL); /* mean +- t(0.975; 1) s sqrt(1.5) */
    double half = 12.706204736 * 0.28284271247 * sqrt(1.5);
    assert_true(fabs(next.low - (1.2 - half)) < 1e-6 && fabs(next.high - (1.2 + half)) < 1e-6);
    next = orch_spread_of_next(plain, 1, "x", NULL);
    assert_true(isnan(next.low) && next.form == ORCH_SPREAD_NONE);
    const double shares[] = {0.9, 0.99, 0.8};
    next = orch_spread_of_next(shares, 3, "accuracy", NULL);
    assert_true(next.low > 0 && next.high < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals), cmocka_unit_test(test_ends_differ),
        cmocka_unit_test(test_within),    cmocka_unit_test(test_grouped),
        cmocka_unit_test(test_runs),      cmocka_unit_test(test_next)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
