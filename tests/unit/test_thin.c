/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/thin_series.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void add(struct orch_thin *thin, int64_t step, double value)
{
    orch_thin_add(thin, &(struct orch_thin_point){step, 2.0 * (double)step, value});
}

static const struct orch_thin_point *at(const GArray *points, guint i)
{
    return &g_array_index(points, struct orch_thin_point, i);
}

static void few_points_stay_as_they_are(void **state)
{
    (void)state;
    struct orch_thin *thin = orch_thin_new(100);
    for (int i = 0; i < 100; i++)
        add(thin, 7 * i - 300, i % 2 ? i : (double)NAN); /* steps are not dense, nor above 0 */
    g_autoptr(GArray) points = orch_thin_points(thin);
    assert_int_equal(points->len, 100);
    for (guint i = 0; i < 100; i++)
        assert_int_equal(at(points, i)->step, 7 * (int)i - 300);
    orch_thin_free(thin);
    thin = orch_thin_new(10);
    g_autoptr(GArray) none = orch_thin_points(thin);
    assert_int_equal(none->len, 0);
    orch_thin_free(thin);
}

/* Every bucket's least and greatest, found again by brute force. */
static void extremes_are_kept(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    struct orch_thin *thin = orch_thin_new(500);
    double *values = g_new(double, COUNT);
    unsigned seed = 12345;
    for (int i = 0; i < COUNT; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = sin(i * 1e-3) + (double)(seed >> 8) / 1e9;
    }
    values[77777] = 50;  /* one peak */
    values[33333] = -50; /* and one dip */
    for (int i = 0; i < COUNT; i++)
        add(thin, i, values[i]);
    g_autoptr(GArray) points = orch_thin_points(thin);
    int64_t width = orch_thin_width(thin);
    assert_int_equal(orch_thin_count(thin), COUNT);
    assert_true(points->len <= 2 * 500 + 2 && points->len >= 500);
    guint k = 0;
    for (int64_t from = 0; from < COUNT; from += width) {
        double low = INFINITY, high = -INFINITY, kept_low = INFINITY, kept_high = -INFINITY;
        for (int64_t i = from; i < MIN(from + width, COUNT); i++) {
            low = MIN(low, values[i]);
            high = MAX(high, values[i]);
        }
        for (; k < points->len && at(points, k)->step < from + width; k++) {
            assert_true(at(points, k)->value == values[at(points, k)->step]); /* as measured */
            assert_true(at(points, k)->t_ms == 2.0 * (double)at(points, k)->step);
            kept_low = MIN(kept_low, at(points, k)->value);
            kept_high = MAX(kept_high, at(points, k)->value);
        }
        assert_true(kept_low == low && kept_high == high);
    }
    assert_int_equal(at(points, 0)->step, 0);
    assert_int_equal(at(points, points->len - 1)->step, COUNT - 1);
    g_free(values);
    orch_thin_free(thin);
}

/* Steps that come in any order give the same; where no number was measured, that stays. */
static void order_does_not_matter(void **state)
{
    (void)state;
    struct orch_thin *rising = orch_thin_new(64), *mixed = orch_thin_new(64);
    for (int i = 0; i < 5000; i++)
        add(rising, i, i == 2500 ? (double)NAN : (i * 7919) % 5000);
    for (int i = 0; i < 5000; i++) {
        int step = (i * 1237) % 5000;
        add(mixed, step, step == 2500 ? (double)NAN : (step * 7919) % 5000);
    }
    g_autoptr(GArray) a = orch_thin_points(rising), b = orch_thin_points(mixed);
    assert_int_equal(a->len, b->len);
    int no_numbers = 0;
    for (guint i = 0; i < a->len; i++) {
        assert_int_equal(at(a, i)->step, at(b, i)->step);
        no_numbers += isnan(at(a, i)->value);
        assert_true(i == 0 || at(a, i)->step > at(a, i - 1)->step);
    }
    assert_int_equal(no_numbers, 1);
    orch_thin_free(rising);
    orch_thin_free(mixed);
}

static void steps_far_apart(void **state)
{
    (void)state;
    struct orch_thin *thin = orch_thin_new(2);
    static const int64_t steps[] = {INT64_MIN, -5, 0, 3, INT64_MAX};
    for (size_t i = 0; i < G_N_ELEMENTS(steps); i++)
        add(thin, steps[i], (double)i);
    g_autoptr(GArray) points = orch_thin_points(thin);
    assert_int_equal(at(points, 0)->step, INT64_MIN);
    assert_int_equal(at(points, points->len - 1)->step, INT64_MAX);
    orch_thin_free(thin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_points_stay_as_they_are),
        cmocka_unit_test(extremes_are_kept),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(steps_far_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
