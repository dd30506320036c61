/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A document as a page: all is there, nothing gets out of its place, nothing is fetched. */
#include "core/render/files.h"
#include "core/render/markup.h"
#include "core/render/outline.h"
#include "core/render/page.h"
#include "lib/base/file.h"
#include "tests/unit/paper_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static char *pixel(void)
{
    gsize length;
    g_autofree guchar *bytes = g_base64_decode(PIXEL, &length);
    char *path = g_build_filename(scratch, "pixel.png", NULL);
    assert_true(g_file_set_contents(path, (const char *)bytes, (gssize)length, NULL));
    return path;
}

static unsigned count(const char *text, const char *what)
{
    unsigned found = 0;
    for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
        found++;
    return found;
}

static void holds(const char *text, const char *what)
{
    if (!strstr(text, what))
        fail_msg("lacks: %s", what);
}

static void lacks(const char *text, const char *what)
{
    if (strstr(text, what))
        fail_msg("has: %s", what);
}

static void test_escape(void **state)
{
    (void)state;
    g_autoptr(GString) out = g_string_new(NULL);
    orch_html_append(out, "a<b>&\"'\x01\n\xff \xc3\xa9");
    assert_string_equal(out->str, "a&lt;b&gt;&amp;&quot;&#39;\xef\xbf\xbd\n\xef\xbf\xbd \xc3\xa9");
    g_string_truncate(out, 0);
    orch_html_append(out, NULL);
    orch_html_printf(out, "<i>%s</i> %u%%", "<&", 7u);
    assert_string_equal(out->str, "<i>&lt;&amp;</i> 7%");
}

