/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comments and blank lines are no change of a Python script; everything else is. */
#include "core/inputs/scripts.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static bool digest_of(const char *text, char out[65])
{
    g_autofree char *name = NULL;
    int fd = g_file_open_tmp("orch-XXXXXX.py", &name, NULL);
    assert_true(fd >= 0 && g_file_set_contents(name, text, -1, NULL));
    bool ok = orch_script_file_digest(name, out);
    g_unlink(name);
    g_close(fd, NULL);
    return ok;
}

static bool is_same_code(const char *a, const char *b)
{
    char x[65], y[65];
    return digest_of(a, x) && digest_of(b, y) && strcmp(x, y) == 0;
}

static void test_same(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
    } pairs[] = {
        {"a = 1\n", "a = 1"},
        {"a = 1\n", "# about a\n\n\na = 1  # one\n\n"},
        {"if x:\n    y()\n", "if x:  # when\n\n# left\n    y()\n        # right\n"},
        {"f(1,\n  2)\n", "f(1,  # one\n\n     2)\n"},
        {"s = 'a # b'\n", "s = 'a # b' # c\n"},
        {"a=1\n", "a = 1\n"},
        {"import a\n", "\n#!no\nimport a\n"},
        {"", "# only\n"},
        {"x = f'{a[\"b\"]} # {c}'\n", "# now\nx = f'{a[\"b\"]} # {c}'\n"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++)
        assert_true(is_same_code(pairs[i].a, pairs[i].b));
}

static void test_different(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
    } pairs[] = {
        {"a = 1\n", "a = 2\n"},
        {"if x:\n    y()\n    z()\n", "if x:\n    y()\nz()\n"},
        {"if x:\n    y()\n", "if x:\n\ty()\n"},
        {"'''doc'''\n", "'''docs'''\n"},
        {"s = 'a # b'\n", "s = 'a # c'\n"},
        {"s = 'a'\n", "s = b'a'\n"},
        {"s = 'a'\n", "s = \"a\"\n"},
        {"a\nb\n", "a b\n"},
        {"a = 1\n", "a = 1\nb = 2\n"},
        {"#!/usr/bin/python3\na\n", "#!/usr/bin/python2\na\n"},
        {"# -*- coding: latin-1 -*-\na\n", "# -*- coding: utf-8 -*-\na\n"},
        {"# /// script\n# dependencies = ['a']\n# ///\n",
         "# /// script\n# dependencies = ['b']\n# ///\n"},
        {"s = '''\n# a\n'''\n", "s = '''\n# b\n'''\n"},
        /* nested quotes of Python 3.12: what follows "#" is code */
        {"x = f\"{a[\"#\"]}\" + b\n", "x = f\"{a[\"#\"]}\" + c\n"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++)
        assert_false(is_same_code(pairs[i].a, pairs[i].b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_different),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
