/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The conformance run: the three skeletons and the wrapped example pass as written; a plugin that
 * breaks one promise fails that step and no other. */
#include "features/plugins/conform.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "features/plugins/skeleton.h"
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

/* The tests' own compiled plugins lie outside of the program's folder. */
static bool allow(const char *path, const char *sha256, void *ctx)
{
    (void)path, (void)sha256, (void)ctx;
    return true;
}

static GPtrArray *run(const char *name, const char *const *settings)
{
    struct orch_plugins *plugins = orch_plugins_new(NULL);
    orch_plugins_set_consent(plugins, allow, NULL);
    GError *error = NULL;
    GPtrArray *steps = orch_conform_run(plugins, name, NULL, settings, &error);
    if (!steps)
        fail_msg("%s", error->message);
    orch_plugins_free(plugins);
    return steps;
}

static const struct orch_conform_step *step_of(const GPtrArray *steps, const char *name)
{
    for (guint i = 0; i < steps->len; i++) {
        const struct orch_conform_step *step = steps->pdata[i];
        if (strcmp(step->name, name) == 0)
            return step;
    }
    fail_msg("no step '%s'", name);
    return NULL;
}

/* `failing` fails and says `part`; nothing else does. NULL: nothing fails. */
static void expect_in(const char *name, const GPtrArray *steps, const char *failing,
                      const char *part)
{
    for (guint i = 0; i < steps->len; i++) {
        const struct orch_conform_step *step = steps->pdata[i];
        const bool is_expected = failing && strcmp(step->name, failing) == 0;
        if (is_expected != (step->outcome == ORCH_CONFORM_FAILED) ||
            (is_expected && !strstr(step->detail, part)))
            fail_msg("%s, step '%s': %s", name, step->name, step->detail);
    }
}

static void expect(const char *name, const char *const *settings, const char *failing,
                   const char *part)
{
    g_autoptr(GPtrArray) steps = run(name, settings);
    expect_in(name, steps, failing, part);
}

static void test_skeleton_in(const char *language, const char *ending)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) files = orch_skeleton_make("fresh", language, NULL, folder, &error);
    if (!files)
        fail_msg("%s", error->message);
    if (strcmp(language, "c") == 0) {
        char *argv[] = {(char *)(uintptr_t) "make", (char *)(uintptr_t) "-s",
                        (char *)(uintptr_t) "-C", folder, NULL};
        int status = -1;
        assert_true(g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
                                 &status, NULL));
        assert_int_equal(status, 0);
    }
    g_autofree char *path = g_strconcat(folder, "/fresh", ending, NULL);
    g_autoptr(GPtrArray) steps = run(path, NULL);
    expect_in(path, steps, NULL, NULL);
    assert_int_equal(step_of(steps, "smoke run")->outcome, ORCH_CONFORM_PASSED);
    assert_int_equal(step_of(steps, "equal seeds")->outcome, ORCH_CONFORM_PASSED);
    assert_int_equal(step_of(steps, "declared names")->outcome, ORCH_CONFORM_PASSED);
    assert_non_null(strstr(step_of(steps, "declared names")->detail, "and was reported"));
    assert_int_equal(step_of(steps, "cancel")->outcome, ORCH_CONFORM_PASSED);
}

static void test_skeleton_c(void **state)
{
    (void)state;
    test_skeleton_in("c", ".so");
}

static void test_skeleton_shell(void **state)
{
    (void)state;
    test_skeleton_in("shell", ".plugin");
}

static void test_skeleton_python(void **state)
{
    (void)state;
    test_skeleton_in("python", ".plugin");
}

static void test_example(void **state)
{
    (void)state;
    const char *source = g_getenv("ORCH_SOURCE_DIR");
    g_autofree char *path =
        g_build_filename(source ? source : "..", "plugins", "pyexample", "pyexample.plugin", NULL);
    expect(path, NULL, NULL, NULL);
}

static void test_moods(void **state)
{
    (void)state;
    const char *build = g_getenv("ORCH_BUILD_DIR");
    g_autofree char *path =
        g_build_filename(build ? build : ".", "tests", "moody", "moody.so", NULL);
    const char *const random[] = {"mood=random", NULL};
    const char *const refuse[] = {"mood=refuse", "late=no", NULL};
    const char *const fine[] = {"mood=fine", NULL};
    expect(path, random, "equal seeds", "'loss:0'");
    expect(path, refuse, "check", "not in the mood");
    g_autoptr(GPtrArray) steps = run(path, fine); /* it runs until it is told to stop */
    expect_in(path, steps, NULL, NULL);
    assert_non_null(strstr(step_of(steps, "cancel")->detail, "after the cancel"));
    const char *const undeclared[] = {"mood=undeclared", NULL};
    g_autoptr(GPtrArray) others = run(path, undeclared);
    assert_int_equal(step_of(others, "declared names")->outcome, ORCH_CONFORM_FAILED);
    assert_non_null(strstr(step_of(others, "declared names")->detail, "'lots'"));
    const char *const crash[] = {"mood=crash", "late=yes", NULL};
    g_autoptr(GPtrArray) crashed = run(path, crash);
    assert_int_equal(step_of(crashed, "check")->outcome, ORCH_CONFORM_PASSED);
    assert_int_equal(step_of(crashed, "smoke run")->outcome, ORCH_CONFORM_FAILED);
    assert_non_null(strstr(step_of(crashed, "smoke run")->detail, "about to crash"));
    assert_int_equal(step_of(crashed, "equal seeds")->outcome, ORCH_CONFORM_SKIPPED);
}

