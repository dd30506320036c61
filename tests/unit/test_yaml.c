/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib/yaml: the tree and its places, every refusal with its place, and hostile texts within a
 * second. */
#include "lib/base/ident.h"
#include "lib/yaml/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

struct result {
    struct orch_yaml *root;
    struct orch_diags *diags;
    double took_s;
};

static struct result parse(const char *text, size_t length)
{
    struct result result = {.diags = orch_diags_new()};
    int64_t start = orch_mono_ns();
    result.root = orch_yaml_parse("t", text, length, result.diags);
    result.took_s = (double)(orch_mono_ns() - start) / 1e9;
    return result;
}

static void release(struct result *result)
{
    orch_yaml_free(result->root);
    orch_diags_free(result->diags);
}

/* All findings as "line:column what\n". */
static char *findings(const struct orch_diags *diags)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < diags->items->len; i++) {
        const struct orch_diag *diag = diags->items->pdata[i];
        g_string_append_printf(text, "%d:%d %s\n", diag->line, diag->column, diag->what);
    }
    return g_string_free(text, FALSE);
}

static void refuses(const char *text, size_t length, const char *expected)
{
    struct result result = parse(text, length);
    g_autofree char *found = findings(result.diags);
    assert_string_equal(found, expected);
    assert_null(result.root);
    release(&result);
}

static void assert_place(const struct orch_yaml *node, int line, int column)
{
    assert_non_null(node);
    assert_int_equal(node->line, line);
    assert_int_equal(node->column, column);
}

static void test_tree(void **state)
{
    (void)state;
    static const char text[] = "a: 1\n"
                               "b:\n"
                               "  - x\n"
                               "  - \"y\"\n"
                               "c: { d: 1, e: [1, 2] }\n"
                               "g:\n"
                               "h: ~\n"
                               "q: \"\"\n";
    struct result result = parse(text, strlen(text));
    const struct orch_yaml *root = result.root;
    assert_non_null(root);
    assert_string_equal(orch_yaml_get(root, "a")->text, "1");
    assert_place(orch_yaml_get(root, "a"), 1, 4);
    assert_place(orch_yaml_get_key(root, "b"), 2, 1);
    const struct orch_yaml *b = orch_yaml_get(root, "b");
    assert_int_equal(b->kind, ORCH_YAML_LIST);
    assert_false(b->flow);
    const struct orch_yaml *y = b->items->pdata[1];
    assert_true(y->quoted);
    assert_place(y, 4, 5);
    const struct orch_yaml *e = orch_yaml_get(orch_yaml_get(root, "c"), "e");
    assert_true(e->flow);
    assert_place(e, 5, 15);
    assert_place(orch_yaml_get(root, "g"), 6, 1);
    assert_true(orch_yaml_is_null(orch_yaml_get(root, "g")));
    assert_true(orch_yaml_is_null(orch_yaml_get(root, "h")));
    assert_false(orch_yaml_is_null(orch_yaml_get(root, "q")));
    assert_null(orch_yaml_get(root, "z"));
    assert_null(orch_yaml_get(orch_yaml_get(root, "a"), "z"));
    release(&result);
}

static void test_line_ends_and_marks(void **state)
{
    (void)state;
    struct result crlf = parse("a: 1\r\nb:\r\n  c: 2\r\n", 18);
    assert_non_null(crlf.root);
    assert_string_equal(orch_yaml_get(crlf.root, "a")->text, "1");
    assert_place(orch_yaml_get(orch_yaml_get(crlf.root, "b"), "c"), 3, 6);
    release(&crlf);
    struct result bom = parse("\xef\xbb\xbf"
                              "a: 1\n",
                              8);
    assert_non_null(bom.root);
    assert_place(orch_yaml_get_key(bom.root, "a"), 1, 1);
    release(&bom);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", "1:1 't' is empty\n"},
        {"# only a comment\n", "1:1 't' is empty\n"},
        {"a: 1\nb: 2\n a: 3\n", "2:4 not valid YAML: invalid multiline plain key\n"},
        {"a: [1, 2\nb: 3\n", "3:1 not valid YAML: flow sequence without a closing bracket\n"},
        {"a: 1\n---\nb: 2\n", "2:1 a second document ('---')\n"},
        {"? [a, b]\n: 1\n", "1:3 a key must be plain text, found a list or map\n"},
        {"a: \x01\n", "1:4 't' holds a control character\n"},
        {"a: 1\nb: \xff\n", "2:4 't' is not UTF-8 text\n"},
        {"a:\n\tb: 2\n", "2:1 not valid YAML: tab character may not be used as indentation\n"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++)
        refuses(cases[i].text, strlen(cases[i].text), cases[i].expected);
    refuses("a: \0b", 5, "1:4 't' holds a NUL byte\n");
    refuses("a: \"x\\0y\"", 9, "1:5 a text holds a NUL character\n");
    refuses("\"x\\x00y\": a", 11, "1:2 a text holds a NUL character\n");
}

