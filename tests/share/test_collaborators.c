/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report item that names whose runs a report uses, over a document that is made here. */
#include "tests/store/fixture.h"

#include "core/report/items.h"

extern const struct orch_report_kind ORCH_REPORT_COLLABORATORS;

static void use(struct orch_section *section, const char *key, const char *label, const char *who,
                bool is_ours)
{
    struct orch_section_run run = {(char *)(uintptr_t)key,
                                   (char *)(uintptr_t) "tune",
                                   (char *)(uintptr_t)label,
                                   (char *)(uintptr_t)who,
                                   (char *)(uintptr_t) "K80",
                                   NULL,
                                   is_ours};
    orch_section_run_add(section, &run);
}

static void test_collaborators(void **state)
{
    (void)state;
    struct orch_document *document = orch_document_new("r");
    struct orch_section *one = orch_document_add(document, "table", "1", NULL);
    struct orch_section *two = orch_document_add(document, "best", "2", NULL);
    use(one, "k1", "tune lr=0.1 #1", "ada", true);
    use(one, "k2", "tune lr=0.1 #2", "bob", false);
    use(two, "k2", "tune lr=0.1 #2", "bob", false); /* once, however often it is used */
    use(two, "k3", "tune lr=1 #1", "bob", false);
    use(two, "k4", "tune lr=2 #1", "eve", false);
    struct orch_report_options options = {.who = "ada"};
    struct orch_section_context a = {
        NULL, NULL, &options, orch_document_add(document, "collaborators", NULL, NULL), document};
    assert_ok(ORCH_REPORT_COLLABORATORS.fill(&a, error));
    const struct orch_block *block = a.section->blocks->pdata[0];
    assert_int_equal(block->kind, ORCH_BLOCK_TABLE);
    assert_int_equal(orch_table_rows(block->table), 2);
    assert_string_equal(orch_table_cell(block->table, 0, 0)->text, "bob");
    assert_string_equal(orch_table_cell(block->table, 0, 2)->text, "2");
    assert_string_equal(orch_table_cell(block->table, 0, 3)->text, "lr=0.1 #2, lr=1 #1");
    assert_string_equal(orch_table_cell(block->table, 1, 0)->text, "eve");
    assert_int_equal(a.section->runs->len, 3);
    orch_document_free(document);
}

static void test_alone(void **state)
{
    (void)state;
    struct orch_document *document = orch_document_new("r");
    use(orch_document_add(document, "table", "1", NULL), "k1", "tune #1", "ada", true);
    struct orch_report_options options = {.who = "ada"};
    struct orch_section_context a = {
        NULL, NULL, &options, orch_document_add(document, "collaborators", NULL, NULL), document};
    assert_ok(ORCH_REPORT_COLLABORATORS.fill(&a, error));
    const struct orch_block *block = a.section->blocks->pdata[0];
    assert_non_null(strstr(block->text, "all runs of this report were made by ada"));
    orch_document_free(document);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collaborators),
        cmocka_unit_test(test_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