static void write_manifest(const char *text, char **out_path)
{
    *out_path = g_build_filename(folder, "x.plugin", NULL);
    assert_true(orch_file_write(*out_path, text, strlen(text), false, NULL));
}

static void test_wrapped_faults(void **state)
{
    (void)state;
    static const struct {
        const char *text, *step, *part;
    } cases[] = {
        {"comand: [x]\n", "manifest", "'comand'"},
        {"command: [sh, -c, \"echo loss 1; exit 3\"]\nmetrics: {loss: min}\n", "smoke run",
         "failed"},
        {"command: [sh, -c, \"echo loss $$$$\"]\nmetrics: {loss: min}\n", "equal seeds", "'loss'"},
        {"command: [sh, -c, \"echo loss 1\"]\nmetrics: {loss: min}\nartifacts: {w: w.txt}\n", NULL,
         "'w'"},
        {"command: [echo, hello]\nmetrics: {loss: min}\n", "declared names",
         "none of its 1 metrics was found"},
        {"command: [sh, -c, \"echo loss 1 more noise\"]\nmetrics: {loss: min}\n", NULL, NULL},
        {"command: [no-such-program-here]\n", "smoke run", "no-such-program-here"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = NULL;
        write_manifest(cases[i].text, &path);
        if (cases[i].step || !cases[i].part) {
            expect(path, NULL, cases[i].step, cases[i].part);
            continue;
        }
        g_autoptr(GPtrArray) steps = run(path, NULL); /* told by the host, or by us */
        GString *all = g_string_new(NULL);
        for (guint j = 0; j < steps->len; j++) {
            const struct orch_conform_step *step = steps->pdata[j];
            if (step->outcome == ORCH_CONFORM_FAILED)
                g_string_append(all, step->detail);
        }
        assert_non_null(strstr(all->str, cases[i].part));
        g_string_free(all, TRUE);
    }
}

/* What an earlier run by hand left beside the script is neither taken for the artifact nor changed.
 */
static void test_leftovers(void **state)
{
    (void)state;
    g_autofree char *path = NULL, *text = NULL;
    write_manifest("command: [sh, -c, \"echo loss 1; echo new > w.txt; echo more >> log.txt\"]\n"
                   "metrics: {loss: min}\nartifacts: {w: w.txt}\n",
                   &path);
    g_autofree char *artifact = g_build_filename(folder, "w.txt", NULL);
    g_autofree char *log = g_build_filename(folder, "log.txt", NULL);
    assert_true(orch_file_write(artifact, "old", 3, false, NULL));
    assert_true(orch_file_write(log, "old", 3, false, NULL));
    expect(path, NULL, NULL, NULL);
    assert_true(orch_file_read(artifact, 100, &text, NULL, NULL));
    assert_string_equal(text, "old");
    g_clear_pointer(&text, g_free);
    assert_true(orch_file_read(log, 100, &text, NULL, NULL));
    assert_string_equal(text, "old");
}

static void test_required_parameter(void **state)
{
    (void)state;
    g_autofree char *path = NULL;
    write_manifest("command: [sh, -c, \"echo loss ${x}\"]\nmetrics: {loss: min}\n"
                   "parameters: {x: {type: real}}\n",
                   &path);
    g_autoptr(GPtrArray) steps = run(path, NULL);
    assert_int_equal(step_of(steps, "smoke run")->outcome, ORCH_CONFORM_SKIPPED);
    assert_non_null(strstr(step_of(steps, "smoke run")->detail, "'x'"));
    const char *const settings[] = {"x=2", NULL};
    expect(path, settings, NULL, NULL);
    const char *const wrong[] = {"y=2", NULL};
    struct orch_plugins *plugins = orch_plugins_new(NULL);
    GError *error = NULL;
    assert_null(orch_conform_run(plugins, path, NULL, wrong, &error));
    assert_int_equal(error->code, ORCH_ERROR_USAGE);
    g_clear_error(&error);
    assert_null(orch_conform_run(plugins, "./no-such.plugin", folder, NULL, &error));
    assert_int_equal(error->code, ORCH_ERROR_NO_PLUGIN);
    g_clear_error(&error);
    orch_plugins_free(plugins);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_skeleton_c),      WITH_FOLDER(test_skeleton_shell),
        WITH_FOLDER(test_skeleton_python), cmocka_unit_test(test_example),
        cmocka_unit_test(test_moods),      WITH_FOLDER(test_wrapped_faults),
        WITH_FOLDER(test_leftovers),       WITH_FOLDER(test_required_parameter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
