/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ledger: sums by axis, weeks in UTC, unknown prices, one person of several names, dated
 * prices, and the limit that an allowance is. */
#include "core/schedule/run_limits.h"
#include "features/cost/ledger.h"
#include "lib/base/ident.h"
#include "lib/devices/prices.h"
#include "lib/hw/machine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define DAY_NS (INT64_C(86400) * 1000000000)

static int64_t utc_ns(int year, int month, int day, int hour)
{
    g_autoptr(GDateTime) at = g_date_time_new_utc(year, month, day, hour, 0, 0);
    return g_date_time_to_unix(at) * 1000000000;
}

static void test_days(void **state)
{
    (void)state;
    const struct {
        int64_t ns;
        const char *day, *week, *month;
    } cases[] = {
        {0, "1970-01-01", "1970-W01", "1970-01"},
        {-1, "1969-12-31", "1970-W01", "1969-12"},
        {utc_ns(2026, 11, 21, 23), "2026-11-21", "2026-W47", "2026-11"},
        {utc_ns(2021, 1, 3, 23), "2021-01-03", "2020-W53",
         "2021-01"}, /* the last of 2020's weeks */
        {utc_ns(2021, 1, 4, 0), "2021-01-04", "2021-W01", "2021-01"},
        {utc_ns(2024, 12, 30, 0), "2024-12-30", "2025-W01", "2024-12"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *day = orch_utc_day(cases[i].ns);
        g_autofree char *week = orch_utc_week(cases[i].ns);
        g_autofree char *month = orch_utc_month(cases[i].ns);
        assert_string_equal(day, cases[i].day);
        assert_string_equal(week, cases[i].week);
        assert_string_equal(month, cases[i].month);
    }
}

static void add(struct orch_ledger *ledger, const char *who, const char *device, unsigned devices,
                double hours, double usd, bool is_lost, int64_t ended_ns)
{
    const struct orch_ledger_run run = {.who = who,
                                        .recipe = "r",
                                        .device = device,
                                        .devices = devices,
                                        .wall_s = hours * 3600,
                                        .ended_ns = ended_ns,
                                        .is_lost = is_lost,
                                        .usd_per_hour = usd};
    orch_ledger_add(ledger, &run);
}

static const struct orch_ledger_row *row(GPtrArray *rows, guint i, const char *a, const char *b)
{
    assert_true(i < rows->len);
    const struct orch_ledger_row *found = rows->pdata[i];
    assert_string_equal(found->labels[0], a);
    if (b)
        assert_string_equal(found->labels[1], b);
    return found;
}

static void test_sums(void **state)
{
    (void)state;
    const enum orch_ledger_axis axes[] = {ORCH_LEDGER_WHO, ORCH_LEDGER_GPU};
    struct orch_ledger *ledger = orch_ledger_new(axes, 2);
    int64_t at = utc_ns(2026, 11, 21, 0);
    orch_user_set("nobody");
    add(ledger, "Ada <ada@example.org>", "V100", 2, 1.5, 3, false, at);
    add(ledger, "A. <ada@example.org>", "V100", 1, 1, 3, true, at); /* the same person */
    add(ledger, "Ada <ada@example.org>", "Xeon", 1, 4, NAN, false, at);
    add(ledger, "bob", "V100", 1, 0.25, 4, false, at);
    add(ledger, NULL, "", 1, 0, NAN, true, at);
    g_autoptr(GPtrArray) rows = orch_ledger_rows(ledger);
    assert_int_equal(rows->len, 4);
    const struct orch_ledger_sum *nobody = &row(rows, 0, "-", "-")->sum;
    const struct orch_ledger_sum *ada = &row(rows, 1, "Ada <ada@example.org>", "V100")->sum;
    const struct orch_ledger_sum *cpu = &row(rows, 2, "Ada <ada@example.org>", "Xeon")->sum;
    const struct orch_ledger_sum *bob = &row(rows, 3, "bob", "V100")->sum;
    assert_int_equal(nobody->lost_runs, 1);
    assert_int_equal(ada->runs, 2);
    assert_int_equal(ada->lost_runs, 1);
    assert_true(ada->wall_s == 2.5 * 3600 && ada->device_s == 4 * 3600);
    assert_true(ada->usd == 12 && ada->lost_usd == 3 && ada->lost_device_s == 3600);
    assert_int_equal(ada->unpriced_runs, 0);
    assert_true(cpu->usd == 0 && cpu->unpriced_runs == 1 && cpu->unpriced_device_s == 4 * 3600);
    assert_true(bob->usd == 1);
    const struct orch_ledger_sum *total = orch_ledger_total(ledger);
    assert_true(total->usd == 13 && total->device_s == 8.25 * 3600 && total->lost_usd == 3);
    assert_int_equal(total->runs, 5);
    assert_int_equal(total->unpriced_runs, 2);
    orch_ledger_free(ledger);
    orch_user_set(NULL);
}

static void test_weeks(void **state)
{
    (void)state;
    const enum orch_ledger_axis axes[] = {ORCH_LEDGER_WEEK};
    struct orch_ledger *ledger = orch_ledger_new(axes, 1);
    int64_t monday = utc_ns(2026, 11, 16, 0);
    add(ledger, "a", "V100", 1, 1, 1, false, monday - 1);
    add(ledger, "a", "V100", 1, 2, 1, false, monday);
    add(ledger, "a", "V100", 1, 4, 1, false, monday + 7 * DAY_NS - 1);
    add(ledger, "a", "V100", 1, 8, 1, false, monday + 7 * DAY_NS);
    g_autoptr(GPtrArray) rows = orch_ledger_rows(ledger);
    assert_int_equal(rows->len, 3);
    assert_true(row(rows, 0, "2026-W46", NULL)->sum.usd == 1);
    assert_true(row(rows, 1, "2026-W47", NULL)->sum.usd == 6);
    assert_true(row(rows, 2, "2026-W48", NULL)->sum.usd == 8);
    orch_ledger_free(ledger);
}

static void test_dated_prices(void **state)
{
    (void)state;
    struct orch_price_query query = {.gpu = "V100-SXM2-16GB"};
    const struct orch_price *newest = orch_price_choose(orch_prices(), query);
    const char *const days[] = {"2022-12-31", "2024-06-01", "2026-01-01", "2019-01-01"};
    for (size_t i = 0; i < G_N_ELEMENTS(days); i++) {
        query.on = days[i];
        const struct orch_price *held = orch_price_choose(orch_prices(), query);
        assert_non_null(held);
        assert_true(i == 3 ? strncmp(held->as_of, newest->as_of, 4) < 0 /* the oldest there is */
                           : orch_price_was_known(held, days[i]));
    }
    query.on = "2022-12-31";
    assert_string_equal(orch_price_choose(orch_prices(), query)->as_of, "2022-12");
    query.on = "2030-01-01";
    assert_ptr_equal(orch_price_choose(orch_prices(), query), newest);
    const struct orch_price undated = {.as_of = "no date given"}, later = {.as_of = "2024"};
    assert_true(orch_price_was_known(&undated, "1990-01-01"));
    assert_false(orch_price_was_known(&later, "2023-12-31"));
    assert_true(orch_price_was_known(&later, "2024-01-01"));
    assert_true(orch_price_was_known(&later, NULL));
}

static void test_places(void **state)
{
    (void)state;
    const struct {
        const char *where, *device;
        unsigned gpus;
        int threads;
        double share;
    } cases[] = {{"2x Tesla V100", "Tesla V100", 2, 0, 1},
                 {"0.5x Tesla V100", "Tesla V100", 1, 0, 0.5},
                 {"0.0x A", "0.0x A", 0, 0, 1},
                 {"0.5 A", "0.5 A", 0, 0, 1},
                 {"1x A + 3x B", "A + 3x B", 4, 0, 1},
                 {"Xeon, 4 threads", "Xeon", 0, 4, 1},
                 {"Xeon, model 2, 1 thread", "Xeon, model 2", 0, 1, 1},
                 {"0x A", "0x A", 0, 0, 1},
                 {"2xA", "2xA", 0, 0, 1},
                 {"", "", 0, 0, 1},
                 {NULL, "", 0, 0, 1}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct orch_device_parts parts = orch_device_key_parse(cases[i].where);
        assert_string_equal(parts.device, cases[i].device);
        assert_int_equal(parts.gpus, cases[i].gpus);
        assert_int_equal(parts.threads, cases[i].threads);
        assert_true(fabs(parts.gpu_share - cases[i].share) < 1e-12);
        g_free(parts.device);
    }
}

static void test_allowance(void **state)
{
    (void)state;
    const struct orch_limits limits = {.has_allowance = true, .allowance_s = 100}, none = {0},
                             spent = {.has_allowance = true};
    const struct orch_usage usage = {.spent_s = 50, .expected_s = 20};
    assert_int_equal(orch_limits_refuse(&limits, &usage, 30, 1, 0), ORCH_LIMIT_NONE);
    assert_int_equal(orch_limits_refuse(&limits, &usage, 31, 1, 0), ORCH_LIMIT_ALLOWANCE);
    assert_int_equal(orch_limits_refuse(&limits, &usage, 16, 2, 0), ORCH_LIMIT_ALLOWANCE);
    assert_int_equal(orch_limits_refuse(&limits, &usage, NAN, 2, 0), ORCH_LIMIT_NONE);
    assert_int_equal(orch_limits_refuse(&none, &usage, 1e9, 2, 0), ORCH_LIMIT_NONE);
    assert_int_equal(orch_limits_refuse(&spent, &(struct orch_usage){0}, NAN, 1, 0),
                     ORCH_LIMIT_ALLOWANCE);
    assert_int_equal(orch_limits_reached(&limits, &usage, 0), ORCH_LIMIT_NONE);
    assert_int_equal(orch_limits_reached(&limits, &(struct orch_usage){.spent_s = 100}, 0),
                     ORCH_LIMIT_ALLOWANCE);
    assert_string_equal(orch_limit_name(ORCH_LIMIT_ALLOWANCE), "allowance");
    const struct orch_limits of_person = {.has_allowance = true, .allowance_for = "each person"};
    g_autofree char *named = orch_limits_describe(&of_person, ORCH_LIMIT_ALLOWANCE);
    g_autofree char *unnamed = orch_limits_describe(&limits, ORCH_LIMIT_ALLOWANCE);
    g_autofree char *budget = orch_limits_describe(&of_person, ORCH_LIMIT_BUDGET);
    assert_string_equal(named, "allowance for each person");
    assert_string_equal(unnamed, "allowance");
    assert_string_equal(budget, "budget");
    assert_null(orch_limits_describe(NULL, ORCH_LIMIT_NONE));
    assert_null(orch_limit_name(ORCH_LIMIT_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_days),   cmocka_unit_test(test_sums),
        cmocka_unit_test(test_weeks),  cmocka_unit_test(test_dated_prices),
        cmocka_unit_test(test_places), cmocka_unit_test(test_allowance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
