/* SPDX-License-Identifier: GPL-3.0-or-later */
/* p values and intervals against scipy 1.10 (mannwhitneyu, ttest_ind with equal_var=False,
 * ttest_1samp of logarithms) and Cohen's numbers of runs. Tolerance 1e-9, relative: both work in
 * doubles. */
#include "features/compare/contrast.h"

#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fmax(1e-3, fabs(expected))))
        fail_msg("found %.17g, expected %.17g", found, expected);
}

static void test_ranks(void **state)
{
    (void)state;
    const double a[] = {1.1, 2.2, 3.3, 4.4}, b[] = {2.5, 3.6, 5.1, 6.2, 7.3};
    near(orch_mann_whitney(a, 4, b, 5), 1.0 / 9);
    near(orch_mann_whitney(b, 5, a, 4), 1.0 / 9);
    const double low[] = {1, 2, 3, 4}, high[] = {5, 6, 7, 8};
    near(orch_mann_whitney(low, 3, high, 3), 0.1); /* as small as 3 and 3 can be */
    near(orch_mann_whitney(low, 4, high, 4), 2.0 / 70);
    const double x[] = {1, 2, 2, 3, 4}, y[] = {2, 3, 5, 6, 7, 7};
    near(orch_mann_whitney(x, 5, y, 6), 0.06414661873440437); /* ties: normal */
    double many[60], more[60];
    for (int i = 0; i < 60; i++)
        more[i] = (many[i] = i) + 10.5;
    near(orch_mann_whitney(many, 60, more, 60), 0.0025668879435241754);
    const double same[] = {2, 2, 2};
    assert_true(isnan(orch_mann_whitney(same, 3, same, 3)));
    assert_true(isnan(orch_mann_whitney(a, 0, b, 5)));
}

static const double A[] = {10.1, 10.3, 9.9, 10.0}, B[] = {11.0, 11.4, 10.9, 11.3, 11.2};

static void test_samples(void **state)
{
    (void)state;
    struct orch_contrast c = orch_contrast_samples(A, 4, B, 5, 1);
    assert_true(c.is_ratio);
    near(c.change.mid,
         0.10785299918687911); /* the median of the 20 quotients, by their logarithms */
    /* the second smallest and the second largest of the 20 quotients: qwilcox(0.025, 4, 5) is 2 */
    near(c.change.low, 11.0 / 10.3 - 1);
    near(c.change.high, 11.3 / 9.9 - 1);
    assert_int_equal(c.test, ORCH_TEST_MANN_WHITNEY);
    near(c.p, 2.0 / 126);
    /* with ten metrics at once ranks of 4 and 5 can decide nothing: 10 x 2 / 126 */
    c = orch_contrast_samples(A, 4, B, 5, 10);
    assert_int_equal(c.test, ORCH_TEST_WELCH);
    near(c.p, 6.519810288799707e-05);
    /* numbers that are not all above 0 have no ratio */
    const double zero[] = {0, 1, 0, 1}, ten[] = {10, 11, 10, 11};
    c = orch_contrast_samples(zero, 4, ten, 4, 1);
    assert_false(c.is_ratio);
    near(c.change.mid, 10);
    assert_int_equal(orch_contrast_result(&c, 0.05), ORCH_CONTRAST_DIFFERENT);
    c = orch_contrast_samples(A, 1, B, 1, 1);
    assert_true(isnan(c.p) && isnan(c.change.low));
    near(c.change.mid, 11.0 / 10.1 - 1);
    assert_int_equal(orch_contrast_result(&c, 0.05), ORCH_CONTRAST_UNDECIDED);
}

static void test_pairs(void **state)
{
    (void)state;
    const double p[] = {10.0, 12.0, 9.0, 14.0, 11.0}, q[] = {10.4, 12.3, 9.5, 14.3, 11.6};
    struct orch_contrast c = orch_contrast_paired(p, q, 5, 1);
    near(c.change.mid, 0.039207616970518576);
    near(c.change.low, 0.019550622710488866);
    near(c.change.high, 0.05924359920302542);
    near(c.p, 0.005019743453264442);
    near(c.shows, 0.02589824059069988);
    assert_int_equal(orch_contrast_result(&c, 0.05), ORCH_CONTRAST_DIFFERENT);
    g_autofree char *words = orch_contrast_text(&c, "min", "s", 0.05);
    assert_string_equal(words, "B is 3.9 % slower (2.0 to 5.9 %), more than noise");
    g_autofree char *rate = orch_contrast_text(&c, "max", "images/s", 0.05);
    assert_non_null(strstr(rate, "3.9 % faster"));
    g_autofree char *plain = orch_contrast_text(&c, "max", NULL, 0.05);
    assert_non_null(strstr(plain, "3.9 % higher and better"));
    c = orch_contrast_paired(q, p, 5, 1);
    g_autofree char *back = orch_contrast_text(&c, "max", NULL, 0.05);
    assert_non_null(strstr(back, "lower and worse"));
    c = orch_contrast_paired(p, p, 5, 1);
    assert_int_equal(orch_contrast_result(&c, 0.05), ORCH_CONTRAST_EQUIVALENT);
    const double twice[] = {20, 24, 18, 28, 22};
    c = orch_contrast_paired(p, twice, 5, 1); /* just twice each time: no noise at all */
    near(c.change.low, 1);
    assert_int_equal(orch_contrast_result(&c, 0.05), ORCH_CONTRAST_DIFFERENT);
}

