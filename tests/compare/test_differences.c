/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Differences of settings: p-values and intervals against SciPy 1.10.1 (Debian's python3-scipy:
 * stats.ttest_rel, stats.ttest_ind with equal_var=False, and their confidence intervals), the
 * interval for several comparisons, and how often several comparisons claim what is
 * false. Tolerance 1e-7: the reference numbers have ten digits.
 */
#include "features/compare/ranking.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-7 * fmax(1, fabs(expected))))
        fail_msg("found %.10g, expected %.10g", found, expected);
}

static const double A[] = {0.71, 0.74, 0.69, 0.73, 0.70}, B[] = {0.74, 0.75, 0.73, 0.76, 0.71};
static const double X[] = {31.2, 30.8, 33.1, 30.9}, Y[] = {35.0, 34.1, 39.8, 36.2, 35.5, 34.9};

static void test_scipy(void **state)
{
    (void)state;
    struct orch_difference d = orch_difference_paired(A, B, 5);
    near(d.p, 0.0161300899);
    near(d.mean.low, 0.007341329369);
    near(d.mean.high, 0.04065867063);
    d = orch_difference_welch(A, 5, B, 5);
    near(d.p, 0.09455633241);
    near(d.mean.low, -0.005197485605);
    near(d.mean.high, 0.0531974856);
    assert_false(d.is_more_than_noise);
    d = orch_difference_welch(X, 4, Y, 6);
    near(d.mean.mid, 4.416666667);
    near(d.p, 0.002206282889);
    near(d.mean.low, 2.129555222);
    near(d.mean.high, 6.703778111);
    struct orch_difference turned = orch_difference_turned(&d);
    near(turned.mean.mid, -4.416666667);
    near(turned.mean.low, -6.703778111);
    near(turned.mean.high, -2.129555222);
}

/* Interval and verdict allow for the same comparisons: an interval without zero is a difference
 * that is more than noise, for any number of them. */
static void test_several(void **state)
{
    (void)state;
    const double a[] = {1.0, 1.1, 0.9, 1.05}, b[] = {1.2, 1.35, 1.1, 1.15};
    struct orch_difference alone = orch_difference_welch(a, 4, b, 4);
    assert_true(alone.is_more_than_noise);
    bool was_noise = false;
    for (size_t comparisons = 1; comparisons <= 40; comparisons++) {
        struct orch_difference d = alone;
        orch_difference_allow_for(&d, comparisons);
        assert_true(fabs(d.p_corrected - fmin(1, alone.p * (double)comparisons)) < 1e-12);
        assert_int_equal(d.is_more_than_noise, d.mean.low > 0);
        was_noise |= !d.is_more_than_noise;
    }
    assert_true(was_noise);
}

static GArray *reals(const double *values, guint count)
{
    GArray *out = g_array_new(FALSE, FALSE, sizeof(double));
    return g_array_append_vals(out, values, count);
}

static GArray *ids(const uint64_t *values, guint count)
{
    GArray *out = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    return g_array_append_vals(out, values, count);
}

/* Six runs of three seeds are three independent numbers, in whatever order they come. */
static void test_seeds(void **state)
{
    (void)state;
    const double a[] = {1, 2, 6, 3, 4, 8}, b[] = {9, 4, 5, 3, 5, 10};
    const uint64_t seeds_a[] = {7, 8, 9, 7, 8, 9}, seeds_b[] = {9, 8, 7, 7, 8, 9};
    g_autoptr(GArray) one = reals(a, 6), other = reals(b, 6), s = ids(seeds_a, 6),
                      t = ids(seeds_b, 6);
    g_autoptr(GArray) x = orch_seed_means(one, s), y = orch_seed_means(other, t);
    assert_int_equal(x->len, 3); /* 2, 3, 7 for seeds 7, 8, 9 */
    near(g_array_index(x, struct orch_seed_mean, 2).value, 7);
    struct orch_difference d = orch_seed_difference(x, y); /* 4, 4.5, 9.5: 2, 1.5, 2.5 more */
    assert_true(d.is_paired);
    assert_int_equal(d.count_a, 3);
    near(d.mean.mid, 2);
    /* runs without a seed stand alone, and are no pairs */
    const uint64_t none[] = {0, 0, 0, 0, 0, 0};
    g_autoptr(GArray) no = ids(none, 6), free_a = orch_seed_means(one, no),
                      free_b = orch_seed_means(other, no);
    assert_int_equal(free_a->len, 6);
    d = orch_seed_difference(free_a, free_b);
    assert_false(d.is_paired);
    assert_int_equal(d.count_a, 6);
}

