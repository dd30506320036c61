/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of equal height: of a plane, of a hill, at a saddle, around what is missing. */
#include "features/search/isolines.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SIDE = 41 };

static const struct orch_isopoint *points_of(GPtrArray *lines, guint i, guint *out_count)
{
    const GArray *line = lines->pdata[i];
    *out_count = line->len;
    return (const void *)line->data;
}

static bool is_closed(const struct orch_isopoint *at, guint count)
{
    return count > 2 && at[0].x == at[count - 1].x && at[0].y == at[count - 1].y;
}

static void a_plane_has_one_straight_line(void **state)
{
    (void)state;
    double grid[SIDE * SIDE];
    for (int k = 0; k < SIDE * SIDE; k++)
        grid[k] = k % SIDE + 2 * (k / SIDE); /* x + 2 y */
    GPtrArray *lines = orch_isolines(grid, SIDE, SIDE, 30.5);
    guint count;
    assert_int_equal(lines->len, 1);
    const struct orch_isopoint *at = points_of(lines, 0, &count);
    for (guint i = 0; i < count; i++)
        assert_true(fabs(at[i].x + 2 * at[i].y - 30.5) < 1e-9);
    assert_true(fabs(at[0].x - at[count - 1].x) > 30); /* from side to side */
    g_ptr_array_unref(lines);
}

static void a_hill_has_one_closed_line(void **state)
{
    (void)state;
    double grid[SIDE * SIDE];
    for (int k = 0; k < SIDE * SIDE; k++)
        grid[k] = -(pow(k % SIDE - 20, 2) + pow(k / SIDE - 20, 2));
    GPtrArray *lines = orch_isolines(grid, SIDE, SIDE, -100);
    guint count;
    assert_int_equal(lines->len, 1);
    const struct orch_isopoint *at = points_of(lines, 0, &count);
    assert_true(is_closed(at, count));
    double length = 0;
    for (guint i = 0; i < count; i++) {
        assert_true(fabs(hypot(at[i].x - 20, at[i].y - 20) - 10) < 0.05);
        length += i ? hypot(at[i].x - at[i - 1].x, at[i].y - at[i - 1].y) : 0;
    }
    assert_true(fabs(length - 20 * acos(-1)) < 0.3); /* once around, not twice */
    g_ptr_array_unref(lines);
}

static void a_saddle_has_two_lines(void **state)
{
    (void)state;
    const double low_middle[] = {1, 0, 0, 0.9}, high_middle[] = {1, 0.4, 0.4, 0.9};
    guint count;
    for (int high = 0; high < 2; high++) {
        GPtrArray *lines = orch_isolines(high ? high_middle : low_middle, 2, 2, 0.5);
        assert_int_equal(lines->len, 2);
        for (guint i = 0; i < 2; i++) {
            const struct orch_isopoint *at = points_of(lines, i, &count);
            assert_int_equal(count, 2);
            /* a low middle parts the two high corners, (0, 0) and (1, 1); a high one the low ones
             */
            const double side = (at[0].x + at[1].x) / 2 - (at[0].y + at[1].y) / 2;
            assert_true(high ? fabs(side) > 0.2 : fabs(side) < 0.2);
        }
        g_ptr_array_unref(lines);
    }
}

static void no_line_crosses_what_is_missing(void **state)
{
    (void)state;
    double grid[SIDE * SIDE];
    for (int k = 0; k < SIDE * SIDE; k++)
        grid[k] = k % SIDE == 20 ? (double)NAN : k / SIDE;
    GPtrArray *lines = orch_isolines(grid, SIDE, SIDE, 10.5);
    guint count;
    assert_int_equal(lines->len, 2);
    for (guint i = 0; i < 2; i++) {
        const struct orch_isopoint *at = points_of(lines, i, &count);
        for (guint k = 0; k < count; k++)
            assert_true((at[k].x <= 19) == (at[0].x <= 19) && (at[k].x <= 19 || at[k].x >= 21));
    }
    g_ptr_array_unref(lines);
    lines = orch_isolines(grid, SIDE, SIDE, 1e9);
    assert_int_equal(lines->len, 0);
    g_ptr_array_unref(lines);
}

static void heights_are_round_and_inside(void **state)
{
    (void)state;
    double grid[4] = {0.617, 0.903, (double)NAN, 0.7};
    GArray *heights = orch_isoline_heights(grid, 2, 2, 10);
    assert_int_equal(heights->len, 6); /* 0.65, 0.7, ... 0.9 */
    for (guint i = 0; i < heights->len; i++)
        assert_true(fabs(g_array_index(heights, double, i) - (0.65 + 0.05 * i)) < 1e-9);
    g_array_unref(heights);
    const double close[4] = {0.1, 0.10000000000000002, 0.1, 0.1};
    heights = orch_isoline_heights(close, 2, 2, 10); /* would be 2^53 steps from 0 */
    assert_int_equal(heights->len, 0);
    g_array_unref(heights);
    for (int k = 0; k < 4; k++)
        grid[k] = 3;
    heights = orch_isoline_heights(grid, 2, 2, 10);
    assert_int_equal(heights->len, 0);
    g_array_unref(heights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plane_has_one_straight_line),
        cmocka_unit_test(a_hill_has_one_closed_line),
        cmocka_unit_test(a_saddle_has_two_lines),
        cmocka_unit_test(no_line_crosses_what_is_missing),
        cmocka_unit_test(heights_are_round_and_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