static void test_needed(void **state)
{
    (void)state;
    /* Cohen 1988, table 2.4.1, two-sided 0.05, power 0.8 (G*Power: the same) */
    assert_int_equal(orch_runs_needed(1, 1, false), 17);
    assert_int_equal(orch_runs_needed(0.5, 1, false), 64);
    assert_int_equal(orch_runs_needed(-0.5, 1, true), 34);
    assert_int_equal(orch_runs_needed(1, 0, true), 2);
    assert_int_equal(orch_runs_needed(0, 1, true), 0);
    assert_int_equal(orch_runs_needed(1e-9, 1, true), 0);
    /* a spread of 10 % and 4 runs cannot show 5 %; 4 runs that vary by 0.1 % would have */
    const double x[] = {10, 11, 9, 10.5}, y[] = {10.2, 9.1, 11.1, 10};
    struct orch_contrast c = orch_contrast_samples(x, 4, y, 4, 1);
    assert_int_equal(orch_contrast_result(&c, 0.05), ORCH_CONTRAST_UNDECIDED);
    size_t more = orch_contrast_more(&c, 0.05);
    assert_int_equal(more + 4, orch_runs_needed(log1p(0.05), c.sd, false));
    g_autofree char *expected =
        g_strdup_printf("cannot tell: about %zu more runs of each side would be needed", more);
    g_autofree char *words = orch_contrast_text(&c, "min", "s", 0.05);
    assert_string_equal(words, expected);
    const double s[] = {10, 10.01, 9.99, 10.005}, t[] = {10.002, 9.991, 10.011, 10};
    c = orch_contrast_samples(s, 4, t, 4, 1);
    assert_int_equal(orch_contrast_result(&c, 0.05), ORCH_CONTRAST_IDENTICAL);
    g_autofree char *same = orch_contrast_text(&c, "min", "s", 0.05);
    assert_non_null(strstr(same, "no difference beyond noise; a difference of 0."));
}

/* Interval and verdict agree for any number of metrics compared at once, whatever the test. */
static void test_agreement(void **state)
{
    (void)state;
    const double a[] = {1.0, 1.1, 0.9, 1.05, 1.02, 0.97}, b[] = {1.2, 1.15, 1.05, 1.1, 1.07, 0.99};
    bool was_noise[2] = {false, false};
    for (size_t comparisons = 1; comparisons <= 60; comparisons++) {
        const struct orch_contrast c[] = {orch_contrast_paired(a, b, 6, comparisons),
                                          orch_contrast_samples(a, 6, b, 6, comparisons)};
        for (int i = 0; i < 2; i++) {
            assert_int_equal(c[i].adjusted<0.05, c[i].change.low> 0);
            assert_true(c[i].adjusted >= c[i].p);
            was_noise[i] |= c[i].adjusted >= 0.05;
        }
    }
    assert_true(was_noise[0] && was_noise[1]);
    /* an outlier widens Welch's interval beyond zero, not that of the ranks; R: wilcox.test(log(b),
     * log(a), conf.int = TRUE) */
    const double x[] = {1, 1.01, 1.02, 1.03, 1.04}, y[] = {1.1, 1.11, 1.12, 1.13, 9};
    struct orch_contrast c = orch_contrast_samples(x, 5, y, 5, 1);
    assert_int_equal(c.test, ORCH_TEST_MANN_WHITNEY);
    assert_true(c.adjusted < 0.05 && c.change.low > 0);
}

/* 2,000 comparisons of equal programs at 5 %: false alarms stay near one in twenty (3 standard
 * errors: 0.015). */
static void test_level(void **state)
{
    (void)state;
    uint32_t x = 12345;
    unsigned alarms[2] = {0, 0};
    for (int k = 0; k < 2000; k++) {
        double v[2][6];
        for (int i = 0; i < 12; i++) {
            double sum = 0; /* nearly normal: twelve uniform numbers */
            for (int j = 0; j < 12; j++)
                sum += (double)((x = x * 1664525 + 1013904223) >> 8) / 16777216.0;
            v[i / 6][i % 6] = 10 * exp(0.05 * (sum - 6));
        }
        struct orch_contrast c = orch_contrast_samples(v[0], 6, v[1], 6, 1);
        alarms[0] += orch_contrast_result(&c, 0.05) == ORCH_CONTRAST_DIFFERENT;
        c = orch_contrast_paired(v[0], v[1], 6, 1);
        alarms[1] += orch_contrast_result(&c, 0.05) == ORCH_CONTRAST_DIFFERENT;
    }
    for (int i = 0; i < 2; i++)
        if (alarms[i] > 130 || alarms[i] < 40)
            fail_msg("%u false alarms of 2000", alarms[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks),     cmocka_unit_test(test_samples),
        cmocka_unit_test(test_pairs),     cmocka_unit_test(test_needed),
        cmocka_unit_test(test_agreement), cmocka_unit_test(test_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
