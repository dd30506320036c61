/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits as users write them: amounts of money, and points in time around a known moment. */
#include "core/schedule/limit_options.h"
#include "tests/store/fixture.h"

/* 2026-11-21 12:00:00 UTC; the tests run in this time zone. */
#define NOW_S INT64_C(1795262400)

static const struct {
    const char *text;
    int64_t after_s; /* since NOW_S */
} DEADLINES[] = {
    {"12:01", 60},
    {"12:00:30", 30},
    {"12:00", 86400}, /* the next one: tomorrow */
    {"11:59", 86400 - 60},
    {"9:05", 86400 - 3 * 3600 + 300},
    {"23:59:59", 12 * 3600 - 1},
    {"2h", 7200},
    {"90min", 5400},
    {"1.5h", 5400},
    {"2026-11-22T12:00", 86400},
    {"2026-11-22 12:00", 86400},
    {"2026-11-22T12:00:30", 86430},
    {"2026-11-22T12:00Z", 86400},
    {"2026-11-22T12:00+02:00", 86400 - 7200},
    {"2026-11-22T12:00:00-01:00", 86400 + 3600},
};

static void test_deadlines(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(DEADLINES); i++) {
        int64_t at_ns = 0;
        assert_ok(orch_deadline_read(DEADLINES[i].text, NOW_S * 1000000000, &at_ns, error));
        int64_t expected_s = NOW_S + DEADLINES[i].after_s;
        if (at_ns != expected_s * 1000000000)
            fail_msg("'%s' is %g s from now, not %g", DEADLINES[i].text,
                     (double)at_ns / 1e9 - (double)NOW_S, (double)DEADLINES[i].after_s);
    }
}

/* Years beyond what nanoseconds can hold count as never, which is still to come. */
static void test_far_deadline(void **state)
{
    (void)state;
    int64_t at_ns = 0;
    assert_ok(orch_deadline_read("9000-01-01T00:00", NOW_S * 1000000000, &at_ns, error));
    assert_true(at_ns == INT64_C(9000000000) * 1000000000);
}

static void test_refused_deadlines(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"24:00", "'24:00' is not a time"},
        {"12:60", "'12:60' is not a time"},
        {"12:00:60", "'12:00:60' is not a time"},
        {"12:00:00x", "'12:00:00x' is not a time"},
        {"12:00pm", "'12:00pm' is not a time"},
        {"12", "'12' is not a time"}, /* of what unit? */
        {"", "'' is not a time"},
        {"soon", "'soon' is not a time"},
        {"0h", "'0h' is not a time"},
        {"1e12h", "'1e12h' is not a time"},
        {"2026-11-22", "'2026-11-22' is not a time"},
        {"2026-13-22T12:00", "'2026-13-22T12:00' is not a time"},
        {"-2h", "'-2h' is negative"},
        {"-soon", "'-soon' is not a time"},
        {"2020-01-01T00:00", "'2020-01-01T00:00' has passed"},
        {"2026-11-21T12:00", "'2026-11-21T12:00' has passed"}, /* now */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        int64_t at_ns = 7;
        assert_fails(orch_deadline_read(rows[i].text, NOW_S * 1000000000, &at_ns, error),
                     ORCH_ERROR_USAGE, rows[i].says);
        assert_true(at_ns == 7);
    }
}

static void test_amounts(void **state)
{
    (void)state;
    double usd = 0;
    assert_ok(orch_price_read("$3.06", &usd, error));
    assert_true(usd == 3.06);
    assert_ok(orch_budget_read("5usd", &usd, error));
    assert_true(usd == 5);
    assert_fails(orch_price_read("0", &usd, error), ORCH_ERROR_USAGE,
                 "option '--price': '0' is not an amount above 0");
    assert_fails(orch_price_read("2e6", &usd, error), ORCH_ERROR_USAGE, "option '--price'");
    assert_fails(orch_budget_read("much", &usd, error), ORCH_ERROR_USAGE,
                 "option '--budget': 'much' is not an amount above 0");
    assert_true(usd == 5);
}

static void test_both_limits(void **state)
{
    (void)state;
    struct orch_limits limits;
    const int64_t now_ns = NOW_S * 1000000000;
    assert_ok(orch_limits_read("5usd", "1h", 2.5, now_ns, &limits, error));
    assert_true(limits.budget_usd == 5 && limits.usd_per_hour == 2.5);
    assert_true(limits.deadline_ns == now_ns + INT64_C(3600000000000));
    assert_ok(orch_limits_read(NULL, NULL, 0, now_ns, &limits, error));
    assert_true(limits.budget_usd == 0 && limits.deadline_ns == 0);
    assert_fails(orch_limits_read("5usd", NULL, 0, now_ns, &limits, error), ORCH_ERROR_USAGE,
                 "the price per hour of this machine is not known");
    assert_fails(orch_limits_read("none", "1h", 1, now_ns, &limits, error), ORCH_ERROR_USAGE,
                 "option '--budget'");
    assert_fails(orch_limits_read("5usd", "never", 1, now_ns, &limits, error), ORCH_ERROR_USAGE,
                 "option '--deadline'");
}

int main(void)
{
    g_setenv("TZ", "UTC", TRUE);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deadlines),         cmocka_unit_test(test_far_deadline),
        cmocka_unit_test(test_refused_deadlines), cmocka_unit_test(test_amounts),
        cmocka_unit_test(test_both_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
