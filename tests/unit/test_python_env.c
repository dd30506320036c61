/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Python that a command starts, its version and its packages, read from folders made here:
 * links, launchers, virtual environments, headers and binaries that say too little. Nothing is
 * executed. */
#include "core/workspace/python_env.h"
#include "core/workspace/python_interpreter.h"
#include "tests/store/fixture.h"

#include <sys/stat.h>

static char *folder;

static int set_up(void **state)
{
    (void)state;
    folder = fixture_folder();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_remove(folder);
    return 0;
}

static char *below(const char *relative)
{
    return g_build_filename(folder, relative, NULL);
}

static void put_bytes(const char *relative, const void *bytes, size_t length)
{
    g_autofree char *path = below(relative), *parent = g_path_get_dirname(path);
    assert_ok(orch_dir_make(parent, error));
    assert_ok(orch_file_write(path, bytes, length, false, error));
    assert_int_equal(chmod(path, 0755), 0);
}

static void put(const char *relative, const char *text)
{
    put_bytes(relative, text, strlen(text));
}

/* ---- which interpreter ------------------------------------------------------------------------
 */

static void assert_starts(const char *word, const char *relative)
{
    g_auto(GStrv) words = g_strsplit(word, " ", -1);
    g_autofree char *found = orch_python_interpreter(words, folder);
    g_autofree char *wanted = relative ? below(relative) : NULL;
    if (g_strcmp0(found, wanted) != 0)
        fail_msg("'%s' starts %s, not %s", word, found ? found : "nothing known",
                 wanted ? wanted : "nothing known");
}

static void test_interpreter(void **state)
{
    (void)state;
    g_autofree char *python = below("bin/python3"), *path = below("bin");
    g_autofree char *direct = g_strdup_printf("#!%s -u\nprint()\n", python);
    g_autofree char *hop = g_strdup_printf("#! %s/direct\n", folder);
    put("bin/python3", "binary");
    put("direct", direct);
    put("hop", hop);
    put("by_env", "#!/usr/bin/env python3\n");
    put("by_env_with_options", "#!/usr/bin/env -S A=b  python3 -u\n");
    put("env_of_nothing", "#!/usr/bin/env -S A=b\n");
    put("shell", "#!/bin/sh\n");
    put("no_line", "print()\n");
    put("only_mark", "#!\n");
    put("short", "#");
    put("bin/pythonic", "no\n");
    g_autofree char *circle = g_strdup_printf("#!%s/circle\n", folder);
    put("circle", circle);
    g_autofree char *before = g_strdup(g_getenv("PATH"));
    g_setenv("PATH", path, TRUE);
    assert_starts("./bin/python3", "bin/python3");
    assert_starts("python3", "bin/python3");
    assert_starts("./direct", "bin/python3");
    assert_starts("./hop", "bin/python3");
    assert_starts("./by_env", "bin/python3");
    assert_starts("./by_env_with_options", "bin/python3");
    /* what starts a program in its arguments, and shell scripts */
    g_autofree char *exec = g_strdup_printf("#!/bin/sh\n# python9 x\nexec \"%s\" \"$@\"\n", python);
    put("by_exec", exec);
    put("by_lines", "#!/usr/bin/env sh\nset -e\nA=1 B='x y' python3 -u a.py | tee log\n");
    put("root/shims/python3", "#!/bin/sh\nexec pyenv exec python3 \"$@\"\n");
    put("root/versions/3.9.1/bin/python3", "binary");
    put("root/version", "3.9.1\n");
    assert_starts("./by_exec a.py", "bin/python3");
    assert_starts("./by_lines", "bin/python3");
    assert_starts("sh by_lines", "bin/python3");
    assert_starts("sh -ec python3", "bin/python3");
    assert_starts("env -u X A=1 nice -n 5 timeout -s KILL 60 python3 a.py", "bin/python3");
    assert_starts("nohup ./hop", "bin/python3");
    assert_starts("root/shims/python3", "root/versions/3.9.1/bin/python3");
    assert_starts("uv run python3", NULL);
    static const char *const nothing[] = {
        "./env_of_nothing", "./shell",   "./no_line", "./only_mark",    "./short",
        "./circle",         "./missing", "missing",   "./bin/pythonic", "./bin"};
    for (size_t i = 0; i < G_N_ELEMENTS(nothing); i++)
        assert_starts(nothing[i], NULL);
    g_setenv("PATH", before, TRUE);
}

/* ---- version ----------------------------------------------------------------------------------
 */

