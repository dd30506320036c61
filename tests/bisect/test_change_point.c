/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The posterior of a step on a path, and what is measured next. */
#include "features/bisect/change_point.h"

#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/bisect/change_paths.h"

#define PLACES 9

static const struct orch_change_rules RULES = {0.95, 30};

static struct orch_change_turn turn_of(const struct orch_change_place *places,
                                       struct orch_change_posterior *posterior)
{
    const struct orch_change_data data = {.places = places, .count = PLACES};
    orch_change_posterior_make(&data, posterior);
    return orch_change_next(&data, posterior, &RULES);
}

static double sum_of(const struct orch_change_posterior *posterior)
{
    double sum = posterior->none;
    for (size_t i = 0; i < posterior->count; i++)
        sum += posterior->cases[i].probability;
    return sum;
}

/* Nothing is known before the first measurement, which is of an end; then the ends take turns. */
static void test_ends_first(void **state)
{
    (void)state;
    static const double values[] = {1, 1.1, 1.05, 0.95};
    struct orch_change_place places[PLACES] = {0};
    struct orch_change_posterior posterior;
    static const size_t order[] = {0, PLACES - 1, PLACES - 1, 0};
    for (size_t i = 0; i < G_N_ELEMENTS(order); i++) {
        struct orch_change_turn turn = turn_of(places, &posterior);
        assert_int_equal(turn.verdict, ORCH_CHANGE_ENDS);
        assert_int_equal(turn.place, order[i]);
        assert_true(fabs(sum_of(&posterior) - 1) < 1e-12);
        orch_change_posterior_clear(&posterior);
        places[order[i]].values = values;
        places[order[i]].count++;
    }
}

/* A value in the middle that looks like those of the good end leaves only the places after it. */
static void test_nearer_partition_wins(void **state)
{
    (void)state;
    static const double low[] = {1.0, 1.1, 0.9}, high[] = {5.0, 5.1, 4.9}, middle[] = {1.05};
    struct orch_change_place places[PLACES] = {0};
    struct orch_change_posterior posterior;
    places[0] = (struct orch_change_place){low, 3, false};
    places[4] = (struct orch_change_place){middle, 1, false};
    places[PLACES - 1] = (struct orch_change_place){high, 3, false};
    struct orch_change_turn turn = turn_of(places, &posterior);
    /* the step is after place 4: all places there are alike, those before it impossible */
    for (size_t i = 1; i <= 4; i++)
        assert_true(posterior.cases[i].probability < 1e-4);
    for (size_t i = 5; i < PLACES; i++)
        assert_true(fabs(posterior.cases[i].probability - posterior.cases[5].probability) < 1e-12);
    assert_true(fabs(sum_of(&posterior) - 1) < 1e-12);
    assert_true(fabs(posterior.cases[6].before - 1.0) < 0.1);
    assert_true(fabs(posterior.cases[6].after - 5.0) < 0.1);
    /* and the next measurement halves them */
    assert_int_equal(turn.verdict, ORCH_CHANGE_ASK);
    assert_int_equal(turn.place, 6);
    assert_true(turn.information > 0.5);
    struct orch_change_range half = orch_change_credible(&posterior, 0.4);
    assert_int_equal(half.last - half.first, 1);
    orch_change_posterior_clear(&posterior);
}

static void test_equal_ends(void **state)
{
    (void)state;
    static const double values[] = {2, 2, 2, 2};
    struct orch_change_place places[PLACES] = {0};
    struct orch_change_posterior posterior;
    places[0] = places[PLACES - 1] = (struct orch_change_place){values, 4, false};
    assert_int_equal(turn_of(places, &posterior).verdict, ORCH_CHANGE_NONE);
    orch_change_posterior_clear(&posterior);
}

/* A second step shows in the values, and one step does not look like two. */
static void test_misfit(void **state)
{
    (void)state;
    static const double low[] = {1.0, 1.1, 0.9, 1.05}, high[] = {5.0, 5.1, 4.9, 5.0},
                        higher[] = {7.0, 7.1, 6.9, 7.0}, low_again[] = {0.95, 1.12, 1.0};
    struct orch_change_place places[PLACES] = {0};
    const struct orch_change_data data = {.places = places, .count = PLACES};
    const struct orch_change_range range = {3, 3, 1};
    assert_true(isnan(orch_change_misfit(&data, &range)));
    places[0] = (struct orch_change_place){low, 4, false};
    places[PLACES - 1] = (struct orch_change_place){high, 4, false};
    assert_true(isnan(orch_change_misfit(&data, &range)));
    places[2] = (struct orch_change_place){low_again, 3, false};
    /* two samples: F is the square of t */
    double p = orch_change_misfit(&data, &range);
    assert_true(p > 0.2 && p <= 1);
    places[6] = (struct orch_change_place){higher, 4, false};
    assert_true(orch_change_misfit(&data, &range) < 1e-6);
}

/* What became better is no step. */
static void test_improvement(void **state)
{
    (void)state;
    static const double low[] = {1.0, 1.1, 0.9, 1.0}, high[] = {5.0, 5.1, 4.9, 5.0};
    struct orch_change_place places[PLACES] = {0};
    struct orch_change_posterior posterior;
    places[0] = (struct orch_change_place){high, 4, false};
    places[PLACES - 1] = (struct orch_change_place){low, 4, false};
    assert_int_equal(turn_of(places, &posterior).verdict, ORCH_CHANGE_NONE);
    orch_change_posterior_clear(&posterior);
}

