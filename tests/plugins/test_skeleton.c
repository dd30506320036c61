/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Skeletons of plugins: every placeholder is filled in, and no file is overwritten. */
#include "features/plugins/skeleton.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <string.h>

static char *folder;

static int make_folder(void **state)
{
    (void)state;
    folder = g_dir_make_tmp("orch-test-XXXXXX", NULL);
    return folder ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    bool ok = orch_tree_remove(folder, NULL);
    g_clear_pointer(&folder, g_free);
    return ok ? 0 : -1;
}

static void assert_error(GError *error, int code, const char *text)
{
    assert_non_null(error);
    assert_int_equal(error->code, code);
    assert_non_null(strstr(error->message, text));
    g_error_free(error);
}

static void test_skeletons(void **state)
{
    (void)state;
    static const char *const languages[] = {"c", "shell", "python", NULL};
    for (const char *const *language = languages; *language; language++) {
        g_autofree char *dir = g_build_filename(folder, *language, NULL);
        GError *error = NULL;
        g_autoptr(GPtrArray) files = orch_skeleton_make("my-plugin", *language, NULL, dir, &error);
        if (!files)
            fail_msg("%s", error->message);
        assert_true(files->len >= 2);
        for (guint i = 0; i < files->len; i++) {
            g_autofree char *text = NULL;
            assert_true(orch_file_read(files->pdata[i], 1 << 20, &text, NULL, NULL));
            assert_null(strstr(text, "@NAME@"));
            assert_null(strstr(text, "@INCLUDE@"));
            assert_null(strstr(text, "@PYTHON@"));
        }
        assert_null(orch_skeleton_make("my-plugin", *language, NULL, dir, &error));
        assert_error(g_steal_pointer(&error), ORCH_ERROR_USAGE, "was not overwritten");
    }
}

static void test_skeleton_errors(void **state)
{
    (void)state;
    GError *error = NULL;
    assert_null(orch_skeleton_make("My Plugin", "c", NULL, folder, &error));
    assert_error(g_steal_pointer(&error), ORCH_ERROR_USAGE, "not valid");
    assert_null(orch_skeleton_make("mine", "pyton", NULL, folder, &error));
    assert_error(error, ORCH_ERROR_USAGE, "did you mean 'python'?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_skeletons, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_skeleton_errors, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
