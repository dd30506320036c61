/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Learning-rate schedules against values worked out by hand. */
#include "plugins/common/schedule/lr_schedule.h"

#include "lib/base/error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Products of two or three doubles near 1: a few units in the last place. */
#define TOLERANCE 1e-12

static void assert_rate(const struct orch_schedule *schedule, double epoch, double expected)
{
    double rate = orch_schedule_rate(schedule, epoch);
    if (fabs(rate - expected) > TOLERANCE)
        fail_msg("rate %.17g at epoch %g, expected %.17g", rate, epoch, expected);
}

static void test_kinds(void **state)
{
    (void)state;
    enum orch_schedule_kind kind = ORCH_SCHEDULE_CONSTANT;
    assert_true(orch_schedule_kind_parse("cosine", &kind));
    assert_int_equal(kind, ORCH_SCHEDULE_COSINE);
    assert_true(orch_schedule_kind_parse("steps", &kind));
    assert_int_equal(kind, ORCH_SCHEDULE_STEPS);
    assert_false(orch_schedule_kind_parse("straight", &kind));
    assert_int_equal(kind, ORCH_SCHEDULE_STEPS);
    assert_true(orch_schedule_kind_parse("linear", &kind));
    assert_int_equal(kind, ORCH_SCHEDULE_LINEAR);
}

static void test_constant_and_warmup(void **state)
{
    (void)state;
    struct orch_schedule schedule = {.lr = 0.4, .epochs = 10, .warmup_epochs = 2};
    assert_rate(&schedule, 0, 0.0);
    assert_rate(&schedule, 0.5, 0.1);
    assert_rate(&schedule, 2, 0.4);
    assert_rate(&schedule, 9.9, 0.4);
}

static void test_steps(void **state)
{
    (void)state;
    static const char *const texts[] = {"30%", "6", "90%"};
    struct orch_schedule schedule = {
        .kind = ORCH_SCHEDULE_STEPS, .lr = 1.0, .gamma = 0.1, .epochs = 10};
    size_t late = 99;
    assert_true(orch_schedule_milestones_parse(&schedule, texts, 3, &late, NULL));
    assert_int_equal(late, 0);
    assert_rate(&schedule, 0, 1.0);
    assert_rate(&schedule, 2.999, 1.0);
    assert_rate(&schedule, 3, 0.1); /* 0.3 * 10 is not exactly 3 in binary */
    assert_rate(&schedule, 6, 0.01);
    assert_rate(&schedule, 9.5, 0.001);
}

static void test_late_milestones_are_counted(void **state)
{
    (void)state;
    static const char *const texts[] = {"60", "120", "180"};
    struct orch_schedule schedule = {
        .kind = ORCH_SCHEDULE_STEPS, .lr = 1.0, .gamma = 0.1, .epochs = 120};
    size_t late = 0;
    assert_true(orch_schedule_milestones_parse(&schedule, texts, 3, &late, NULL));
    assert_int_equal(late, 2);
}

static void assert_refused(const char *const *texts, size_t count, const char *part)
{
    struct orch_schedule schedule = {.lr = 1.0, .epochs = 10, .milestone_count = 7};
    g_autoptr(GError) error = NULL;
    assert_false(orch_schedule_milestones_parse(&schedule, texts, count, NULL, &error));
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_RECIPE));
    assert_non_null(strstr(error->message, part));
    assert_int_equal(schedule.milestone_count, 7);
}

static void test_bad_milestones(void **state)
{
    (void)state;
    assert_refused((const char *const[]){"60", "thirty"}, 2, "'thirty'");
    assert_refused((const char *const[]){"%"}, 1, "'%'");
    assert_refused((const char *const[]){""}, 1, "''");
    assert_refused((const char *const[]){"-3"}, 1, "'-3'");
    assert_refused((const char *const[]){"50%", "4"}, 2, "is not after '50%'");
    const char *many[ORCH_MILESTONES_MAX + 1];
    for (size_t i = 0; i < G_N_ELEMENTS(many); i++)
        many[i] = "1";
    assert_refused(many, G_N_ELEMENTS(many), "65 milestones");
}

static void test_cosine(void **state)
{
    (void)state;
    struct orch_schedule schedule = {
        .kind = ORCH_SCHEDULE_COSINE, .lr = 1.0, .lr_min = 0.2, .epochs = 12, .warmup_epochs = 2};
    assert_rate(&schedule, 1, 0.5);
    assert_rate(&schedule, 2, 1.0);
    assert_rate(&schedule, 7, 0.6); /* half way: the mean of both ends */
    assert_rate(&schedule, 12, 0.2);
    assert_rate(&schedule, 13, 0.2);
}

/* One cycle: up from a fifth of the rate, then straight down to a tenth of it. */
static void test_triangle(void **state)
{
    (void)state;
    struct orch_schedule schedule = {.kind = ORCH_SCHEDULE_LINEAR,
                                     .lr = 1.0,
                                     .lr_min = 0.1,
                                     .epochs = 10,
                                     .warmup_epochs = 2,
                                     .warmup_start = 0.2};
    assert_rate(&schedule, 0, 0.2);
    assert_rate(&schedule, 1, 0.6);
    assert_rate(&schedule, 2, 1.0);
    assert_rate(&schedule, 6, 0.55);
    assert_rate(&schedule, 10, 0.1);
    assert_rate(&schedule, 11, 0.1);
    schedule.warmup_epochs = 0;
    assert_rate(&schedule, 0, 1.0);
    assert_rate(&schedule, 5, 0.55);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),          cmocka_unit_test(test_constant_and_warmup),
        cmocka_unit_test(test_steps),          cmocka_unit_test(test_late_milestones_are_counted),
        cmocka_unit_test(test_bad_milestones), cmocka_unit_test(test_cosine),
        cmocka_unit_test(test_triangle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
