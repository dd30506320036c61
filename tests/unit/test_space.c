/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranges as written, and the values of points. */
#include "lib/base/error.h"
#include "lib/space/param_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct orch_space *space_of(const char *const *pairs)
{
    struct orch_space *space = orch_space_new();
    for (; pairs[0]; pairs += 2) {
        GError *error = NULL;
        if (!orch_space_add(space, pairs[0], pairs[1], NULL, &error))
            fail_msg("%s: %s", pairs[1], error->message);
    }
    return space;
}

static void test_values(void **state)
{
    (void)state;
    static const char *const pairs[] = {"a", "uniform(-1, 1)",      "b", "loguniform(1e-4, 1)",
                                        "c", "int(1, 4)",           "d", "int(8, 256, log)",
                                        "e", "[sgd, 'a b', \"c\"]", NULL};
    static const struct {
        unsigned param;
        double unit;
        const char *text;
    } rows[] = {{0, 0, "-1"},     {0, 0.75, "0.5"}, {0, 1, "1"},   {1, 0, "0.0001"},
                {1, 0.5, "0.01"}, {1, 1, "1"},      {2, 0, "1"},   {2, 0.2499, "1"},
                {2, 0.2501, "2"}, {2, 1, "4"},      {3, 0, "8"},   {3, 1, "256"},
                {4, 0, "sgd"},    {4, 0.5, "a b"},  {4, 0.99, "c"}};
    struct orch_space *space = space_of(pairs);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        const struct orch_space_param *param = orch_space_param(space, rows[i].param);
        g_autofree char *text = orch_space_text(param, rows[i].unit);
        double back;
        assert_string_equal(text, rows[i].text);
        assert_true(orch_space_unit(param, text, &back));
        g_autofree char *again = orch_space_text(param, back);
        assert_string_equal(again, text);
    }
    assert_true(orch_space_levels(orch_space_param(space, 0)) == 0);
    assert_true(orch_space_levels(orch_space_param(space, 2)) == 4);
    assert_true(orch_space_levels(orch_space_param(space, 4)) == 3);
    double unused;
    assert_false(orch_space_unit(orch_space_param(space, 0), "1.5", &unused));
    assert_false(orch_space_unit(orch_space_param(space, 2), "1.5", &unused));
    assert_false(orch_space_unit(orch_space_param(space, 4), "adam", &unused));
    orch_space_free(space);
}

/* Ranges of any width: the ends belong to them, they have many values, and each value's text gives
 * the value's coordinate again. */
