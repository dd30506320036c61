/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spaces made of the values of runs. */
#include "lib/space/observed_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define ROWS 8
#define COLUMNS 5

/* Momentum exists under sgd, its kind where momentum does; each run has a width of its own. */
static const char *const NAMES[COLUMNS] = {"opt", "momentum", "kind", "width", "same"};
static const char *const ROWS_OF[ROWS][COLUMNS] = {
    {"sgd", "0.9", "heavy", "1", "7"},
    {"sgd", "0.5", "nesterov", "10", "7"},
    {"sgd", "0.1", "heavy", "20", "7"},
    {"sgd", "0.2", "nesterov", "30", "7"},
    {"adam", "", "", "40", "7"},
    {"adam", "", "", "50", "7"},
    {"rmsprop", "0.3", "heavy", "60", "7"},
    {"rmsprop", "0.4", "heavy", "70", "7"},
};

static struct orch_observed observed_of(const char *const *rows[ROWS])
{
    for (size_t i = 0; i < ROWS; i++)
        rows[i] = ROWS_OF[i];
    return (struct orch_observed){NAMES, COLUMNS, rows, ROWS};
}

static void test_ranges(void **state)
{
    (void)state;
    const char *const *rows[ROWS];
    const struct orch_observed observed = observed_of(rows);
    static const char *const ranges[COLUMNS] = {"words", "uniform(0.1, 0.9)", "words",
                                                "loguniform(1, 70)", NULL};
    for (unsigned c = 0; c < COLUMNS; c++) {
        g_autofree char *range = orch_observed_range(&observed, c);
        assert_string_equal(range ? range : "", ranges[c] ? ranges[c] : "");
    }
}

static void test_conditions(void **state)
{
    (void)state;
    const char *const *rows[ROWS];
    const struct orch_observed observed = observed_of(rows);
    struct orch_observed_space *made = orch_observed_space_new(&observed);
    /* by name, one that decides before what it decides about: opt, kind, momentum, width */
    static const unsigned columns[] = {0, 2, 1, 3};
    assert_int_equal(made->space->params->len, 4);
    for (unsigned p = 0; p < 4; p++)
        assert_int_equal(made->columns[p], columns[p]);
    const struct orch_space_param *kind = orch_space_param(made->space, 1),
                                  *momentum = orch_space_param(made->space, 2);
    assert_int_equal(kind->parent, 0);
    assert_true(kind->when == (1 << 1 | 1 << 2)); /* adam is before rmsprop and sgd */
    assert_true(momentum->parent == 0 || momentum->parent == 1);
    assert_int_equal(orch_space_param(made->space, 3)->parent, -1);
    for (size_t i = 0; i < ROWS; i++) {
        const double *point = made->units + i * 4;
        assert_int_equal(isnan(point[1]), !*ROWS_OF[i][2]);
        assert_int_equal(isnan(point[2]), !*ROWS_OF[i][1]);
        assert_true(point[3] >= 0 && point[3] <= 1);
        for (unsigned p = 0; p < 4; p++)
            assert_int_equal(orch_space_exists(made->space, p, point), !isnan(point[p]));
    }
    orch_observed_space_free(made);
}

/* A column that only some runs have, and that none decides about, is a range of its own. One that
 * differs in each run decides nothing. */
static void test_undecided(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b"};
    static const char *const texts[6][2] = {{"1", "5"}, {"2", ""}, {"3", "6"},
                                            {"4", "7"}, {"5", ""}, {"6", "8"}};
    const char *const *rows[6];
    bool exists[6];
    for (size_t i = 0; i < 6; i++) {
        rows[i] = texts[i];
        exists[i] = *texts[i][1];
    }
    const struct orch_observed observed = {names, 2, rows, 6};
    assert_int_equal(orch_observed_decider(&observed, 1, exists), -1);
    struct orch_observed_space *made = orch_observed_space_new(&observed);
    assert_int_equal(made->space->params->len, 2);
    assert_int_equal(orch_space_param(made->space, 1)->parent, -1);
    assert_true(isnan(made->units[3]) && !isnan(made->units[1]));
    orch_observed_space_free(made);
}

/* The columns in another order give the same space. */
static void test_order(void **state)
{
    (void)state;
    const char *const *rows[ROWS];
    const char *turned[ROWS][COLUMNS], *names[COLUMNS];
    const char *const *other_rows[ROWS];
    const struct orch_observed observed = observed_of(rows);
    for (unsigned c = 0; c < COLUMNS; c++) {
        names[c] = NAMES[COLUMNS - 1 - c];
        for (size_t i = 0; i < ROWS; i++)
            turned[i][c] = ROWS_OF[i][COLUMNS - 1 - c];
    }
    for (size_t i = 0; i < ROWS; i++)
        other_rows[i] = turned[i];
    const struct orch_observed other = {names, COLUMNS, other_rows, ROWS};
    struct orch_observed_space *a = orch_observed_space_new(&observed),
                               *b = orch_observed_space_new(&other);
    assert_int_equal(a->space->params->len, b->space->params->len);
    for (unsigned p = 0; p < a->space->params->len; p++)
        assert_string_equal(NAMES[a->columns[p]], names[b->columns[p]]);
    for (size_t i = 0; i < ROWS * (size_t)a->space->params->len; i++)
        assert_true((isnan(a->units[i]) && isnan(b->units[i])) ||
                    fabs(a->units[i] - b->units[i]) < 1e-15);
    orch_observed_space_free(a);
    orch_observed_space_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_undecided),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
