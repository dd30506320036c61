/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `repeat: auto(...)` as written: what it means, and where it is wrong. */
#include "lib/space/repeat_rule.h"

#include "lib/base/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double ci;
        int max;
        const char *metric, *summary;
    } rows[] = {
        {"auto", 0.02, 20, NULL, NULL},
        {"auto()", 0.02, 20, NULL, NULL},
        {"auto(ci=5%)", 0.05, 20, NULL, NULL},
        {"auto( ci = 0.01 , max = 3 )", 0.01, 3, NULL, NULL},
        {"auto(ci=2%, max=1000, metric=loss)", 0.02, 1000, "loss", NULL},
        {"auto(metric=best val_acc)", 0.02, 20, "val_acc", "best"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        size_t at;
        GError *error = NULL;
        struct orch_repeat_rule *rule = orch_repeat_rule_parse(rows[i].text, &at, &error);
        if (!rule)
            fail_msg("%s: %s", rows[i].text, error->message);
        assert_true(fabs(rule->ci - rows[i].ci) < 1e-12);
        assert_int_equal(rule->max, rows[i].max);
        assert_int_equal(g_strcmp0(rule->metric, rows[i].metric), 0);
        assert_int_equal(g_strcmp0(rule->summary, rows[i].summary), 0);
        struct orch_repeat_rule *copy = orch_repeat_rule_copy(rule);
        orch_repeat_rule_free(rule);
        assert_int_equal(g_strcmp0(copy->metric, rows[i].metric), 0);
        orch_repeat_rule_free(copy);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at;
    } rows[] = {
        {"automatic", 0},       {"auto(ci=2%", 0},    {"auto(", 0},
        {"auto(ci=0)", 5},      {"auto(ci=100%)", 5}, {"auto(ci=nan)", 5},
        {"auto(max=2)", 5},     {"auto(max=2.5)", 5}, {"auto(ci=2%, max=1001)", 12},
        {"auto(ci=2%,, )", 11}, {"auto(what=1)", 5},  {"auto(metric=)", 5},
        {"auto(ci)", 5},        {"auto(ci=2%)x)", 5}, {"auto(metric=a b c)", 5},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        size_t at = 99;
        GError *error = NULL;
        struct orch_repeat_rule *rule = orch_repeat_rule_parse(rows[i].text, &at, &error);
        if (rule)
            fail_msg("'%s' was read", rows[i].text);
        if (at != rows[i].at)
            fail_msg("'%s': at %zu: %s", rows[i].text, at, error->message);
        assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_RECIPE));
        g_error_free(error);
    }
    assert_true(orch_repeat_rule_is_meant("auto"));
    assert_false(orch_repeat_rule_is_meant("3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
