/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How runs scatter: intervals against numbers of SciPy 1.10.1 (Debian's python3-scipy), and their
 * coverage on data whose mean is known.
 *
 *   m, h = mean(v), t.ppf(.975, n - 1) * std(v, ddof=1) / sqrt(n)
 *   logit: expit(logit(m) -+ h / (m * (1 - m)))     log: m * exp(-+ h / m)
 *   skewness: scipy.stats.skew(v)
 *
 * Tolerance 1e-7: the reference numbers have ten digits.
 */
#include "core/stats/spread.h"

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
    if (!(fabs(found - expected) <= 1e-7 * fmax(1, fabs(expected))))
        fail_msg("found %.10g, expected %.10g", found, expected);
}

static void test_kinds(void **state)
{
    (void)state;
    assert_int_equal(orch_metric_kind_of("val_accuracy", NULL).scale, ORCH_SCALE_LOGIT);
    assert_int_equal(orch_metric_kind_of("val_accuracy", "").scale, ORCH_SCALE_LOGIT); /* none */
    assert_int_equal(orch_metric_kind_of("test/Acc", NULL).scale, ORCH_SCALE_LOGIT);
    assert_int_equal(orch_metric_kind_of("anything", "share").scale, ORCH_SCALE_LOGIT);
    assert_true(orch_metric_kind_of("score", "%").top == 100);
    assert_int_equal(orch_metric_kind_of("train_loss", NULL).scale, ORCH_SCALE_LOG);
    assert_int_equal(orch_metric_kind_of("account", NULL).scale, ORCH_SCALE_PLAIN);
    assert_int_equal(orch_metric_kind_of("accuracy_drop", "points").scale, ORCH_SCALE_PLAIN);
    assert_true(orch_metric_kind_of("epoch_time", "s").is_time);
    assert_false(orch_metric_kind_of("images_per_s", "images/s").is_time);
    assert_int_equal(orch_metric_kind_of("images_per_s", "images/s").scale, ORCH_SCALE_LOG);
    assert_int_equal(orch_metric_kind_of(NULL, NULL).scale, ORCH_SCALE_PLAIN);
}

/* Student's interval of these accuracies ends at 1.004, that of the losses begins at -0.05. */
static void test_bounded(void **state)
{
    (void)state;
    const double accuracies[] = {0.99, 1.0, 0.98, 1.0, 0.97},
                 losses[] = {0.02, 0.11, 0.05, 0.30, 0.01};
    struct orch_spread s = orch_spread_of(accuracies, 5, "accuracy", NULL);
    assert_int_equal(s.form, ORCH_SPREAD_INTERVAL);
    near(s.centre, 0.988);
    near(s.low, 0.9545783247262967);
    near(s.high, 0.9969093296631576);
    s = orch_spread_of(losses, 5, "val_loss", NULL);
    near(s.low, 0.021572968686238297);
    near(s.high, 0.44518675846994243);
    s = orch_spread_of(losses, 5, "weight", NULL);
    near(s.low, -0.05032558694605804);
    near(s.high, 0.24632558694605805);
    const double percent[] = {99, 100, 98, 100, 97};
    s = orch_spread_of(percent, 5, "accuracy", NULL); /* per cent without a unit */
    near(s.low, 95.45783247262967);
    const double beyond[] = {0.5, 2, 300, 1, 7};
    s = orch_spread_of(beyond, 5, "error", NULL); /* no share */
    near(s.low, s.stat.mean - s.stat.half);
    const double equal[] = {1, 1, 1, 1, 1};
    s = orch_spread_of(equal, 5, "accuracy", NULL);
    near(s.low, 1);
    near(s.high, 1);
}

static void test_few(void **state)
{
    (void)state;
    const double values[] = {0.31, 0.99, NAN, 0.95};
    struct orch_spread s = orch_spread_of(values, 4, "accuracy", NULL);
    assert_int_equal(s.form, ORCH_SPREAD_RUNS);
    near(s.low, 0.31);
    near(s.high, 0.99);
    g_autofree char *text = orch_spread_format(&s);
    assert_string_equal(text, "0.7500 (0.3100..0.9900)");
    const double near_one[] = {0.999991, 0.999993};
    s = orch_spread_of(near_one, 2, "accuracy", NULL);
    g_autofree char *close = orch_spread_format(&s);
    assert_string_equal(close, "0.999992 (0.999991..0.999993)");
    s = orch_spread_of(values, 1, "accuracy", NULL);
    assert_int_equal(s.form, ORCH_SPREAD_NONE);
    g_autofree char *one = orch_spread_format(&s);
    assert_string_equal(one, "0.3100");
    s = orch_spread_of(values + 2, 1, "accuracy", NULL);
    g_autofree char *none = orch_spread_format(&s);
    assert_string_equal(none, "-");
    const double endless[] = {1, INFINITY, 2};
    assert_int_equal(orch_spread_of(endless, 3, "loss", NULL).form, ORCH_SPREAD_NONE);
}

