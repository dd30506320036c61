/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Imports and paths that a script's text shows: every form of the import statement, and what looks
 * like one within strings, comments and other words. */
#include "core/inputs/scripts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* "..a.b c* | x.sh y.py | path": imports with their dots, `*` for a whole one, paths, sys.path. */
static char *summary(enum orch_script_language language, const char *text)
{
    struct orch_script_uses *uses = orch_script_uses_read(language, text);
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < uses->imports->len; i++) {
        const struct orch_script_import *import = uses->imports->pdata[i];
        g_string_append_printf(out, "%s%.*s%s%s", i ? " " : "", (int)import->level, "......",
                               import->module, import->is_whole ? "*" : "");
    }
    for (guint i = 0; i < uses->paths->len; i++)
        g_string_append_printf(out, " | %s", (char *)uses->paths->pdata[i]);
    if (uses->sets_path)
        g_string_append(out, " | sets path");
    orch_script_uses_free(uses);
    return g_string_free(out, FALSE);
}

static void test_python(void **state)
{
    (void)state;
    static const struct {
        const char *text, *uses;
    } cases[] = {
        {"import a", "a"},
        {"import a, b.c as d\nimport e;import f", "a b.c e f"},
        {"from a.b import c as d, e", "a.b a.b.c a.b.e"},
        {"from a import (b,  # one\n    c,\n)\nimport d\n", "a a.b a.c d"},
        {"from . import x\nfrom ..y.z import w\nfrom ... import v", ". .x ..y.z ..y.z.w ... ...v"},
        {"from a import *\nimport b", "a* b"},
        {"try:\n    import a\nexcept ImportError: import b\n", "a b"},
        {"import a \\\n  as b, \\\r\n  c", "a c"},
        {"from importlib import import_module\nimport_module('a.b'); __import__(\"c\")\n"
         "importlib.import_module('.d', 'p')\nimport_module(name)",
         "importlib importlib.import_module a.b c .d"},
        /* none of these imports anything */
        {"'''\nimport a\n'''\n\"\"\"x\\\"\"\"\"\n# import b\ns = 'import c'\nt = r'\\'\n", ""},
        {"raise E from e\nyield from f\nimport_x = 1\nx.import_ = 2\nd = {1: 'import g'}", ""},
        {"f(\nimport_, x)\nimport a", "a"},
        {"s = 'unclosed\nimport a\n'''unclosed\nimport b", "a"},
        {"\xef\xbb\xbfimport a\n", "a"},
        /* other scripts, and another search path */
        {"run(['python3', 'step2.py', \"lib/x.sh\", 'a b.py', f'{d}/n.py', '*.py'])",
         " | step2.py | lib/x.sh | a b.py"},
        {"import sys\nsys.path.insert(0, 'lib')\nimport a", "sys a | sets path"},
        {"import os\nos.path.join(1)", "os"},
        {"", ""},
        {"import", ""},
        {"from", ""},
        {"from a import", "a"},
        {"import a.", "a"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *uses = summary(ORCH_SCRIPT_PYTHON, cases[i].text);
        assert_string_equal(uses, cases[i].uses);
    }
}

static void test_shell(void **state)
{
    (void)state;
    static const struct {
        const char *text, *uses;
    } cases[] = {
        {"#!/bin/sh\n. ./lib.sh\npython3 train.py --lr $1 # not old.py\n",
         " | ./lib.sh | train.py"},
        {". \"$(dirname \"$0\")/lib.sh\"\nsource ${HERE}/a.sh; source $HERE/b.sh",
         " | lib.sh | a.sh | b.sh"},
        {"python3 -m pkg.train && echo x.txt", "pkg.train"},
        {"", ""},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *uses = summary(ORCH_SCRIPT_SHELL, cases[i].text);
        assert_string_equal(uses, cases[i].uses);
    }
}

static void test_others(void **state)
{
    (void)state;
    g_autofree char *uses =
        summary(ORCH_SCRIPT_OTHER, "source('helpers.R')\ninclude(\"x.jl\")\nimport a\nz.R");
    assert_string_equal(uses, " | helpers.R | x.jl");
}

static void test_languages(void **state)
{
    (void)state;
    assert_int_equal(orch_script_language_of("a/b.py"), ORCH_SCRIPT_PYTHON);
    assert_int_equal(orch_script_language_of("a.d/run"), ORCH_SCRIPT_NONE);
    assert_int_equal(orch_script_language_of("a/.sh"), ORCH_SCRIPT_NONE);
    assert_int_equal(orch_script_language_of("data.csv"), ORCH_SCRIPT_NONE);
    assert_int_equal(orch_script_language_of_text("#!/usr/bin/env python3\nsh"),
                     ORCH_SCRIPT_PYTHON);
    assert_int_equal(orch_script_language_of_text("#!/bin/bash\n"), ORCH_SCRIPT_SHELL);
    assert_int_equal(orch_script_language_of_text("# python\n"), ORCH_SCRIPT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_python),
        cmocka_unit_test(test_shell),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_languages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
