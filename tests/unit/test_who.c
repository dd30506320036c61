/* SPDX-License-Identifier: GPL-3.0-or-later */
/* People: names and addresses, who is the same, and whose name is taken. */
#include "lib/base/ident.h"

#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char full[] = "Ada Lovelace <ada@example.org>";

static void test_parts(void **state)
{
    (void)state;
    const struct {
        const char *who, *name, *address;
    } cases[] = {{full, "Ada Lovelace", "ada@example.org"},
                 {"ada", "ada", NULL},
                 {"ada@example.org", "ada@example.org", "ada@example.org"},
                 {"<ada@example.org>", "<ada@example.org>", "ada@example.org"},
                 {"a < b", "a < b", NULL},
                 {">", ">", NULL},
                 {"Ada <a> <b@c>", "Ada <a>", "b@c"}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *name = orch_who_name(cases[i].who);
        g_autofree char *address = orch_who_address(cases[i].who);
        assert_string_equal(name, cases[i].name);
        assert_int_equal(g_strcmp0(address, cases[i].address), 0);
    }
    assert_null(orch_who_name(NULL));
    assert_null(orch_who_address(NULL));
}

static void test_matches(void **state)
{
    (void)state;
    assert_true(orch_who_matches(full, full));
    assert_true(orch_who_matches(full, "Ada Lovelace"));
    assert_true(orch_who_matches(full, "ADA@example.org"));
    assert_false(orch_who_matches(full, "Ada"));
    assert_false(orch_who_matches(full, "ada lovelace"));
    assert_false(orch_who_matches(full, ""));
    assert_false(orch_who_matches(NULL, "Ada"));
}

static void test_same(void **state)
{
    (void)state;
    orch_user_set("bob");
    assert_true(orch_who_is_same("ada", "ada"));
    assert_true(orch_who_is_same(full, "Ada Lovelace"));
    assert_true(orch_who_is_same("Ada Lovelace", full));
    assert_true(orch_who_is_same(full, "A. L. <Ada@Example.org>"));
    assert_true(orch_who_is_same(full, "ada@example.org"));
    assert_false(orch_who_is_same(full, "Eve <eve@example.org>"));
    assert_false(orch_who_is_same("", ""));
    assert_false(orch_who_is_same(NULL, NULL));
    assert_false(orch_who_is_same(full, NULL));
    /* an older name of one's own: the login name */
    assert_false(orch_who_is_same(full, g_get_user_name()));
    assert_false(orch_who_is_same("bob", g_get_user_name()));
    orch_user_set(full);
    assert_true(orch_who_is_same(full, g_get_user_name()));
    assert_true(orch_who_is_same(g_get_user_name(), full));
    assert_false(orch_who_is_same("Eve <eve@example.org>", g_get_user_name()));
    orch_user_set(NULL);
}

static void test_clean(void **state)
{
    (void)state;
    char escape[] = "\x1b[31mAda\n\t Love\xe2\x80\xaelace\x7f ", bad[] = "A\xff";
    char long_name[500];
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    assert_string_equal(orch_who_clean(escape), "[31mAda   Love lace");
    assert_true(g_utf8_validate(orch_who_clean(bad), -1, NULL));
    assert_int_equal(strlen(orch_who_clean(long_name)), 200);
}

static char *find(void *ctx)
{
    ++*(int *)ctx;
    return g_strdup(" Grace Hopper <grace@example.org>\n");
}

static void test_order(void **state)
{
    (void)state;
    int asked = 0;
    unsetenv("ORCH_USER");
    assert_string_equal(orch_user_name(), g_get_user_name());
    orch_user_set_finder(find, &asked);
    setenv("ORCH_USER", "ada\033[2J", 1);
    assert_string_equal(orch_user_name(), "ada [2J");
    assert_int_equal(asked, 0);
    orch_user_set(NULL);
    unsetenv("ORCH_USER");
    assert_string_equal(orch_user_name(), "Grace Hopper <grace@example.org>");
    assert_string_equal(orch_user_name(), "Grace Hopper <grace@example.org>");
    assert_int_equal(asked, 1);
    orch_user_set("Me <me@example.org>");
    setenv("ORCH_USER", "ada", 1);
    assert_string_equal(orch_user_name(), "Me <me@example.org>");
    orch_user_set(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts), cmocka_unit_test(test_matches), cmocka_unit_test(test_same),
        cmocka_unit_test(test_clean), cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