static void test_any_width(void **state)
{
    (void)state;
    static const struct {
        const char *range, *low, *high;
        unsigned least; /* different values among 1000 */
    } rows[] = {
        {"uniform(123456.2, 123456.8)", "123456.2", "123456.8", 1000},
        {"uniform(1.0000001, 1.0000009)", "1.0000001", "1.0000009", 1000},
        {"uniform(-1e-9, 1e-9)", "-1e-09", "1e-09", 1000},
        {"uniform(-7.0000001, -7)", "-7.0000001", "-7", 1000},
        {"uniform(0.12345678901234566, 0.12345678901234577)", "0.12345678901234566",
         "0.12345678901234577", 7}, /* all doubles that are there */
        {"uniform(-1e308, 1.5e308)", "-1e+308", "1.5e+308", 1000},
        {"uniform(0, 1e-300)", "0", "1e-300", 1000},
        {"uniform(0.5, 0.5)", "0.5", "0.5", 1},
        {"uniform(0.1, 0.1)", "0.1", "0.1", 1},
        {"loguniform(1e-300, 1e300)", "1e-300", "1e+300", 1000},
        {"loguniform(123456.2, 123456.8)", "123456.2", "123456.8", 1000},
        {"loguniform(1, 1.00000000001)", "1", "1.00000000001", 1000},
        {"loguniform(3, 3)", "3", "3", 1},
        {"int(3, 3)", "3", "3", 1},
        {"int(3, 3, log)", "3", "3", 1},
        {"int(999999999999990, 1e15)", "999999999999990", "1000000000000000", 11},
        {"int(-1e15, 1e15)", "-1000000000000000", "1000000000000000", 1000},
        {"int(32, 512, step 32)", "32", "512", 16},
        {"int(32, 500, step=32)", "32", "480", 15},
        {"int(-7, -7, step 2)", "-7", "-7", 1},
        {"uniform(0, 1, step 0.05)", "0", "1", 21},
        {"uniform(-0.3, 0.3, step 0.1)", "-0.3", "0.3", 7},
        {"uniform(1e-5, 1e-4, step 1e-5)", "1e-05", "0.0001", 10},
        {"uniform(0, 1e20, step 1e19)", "0", "1e+20", 11},
        {"choice(a)", "a", "a", 1},
        {"[a]", "a", "a", 1},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *const pairs[] = {"p", rows[i].range, NULL};
        struct orch_space *space = space_of(pairs);
        const struct orch_space_param *param = orch_space_param(space, 0);
        g_autoptr(GHashTable) values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        const double levels = orch_space_levels(param);
        for (int k = 0; k < 1000; k++) {
            double unit = k / 999.0;
            char *text = orch_space_text(param, unit);
            if ((k == 0 || k == 999) && strcmp(text, k ? rows[i].high : rows[i].low) != 0)
                fail_msg("%s: %s at %g", rows[i].range, text, unit);
            assert_true(orch_space_unit(param, text, &unit) && unit >= 0 && unit <= 1);
            g_autofree char *again = orch_space_text(param, unit);
            if (strcmp(again, text) != 0)
                fail_msg("%s: %s becomes %s", rows[i].range, text, again);
            g_hash_table_add(values, text);
        }
        if (g_hash_table_size(values) < rows[i].least ||
            (levels > 0 && levels <= 1000 && g_hash_table_size(values) != (guint)levels))
            fail_msg("%s: %u values of %g", rows[i].range, g_hash_table_size(values), levels);
        for (double k = 0; k < levels && k < 1000; k++) {
            g_autofree char *text = orch_space_text(param, orch_space_level_unit(param, k));
            g_hash_table_remove(values, text);
        }
        assert_true(levels == 0 || levels > 1000 || g_hash_table_size(values) == 0);
        orch_space_free(space);
    }
}

/* The values of a step are decimal numbers, whatever their sum in binary is. */
static void test_steps(void **state)
{
    (void)state;
    static const char *const pairs[] = {"p", "uniform(-0.3, 0.3, step 0.1)", NULL};
    static const char *const texts[] = {"-0.3", "-0.2", "-0.1", "0", "0.1", "0.2", "0.3"};
    struct orch_space *space = space_of(pairs);
    const struct orch_space_param *param = orch_space_param(space, 0);
    double unused;
    for (unsigned k = 0; k < G_N_ELEMENTS(texts); k++) {
        g_autofree char *text = orch_space_text(param, orch_space_level_unit(param, k));
        assert_string_equal(text, texts[k]);
    }
    assert_false(orch_space_unit(param, "0.15", &unused));
    orch_space_free(space);
}

/* A whole number is as likely as its neighbours, on a logarithmic range as its share of it. */
static void test_shares(void **state)
{
    (void)state;
    static const char *const pairs[] = {"c", "int(1, 4)", NULL};
    struct orch_space *space = space_of(pairs);
    unsigned counts[5] = {0};
    for (int i = 0; i < 4000; i++) {
        g_autofree char *text = orch_space_text(orch_space_param(space, 0), (i + 0.5) / 4000);
        counts[text[0] - '0']++;
    }
    for (int k = 1; k <= 4; k++)
        assert_int_equal(counts[k], 1000);
    orch_space_free(space);
}

static void test_conditions(void **state)
{
    (void)state;
    static const char *const pairs[] = {"opt",      "[sgd, adam, none]",
                                        "momentum", "uniform(0, 1) if opt = sgd else 0",
                                        "rate",     "loguniform(1e-3, 1) if opt in [sgd, adam]",
                                        NULL};
    struct orch_space *space = space_of(pairs);
    double point[3] = {0.1, 0.3, NAN};
    orch_space_snap(space, point);
    assert_true(fabs(point[1] - 0.3) < 1e-6 && fabs(point[2] - 0.5) < 1e-6);
    point[0] = 0.5;
    orch_space_snap(space, point);
    assert_true(isnan(point[1]) && !isnan(point[2]));
    point[0] = 0.9;
    orch_space_snap(space, point);
    assert_true(isnan(point[1]) && isnan(point[2]));
    assert_string_equal(orch_space_param(space, 1)->otherwise, "0");
    orch_space_free(space);
}

