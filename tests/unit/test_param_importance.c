/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The importance of parameters on functions whose parameters are known to matter or not. */
#include "predictors/search/param_importance.h"

#include "lib/base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define TRIALS 60
#define PARAMS 4

static struct orch_space *make_space(void)
{
    struct orch_space *space = orch_space_new();
    assert_true(orch_space_add(space, "a", "uniform(0, 1)", NULL, NULL));
    assert_true(orch_space_add(space, "b", "loguniform(1e-4, 1)", NULL, NULL));
    assert_true(orch_space_add(space, "opt", "choice(sgd, adam)", NULL, NULL));
    assert_true(orch_space_add(space, "momentum", "uniform(0, 1) if opt = sgd", NULL, NULL));
    return space;
}

static void draw(const struct orch_space *space, uint64_t *random, double *points)
{
    for (size_t i = 0; i < TRIALS; i++) {
        for (unsigned p = 0; p < PARAMS; p++)
            points[i * PARAMS + p] = orch_random_unit(random);
        orch_space_snap(space, points + i * PARAMS);
    }
}

/* b matters alone, and its largest values are huge: ranks do not care. */
static void test_one(void **state)
{
    (void)state;
    struct orch_space *space = make_space();
    double points[TRIALS * PARAMS], values[TRIALS];
    uint64_t random = orch_random_stream(3, 1);
    struct orch_importance found, again;
    draw(space, &random, points);
    for (size_t i = 0; i < TRIALS; i++)
        values[i] = exp(30 * points[i * PARAMS + 1]);
    orch_importance_of(space, points, values, TRIALS, &found);
    assert_true(found.explained > 0.8);
    assert_true(found.share[1].low > 0.5);
    for (unsigned p = 0; p < PARAMS; p++) {
        assert_true(found.share[p].low <= found.share[p].mid);
        assert_true(p == 1 || found.share[p].mid < 0.1);
    }
    orch_importance_of(space, points, values, TRIALS, &again);
    for (unsigned p = 0; p < PARAMS; p++)
        assert_true(again.share[p].mid >= found.share[p].mid &&
                    again.share[p].mid <= found.share[p].mid);
    orch_space_free(space);
}

/* momentum matters where it exists; with opt it is shuffled, too. */
static void test_conditional(void **state)
{
    (void)state;
    struct orch_space *space = make_space();
    double points[TRIALS * PARAMS], values[TRIALS];
    uint64_t random = orch_random_stream(5, 1);
    struct orch_importance found;
    draw(space, &random, points);
    for (size_t i = 0; i < TRIALS; i++) {
        double momentum = points[i * PARAMS + 3];
        values[i] = isnan(momentum) ? 0.5 : momentum;
    }
    orch_importance_of(space, points, values, TRIALS, &found);
    assert_true(found.share[3].low > 0.1);
    assert_true(found.share[2].low > 0.1);
    assert_true(found.share[0].mid < 0.1 && found.share[1].mid < 0.1);
    assert_true(found.whole[2] > 0.5 && found.whole[3] > 0.5); /* opt draws momentum anew, too */
    assert_true(found.whole[0] < 0.1 && found.whole[1] < 0.1);
    orch_space_free(space);
}

/* The order of the trials does not matter. */
static void test_order(void **state)
{
    (void)state;
    struct orch_space *space = make_space();
    double points[TRIALS * PARAMS], values[TRIALS], other_points[TRIALS * PARAMS],
        other_values[TRIALS];
    uint64_t random = orch_random_stream(9, 1);
    struct orch_importance found, other;
    draw(space, &random, points);
    for (size_t i = 0; i < TRIALS; i++)
        values[i] = points[i * PARAMS] + 0.3 * orch_random_unit(&random);
    for (size_t i = 0; i < TRIALS; i++) {
        const size_t from = (i * 7 + 3) % TRIALS;
        other_values[i] = values[from];
        for (unsigned p = 0; p < PARAMS; p++)
            other_points[i * PARAMS + p] = points[from * PARAMS + p];
    }
    orch_importance_of(space, points, values, TRIALS, &found);
    orch_importance_of(space, other_points, other_values, TRIALS, &other);
    assert_true(found.explained >= other.explained && found.explained <= other.explained);
    for (unsigned p = 0; p < PARAMS; p++)
        assert_true(fabs(found.share[p].mid - other.share[p].mid) < 1e-15 &&
                    fabs(found.whole[p] - other.whole[p]) < 1e-15);
    orch_space_free(space);
}

/* Most trials are near the best a, where b decides; over the whole range it is a that matters. */
static void test_whole_range(void **state)
{
    (void)state;
    struct orch_space *space = make_space();
    double points[TRIALS * PARAMS], values[TRIALS];
    uint64_t random = orch_random_stream(11, 1);
    struct orch_importance found;
    draw(space, &random, points);
    for (size_t i = 0; i < TRIALS; i++) {
        double *point = points + i * PARAMS;
        if (i % 6)
            point[0] = 0.48 + 0.04 * orch_random_unit(&random);
        values[i] = 100 * fabs(point[0] - 0.5) > 2 ? 10 * fabs(point[0] - 0.5) + 2 : point[1];
    }
    orch_importance_of(space, points, values, TRIALS, &found);
    assert_true(found.share[1].mid > found.share[0].mid);
    assert_true(found.whole[0] > 0.6 && found.whole[1] < 0.4);
    assert_true(found.whole[0] <= 1);
    for (unsigned p = 2; p < PARAMS; p++)
        assert_true(found.whole[p] < 0.1);
    orch_space_free(space);
}

/* Noise is not explained, and few or equal values say nothing. */
static void test_nothing(void **state)
{
    (void)state;
    struct orch_space *space = make_space();
    double points[TRIALS * PARAMS], values[TRIALS];
    uint64_t random = orch_random_stream(7, 1);
    struct orch_importance found;
    int explained = 0, important = 0;
    for (int k = 0; k < 20; k++) {
        draw(space, &random, points);
        for (size_t i = 0; i < TRIALS; i++)
            values[i] = orch_random_unit(&random);
        orch_importance_of(space, points, values, TRIALS, &found);
        explained += found.explained > 0;
        for (unsigned p = 0; p < PARAMS; p++)
            important += found.share[p].low > 0;
    }
    assert_in_range(explained, 0, 4);
    assert_in_range(important, 0, 8); /* of 80; one side of a 95 % interval: 2 are expected */
    orch_importance_of(space, points, values, ORCH_IMPORTANCE_TRIALS - 1, &found);
    assert_true(isnan(found.explained) && isnan(found.share[0].mid));
    for (size_t i = 0; i < TRIALS; i++)
        values[i] = 3;
    orch_importance_of(space, points, values, TRIALS, &found);
    assert_true(isnan(found.explained));
    orch_space_free(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),     cmocka_unit_test(test_conditional),
        cmocka_unit_test(test_order),   cmocka_unit_test(test_whole_range),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