static void test_slugs(void **state)
{
    (void)state;
    static const struct {
        const char *question, *title, *slug;
    } cases[] = {
        {"1.1c", "Which learning rate wins?", "1.1c-which-learning-rate-wins"},
        {NULL, "../../etc/passwd", "etc-passwd"},
        {"..", ".hidden.", "hidden"},
        {NULL, NULL, "item"},
        {NULL, "///", "item"},
        {"2", "a..b", "2-a-b"},
        {"1.1", "it's \xc3\xa9t\xc3\xa9", "1.1-its-ete"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *slug = orch_outline_slug(cases[i].question, cases[i].title);
        assert_string_equal(slug, cases[i].slug);
    }
    g_autofree char *words = orch_outline_slug(
        "1.2a", "Feature extractor - final accuracy by learning rate (best epoch in brackets)");
    assert_string_equal(words, "1.2a-feature-extractor-final-accuracy-by-learning-rate-best");
    g_autofree char *longer = g_strnfill(500, 'x'), *slug = orch_outline_slug("1", longer);
    assert_int_equal(strlen(slug), 60);
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree char *a = orch_outline_slug_unique(taken, "1", "x");
    g_autofree char *b = orch_outline_slug_unique(taken, "1", "X");
    assert_string_equal(a, "1-x");
    assert_string_equal(b, "1-x-2");
}

static void test_outline(void **state)
{
    (void)state;
    struct orch_document *d = paper_document(NULL);
    struct orch_section *late = orch_document_add(d, "table", "1.1c", "And once more");
    g_autoptr(GPtrArray) problems = orch_outline_new(d);
    assert_int_equal(problems->len, 3);
    const struct orch_outline_problem *p1 = problems->pdata[0], *rest = problems->pdata[2];
    assert_string_equal(p1->number, "1");
    assert_null(rest->number);
    assert_int_equal(p1->parts->len, 2);
    const struct orch_outline_part *c = p1->parts->pdata[0];
    assert_string_equal(c->question, "1.1c");
    assert_int_equal(c->sections->len, 3);
    assert_ptr_equal(c->sections->pdata[2], late);
    assert_true(c->points == 6);
    assert_int_equal(orch_outline_state(c), ORCH_SECTION_PARTIAL);
    late->state =
        ORCH_SECTION_SMALL; /* a problem is not called by one of its parts, but the worst */
    assert_int_equal(orch_outline_problem_state(p1), ORCH_SECTION_PARTIAL);
    const struct orch_outline_problem *p2 = problems->pdata[1];
    assert_int_equal(orch_outline_problem_state(p2), ORCH_SECTION_STUDENT);
    assert_true(orch_outline_is_student(p2->parts->pdata[0]));
    assert_false(orch_outline_is_student(c));
    assert_int_equal(orch_outline_state(p2->parts->pdata[0]), ORCH_SECTION_STUDENT);
    g_autoptr(GPtrArray) others = orch_outline_others(d, NULL);
    assert_int_equal(others->len, 1);
    assert_string_equal(((struct orch_outline_other *)others->pdata[0])->who, "bob <b@x>");
    g_autoptr(GPtrArray) none = orch_outline_others(d, p2);
    assert_int_equal(none->len, 0);
    orch_document_free(d);
}

static void test_page(void **state)
{
    (void)state;
    g_autofree char *png = pixel();
    struct orch_document *d = paper_document(png);
    g_autofree char *html = orch_page_html(d, NULL);
    holds(html, "Content-Security-Policy\" content=\"default-src 'none'; img-src data:;");
    lacks(html, "<script");
    lacks(html, "alert('x')");
    holds(html, "&lt;script&gt;");
    lacks(html, "src=\"http");
    lacks(html, "url(");
    lacks(html, "<link");
    /* what the reader asks of a report */
    holds(html, "with changes that are not committed");
    holds(html, "bob &lt;b@x&gt; (1 run)");
    holds(html, "2026-11-21 16:40 UTC");
    holds(html, "sha256:77aa");
    holds(html, "6 points");
    holds(html, "2 of 3 runs");
    holds(html, "<h2>Problem 1 <span class=\"state partial\">partly missing</span></h2>");
    holds(html, "<code>orch report recipes/hw4.recipe --only 1.1c</code>");
    holds(html, "<code>orch run recipes/hw4.recipe finetune -s &#39;lr=&lt;1&gt;&#39;</code>");
    holds(html, "Yours to write: Explain how the two differ.");
    holds(html, "data:image/png;base64," PIXEL "\"");
    holds(html, "not shown: ");
    holds(html, "class=\"number missing\">missing</td>");
    holds(html, "<th scope=\"row\">0.01</th>");
    holds(html, "bands: 95 % interval over 3 repeats");
    holds(html, "first line\n  second line");
    assert_int_equal(count(html, "<h1>"), 1);
    assert_int_equal(count(html, "<h2>Problem "), 2);
    assert_int_equal(count(html, "href=\"#q-"), 4);
    assert_int_equal(count(html, "<section id=\"q-"), 4);
    assert_int_equal(count(html, "href=\"charts"), 0);
    /* the page of an older pack holds charts as text */
    const struct orch_page_options as_text = {.charts_are_text = true};
    g_autofree char *plain = orch_page_html(d, &as_text);
    lacks(plain, "<svg");
    holds(plain, "<pre role=\"img\" aria-label=\"Loss by epoch\">");
    orch_document_free(d);
}

/* Picture after picture: some are shown, none makes the page larger than it may be. */
static void test_picture_bounds(void **state)
{
    (void)state;
    g_autofree char *big = g_build_filename(scratch, "big.png", NULL);
    g_autofree char *bytes = g_strnfill(((gsize)4 << 20) + 1, 'x');
    memcpy(bytes, "\x89PNG\r\n\x1a\n", 8);
    assert_true(g_file_set_contents(big, bytes, ((gssize)4 << 20) + 1, NULL));
    g_autofree char *most = g_build_filename(scratch, "most.png", NULL);
    assert_true(g_file_set_contents(most, bytes, (gssize)4 << 20, NULL));
    g_autofree char *wrong = g_build_filename(scratch, "wrong.png", NULL);
    assert_true(g_file_set_contents(wrong, "<svg onload=x>", -1, NULL));
    struct orch_document *d = orch_document_new("pictures");
    struct orch_section *s = orch_document_add(d, "images", NULL, NULL);
    orch_section_picture(s, big, "big");
    orch_section_picture(s, wrong, "wrong");
    for (int i = 0; i < 10; i++)
        orch_section_picture(s, most, "most");
    g_autofree char *html = orch_page_html(d, NULL);
    assert_int_equal(count(html, "<img "), 8);
    assert_int_equal(count(html, "not shown: "), 4);
    lacks(html, "onload=x");
    orch_document_free(d);
}

static void test_files(void **state)
{
    (void)state;
    g_autofree char *png = pixel(), *folder = g_build_filename(scratch, "out/deep", NULL);
    g_autofree char *other = g_build_filename(folder, "mine.txt", NULL);
    assert_true(orch_dir_make(folder, NULL));
    assert_true(g_file_set_contents(other, "kept", -1, NULL));
    struct orch_document *d = paper_document(png);
    g_autoptr(GPtrArray) written = g_ptr_array_new_with_free_func(g_free);
    GError *error = NULL;
    if (!orch_files_write(d, folder, written, &error))
        fail_msg("%s", error->message);
    static const char *const names[] = {"index.html",
                                        "tables/1.1c-which-learning-rate-wins.csv",
                                        "tables/1.1c-which-learning-rate-wins.md",
                                        "tables/1.1c-which-learning-rate-wins.tex",
                                        "charts/1.1c-loss-by-epoch.csv",
                                        "charts/1.1c-loss-by-epoch.svg",
                                        "charts/1.1c-loss-by-epoch.png",
                                        "charts/1.1c-loss-by-epoch.pdf",
                                        "pictures/1.1a-sample-images-1.png",
                                        "report.tex"};
    assert_int_equal(written->len, G_N_ELEMENTS(names));
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        assert_true(g_file_test(path, G_FILE_TEST_IS_REGULAR));
    }
    g_autofree char *index = g_build_filename(folder, "index.html", NULL), *html = NULL;
    assert_true(g_file_get_contents(index, &html, NULL, NULL));
    holds(html, "href=\"tables/1.1c-which-learning-rate-wins.tex\"");
    holds(html, "href=\"charts/1.1c-loss-by-epoch.csv\"");
    g_autofree char *kept = NULL;
    assert_true(g_file_get_contents(other, &kept, NULL, NULL));
    assert_string_equal(kept, "kept");
    /* a folder that cannot be one */
    assert_false(orch_files_write(d, other, NULL, &error));
    assert_non_null(error);
    g_clear_error(&error);
    orch_document_free(d);
}

