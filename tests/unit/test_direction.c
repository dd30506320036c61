/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib/wire/direction.h: which values of a metric are better, by declaration, unit and name. */
#include "lib/wire/direction.h"

#include "lib/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

static const struct {
    const char *name, *unit;
    enum orch_better expected;
} NAMES[] = {
    {"loss", NULL, ORCH_BETTER_MIN},
    {"val_loss", "", ORCH_BETTER_MIN},
    {"train/valLoss", NULL, ORCH_BETTER_MIN},
    {"loss/train", NULL, ORCH_BETTER_MIN},
    {"loss_per_token", NULL, ORCH_BETTER_MIN},
    {"Perplexity", NULL, ORCH_BETTER_MIN},
    {"accuracy_loss", NULL, ORCH_BETTER_MIN},
    {"time_per_epoch", NULL, ORCH_BETTER_MIN},
    {"ms_per_step", NULL, ORCH_BETTER_MIN},
    {"ms/step", NULL, ORCH_BETTER_MIN},
    {"latency_p99", NULL, ORCH_BETTER_MIN},
    {"wall_s", NULL, ORCH_BETTER_MIN},
    {"accuracy", NULL, ORCH_BETTER_MAX},
    {"eval.acc@1", NULL, ORCH_BETTER_MAX},
    {"top5_error", NULL, ORCH_BETTER_MIN},
    {"error_recall", NULL, ORCH_BETTER_MAX},
    {"mAP50(B)", NULL, ORCH_BETTER_MAX},
    {"F1", NULL, ORCH_BETTER_MAX},
    {"r2", NULL, ORCH_BETTER_MAX},
    {"images_per_s", NULL, ORCH_BETTER_MAX},
    {"tok/s", NULL, ORCH_BETTER_MAX},
    {"tokens per second", NULL, ORCH_BETTER_MAX},
    {"height", "s", ORCH_BETTER_MIN},
    {"loss", "images/s", ORCH_BETTER_MAX}, /* the unit is more certain */
    {"height", "m", ORCH_BETTER_NONE},
    {"height", "ms/step", ORCH_BETTER_MIN},
    {"height", "fps", ORCH_BETTER_MAX},
    {"images per minute", NULL, ORCH_BETTER_MAX},
    {"seconds", NULL, ORCH_BETTER_MIN},
    {"h", NULL, ORCH_BETTER_NONE},
    {"min", NULL, ORCH_BETTER_NONE},
    {"f", NULL, ORCH_BETTER_NONE},
    {"lr", NULL, ORCH_BETTER_NONE},
    {"gloss", NULL, ORCH_BETTER_NONE},
    {"größe", NULL, ORCH_BETTER_NONE},
    {"", NULL, ORCH_BETTER_NONE},
    {"/", NULL, ORCH_BETTER_NONE},
};

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(NAMES); i++) {
        const struct orch_direction found =
            orch_direction_of(NAMES[i].name, NAMES[i].unit, ORCH_BETTER_NONE);
        if (found.better != NAMES[i].expected)
            fail_msg("%s (%s): %s", NAMES[i].name, NAMES[i].unit ? NAMES[i].unit : "",
                     orch_better_word(found.better));
        assert_true((found.by != NULL) == (found.better != ORCH_BETTER_NONE));
    }
}

static void test_declared(void **state)
{
    (void)state;
    const struct orch_direction found = orch_direction_of("loss", "s", ORCH_BETTER_MAX);
    assert_int_equal(found.better, ORCH_BETTER_MAX);
    assert_null(found.by);
    assert_null(orch_direction_said("loss", found, true));
    assert_int_equal(orch_better_parse("max"), ORCH_BETTER_MAX);
    assert_int_equal(orch_better_parse("more"), ORCH_BETTER_NONE);
    assert_int_equal(orch_better_parse(NULL), ORCH_BETTER_NONE);
}

static void test_said(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    g_autofree char *lower =
        orch_direction_said("loss", orch_direction_of("loss", NULL, ORCH_BETTER_NONE), true);
    g_autofree char *higher =
        orch_direction_said("x", orch_direction_of("x", "images/s", ORCH_BETTER_NONE), false);
    assert_string_equal(lower, "loss: lower is better (by its name; --max reverses this)");
    assert_string_equal(higher, "x: higher is better (by its unit)");
    assert_false(orch_direction_unknown("height", ORCH_DIRECTION_HINT, &error));
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_USAGE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_declared),
        cmocka_unit_test(test_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
