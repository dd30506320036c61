/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `facts`: a table that the recipe itself has, such as what others published, with
 * sources and dates. No run is read. The cells of a row are separated by " | ". A fact that is true
 * "until 2026-07-31" or "until 2026-07" is marked from the day after. */
#include "core/report/items.h"

#include "core/recipe/report_shapes.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

#define SEPARATOR " | "
#define UNTIL "until "

/* Appends "Vertex AI (2026-07)" for each date of a row that has passed. A month passes with its
 * last day: the texts of the same length are compared. */
static void append_passed(GString *out, const char *row, const char *today)
{
    g_autofree char *subject = g_strndup(row, strcspn(row, "|"));
    for (const char *at = strstr(row, UNTIL); at; at = strstr(at, UNTIL)) {
        at += strlen(UNTIL);
        const size_t length = strspn(at, "0123456789-");
        const bool is_date = (length == strlen("2026-07") || length == strlen("2026-07-31")) &&
                             at[strlen("2026")] == '-';
        if (is_date && strncmp(at, today, length) < 0)
            g_string_append_printf(out, "%s%s (%.*s)", out->len ? ", " : "", g_strstrip(subject),
                                   (int)length, at);
    }
}

static bool fill(struct orch_section_context *a, GError **error)
{
    (void)error;
    g_autoptr(GPtrArray) headers = orch_texts_from_json(json_object_get(a->item->spec, "columns"));
    g_autoptr(GPtrArray) rows = orch_texts_from_json(json_object_get(a->item->spec, "rows"));
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    const char *answer = orch_json_text(a->item->spec, "answer", NULL);
    g_autofree char *today = orch_time_format(orch_now_ns(), true);
    g_autoptr(GString) passed = g_string_new(NULL);
    for (guint i = 0; i < rows->len; i++) {
        g_auto(GStrv) cells = g_strsplit(rows->pdata[i], SEPARATOR, -1);
        append_passed(passed, rows->pdata[i], today);
        for (guint k = 0; cells[k]; k++)
            orch_table_add(table, g_strstrip(cells[k]), NULL);
    }
    orch_section_table(a->section, table);
    if (answer)
        orch_section_answer(a->section, "%s", answer);
    if (passed->len)
        orch_section_note(a->section, "these facts may be out of date; look them up again: %s",
                          passed->str);
    return true;
}

static const struct orch_report_key KEYS[] = {
    {.name = "columns", .shape = ORCH_SHAPE_TEXTS, .is_required = true},
    {.name = "rows", .shape = ORCH_SHAPE_TEXTS, .is_required = true},
    {.name = "answer", .shape = ORCH_SHAPE_TEXT},
    {0}};

/* Checks that each row has a cell for each column. */
static void check(struct report_item *item)
{
    g_autoptr(GPtrArray) columns = orch_recipe_get_texts(item->draft, item->spec, "columns");
    g_autoptr(GPtrArray) rows = orch_recipe_get_texts(item->draft, item->spec, "rows");
    for (guint i = 0; columns && rows && i < rows->len; i++) {
        const struct orch_yaml *row = rows->pdata[i];
        g_auto(GStrv) cells = g_strsplit(row->text, SEPARATOR, -1);
        const guint count = g_strv_length(cells);
        if (count != columns->len)
            orch_recipe_error_at(item->draft, row, "separate the cells by ' | '",
                                 "row %u of 'rows' has %u cells, but 'columns' has %u names", i + 1,
                                 count, columns->len);
    }
}

const struct orch_report_kind ORCH_REPORT_FACTS = {
    .name = "facts",
    .keys = KEYS,
    .check = check,
    .has_trials = orch_item_without_trials,
    .fill = fill,
};
