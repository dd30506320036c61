/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors carry their hints: through copies, prefixes and findings, and the text stays whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/diag.h"
#include "lib/base/error.h"

#include <errno.h>
#include <string.h>

static void assert_parts(const GError *error, const char *what, const char *hint)
{
    g_autofree char *got = orch_error_what(error);
    assert_string_equal(got, what);
    if (hint)
        assert_string_equal(orch_error_hint(error), hint);
    else
        assert_null(orch_error_hint(error));
    g_autofree char *whole = g_strconcat(what, hint ? "\n  hint: " : "", hint ? hint : "", NULL);
    assert_string_equal(error->message, whole);
}

static void test_an_error_carries_its_hint(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    orch_error_set(&error, ORCH_ERROR_USAGE, "add --to %d%%", "no place '%s'", "x%s");
    assert_parts(error, "no place 'x%s'", "add --to %d%%");
    g_autoptr(GError) copy = g_error_copy(error);
    g_clear_error(&error);
    assert_parts(copy, "no place 'x%s'", "add --to %d%%");
    g_prefix_error(&copy, "run %d: ", 7);
    assert_parts(copy, "run 7: no place 'x%s'", "add --to %d%%");
    assert_true(g_error_matches(copy, ORCH_ERROR, ORCH_ERROR_USAGE));
}

static void test_errors_without_a_hint(void **state)
{
    (void)state;
    g_autoptr(GError) plain = NULL, full = NULL, foreign = NULL;
    orch_error_set(&plain, ORCH_ERROR_IO, NULL, "a text that says hint: is only a text");
    assert_parts(plain, "a text that says hint: is only a text", NULL);
    orch_error_set_errno(&full, ORCH_ERROR_IO, ENOSPC, "cannot write '%s'", "x");
    assert_non_null(orch_error_hint(full));
    assert_false(g_file_get_contents("/no/such/file", &(char *){NULL}, NULL, &foreign));
    assert_null(orch_error_hint(foreign));
    g_autofree char *what = orch_error_what(foreign);
    assert_string_equal(what, foreign->message);
    orch_error_set(NULL, ORCH_ERROR_IO, "hint", "nobody asks");
}

/* What is printed of findings is what it was: each with its place and its hint. */
static void test_findings(void **state)
{
    (void)state;
    static const struct {
        int count;
        const char *hints[3];
        const char *what, *hint;
    } cases[] = {
        {1, {NULL}, "wrong 0\n  at: f:1:2", NULL},
        {1, {"mend it"}, "wrong 0\n  at: f:1:2", "mend it"},
        {2, {NULL, "b"}, "wrong 0\n  at: f:1:2\nwrong 1\n  at: f:2:2", "b"},
        {3,
         {"a", NULL, "c"},
         "wrong 0\n  at: f:1:2",
         "a\nwrong 1\n  at: f:2:2\nwrong 2\n  at: f:3:2\n  hint: c"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct orch_diags *diags = orch_diags_new();
        g_autoptr(GError) error = NULL;
        for (int k = 0; k < cases[i].count; k++)
            orch_diags_add(diags, false, "f", 1 + k, 2, cases[i].hints[k], "wrong %d", k);
        assert_false(orch_diags_to_error(diags, &error));
        assert_parts(error, cases[i].what, cases[i].hint);
        orch_diags_free(diags);
    }
}

/* A name or a word of a damaged database may be any bytes, which JSON cannot hold. */
static void test_bytes_that_are_no_text(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    orch_error_set(&error, ORCH_ERROR_IO, "look at 'b\xfe'", "cannot read 'a\xff'");
    assert_parts(error, "cannot read 'a\xef\xbf\xbd'", "look at 'b\xef\xbf\xbd'");
}

static void test_a_hint_of_another_process(void **state)
{
    (void)state;
    char with[] = "it failed\n  hint: try again", without[] = "it failed";
    assert_string_equal(orch_hint_cut(with), "try again");
    assert_string_equal(with, "it failed");
    assert_null(orch_hint_cut(without));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_error_carries_its_hint),
        cmocka_unit_test(test_errors_without_a_hint),
        cmocka_unit_test(test_findings),
        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_a_hint_of_another_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