static void test_skewed_times(void **state)
{
    (void)state;
    const double tail[] = {10, 10.2, 10.1, 10.3, 31}; /* skewness 1.499 */
    struct orch_spread s = orch_spread_of(tail, 5, "epoch_time", "s");
    assert_int_equal(s.form, ORCH_SPREAD_MEDIAN);
    near(s.centre, 10.2);
    near(s.high, 31);
    g_autofree char *text = orch_spread_format(&s);
    assert_string_equal(text, "median 10.20 (10..31)");
    assert_int_equal(orch_spread_of(tail, 5, "val_loss", NULL).form, ORCH_SPREAD_INTERVAL);
    const double short_tail[] = {10, 10.02, 10.01, 10.03, 11}; /* as skewed, but within 10 % */
    assert_int_equal(orch_spread_of(short_tail, 5, "epoch_time", "s").form, ORCH_SPREAD_INTERVAL);
    const double even[] = {10, 11, 12, 13, 14}; /* skewness 0 */
    assert_int_equal(orch_spread_of(even, 5, "epoch_time", "s").form, ORCH_SPREAD_INTERVAL);
}

/* ---- coverage ----------------------------------------------------------------------------------
 */

#define TRIALS 4000

static uint64_t next(uint64_t *state) /* splitmix64 */
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double uniform(uint64_t *state)
{
    return ((double)(next(state) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
    double r = sqrt(-2 * log(uniform(state)));
    return r * cos(6.283185307179586 * uniform(state));
}

/* Share of images that are right, of 100 with a chance of 0.97 each. */
static double draw_accuracy(uint64_t *state)
{
    int right = 0;
    for (int i = 0; i < 100; i++)
        right += uniform(state) < 0.97;
    return right / 100.0;
}

static double draw_loss(uint64_t *state) /* log-normal with sigma 0.4 and mean 1 */
{
    return exp(0.4 * normal(state) - 0.08);
}

/* How often the interval of n runs holds the mean of their law. */
static double coverage(double (*draw)(uint64_t *), double mean, size_t n, const char *name)
{
    uint64_t state = 7;
    int held = 0;
    double values[32];
    for (int i = 0; i < TRIALS; i++) {
        for (size_t j = 0; j < n; j++)
            values[j] = draw(&state);
        struct orch_spread s = orch_spread_of(values, n, name, NULL);
        assert_int_equal(s.form, ORCH_SPREAD_INTERVAL);
        assert_true(s.low >= 0 && s.low <= s.centre && s.centre <= s.high);
        assert_true(strcmp(name, "loss") == 0 || s.high <= 1);
        held += s.low <= mean && mean <= s.high;
    }
    return (double)held / TRIALS;
}

/* 0.95 is aimed at. Four standard errors of 4000 trials are 0.014, and with a skewed law and few
 * runs the delta method is off by some per cent. */
static void test_coverage(void **state)
{
    (void)state;
    static const size_t counts[] = {5, 10, 20};
    for (size_t i = 0; i < 3; i++) {
        double accuracy = coverage(draw_accuracy, 0.97, counts[i], "accuracy");
        double loss = coverage(draw_loss, 1, counts[i], "loss");
        print_message("n = %zu: accuracy %.3f, loss %.3f\n", counts[i], accuracy, loss);
        assert_true(accuracy > 0.92 && accuracy < 0.98);
        assert_true(loss > 0.92 && loss < 0.98);
    }
}

/* Returns of CartPole lie in 0..500; a declared bound holds where the name says nothing. */
static void test_bounds(void **state)
{
    (void)state;
    const double returns[] = {500, 500, 500, 500, 340}, losses[] = {0, 0, 0, 0, 0.5};
    const struct orch_bounds both = {0, 500}, least = {0, (double)NAN}, other = {0, 400};
    struct orch_spread s = orch_spread_of(returns, 5, "final_return", NULL);
    assert_true(s.high > 500);
    const struct orch_spread plain = s;
    s = orch_spread_within(returns, 5, "final_return", NULL, &both);
    assert_int_equal(s.form, ORCH_SPREAD_INTERVAL);
    assert_true(fabs(s.centre - 468) < 1e-9);
    assert_true(s.high < 500 && s.high > s.centre && s.low > 0 && s.low < s.centre);
    /* logit(468 / 500) = 2.6827; step = 88.847 / 500 / (0.936 * 0.064) = 2.9663 */
    assert_true(fabs(s.low - 500 / (1 + exp(2.9663 - 2.6827))) < 0.1);
    assert_true(fabs(s.high - 500 / (1 + exp(-2.9663 - 2.6827))) < 0.1);
    s = orch_spread_within(returns, 5, "final_return", NULL, &other); /* exceeded: do not count */
    assert_true(fabs(s.high - plain.high) < 1e-9);
    const struct orch_bounds open = {0, (double)INFINITY}; /* one bound: the plain interval */
    s = orch_spread_within(returns, 5, "final_return", NULL, &open);
    assert_true(fabs(s.high - plain.high) < 1e-9);
    /* a loss of exactly 0 has no logarithm: the plain interval is cut at 0 */
    s = orch_spread_of(losses, 5, "val_loss", NULL);
    assert_true(s.low == 0 && s.high > 0.1);
    s = orch_spread_of(losses, 5, "weight", NULL);
    assert_true(s.low < 0);
    s = orch_spread_within(losses, 5, "weight", NULL, &least);
    assert_true(s.low == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),       cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_bounded),      cmocka_unit_test(test_few),
        cmocka_unit_test(test_skewed_times), cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