/* $ORCH_PAGE_OUT: the fixture as files, to look at and for other programs to check. */
static void test_keep(void **state)
{
    (void)state;
    const char *given = g_getenv("ORCH_PAGE_OUT");
    g_autofree char *made = given ? NULL : g_dir_make_tmp("orch-page-XXXXXX", NULL);
    const char *folder = given ? given : made;
    g_autofree char *png = pixel(), *pdf = g_build_filename(folder, "report.pdf", NULL);
    struct orch_document *d = paper_document(png);
    assert_true(orch_files_write(d, folder, NULL, NULL));
    g_autofree char *weasyprint = g_find_program_in_path("weasyprint");
    GError *error = NULL;
    if (orch_files_pdf(d, pdf, &error) != (weasyprint != NULL))
        fail_msg("%s", error ? error->message : "a PDF without WeasyPrint?");
    g_clear_error(&error);
    orch_document_free(d);
    assert_true(!made || orch_tree_remove(made, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_escape),
                                       cmocka_unit_test(test_slugs),
                                       cmocka_unit_test(test_outline),
                                       cmocka_unit_test(test_page),
                                       cmocka_unit_test(test_picture_bounds),
                                       cmocka_unit_test(test_files),
                                       cmocka_unit_test(test_keep)};
    return cmocka_run_group_tests(tests, make_scratch, drop_scratch);
}