static void test_one_pass(void **state)
{
    (void)state;
    static const char text[] = "a: &x 1\n"
                               "b: *x\n"
                               "c: !!int 3\n"
                               "a: { p: 1, p: { p: 1, p: [2] } }\n"
                               "d: { z: 1, z: { y: 1, y: { k: 2 } } }\n";
    refuses(text, strlen(text),
            "1:4 anchors ('&name') are not allowed\n"
            "2:4 aliases ('*name') are not allowed\n"
            "3:4 tags ('!name') are not allowed\n"
            "4:1 duplicate key 'a' (first at line 1, column 1)\n"
            "4:12 duplicate key 'p' (first at line 4, column 6)\n"
            "4:23 duplicate key 'p' (first at line 4, column 17)\n"
            "5:12 duplicate key 'z' (first at line 5, column 6)\n"
            "5:23 duplicate key 'y' (first at line 5, column 17)\n");
}

static void test_syntax_comes_alone(void **state)
{
    (void)state;
    static const char text[] = "a: &x 1\na: 2\nb: { w: ${x.y} }\n";
    struct result result = parse(text, strlen(text));
    assert_int_equal(result.diags->error_count, 1);
    const struct orch_diag *diag = result.diags->items->pdata[0];
    assert_int_equal(diag->line, 3);
    assert_non_null(strstr(diag->hint, "quotes"));
    release(&result);
}

static char *repeated(const char *head, const char *unit, size_t count, const char *tail)
{
    GString *text = g_string_new(head);
    for (size_t i = 0; i < count; i++)
        g_string_append(text, unit);
    g_string_append(text, tail);
    return g_string_free(text, FALSE);
}

/* Each must be refused, quickly, with at least one finding; the first begins as said. */
static void test_hostile(void **state)
{
    (void)state;
    static const struct {
        const char *head, *unit;
        size_t count;
        const char *tail, *begins;
    } cases[] = {
        {"", "k: 1\n", 20000, "", "duplicate key 'k' (first at line 1, column 1)"},
        {"a: ", "[", 100000, "", "nested deeper than 64 levels"},
        {"", "- ", 100000, "x", "nested deeper than 64 levels"},
        {"", "? ", 300000, "", "a key must be plain text"},
        {"{", "x, ", 300000, "}", "duplicate key 'x'"},
        {"a: &a [x]\n", "b: [*a, *a, *a]\n", 60000, "", "anchors"},
        {"a: ", "x", 10 << 20, "\n", "'t' is larger than 1 MiB"},
        {"\"", "\\", 1000001, "", "not valid YAML"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text =
            repeated(cases[i].head, cases[i].unit, cases[i].count, cases[i].tail);
        struct result result = parse(text, strlen(text));
        assert_null(result.root);
        assert_true(result.diags->error_count >= 1);
        const struct orch_diag *first = result.diags->items->pdata[0];
        if (!g_str_has_prefix(first->what, cases[i].begins))
            fail_msg("case %u: '%s'", i, first->what);
        /* 0.2 s here, 2 s under AddressSanitizer, which busy hosts multiply; what is quadratic in
         * the size takes many minutes */
        assert_true(result.took_s < 60);
        release(&result);
    }
}

static void test_junk(void **state)
{
    (void)state;
    char bytes[4096];
    uint32_t random = 12345;
    for (unsigned round = 0; round < 300; round++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            random = random * 1664525u + 1013904223u;
            bytes[i] =
                round % 2 ? (char)(random >> 24) : "{}[]:,-?&*!|>'\"#%@` \nab\t"[random >> 24 & 15];
        }
        struct result result = parse(bytes, round % 2 ? sizeof bytes : 200);
        assert_true((result.root != NULL) == (result.diags->error_count == 0));
        release(&result);
    }
}

static void test_check_keys(void **state)
{
    (void)state;
    struct result result = parse("format: 1\nreceipe: x\nzzzzzzzz: 2\n", 33);
    orch_yaml_check_keys(result.root, "t", "the recipe", (const char *[]){"format", "recipe", NULL},
                         result.diags);
    assert_int_equal(result.diags->error_count, 2);
    const struct orch_diag *near = result.diags->items->pdata[0];
    assert_string_equal(near->what, "unknown key 'receipe' in the recipe");
    assert_string_equal(near->hint, "did you mean 'recipe'?");
    assert_int_equal(near->line, 2);
    const struct orch_diag *far = result.diags->items->pdata[1];
    assert_string_equal(far->hint, "known are: format, recipe");
    release(&result);
}

static void test_file(void **state)
{
    (void)state;
    struct orch_diags *diags = orch_diags_new();
    assert_null(orch_yaml_parse_file("/nonexistent/x.recipe", diags));
    const struct orch_diag *diag = diags->items->pdata[0];
    assert_string_equal(diag->file, "/nonexistent/x.recipe");
    assert_int_equal(diag->line, 0);
    orch_diags_free(diags);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),     cmocka_unit_test(test_line_ends_and_marks),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_one_pass),
        cmocka_unit_test(test_hostile),  cmocka_unit_test(test_syntax_comes_alone),
        cmocka_unit_test(test_junk),     cmocka_unit_test(test_check_keys),
        cmocka_unit_test(test_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
