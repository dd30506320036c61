/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `table`. */
#include "core/recipe/report_shapes.h"
#include "core/report/answer.h"
#include "core/report/grid_table.h"
#include "core/report/items.h"

#include "lib/base/json.h"

/* Formats a grid without column axes with a row for each value, which begins with its label, and a
 * column for each setting. The caller frees. */
static struct orch_table *table_of_labels(const struct orch_grid *grid, const GPtrArray *labels)
{
    g_autoptr(GPtrArray) settings = orch_grid_rows(grid);
    g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *axes = orch_names_joined(grid->rows),
                    *words = orch_answer_axes(grid->trials->labels, grid->rows);
    g_ptr_array_add(headers, g_strdup("what"));
    g_ptr_array_add(headers, g_strdup_printf("value by %s", axes));
    for (guint i = 0; i < settings->len; i++)
        g_ptr_array_add(headers, g_strdup_printf(">%s", (char *)settings->pdata[i]));
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    orch_table_set_heading(table, 1, NULL, "recorded as");
    for (guint i = 0; i < settings->len; i++)
        orch_table_set_heading(table, i + 2, words, settings->pdata[i]);
    for (guint v = 0; v < grid->wanted->len; v++) {
        g_autofree char *name = orch_grid_value_name(grid, v);
        orch_table_add(table, v < labels->len ? labels->pdata[v] : "", NULL);
        g_autofree char *value = orch_grid_value_words(grid, v);
        orch_table_add(table, value, json_string(name));
        for (guint i = 0; i < settings->len; i++) {
            const struct orch_grid_cell *cell = orch_grid_at(grid, settings->pdata[i], "");
            const struct orch_spread spread = orch_grid_spread(grid, cell, v);
            if (cell->done)
                orch_table_add_spread(table, &spread, cell->done,
                                      spread.stat.count ? cell->planned : 0);
            else
                orch_table_add_missing(table);
        }
    }
    return table;
}

/* A table of trials of which none has run would only repeat that they are missing. */
static bool has_runs(const struct orch_grid *grid)
{
    for (guint i = 0; i < grid->cells->len; i++)
        if (((const struct orch_grid_cell *)grid->cells->pdata[i])->done)
            return true;
    return false;
}

/* "outputs match at 1e-3 in all 3 settings": whether the first value is at most `at_most`, in the
 * words of `verdict`. NULL: the item has no verdict, or no number. The caller frees. */
static char *verdict_of(const struct orch_section_context *a, const struct orch_section_grid *g)
{
    const char *words = orch_json_text(a->item->spec, "verdict", NULL);
    g_autoptr(GPtrArray) limits = orch_texts_from_json(json_object_get(a->item->spec, "at_most"));
    g_autoptr(GString) above = g_string_new(NULL);
    unsigned count = 0, below = 0;
    if (!words || !limits->len)
        return NULL;
    const double limit = g_ascii_strtod(limits->pdata[0], NULL);
    for (guint i = 0; i < g->grid->cells->len; i++) {
        const struct orch_grid_cell *cell = g->grid->cells->pdata[i];
        const struct orch_spread spread = orch_grid_spread(g->grid, cell, 0);
        if (!spread.stat.count)
            continue;
        count++;
        below += spread.stat.max <= limit;
        g_autofree char *setting = orch_answer_row(g->trials, g->grid, cell);
        if (spread.stat.max > limit)
            g_string_append_printf(above, "%s%s", above->len ? "; " : "", setting);
    }
    if (below < count)
        return g_strdup_printf("%s in %u of %u settings, not in %s", words, below, count,
                               above->str);
    return count > 2    ? g_strdup_printf("%s in all %u settings", words, count)
           : count == 2 ? g_strconcat(words, " in both settings", NULL)
           : count      ? g_strdup(words)
                        : NULL;
}

static bool fill(struct orch_section_context *a, GError **error)
{
    struct orch_section_grid *g = orch_section_grid(a, "rows", "columns", error);
    if (!g)
        return false;
    if (has_runs(g->grid)) {
        g->grid->shows_deviation = orch_item_flag(a->item->spec, "deviation");
        g_autofree char *legend = orch_grid_legend(g->grid);
        g_autoptr(GPtrArray) labels =
            orch_texts_from_json(json_object_get(a->item->spec, "labels"));
        orch_section_table(a->section, labels && labels->len ? table_of_labels(g->grid, labels)
                                                             : orch_grid_table(g->grid));
        g_autofree char *verdict = verdict_of(a, g);
        orch_answer_of_grid(a->section, g->trials, g->grid, labels, verdict);
        orch_section_note(a->section, "%s", legend);
        if (g->grid->shows_deviation)
            orch_section_note(a->section,
                              "deviation: standard deviation over the runs, with n - 1");
        orch_section_note_mixed(a, g->grid);
        orch_section_note_shared_base(a, g->grid);
    }
    orch_section_add_missing_trials(a, g->trials);
    orch_section_grid_free(g);
    return true;
}

static const struct orch_report_key KEYS[] = {
    {.name = "rows", .shape = ORCH_SHAPE_AXES, .is_required = true},
    {.name = "columns", .shape = ORCH_SHAPE_AXES},
    {.name = "value", .shape = ORCH_SHAPE_VALUES, .is_required = true},
    {.name = "deviation", .shape = ORCH_SHAPE_FLAG},
    {.name = "labels", .shape = ORCH_SHAPE_TEXTS},
    {.name = "at_most", .shape = ORCH_SHAPE_NUMBERS},
    {.name = "verdict", .shape = ORCH_SHAPE_TEXT},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

/* Checks that a table with deviations has a column for each value. */
static void check_deviation(struct report_item *item)
{
    const struct orch_yaml *deviation = orch_yaml_get(item->spec, "deviation");
    if (orch_report_flag(item, "deviation") && orch_yaml_get(item->spec, "columns"))
        orch_recipe_error_at(item->draft, deviation, "move the names of 'columns' to 'rows'",
                             "'deviation' needs a table without 'columns'");
}

/* Checks that a table with labels has a row for each value, with its label. */
static void check_labels(struct report_item *item)
{
    const struct orch_yaml *labels = orch_yaml_get(item->spec, "labels");
    static const char *const others[] = {"columns", "deviation"};
    if (!labels)
        return;
    for (guint i = 0; i < G_N_ELEMENTS(others); i++)
        if (orch_yaml_get(item->spec, others[i]))
            orch_recipe_error_at(item->draft, labels, "remove 'labels', or the other key",
                                 "'labels' needs a table without '%s'", others[i]);
    g_autoptr(GPtrArray) texts = orch_recipe_get_texts(item->draft, item->spec, "labels");
    g_autoptr(GPtrArray) values = orch_recipe_get_texts(item->draft, item->spec, "value");
    if (texts && values && texts->len != values->len)
        orch_recipe_error_at(item->draft, labels, "write one label for each value",
                             "the table has %u labels for %u values", texts->len, values->len);
}

static void check(struct report_item *item)
{
    check_deviation(item);
    check_labels(item);
    const struct orch_yaml *verdict = orch_yaml_get(item->spec, "verdict");
    if (verdict && !orch_yaml_get(item->spec, "at_most"))
        orch_recipe_error_at(item->draft, verdict, "write at_most: NUMBER",
                             "'verdict' needs 'at_most', the limit for the first 'value'");
}

const struct orch_report_kind ORCH_REPORT_TABLE = {
    .name = "table",
    .keys = KEYS,
    .check = check,
    .fill = fill,
};
