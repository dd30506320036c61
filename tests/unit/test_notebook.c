/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notebooks: what is in them, and that nothing a student wrote is lost when they are made again. */
#include "core/render/draw.h"
#include "core/render/notebook.h"
#include "core/render/notebook_cells.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "tests/unit/paper_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static json_t *make(const struct orch_document *d, unsigned problem, const json_t *before,
                    unsigned *kept)
{
    g_autoptr(GPtrArray) problems = orch_outline_new(d);
    return orch_notebook_make(d, problems->pdata[problem], NULL, before, kept);
}

static json_t *cell_of(const json_t *notebook, const char *id)
{
    size_t i;
    json_t *cell;
    json_array_foreach(json_object_get(notebook, "cells"), i,
                       cell) if (g_strcmp0(orch_json_text(cell, "id", NULL), id) == 0) return cell;
    return NULL;
}

static char *source_of(const json_t *notebook, const char *id)
{
    const json_t *cell = cell_of(notebook, id);
    if (!cell)
        fail_msg("no cell '%s'", id);
    return orch_notebook_text(json_object_get(cell, "source"));
}

static void write_into(json_t *notebook, const char *id, const char *text)
{
    json_object_set_new(cell_of(notebook, id), "source", orch_notebook_lines(text));
}

/* A cell that a student made, behind the one at `position`. */
static void add_own(json_t *notebook, size_t position, const char *id, const char *text)
{
    json_t *cell = json_pack("{s:s, s:{}, s:o}", "cell_type", "markdown", "metadata", "source",
                             orch_notebook_lines(text));
    if (id)
        json_object_set_new(cell, "id", json_string(id));
    json_array_insert_new(json_object_get(notebook, "cells"), position + 1, cell);
}

static char *order_of(const json_t *notebook)
{
    GString *out = g_string_new(NULL);
    size_t i;
    json_t *cell;
    json_array_foreach(json_object_get(notebook, "cells"), i, cell)
        g_string_append_printf(out, "%s%s", i ? " " : "", orch_json_text(cell, "id", "?"));
    return g_string_free(out, FALSE);
}

static void same_order(const json_t *notebook, const char *expected)
{
    g_autofree char *order = order_of(notebook);
    assert_string_equal(order, expected);
}

static void test_cells(void **state)
{
    (void)state;
    struct orch_document *d = paper_document(NULL);
    unsigned kept = 9;
    json_t *notebook = make(d, 0, NULL, &kept);
    assert_int_equal(kept, 0);
    assert_int_equal(orch_json_int(notebook, "nbformat", 0), 4);
    assert_int_equal(orch_json_int(notebook, "nbformat_minor", 0), 5);
    same_order(notebook,
               "orch-head orch-setup orch-1-1c orch-1-1c-run orch-1-1a orch-1-1a-run orch-others");
    g_autofree char *heading = source_of(notebook, "orch-1-1c");
    assert_string_equal(heading, "## 1.1c Which learning rate wins? (6 points)");
    g_autofree char *command = source_of(notebook, "orch-1-1c-run");
    assert_string_equal(command,
                        "# Computes question 1.1c from the stored runs: Which learning rate wins?\n"
                        "orch.report(\"recipes/hw4.recipe\", only=\"1.1c\")");
    g_autofree char *others = source_of(notebook, "orch-others");
    assert_non_null(strstr(others, "- bob &lt;b@x&gt;: finetune &lt;script&gt;"));
    /* text, table, text, chart: of the second section, by the same command */
    json_t *outputs = json_object_get(cell_of(notebook, "orch-1-1c-run"), "outputs");
    assert_int_equal(json_array_size(outputs), 4);
    json_t *table = json_object_get(json_array_get(outputs, 1), "data");
    g_autofree char *html = orch_notebook_text(json_object_get(table, "text/html"));
    assert_non_null(strstr(html, "&lt;script&gt;"));
    assert_non_null(json_object_get(table, "text/plain"));
    json_t *chart = json_object_get(json_array_get(outputs, 3), "data");
    assert_true(json_is_string(json_object_get(chart, "image/png")));
    assert_true(json_is_array(json_object_get(chart, "image/svg+xml")));
    json_t *cells = json_object_get(notebook, "cells");
    for (size_t i = 0; i < json_array_size(cells); i++) {
        const json_t *cell = json_array_get(cells, i);
        g_autofree char *source = orch_notebook_text(json_object_get(cell, "source"));
        assert_null(strstr(source, "<script"));
    }
    /* made again it is the same to the byte */
    json_t *again = make(d, 0, notebook, &kept);
    assert_int_equal(kept, 0);
    assert_true(json_equal(notebook, again));
    json_decref(again);
    json_decref(notebook);
    orch_document_free(d);
}