/* ---- error rates -------------------------------------------------------------------------------
 */

#define TRIALS 1000
#define SETTINGS 7
#define SEEDS 5

static uint64_t next(uint64_t *state) /* splitmix64 */
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double normal(uint64_t *state)
{
    double u = ((double)(next(state) >> 11) + 0.5) / 9007199254740992.0;
    double v = ((double)(next(state) >> 11) + 0.5) / 9007199254740992.0;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* Means by seed of `count` settings, where the i-th is better by i == 0 ? advantage : 0. */
static void draw(uint64_t *random, double advantage, GArray **settings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        settings[i] = g_array_new(FALSE, FALSE, sizeof(struct orch_seed_mean));
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        double luck = 2 * normal(random);
        for (size_t i = 0; i < count; i++) {
            struct orch_seed_mean mean = {seed, luck + normal(random) + (i ? 0 : advantage), 1};
            g_array_append_val(settings[i], mean);
        }
    }
}

static double sum_of(const GArray *means)
{
    double sum = 0;
    for (guint i = 0; i < means->len; i++)
        sum += g_array_index(means, struct orch_seed_mean, i).value;
    return sum;
}

static int compare_sums(const void *a, const void *b)
{
    double x = sum_of(*(GArray *const *)a), y = sum_of(*(GArray *const *)b);
    return (x < y) - (x > y);
}

static const struct orch_best_metric HIGHER = {.larger_wins = true}, LOWER = {0};

/* Seven settings that are equally good, with seeds that shift all alike: how often is any of them
 * called worse than the winner? At most in 5 % of the trials; 2 standard errors of 1000 trials are
 * 1.4 %, and the random numbers are always the same. Without a correction it would be said in most
 * of them. */
static void test_best_of_seven(void **state)
{
    (void)state;
    uint64_t random = 11;
    int claims = 0, uncorrected = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        GArray *settings[SETTINGS];
        struct orch_difference margins[SETTINGS];
        draw(&random, 0, settings, SETTINGS);
        qsort(settings, SETTINGS, sizeof *settings, compare_sums);
        g_autofree char *method = NULL;
        claims += orch_best_margins(settings, NULL, SETTINGS, &HIGHER, margins, &method) > 0;
        bool any = false;
        for (int i = 1; i < SETTINGS; i++)
            any = any || margins[i].p < 0.05;
        uncorrected += any;
        for (int i = 0; i < SETTINGS; i++)
            g_array_unref(settings[i]);
    }
    print_message("called worse wrongly: %.2f %%, uncorrected %.2f %%\n", 100.0 * claims / TRIALS,
                  100.0 * uncorrected / TRIALS);
    assert_true(claims <= 0.064 * TRIALS);
    assert_true(uncorrected > 0.3 * TRIALS);
}

/* A setting that is better by ten standard deviations is told apart from all six others, whichever
 * direction is better; margins are positive in both. */
static void test_clear_winner(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        uint64_t random = 5;
        GArray *settings[SETTINGS];
        struct orch_difference margins[SETTINGS];
        draw(&random, 10 * sign, settings, SETTINGS);
        g_autofree char *method = NULL;
        assert_int_equal(orch_best_margins(settings, NULL, SETTINGS, sign > 0 ? &HIGHER : &LOWER,
                                           margins, &method),
                         SETTINGS - 1);
        for (int i = 1; i < SETTINGS; i++) {
            assert_true(margins[i].mean.mid > 0 && margins[i].mean.low > 0 &&
                        margins[i].mean.low < margins[i].mean.high);
            assert_true(margins[i].p_corrected >= margins[i].p);
        }
        for (int i = 0; i < SETTINGS; i++)
            g_array_unref(settings[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scipy),        cmocka_unit_test(test_several),
        cmocka_unit_test(test_seeds),        cmocka_unit_test(test_best_of_seven),
        cmocka_unit_test(test_clear_winner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