/* Places that cannot be measured are not asked for, and the culprit among them is a range. */
static void test_closed_places(void **state)
{
    (void)state;
    static const double low[] = {1.0, 1.1, 0.9, 1.05}, high[] = {5.0, 5.1, 4.9, 5.0};
    struct orch_change_place places[PLACES] = {0};
    struct orch_change_posterior posterior;
    places[0] = places[2] = (struct orch_change_place){low, 4, false};
    places[6] = places[PLACES - 1] = (struct orch_change_place){high, 4, false};
    places[3].is_closed = places[4].is_closed = places[5].is_closed = true;
    struct orch_change_turn turn = turn_of(places, &posterior);
    assert_int_equal(turn.verdict, ORCH_CHANGE_FOUND);
    assert_int_equal(turn.range.first, 3);
    assert_int_equal(turn.range.last, 6);
    orch_change_posterior_clear(&posterior);
    places[4].is_closed = false;
    turn = turn_of(places, &posterior);
    assert_int_equal(turn.verdict, ORCH_CHANGE_ASK);
    assert_int_equal(turn.place, 4);
    orch_change_posterior_clear(&posterior);
}

/* The range of commits that is named is right although a third of them does not run, and a metric
 * without noise costs little more than bisection. */
static void test_paths(void **state)
{
    (void)state;
    const struct change_path broken = {
        .places = 31, .step = 3, .closed_share = 0.33, .repeat_most = 30};
    const struct change_path exact = {.places = 65, .step = 1e6, .repeat_most = 30};
    struct change_tally tally;
    change_paths_search(&broken, 60, 1, &tally);
    assert_int_equal(tally.found, tally.paths);
    assert_true(tally.right >= 57);
    assert_true(tally.widest > tally.paths);
    change_paths_search(&exact, 40, 1, &tally);
    assert_int_equal(tally.right, tally.paths);
    assert_true(tally.runs / tally.paths < 2 * 4 + 8); /* the ends, and log2(64) + 2 */
}

/* Paths without a step: at most a few of them are searched, and none is found. */
static void test_no_step(void **state)
{
    (void)state;
    const struct change_path path = {.places = 13, .step = 0, .repeat_most = 30};
    struct change_tally tally;
    change_paths_search(&path, 100, 1, &tally);
    assert_true(tally.found <= 3);
    assert_true(tally.none >= 95);
}

/* ---- the steps of a history -------------------------------------------------------------------
 */

enum { HISTORY = 60 };

/* Returns how many steps are found in values with this mean at each place, whose noise of deviation
 * 1 depends on the noise before it; `first`: the place of the first step. */
static guint steps_of(double (*mean)(double), double correlation, guint seed, size_t *first)
{
    double values[HISTORY], noise = 0;
    struct orch_change_place places[HISTORY];
    GRand *random = g_rand_new_with_seed(seed);
    for (size_t i = 0; i < HISTORY; i++) {
        double fresh = 0;
        for (size_t k = 0; k < 12; k++)
            fresh += g_rand_double_range(random, -0.5, 0.5);
        noise = correlation * noise + sqrt(1 - correlation * correlation) * fresh;
        values[i] = mean((double)i) + noise;
        places[i] = (struct orch_change_place){values + i, 1, false};
    }
    g_rand_free(random);
    const struct orch_change_data data = {.places = places, .count = HISTORY};
    g_autoptr(GArray) steps = orch_change_steps(&data, 0.95);
    *first = steps->len ? g_array_index(steps, struct orch_change_step, 0).place : 0;
    return steps->len;
}

static double level(double i)
{
    return 0 * i;
}

static double line(double i)
{
    return i / 4;
}

static double parabola(double i)
{
    return i * i / 200;
}

static double up_and_down(double i)
{
    return i < 20 ? 0 : i < 40 ? 6 : 2;
}

static double step_on_line(double i)
{
    return i / 10 + (i < 30 ? 0 : 6);
}

/* Noise, noise that depends on what was before, lines and parabolas are no steps; steps up, down
 * and on a line are. */
static void test_history(void **state)
{
    (void)state;
    enum { SEEDS = 20 };
    static const struct {
        double (*mean)(double);
        double correlation;
        guint steps, wrong_most; /* of the seeds */
        size_t first;
    } rows[] = {
        {level, 0, 0, 0, 0},          {level, 0.5, 0, 1, 0},      {line, 0, 0, 0, 0},
        {parabola, 0, 0, 1, 0},       {up_and_down, 0, 2, 1, 20}, {step_on_line, 0, 1, 1, 30},
        {up_and_down, 0.3, 2, 3, 20},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        guint wrong = 0;
        for (guint seed = 1; seed <= SEEDS; seed++) {
            size_t first;
            guint found = steps_of(rows[i].mean, rows[i].correlation, seed, &first);
            wrong += found != rows[i].steps ||
                     (found && (first + 1 < rows[i].first || first > rows[i].first + 1));
        }
        assert_true(wrong <= rows[i].wrong_most);
    }
}

/* The mean of equal values may be rounded: that is no noise. */
static void test_equal_history(void **state)
{
    (void)state;
    static const double values[] = {1, 1, 1, 1, 1, 1};
    struct orch_change_place places[G_N_ELEMENTS(values)];
    for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
        places[i] = (struct orch_change_place){values + i, 1, false};
    const struct orch_change_data data = {.places = places, .count = G_N_ELEMENTS(values)};
    g_autoptr(GArray) steps = orch_change_steps(&data, 0.95);
    assert_int_equal(steps->len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends_first),  cmocka_unit_test(test_nearer_partition_wins),
        cmocka_unit_test(test_equal_ends),  cmocka_unit_test(test_misfit),
        cmocka_unit_test(test_improvement), cmocka_unit_test(test_closed_places),
        cmocka_unit_test(test_paths),       cmocka_unit_test(test_no_step),
        cmocka_unit_test(test_history),     cmocka_unit_test(test_equal_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