/* Points are the same where each coordinate is near enough, or exists in neither. */
static void test_same(void **state)
{
    (void)state;
    static const char *const pairs[] = {"opt", "[sgd, adam]", "momentum",
                                        "uniform(0, 1) if opt = sgd", NULL};
    struct orch_space *space = space_of(pairs);
    const double sgd[] = {0.25, 0.5}, near[] = {0.25, 0.505}, adam[] = {0.75, NAN},
                 half[] = {0.25, NAN};
    assert_true(orch_space_is_same(space, sgd, sgd, ORCH_SPACE_EQUAL));
    assert_true(orch_space_is_same(space, adam, adam, ORCH_SPACE_EQUAL));
    assert_false(orch_space_is_same(space, sgd, near, ORCH_SPACE_EQUAL));
    assert_true(orch_space_is_same(space, sgd, near, 0.01));
    assert_false(orch_space_is_same(space, sgd, adam, ORCH_SPACE_EQUAL));
    assert_false(orch_space_is_same(space, sgd, half, ORCH_SPACE_EQUAL));
    assert_false(orch_space_is_same(space, half, sgd, 1));
    orch_space_free(space);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at;
        const char *what;
    } rows[] = {
        {"uniform(2, 1)", 8, "the range from 2 to 1 is empty"},
        {"loguniform(0, 1)", 11, "a logarithmic range cannot begin at 0"},
        {"int(0, 8, log)", 4, "a logarithmic range cannot begin at 0"},
        {"int(1.5, 8)", 4, "expected a whole number, found '1.5'"},
        {"uniform(1)", 9, "a range needs two ends: uniform(LOW, HIGH)"},
        {"uniform(1, 2", 12, "')' is missing"},
        {"uniform(1, x)", 11, "expected a number, found 'x'"},
        {"uniform(1, inf)", 11, "expected a number, found 'inf'"},
        {"normal(0, 1)", 0, "'normal(0, 1)' is no range"},
        {"[]", 1, "a value is missing"},
        {"uniform(123456.8, 123456.2)", 8, "the range from 123456.8 to 123456.2 is empty"},
        {"int(1, 4, step 0)", 15, "a step is above 0"},
        {"int(1, 4, step 0.5)", 15, "expected a whole number, found '0.5'"},
        {"int(1, 4, step 8)", 4, "the step 8 is larger than the range from 1 to 4"},
        {"int(1, 4, log, step 2)", 4, "a logarithmic range cannot have a step"},
        {"uniform(0, 1, step)", 18, "expected a number, found ')'"},
        {"uniform(0, 1, by 0.1)", 14,
         "after the ends of the range only 'log' or 'step N' is expected"},
        {"uniform(-1e308, 1e308, step 1e307)", 8,
         "the range from -1e+308 to 1e+308 is too wide for a step"},
        {"int(0, 1e18)", 7, "1e18 is beyond the largest whole number, 1e15"},
        {"[a, b, a]", 1, "the choice 'a' occurs twice"},
        {"[a, b", 5, "']' is missing"},
        {"[a, 'b]", 4, "a quote is not closed"},
        {"uniform(0, 1) when x = 1", 14, "unexpected text after the range: 'when x = 1'"},
        {"uniform(0, 1) if x = 1", 17,
         "the condition names 'x', which is no earlier parameter with choices"},
        {"uniform(0, 1) if opt = adam", 21, "'opt' has no choice 'adam'"},
        {"uniform(0, 1) if opt", 20,
         "a condition is written 'if opt = VALUE' or 'if opt in [A, B]'"},
        {"uniform(0, 1) if opt = sgd or", 27, "unexpected text after the condition: 'or'"},
        {"", 0, "'' is no range"},
    };
    static const char *const pairs[] = {"opt", "[sgd, none]", NULL};
    struct orch_space *space = space_of(pairs);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        size_t at = 999;
        assert_false(orch_space_add(space, "p", rows[i].text, &at, &error));
        g_autofree char *what = orch_error_what(error);
        assert_string_equal(what, rows[i].what);
        if (at != rows[i].at)
            fail_msg("%s: at %zu, not %zu", rows[i].text, at, rows[i].at);
    }
    assert_int_equal(space->params->len, 1);
    orch_space_free(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),     cmocka_unit_test(test_shares),
        cmocka_unit_test(test_conditions), cmocka_unit_test(test_same),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_any_width),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
