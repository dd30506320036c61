/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The front, its hypervolume and its knee, against values computed by hand and a slow definition.
 */
#include "core/stats/front.h"
#include "lib/base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define POINTS 40
#define CELLS 12

static void test_by_hand(void **state)
{
    (void)state;
    /* (4, 4) and (2, 5) are dominated; of the three others (2, 2) is nearest to the corner */
    const double points[] = {1, 5, 4, 4, 2, 2, 5, 1, 2, 5, NAN, 0};
    const double reference[] = {6, 6};
    bool is_on[6];
    orch_front_find(points, 6, 2, is_on);
    const bool expected[] = {true, false, true, true, false, false};
    for (int i = 0; i < 6; i++)
        assert_int_equal(is_on[i], expected[i]);
    /* 1..2 x 5..6, then 2..5 x 2..6, then 5..6 x 1..6 */
    assert_true(fabs(orch_front_volume(points, 6, 2, reference) - (1 + 12 + 5)) < 1e-9);
    assert_int_equal(orch_front_knee(points, 6, 2, is_on), 2);
    /* a box of each goal; what is not better than the reference adds nothing */
    const double boxes[] = {1, 2, 3, 7, 0, 0};
    const double corner[] = {2, 4, 6};
    assert_true(fabs(orch_front_volume(boxes, 2, 3, corner) - (1 * 2 * 3)) < 1e-9);
}

static void test_of_none(void **state)
{
    (void)state;
    const double points[] = {NAN, 1};
    const double reference[] = {2, 2};
    bool is_on[1];
    orch_front_find(points, 1, 2, is_on);
    assert_false(is_on[0]);
    assert_int_equal(orch_front_knee(points, 1, 2, is_on), 1);
    assert_true(fabs(orch_front_volume(points, 1, 2, reference) - (0)) < 1e-9);
    assert_true(fabs(orch_front_volume(points, 0, 2, reference) - (0)) < 1e-9);
}

static void test_of_equals(void **state)
{
    (void)state;
    const double points[] = {1, 2, 1, 2, 2, 1};
    bool is_on[3];
    orch_front_find(points, 3, 2, is_on);
    assert_true(is_on[0] && is_on[1] && is_on[2]);
    assert_int_equal(orch_front_knee(points, 3, 2, is_on), 0);
    /* both ends are as far: the order of the points does not matter */
    const double turned[] = {2, 1, 1, 2};
    orch_front_find(turned, 2, 2, is_on);
    assert_int_equal(orch_front_knee(turned, 2, 2, is_on), 1);
}

/* Coordinates are whole numbers: the volume is the number of cells whose lower corner a point
 * dominates. */
static double slow_volume(const double *points, size_t count, unsigned goals)
{
    size_t cells = 1, covered = 0;
    for (unsigned k = 0; k < goals; k++)
        cells *= CELLS;
    for (size_t cell = 0; cell < cells; cell++) {
        bool is_covered = false;
        for (size_t i = 0; i < count && !is_covered; i++) {
            size_t left = cell;
            is_covered = true;
            for (unsigned k = 0; k < goals; k++, left /= CELLS)
                is_covered = is_covered && points[i * goals + k] <= (double)(left % CELLS);
        }
        covered += is_covered;
    }
    return (double)covered;
}

static void test_by_definition(void **state)
{
    (void)state;
    const double reference[] = {CELLS, CELLS, CELLS, CELLS};
    uint64_t random = 1;
    for (unsigned goals = 1; goals <= ORCH_FRONT_GOALS_MAX; goals++) {
        double points[POINTS * ORCH_FRONT_GOALS_MAX];
        for (size_t i = 0; i < POINTS * goals; i++)
            points[i] = (double)orch_random_below(&random, CELLS + 2);
        const double fast = orch_front_volume(points, POINTS, goals, reference);
        assert_true(fabs(fast - slow_volume(points, POINTS, goals)) < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_of_none),
        cmocka_unit_test(test_of_equals),
        cmocka_unit_test(test_by_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