static void assert_version(const char *relative, const char *wanted)
{
    g_autofree char *path = below(relative);
    struct orch_python *python = orch_python_read(path);
    if (g_strcmp0(python->version, wanted) != 0)
        fail_msg("%s: version %s, not %s", relative, python->version ? python->version : "unknown",
                 wanted ? wanted : "unknown");
    orch_python_free(python);
}

static void test_version(void **state)
{
    (void)state;
    /* of the header, which has other macros too */
    put("a/bin/python3.11", "binary");
    put("a/include/python3.11/patchlevel.h",
        "#define PY_VERSION_HEX 1\n#define PY_VERSION      \t\"3.11.7+\"\n");
    assert_version("a/bin/python3.11", "3.11.7+");
    /* of a header of another series, and of one without a text: not taken */
    put("b/bin/python3.11", "binary");
    put("b/include/python3.11/patchlevel.h", "#define PY_VERSION \"2.7\"\n");
    assert_version("b/bin/python3.11", NULL);
    put("b/include/python3.11/patchlevel.h", "#define PY_VERSION 3\n");
    assert_version("b/bin/python3.11", NULL);
    put("b/include/python3.11/patchlevel.h", "#define PY_VERSION_HEX 3\n");
    assert_version("b/bin/python3.11", NULL);
    /* of the code, between zero bytes */
    static const char code[] = "3.11.9\0x3.11.8\0\0003.11.x\0\0003.11.8-\0\0003.11.5rc1\0";
    put_bytes("c/bin/python3.11", code, sizeof code);
    assert_version("c/bin/python3.11", "3.11.5rc1");
    /* of the library where the program is a launcher, and the series of its only lib folder */
    static const char library[] = "\0003.12.1\0";
    put("d/bin/python3", "launcher");
    put_bytes("d/lib64/libpython3.12.so.1.0", library, sizeof library);
    put("d/lib/python3.12/os.py", "");
    put("d/lib/aaa", "");
    assert_version("d/bin/python3", "3.12.1");
    /* of neither */
    put("e/bin/python", "x");
    assert_version("e/bin/python", NULL);
    assert_version("e/bin/python3.9", NULL); /* which does not exist */
    struct orch_python *none = NULL;
    orch_python_free(none);
}

/* ---- packages ---------------------------------------------------------------------------------
 */

static char *packages_of(const char *relative)
{
    g_autofree char *path = below(relative);
    struct orch_python *python = orch_python_read(path);
    g_ptr_array_add(python->names, NULL);
    char *all = g_strjoinv(", ", (char **)python->names->pdata);
    g_ptr_array_remove_index(python->names, python->names->len - 1);
    orch_python_free(python);
    return all;
}

static void assert_packages(const char *relative, const char *wanted)
{
    g_autofree char *found = packages_of(relative);
    assert_string_equal(found, wanted);
}

static void test_packages(void **state)
{
    (void)state;
    g_autofree char *home = below("home");
    g_setenv("HOME", home, TRUE);
    put("base/bin/python3.11", "binary");
    put("base/lib/python3.11/site-packages/PyYAML-6.0.dist-info/METADATA", "");
    put("base/lib/python3.11/site-packages/old_one-1.0-py3.11.egg-info", "");
    put("base/lib/python3.11/site-packages/odd.dist-info/METADATA", ""); /* no version */
    put("base/lib/python3.11/site-packages/numpy/x", "");
    put("base/lib/python3.11/site-packages/b\xff-1.dist-info/METADATA", "");
    put("base/lib/python3/dist-packages/debian-2.dist-info/METADATA", "");
    assert_packages("base/bin/python3.11", "b\xef\xbf\xbd 1, debian 2, old-one 1.0, pyyaml 6.0");
    /* a virtual environment without the packages of its base, and one with them */
    static const char *const configs[] = {"home = x\n", "include-system-site-packages\n",
                                          "Include-System-Site-Packages = false\n",
                                          "include-system-site-packages =  true\n"};
    g_autofree char *base = below("base/bin/python3.11"), *link = below("env/bin/python");
    put("env/lib/python3.11/site-packages/torch-2.5.1.dist-info/METADATA", "");
    g_autofree char *bin = below("env/bin");
    assert_ok(orch_dir_make(bin, error));
    assert_int_equal(symlink(base, link), 0);
    for (size_t i = 0; i < G_N_ELEMENTS(configs); i++) {
        put("env/pyvenv.cfg", configs[i]);
        assert_packages("env/bin/python",
                        i < 3 ? "torch 2.5.1"
                              : "b\xef\xbf\xbd 1, debian 2, old-one 1.0, pyyaml 6.0, torch 2.5.1");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_interpreter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_version, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_packages, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
