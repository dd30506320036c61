/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plugin that neither listens to a cancel nor dies of SIGTERM fails the step that asks for it,
 * and is gone afterwards. Slow: it takes both graces. */
#include "features/plugins/conform.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

/* The tests' own compiled plugins lie outside of the program's folder. */
static bool allow(const char *path, const char *sha256, void *ctx)
{
    (void)path, (void)sha256, (void)ctx;
    return true;
}

static void test_deaf(void **state)
{
    (void)state;
    const char *build = g_getenv("ORCH_BUILD_DIR");
    g_autofree char *path =
        g_build_filename(build ? build : ".", "tests", "moody", "moody.so", NULL);
    const char *const settings[] = {"mood=deaf", NULL};
    struct orch_plugins *plugins = orch_plugins_new(NULL);
    orch_plugins_set_consent(plugins, allow, NULL);
    g_autoptr(GPtrArray) steps = orch_conform_run(plugins, path, NULL, settings, NULL);
    assert_non_null(steps);
    for (guint i = 0; i < steps->len; i++) {
        const struct orch_conform_step *step = steps->pdata[i];
        const bool is_cancel = strcmp(step->name, "cancel") == 0;
        assert_int_equal(step->outcome == ORCH_CONFORM_FAILED, is_cancel);
        if (is_cancel)
            assert_non_null(strstr(step->detail, "was killed"));
    }
    orch_plugins_free(plugins);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_deaf)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
