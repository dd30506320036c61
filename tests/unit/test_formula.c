/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/error.h"
#include "lib/base/formula.h"

#include <math.h>
#include <string.h>

static double lookup(void *ctx, const char *name)
{
    (void)ctx;
    static const struct {
        const char *name;
        double value;
    } known[] = {{"batch", 64}, {"mean steps_per_s", 1.5}, {"zero", 0}, {"_x1", 3}};
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].value;
    return NAN;
}

static char *plain(double value)
{
    return g_strdup_printf("%g", value);
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *text, *numbers;
        double value;
    } cases[] = {
        {"y = batch * mean steps_per_s", "64 * 1.5", 96},
        {"y=2+3*4", "2+3*4", 14},
        {"y = (2 + 3) * 4", "(2 + 3) * 4", 20},
        {"y = 100 - 10 - 1", "100 - 10 - 1", 89},
        {"y = 64 / 4 / 2", "64 / 4 / 2", 8},
        {"y = -_x1 + 1e2", "-3 + 1e2", 97},
        {"y = batch / zero", "64 / 0", NAN},
        {"y = batch * nothing", "64 * nan", NAN},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct orch_formula *f = orch_formula_parse(cases[i].text, NULL);
        assert_non_null(f);
        assert_string_equal(orch_formula_left(f), "y");
        double value = orch_formula_value(f, lookup, NULL);
        if (isnan(cases[i].value))
            assert_true(isnan(value));
        else
            assert_true(fabs(value - cases[i].value) < 1e-12);
        g_autofree char *numbers = orch_formula_with_numbers(f, lookup, NULL, plain);
        assert_string_equal(numbers, cases[i].numbers);
        orch_formula_free(f);
    }
}

static void test_names(void **state)
{
    (void)state;
    struct orch_formula *f = orch_formula_parse("speedup = mean a / (b + mean a) * 2", NULL);
    const GPtrArray *names = orch_formula_names(f);
    assert_int_equal(names->len, 3);
    assert_string_equal(names->pdata[0], "mean a");
    assert_string_equal(names->pdata[1], "b");
    assert_string_equal(orch_formula_right(f), "mean a / (b + mean a) * 2");
    orch_formula_free(f);
}

static void test_faults(void **state)
{
    (void)state;
    static const char *const bad[] = {"",          "y",         "y =",       "= 2",
                                      "y = 2 +",   "y = (2",    "y = 2)",    "y = 2 3",
                                      "y = a = b", "y = $(id)", "y = 2 ** 3"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        GError *error = NULL;
        struct orch_formula *f = orch_formula_parse(bad[i], &error);
        if (f)
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(error->code, ORCH_ERROR_USAGE);
        g_clear_error(&error);
    }
    g_autoptr(GString) deep = g_string_new("y = ");
    for (int i = 0; i < 200; i++)
        g_string_append_c(deep, '(');
    assert_null(orch_formula_parse(deep->str, NULL));
    g_string_append_printf(deep, "%*s", 1000, "x");
    assert_null(orch_formula_parse(deep->str, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
