/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/pack/class_pages.h"

#include "core/render/files.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* The points of a hand-in: in all, proposed, and those that the grader decides. */
struct sums {
    struct orch_table *table; /* of its parts; NULL: only the sums are asked for */
    double most, proposed, open;
};

static void add_part(void *ctx, const struct orch_graded *handin, const struct orch_grade *grade)
{
    struct sums *sums = ctx;
    bool is_open = isnan(grade->proposed);
    (void)handin;
    sums->most += grade->most;
    sums->proposed += is_open ? 0 : grade->proposed;
    sums->open += is_open ? grade->most : 0;
    if (!sums->table)
        return;
    g_autofree char *most = g_strdup_printf("%g", grade->most);
    g_autofree char *proposed = is_open ? g_strdup("") : g_strdup_printf("%g", grade->proposed);
    orch_table_add(sums->table, grade->part, NULL);
    orch_table_add(sums->table, most, NULL);
    orch_table_add(sums->table, proposed, NULL);
    orch_table_add(sums->table, grade->reason, NULL);
}

static void add_points(struct orch_document *page, const struct orch_graded *handin)
{
    static const char *const headers[] = {"part", ">points", ">proposed", "reason", NULL};
    struct orch_section *section = orch_document_add(page, "table", NULL, "Points proposed");
    struct sums sums = {.table = orch_table_new(headers)};
    orch_grades_visit(handin, add_part, &sums);
    orch_section_answer(section, "%g of %g points are proposed; the grader decides %g.",
                        sums.proposed, sums.most, sums.open);
    orch_section_table(section, sums.table);
}

static void add_differences(struct orch_document *page, const json_t *outcome)
{
    static const char *const headers[] = {"part", "item", "place", "report", "runs", NULL};
    static const char *const members[] = {"place", "said", "found"};
    int64_t differs = orch_json_int(outcome, "differs", 0);
    if (!differs)
        return;
    struct orch_section *section = orch_document_add(page, "table", NULL, "Numbers that differ");
    struct orch_table *table = orch_table_new(headers);
    const json_t *items = json_object_get(outcome, "items");
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        const json_t *list = json_object_get(item, "differences");
        for (size_t j = 0; j < json_array_size(list); j++) {
            orch_table_add(table, orch_json_text(item, "question", ""), NULL);
            orch_table_add(table, orch_json_text(item, "title", ""), NULL);
            for (unsigned k = 0; k < G_N_ELEMENTS(members); k++)
                orch_table_add(table, orch_json_text(json_array_get(list, j), members[k], ""),
                               NULL);
        }
    }
    orch_section_answer(section, "%d number%s not follow from the runs.", (int)differs,
                        differs == 1 ? " does" : "s do");
    orch_section_table(section, table);
}

/* The name of a hand-in in its folder. Borrowed. */
static const char *name_in(const char *file, const char *folder)
{
    const char *name = g_str_has_prefix(file, folder) ? file + strlen(folder) : file;
    return name + strspn(name, "/");
}

static void add_common(struct orch_document *page, const struct orch_graded *handin,
                       const GPtrArray *found, const char *folder)
{
    static const char *const headers[] = {"finding", "experiment", "run", "also in", "what", NULL};
    struct orch_table *table = orch_table_new(headers);
    unsigned rows = 0;
    for (guint i = 0; i < found->len; i++) {
        const struct orch_in_common *c = found->pdata[i];
        bool is_first = strcmp(name_in(c->file, folder), handin->file) == 0;
        bool is_other = c->other && strcmp(name_in(c->other, folder), handin->file) == 0;
        const char *run = is_first || !c->other_run ? c->run : c->other_run;
        const char *other = is_first ? c->other : c->file;
        if (!is_first && !is_other)
            continue;
        orch_table_add(table, c->kind, NULL);
        orch_table_add(table, c->experiment, NULL);
        orch_table_add(table, *run ? orch_run_short_key(run) : "", NULL);
        orch_table_add(table, other ? name_in(other, folder) : "", NULL);
        orch_table_add(table, c->what, NULL);
        rows++;
    }
    if (!rows) {
        orch_table_free(table);
        return;
    }
    struct orch_section *section = orch_document_add(page, "table", NULL, "In common with others");
    orch_section_table(section, table);
}

static void add_problems(struct orch_document *page, const struct orch_graded *handin)
{
    const json_t *problems = json_object_get(handin->outcome, "problems");
    if (!handin->why && !json_array_size(problems))
        return;
    struct orch_section *section = orch_document_add(page, "text", NULL, "Problems of the pack");
    if (handin->why)
        orch_section_text(section, "%s", handin->why);
    for (size_t i = 0; i < json_array_size(problems); i++)
        orch_section_text(section, "%s", json_string_value(json_array_get(problems, i)));
}

static struct orch_document *page_of(const struct orch_graded *handin, const GPtrArray *found,
                                     const char *folder)
{
    struct orch_document *page = orch_document_new(handin->file);
    page->about = g_strdup_printf("hand-in of %s", orch_json_text(handin->outcome, "who", "-"));
    page->who = g_strdup(orch_json_text(handin->outcome, "who", NULL));
    page->made = g_strdup(orch_json_text(handin->outcome, "made", NULL));
    add_points(page, handin);
    add_differences(page, handin->outcome);
    add_common(page, handin, found, folder);
    add_problems(page, handin);
    return page;
}

static struct orch_document *class_page(const GArray *handins, const char *folder)
{
    static const char *const headers[] = {"hand-in",    "who",      ">points", ">proposed",
                                          ">to decide", ">differs", "page",    NULL};
    struct orch_document *page = orch_document_new("hand-ins");
    struct orch_section *section = orch_document_add(page, "table", NULL, "All hand-ins");
    struct orch_table *table = orch_table_new(headers);
    page->about = g_strdup_printf("%u in '%s'", handins->len, folder);
    for (guint i = 0; i < handins->len; i++) {
        const struct orch_graded *handin = &g_array_index(handins, struct orch_graded, i);
        struct sums sums = {0};
        orch_grades_visit(handin, add_part, &sums);
        orch_table_add(table, handin->file, NULL);
        orch_table_add_who(table, orch_json_text(handin->outcome, "who", NULL));
        const double numbers[] = {sums.most, sums.proposed, sums.open};
        for (unsigned j = 0; j < G_N_ELEMENTS(numbers); j++) {
            g_autofree char *text = g_strdup_printf("%g", numbers[j]);
            orch_table_add(table, text, NULL);
        }
        orch_table_add_int(table, orch_json_int(handin->outcome, "differs", 0));
        g_autofree char *path = g_build_filename(handin->file, "index.html", NULL);
        orch_table_add(table, path, NULL);
    }
    orch_section_table(section, table);
    return page;
}

static bool write_page(struct orch_document *page, const char *folder, GError **error)
{
    bool ok = orch_files_write(page, folder, NULL, error);
    orch_document_free(page);
    return ok;
}

bool orch_class_pages_write(const GArray *handins, const GPtrArray *found, const char *folder,
                            const char *out, GError **error)
{
    bool ok = write_page(class_page(handins, folder), out, error);
    for (guint i = 0; ok && i < handins->len; i++) {
        const struct orch_graded *handin = &g_array_index(handins, struct orch_graded, i);
        g_autofree char *own = g_build_filename(out, handin->file, NULL);
        ok = write_page(page_of(handin, found, folder), own, error);
    }
    return ok;
}
