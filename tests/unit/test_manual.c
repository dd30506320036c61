/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages of the manual on a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/cli/manual.h"

#include <stdlib.h>
#include <string.h>

static void renders(const char *markdown, const char *heading, int columns, const char *expected)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    bool is_found = orch_manual_render(out, markdown, heading, columns);
    fclose(out);
    assert_int_equal(is_found, expected != NULL);
    if (expected)
        assert_string_equal(text, expected);
    free(text);
}

static void test_paragraphs(void **state)
{
    (void)state;
    renders("one two\nthree\n\nfour\n", NULL, 9, "one two\nthree\n\nfour\n");
    renders("one two\nthree\n", NULL, 100, "one two three\n");
    renders("- a point that\n  goes on\n- another\n", NULL, 10,
            "- a point\n  that\n  goes on\n- another\n");
    renders("12. a point\n    goes on\n", NULL, 10, "12. a\n    point\n    goes\n    on\n");
}

static void test_left_as_they_are(void **state)
{
    (void)state;
    renders("# A title\n\n| a | b |\n| --- | --- |\n\n    orch ls   # code\n", NULL, 8,
            "# A title\n\n| a | b |\n| --- | --- |\n\n    orch ls   # code\n");
    renders("```sh\norch ls   # [x](y)\n```\nafter\n", NULL, 8, "    orch ls   # [x](y)\nafter\n");
}

static void test_links(void **state)
{
    (void)state;
    renders("see [recipes.md](recipes.md#a-b), [x] and [y", NULL, 100,
            "see recipes.md, [x] and [y\n");
    renders("[a [b](c) d](e)", NULL, 100, "[a b d](e)\n");
}

static void test_sections(void **state)
{
    (void)state;
    const char *page =
        "# P\n\n## One\n\nfirst\n\n### Deep\n\nmore\n\n```\n# no heading\n```\n\n## Two\n\nx\n";
    renders(page, "One", 100, "## One\n\nfirst\n\n### Deep\n\nmore\n\n    # no heading\n");
    renders(page, "Two", 100, "## Two\n\nx\n");
    renders(page, "no heading", 100, NULL);
    renders("", NULL, 100, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paragraphs), cmocka_unit_test(test_left_as_they_are),
        cmocka_unit_test(test_links), cmocka_unit_test(test_sections)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
