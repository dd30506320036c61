/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where plugins are found and which one wins; questions to a real batch host, with the plugin
 * `moody` that crashes and hangs on demand. */
#include "core/plugin/plugins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

static char *folder; /* scratch: of one test */

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

static char *write_plugin(const char *relative, const char *text)
{
    char *path = g_build_filename(folder, relative, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    assert_true(orch_dir_make(parent, NULL));
    assert_true(orch_file_write(path, text, strlen(text), false, NULL));
    return path;
}

static char *in_folder(const char *relative)
{
    return g_build_filename(folder, relative, NULL);
}

#define assert_error(error, expected, part)                                                        \
    do {                                                                                           \
        assert_non_null(error);                                                                    \
        assert_int_equal((error)->code, expected);                                                 \
        if (!strstr((error)->message, part))                                                       \
            fail_msg("no '%s' in: %s", part, (error)->message);                                    \
        g_clear_error(&(error));                                                                   \
    } while (0)

/* ---- search -----------------------------------------------------------------------------------
 */

static void test_order(void **state)
{
    (void)state;
    g_autofree char *first = in_folder("first"), *base = in_folder("base"), *env = in_folder("env");
    g_free(write_plugin("first/a.plugin", "about: first\ncommand: [x]\n"));
    g_free(write_plugin("base/a.plugin", "about: base\ncommand: [x]\n"));
    g_free(write_plugin("base/b.plugin", "about: base\ncommand: [x]\n"));
    g_free(write_plugin("base/plugins/b.plugin", "about: below\ncommand: [x]\n"));
    g_free(write_plugin("base/plugins/c/c.plugin", "about: own folder\ncommand: [x]\n"));
    g_free(write_plugin("env/c.plugin", "about: env\ncommand: [x]\n"));
    g_free(write_plugin("env/d.plugin", "about: env\ncommand: [x]\n"));
    g_autofree char *path = g_strconcat("relative::", env, NULL);
    g_setenv("ORCH_PLUGIN_PATH", path, TRUE);
    const char *const folders[] = {first, NULL};
    struct orch_plugins *plugins = orch_plugins_new(folders);
    static const char *const expected[][2] = {
        {"a", "first"}, {"b", "base"}, {"c", "own folder"}, {"d", "env"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++) {
        const struct orch_manifest *m = orch_plugins_find(plugins, expected[i][0], base, NULL);
        assert_non_null(m);
        assert_string_equal(m->summary, expected[i][1]);
        assert_ptr_equal(m, orch_plugins_find(plugins, expected[i][0], base, NULL));
    }
    orch_plugins_free(plugins);
    g_unsetenv("ORCH_PLUGIN_PATH");
}

static const struct orch_plugin_entry *entry_at(const GPtrArray *entries, const char *end)
{
    for (guint i = 0; i < entries->len; i++) {
        const struct orch_plugin_entry *entry = entries->pdata[i];
        if (g_str_has_suffix(entry->path, end))
            return entry;
    }
    fail_msg("no entry '%s'", end);
    return NULL;
}

/* The tests' own compiled plugins lie outside of the program's folder. */
static bool allow(const char *path, const char *sha256, void *ctx)
{
    (void)path, (void)sha256, (void)ctx;
    return true;
}

static void test_list(void **state)
{
    (void)state;
    g_autofree char *base = in_folder("base");
    g_free(write_plugin("base/good.plugin", "command: [x]\n"));
    g_free(write_plugin("base/plugins/good.plugin", "command: [y]\n"));
    g_free(write_plugin("base/bad.plugin", "comand: [x]\n"));
    g_free(write_plugin("base/junk.so", "not a shared object"));
    g_free(write_plugin("base/README.md", "no plugin"));
    g_autofree char *link = in_folder("base/plugins/twice");
    g_autofree char *to = in_folder("base");
    assert_int_equal(symlink(to, link), 0); /* the same files again: nothing new */
    struct orch_plugins *plugins = orch_plugins_new(NULL);
    orch_plugins_set_consent(plugins, allow, NULL);
    g_autoptr(GPtrArray) entries = orch_plugins_list(plugins, base);
    const struct orch_plugin_entry *entry = entry_at(entries, "base/good.plugin");
    assert_non_null(entry->manifest);
    assert_null(entry->shadowed_by);
    const char *winner = entry->path;
    entry = entry_at(entries, "base/plugins/good.plugin");
    assert_string_equal(entry->shadowed_by, winner);
    entry = entry_at(entries, "base/bad.plugin");
    assert_null(entry->manifest);
    assert_non_null(strstr(entry->problem, "'comand'"));
    entry = entry_at(entries, "base/junk.so");
    assert_null(entry->manifest);
    assert_non_null(strstr(entry->problem, "junk.so"));
    assert_null(strstr(entry->problem, "stderr")); /* the host's own words, once */
    for (guint i = 0; i < entries->len; i++) {
        entry = entries->pdata[i];
        assert_null(strstr(entry->path, "README"));
    }
    orch_plugins_free(plugins);
}

static void test_not_found(void **state)
{
    (void)state;
    g_autofree char *base = in_folder("base");
    g_free(write_plugin("base/polish.plugin", "command: [x]\n"));
    g_free(write_plugin("base/notes.txt", "x"));
    struct orch_plugins *plugins = orch_plugins_new(NULL);
    GError *error = NULL;
    assert_null(orch_plugins_find(plugins, "polissh", base, &error));
    assert_non_null(strstr(error->message, base)); /* where it was looked for */
    assert_error(error, ORCH_ERROR_NO_PLUGIN, "did you mean 'polish'?");
    assert_null(orch_plugins_find(plugins, "polish.plugin", base, &error));
    assert_error(error, ORCH_ERROR_NO_PLUGIN, "'./polish.plugin'");
    assert_null(orch_plugins_find(plugins, "./absent.plugin", base, &error));
    assert_error(error, ORCH_ERROR_NO_PLUGIN, "there is no file");
    assert_null(orch_plugins_find(plugins, "./notes.txt", base, &error));
    assert_error(error, ORCH_ERROR_PLUGIN, "not the name of a plugin file");
    assert_non_null(orch_plugins_find(plugins, "./polish.plugin", base, &error));
    assert_null(orch_plugins_find(plugins, "polish", NULL, &error)); /* not the current folder */
    g_clear_error(&error);
    orch_plugins_free(plugins);
}

static void test_failure_is_not_remembered(void **state)
{
    (void)state;
    g_autofree char *path = write_plugin("base/x.plugin", "about: no command\n");
    g_autofree char *base = in_folder("base");
    struct orch_plugins *plugins = orch_plugins_new(NULL);
    GError *error = NULL;
    assert_null(orch_plugins_find(plugins, "x", base, &error));
    assert_error(error, ORCH_ERROR_PLUGIN, "needs 'command'");
    g_free(write_plugin("base/x.plugin", "command: [a]\n"));
    assert_non_null(orch_plugins_find(plugins, "x", base, NULL));
    orch_plugins_free(plugins);
}

static void test_world_writable(void **state)
{
    (void)state;
    g_autofree char *path = write_plugin("base/x.plugin", "command: [a]\n");
    g_autofree char *base = in_folder("base");
    assert_int_equal(chmod(path, 0666), 0);
    struct orch_plugins *plugins = orch_plugins_new(NULL);
    GError *error = NULL;
    assert_null(orch_plugins_find(plugins, "x", base, &error));
    assert_error(error, ORCH_ERROR_PLUGIN, "chmod o-w");
    assert_int_equal(chmod(path, 0644), 0);
    assert_non_null(orch_plugins_find(plugins, "x", base, NULL));
    orch_plugins_free(plugins);
}

/* ---- batch ------------------------------------------------------------------------------------
 */

static char *moody_path(void)
{
    const char *build = g_getenv("ORCH_BUILD_DIR");
    return g_build_filename(build ? build : ".", "tests", "moody", "moody.so", NULL);
}

static struct orch_plugins *open_moody_within(double seconds, const struct orch_manifest **out)
{
    g_autofree char *path = moody_path();
    GError *error = NULL;
    struct orch_plugins *plugins = orch_plugins_new(NULL);
    orch_plugins_set_timeout(plugins, seconds);
    orch_plugins_set_consent(plugins, allow, NULL);
    *out = orch_plugins_find(plugins, path, NULL, &error);
    if (!*out)
        fail_msg("%s", error->message);
    return plugins;
}

static struct orch_plugins *open_moody(const struct orch_manifest **out)
{
    return open_moody_within(60, out); /* never reached, on however busy a machine */
}

static json_t *mood(const char *word, int number)
{
    return json_pack("{s:s, s:i, s:b}", "mood", word, "number", number, "late", 0);
}

/* check() with a mood; the error, or NULL. */
static GError *check_mood(struct orch_plugins *plugins, const struct orch_manifest *manifest,
                          const char *word)
{
    GError *error = NULL;
    json_t *params = mood(word, 1);
    bool ok = orch_plugins_check(plugins, manifest, params, NULL, &error);
    assert_int_equal(ok, error == NULL);
    json_decref(params);
    return error;
}

static void test_manifest_of_compiled(void **state)
{
    (void)state;
    const struct orch_manifest *m;
    struct orch_plugins *plugins = open_moody(&m);
    assert_int_equal(m->kind, ORCH_PLUGIN_COMPILED);
    assert_string_equal(m->name, "moody");
    assert_string_equal(m->version, "1.2.3");
    assert_true(g_path_is_absolute(m->path));
    assert_int_equal(m->params->len, 3);
    assert_string_equal(orch_manifest_param(m, "mood")->def, "fine");
    assert_true(m->has_check && m->has_cost);
    orch_plugins_free(plugins);
}

static void test_check_and_cost(void **state)
{
    (void)state;
    const struct orch_manifest *m;
    struct orch_plugins *plugins = open_moody(&m);
    json_t *params = mood("fine", 3);
    struct orch_checked checked;
    assert_true(orch_plugins_check(plugins, m, params, &checked, NULL));
    assert_int_equal(checked.inputs->len, 1);
    const struct orch_checked_input *input = checked.inputs->pdata[0];
    assert_string_equal(input->name, "data");
    assert_true(g_str_has_prefix(input->sha256, "e3b0c442"));
    assert_int_equal(checked.warnings->len, 0);
    orch_checked_clear(&checked);
    json_t *cost = orch_plugins_cost(plugins, m, params, NULL);
    assert_int_equal(json_integer_value(json_object_get(cost, "images")), 3000);
    assert_string_equal(json_string_value(json_object_get(cost, "network")), "lenet5");
    assert_null(json_object_get(cost, "precision"));
    json_decref(cost);
    json_decref(params);
    GError *error = check_mood(plugins, m, "refuse");
    assert_error(error, ORCH_ERROR_RECIPE, "not in the mood");
    error = check_mood(plugins, m, "noise");
    assert_null(error);
    params = mood("worried", 3);
    assert_true(orch_plugins_check(plugins, m, params, &checked, NULL));
    assert_int_equal(checked.warnings->len, 1);
    assert_string_equal(checked.warnings->pdata[0], "this could take a while");
    orch_checked_clear(&checked);
    json_decref(params);
    orch_plugins_free(plugins);
}

static void test_crash(void **state)
{
    (void)state;
    const struct orch_manifest *m;
    struct orch_plugins *plugins = open_moody(&m);
    GError *error = check_mood(plugins, m, "crash");
    assert_non_null(error);
    assert_non_null(strstr(error->message, "stderr: about to crash"));
    assert_non_null(strstr(error->message, "check"));
    assert_error(error, ORCH_ERROR_PLUGIN, "signal 11 (SIGSEGV)");
    error = check_mood(plugins, m, "fine"); /* a new host answers */
    assert_null(error);
    error = check_mood(plugins, m, "leave");
    assert_error(error, ORCH_ERROR_PLUGIN, "moody");
    json_t *params = mood("crash", 2);
    assert_null(orch_plugins_cost(plugins, m, params, &error));
    assert_error(error, ORCH_ERROR_PLUGIN, "cost");
    json_decref(params);
    orch_plugins_free(plugins);
}

static void test_hang(void **state)
{
    (void)state;
    const struct orch_manifest *m;
    struct orch_plugins *plugins = open_moody_within(4, &m); /* time enough to load it */
    GError *error = check_mood(plugins, m, "hang");
    assert_error(error, ORCH_ERROR_PLUGIN, "within 4 s");
    const int64_t start_ns = orch_mono_ns();
    error = check_mood(plugins, m, "fine"); /* not asked again */
    assert_error(error, ORCH_ERROR_PLUGIN, "within 4 s");
    assert_true((double)(orch_mono_ns() - start_ns) / 1e9 < 3);
    orch_plugins_free(plugins);
}

/* 500 trials: their answers are fetched at once, and are there afterwards, the refusals too. */
static void test_ask_ahead(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    const struct orch_manifest *m;
    struct orch_plugins *plugins = open_moody(&m);
    json_t *params[COUNT];
    for (int i = 0; i < COUNT; i++)
        params[i] = mood(i % 10 ? "fine" : "refuse", i / 2);
    orch_plugins_prefetch(plugins, m, params, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(orch_plugins_check(plugins, m, params[i], NULL, NULL), i % 10 != 0);
        json_t *cost = orch_plugins_cost(plugins, m, params[i], NULL);
        assert_int_equal(json_integer_value(json_object_get(cost, "batch")), 10);
        json_decref(cost);
    }
    json_t *bad = mood("crash", COUNT);
    orch_plugins_prefetch(plugins, m, &bad, 1);                         /* tells nothing */
    assert_true(orch_plugins_check(plugins, m, params[1], NULL, NULL)); /* from memory */
    assert_false(orch_plugins_check(plugins, m, bad, NULL, NULL));
    json_decref(bad);
    for (int i = 0; i < COUNT; i++)
        json_decref(params[i]);
    orch_plugins_free(plugins);
}

static void test_file_name_is_the_name(void **state)
{
    (void)state;
    g_autofree char *from = moody_path(), *to = in_folder("other.so"), *text = NULL;
    size_t length;
    assert_true(orch_file_read(from, 1 << 24, &text, &length, NULL));
    assert_true(orch_file_write(to, text, length, false, NULL));
    struct orch_plugins *plugins = orch_plugins_new(NULL);
    GError *error = NULL;
    assert_null(orch_plugins_find(plugins, to, NULL, &error));
    assert_error(error, ORCH_ERROR_TRUST, "orch plugin trust");
    orch_plugins_set_consent(plugins, allow, NULL);
    assert_null(orch_plugins_find(plugins, to, NULL, &error));
    assert_error(error, ORCH_ERROR_PLUGIN, "moody");
    orch_plugins_free(plugins);
}

/* ---- the Python module -------------------------------------------------------------------------
 */

static void test_python_path(void **state)
{
    (void)state;
    g_autofree char *path = orch_plugins_python_path();
    assert_non_null(path);
    g_autofree char *helper = g_build_filename(path, "orch", "__init__.py", NULL);
    assert_true(g_file_test(helper, G_FILE_TEST_IS_REGULAR));
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_order),
        WITH_FOLDER(test_list),
        WITH_FOLDER(test_not_found),
        WITH_FOLDER(test_failure_is_not_remembered),
        WITH_FOLDER(test_world_writable),
        cmocka_unit_test(test_manifest_of_compiled),
        cmocka_unit_test(test_check_and_cost),
        cmocka_unit_test(test_crash),
        cmocka_unit_test(test_hang),
        cmocka_unit_test(test_ask_ahead),
        WITH_FOLDER(test_file_name_is_the_name),
        cmocka_unit_test(test_python_path),
    };
    g_unsetenv("ORCH_PLUGIN_PATH");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