static void test_shell(void **state)
{
    (void)state;
    struct orch_document *d = orch_document_new("x");
    struct orch_section *s = orch_document_add(d, "text", "1", NULL);
    s->command = g_strdup("orch report '$a {b}.recipe'");
    orch_section_text(s, "y");
    unsigned kept;
    json_t *notebook = make(d, 0, NULL, &kept);
    g_autofree char *source = source_of(notebook, "orch-1-run");
    assert_string_equal(source, "# Computes question 1 from the stored runs: text\n"
                                "orch.report(\"$a {b}.recipe\")");
    json_decref(notebook);
    orch_document_free(d);
}

static void test_kept(void **state)
{
    (void)state;
    struct orch_document *d = paper_document(NULL);
    unsigned kept;
    json_t *first = make(d, 1, NULL, &kept);
    same_order(first, "orch-head orch-setup orch-2-1 orch-2-1-answer");
    g_autofree char *empty = source_of(first, "orch-2-1-answer");
    assert_string_equal(empty, "");
    g_autoptr(GPtrArray) before = orch_notebook_answers(first);
    const struct orch_notebook_answer *answer = before->pdata[0];
    assert_int_equal(before->len, 1);
    assert_true(answer->is_empty && answer->points == 2);
    assert_string_equal(answer->question, "2.1");

    write_into(first, "orch-2-1-answer", "Both use *less* labels.\nBut ...");
    json_object_set_new(cell_of(first, "orch-2-1-answer"), "attachments",
                        json_pack("{s:{s:s}}", "a.png", "image/png", "AAAA"));
    write_into(first, "orch-2-1", "## 2.1 My own heading");
    add_own(first, 2, "mine", "before the answer"); /* behind the heading */
    json_t *second = make(d, 1, first, &kept);
    assert_int_equal(kept, 3);
    same_order(second, "orch-head orch-setup orch-2-1 mine orch-2-1-answer");
    g_autofree char *text = source_of(second, "orch-2-1-answer");
    assert_string_equal(text, "Both use *less* labels.\nBut ...");
    assert_non_null(json_object_get(cell_of(second, "orch-2-1-answer"), "attachments"));
    g_autofree char *heading = source_of(second, "orch-2-1");
    assert_string_equal(heading, "## 2.1 My own heading");
    g_autoptr(GPtrArray) after = orch_notebook_answers(second);
    assert_false(((struct orch_notebook_answer *)after->pdata[0])->is_empty);
    /* and once more: nothing is counted as changed that was not */
    json_t *third = make(d, 1, second, &kept);
    assert_int_equal(kept, 3);
    assert_true(json_equal(second, third));
    json_decref(third);
    json_decref(second);
    json_decref(first);
    orch_document_free(d);
}

/* Editors drop ids; students copy cells; recipes lose questions. */
static void test_kept_through_all(void **state)
{
    (void)state;
    struct orch_document *d = paper_document(NULL);
    unsigned kept;
    json_t *notebook = make(d, 1, NULL, &kept);
    write_into(notebook, "orch-2-1-answer", "written");
    json_t *copy = json_deep_copy(cell_of(notebook, "orch-2-1-answer"));
    json_object_set_new(copy, "source", json_string("a copy of the cell"));
    json_array_append_new(json_object_get(notebook, "cells"), copy);
    add_own(notebook, 4, NULL, "no id");
    size_t i;
    json_t *cell;
    json_array_foreach(json_object_get(notebook, "cells"), i, cell) json_object_del(cell, "id");
    json_t *second = make(d, 1, notebook, &kept);
    assert_int_equal(kept, 3);
    same_order(second, "orch-head orch-setup orch-2-1 orch-2-1-answer own-1 own-2");
    g_autofree char *text = source_of(second, "orch-2-1-answer");
    assert_string_equal(text, "written");
    g_autofree char *own = source_of(second, "own-1");
    assert_string_equal(own, "a copy of the cell");
    g_autoptr(GPtrArray) answers = orch_notebook_answers(second);
    assert_int_equal(answers->len, 1);
    /* the question is gone: the text is not */
    struct orch_document *other = orch_document_new("hw4");
    orch_section_text(orch_document_add(other, "text", "2.9", NULL), "new");
    json_t *third = make(other, 0, second, &kept);
    assert_int_equal(kept, 3);
    g_autofree char *all = json_dumps(third, 0);
    assert_non_null(strstr(all, "\"written\""));
    assert_non_null(strstr(all, "a copy of the cell"));
    json_decref(third);
    json_decref(second);
    json_decref(notebook);
    orch_document_free(other);
    orch_document_free(d);
}

