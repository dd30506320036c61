/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `table`. */
#include "core/report/items.h"

#include "lib/base/json.h"

/* Formats a grid without column axes with a row for each value, which begins with its label, and a
 * column for each setting. The caller frees. */
static struct orch_table *table_of_labels(const struct orch_grid *grid, const GPtrArray *labels)
{
    g_autoptr(GPtrArray) settings = orch_grid_rows(grid);
    g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *axes = orch_names_joined(grid->rows);
    g_ptr_array_add(headers, g_strdup("what"));
    g_ptr_array_add(headers, g_strdup_printf("value by %s", axes));
    for (guint i = 0; i < settings->len; i++)
        g_ptr_array_add(headers, g_strdup_printf(">%s", (char *)settings->pdata[i]));
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    for (guint v = 0; v < grid->wanted->len; v++) {
        g_autofree char *name = orch_grid_value_name(grid, v);
        orch_table_add(table, v < labels->len ? labels->pdata[v] : "", NULL);
        orch_table_add(table, name, NULL);
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

bool orch_section_fill_table(struct orch_section_context *a, GError **error)
{
    struct orch_section_grid *g = orch_section_grid(a, "rows", "columns", error);
    if (!g)
        return false;
    if (g->grid->cells->len) {
        g->grid->shows_deviation = orch_item_flag(a->item->spec, "deviation");
        g_autofree char *legend = orch_grid_legend(g->grid);
        g_autoptr(GPtrArray) labels =
            orch_texts_from_json(json_object_get(a->item->spec, "labels"));
        orch_section_table(a->section, labels && labels->len ? table_of_labels(g->grid, labels)
                                                             : orch_grid_table(g->grid));
        orch_section_note(a->section, "%s", legend);
        if (g->grid->shows_deviation)
            orch_section_note(a->section,
                              "deviation: standard deviation over the runs, with n - 1");
        orch_section_note_shared_base(a, g->grid);
    }
    orch_section_add_missing_trials(a, g->trials);
    orch_section_grid_free(g);
    return true;
}