static void test_files(void **state)
{
    (void)state;
    struct orch_document *d = paper_document(NULL);
    g_autofree char *folder = g_build_filename(scratch, "a/b", NULL);
    GError *error = NULL;
    g_autoptr(GPtrArray) notebooks = orch_notebooks_write(d, NULL, folder, &error);
    assert_non_null(notebooks);
    assert_int_equal(notebooks->len, 2);
    const struct orch_notebook *one = notebooks->pdata[0], *two = notebooks->pdata[1];
    assert_string_equal(one->name, "hw4-script-alert-x-script_p1.ipynb");
    /* what answers no question stands in the last */
    assert_null(strstr(one->text, "Who ran what"));
    assert_non_null(strstr(two->text, "Who ran what"));
    /* made again, byte for byte */
    g_autoptr(GPtrArray) again = orch_notebooks_write(d, NULL, folder, &error);
    assert_string_equal(((struct orch_notebook *)again->pdata[0])->text, one->text);
    /* what is no notebook of orch's is not written over */
    static const char *const strangers[] = {"my notes", "{\"cells\": [], \"metadata\": {}}", "[1]",
                                            "{\"cells\": 7, \"metadata\": {\"orch\": {}}}"};
    for (unsigned i = 0; i < G_N_ELEMENTS(strangers); i++) {
        assert_true(g_file_set_contents(two->path, strangers[i], -1, NULL));
        assert_null(orch_notebooks_write(d, NULL, folder, &error));
        assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_IO));
        assert_non_null(strstr(error->message, two->path));
        g_clear_error(&error);
        g_autofree char *text = NULL;
        assert_true(g_file_get_contents(two->path, &text, NULL, NULL));
        assert_string_equal(text, strangers[i]);
    }
    orch_document_free(d);
}

/* Whatever stands in a notebook's cells: no crash, and no cell is lost. */
static void test_hostile_cells(void **state)
{
    (void)state;
    static const char *const cells[] = {
        "1",
        "null",
        "\"text\"",
        "[]",
        "{}",
        "{\"metadata\": 3}",
        "{\"source\": 3}",
        "{\"metadata\": {\"orch\": []}}",
        "{\"metadata\": {\"orch\": {\"cell\": 4}}}",
        "{\"metadata\": {\"orch\": {\"cell\": \"orch-2-1\", \"source\": 7}}, \"source\": [1, {}]}",
        "{\"id\": 5, \"cell_type\": \"markdown\", \"source\": \"x\"}"};
    struct orch_document *d = paper_document(NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(cells); i++) {
        g_autofree char *text = g_strdup_printf(
            "{\"nbformat\": 4, \"metadata\": {\"orch\": {}}, \"cells\": [%s]}", cells[i]);
        g_autoptr(json_t) before = orch_json_parse(text, strlen(text), 1 << 20, NULL);
        assert_non_null(before);
        unsigned kept = 0;
        json_t *notebook = make(d, 1, before, &kept);
        const bool is_cell = json_is_object(json_array_get(json_object_get(before, "cells"), 0));
        assert_int_equal(kept, is_cell);
        json_decref(notebook);
    }
    orch_document_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells), cmocka_unit_test(test_shell),
        cmocka_unit_test(test_kept),  cmocka_unit_test(test_kept_through_all),
        cmocka_unit_test(test_files), cmocka_unit_test(test_hostile_cells),
    };
    return cmocka_run_group_tests(tests, make_scratch, drop_scratch);
}
