/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `compare`: settings against a baseline, each at its best. */
#include "core/answer/items.h"

#include "core/report/numbers.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

/* For each row its best cell (over `best_of`), in order of first sight. The caller unrefs. */
static GPtrArray *best_of_rows(const struct orch_grid *grid)
{
    GPtrArray *out = g_ptr_array_new();
    g_autoptr(GPtrArray) rows = orch_grid_rows(grid);
    for (guint i = 0; i < rows->len; i++) {
        struct orch_grid_cell *best = NULL;
        for (guint j = 0; j < grid->cells->len; j++) {
            struct orch_grid_cell *cell = grid->cells->pdata[j];
            if (strcmp(cell->row, rows->pdata[i]) == 0 &&
                (!best || orch_grid_compare(grid, cell, best) < 0))
                best = cell;
        }
        g_ptr_array_add(out, best);
    }
    return out;
}

/* "finetune (best lr: 0.1)" */
static char *setting_label(const struct orch_grid *grid, const struct orch_grid_cell *cell)
{
    g_autofree char *axes = orch_names_joined(grid->columns);
    return grid->columns->len ? g_strdup_printf("%s (best %s: %s)", cell->row, axes, cell->column)
                              : g_strdup(cell->row);
}

static void say_against(struct orch_section *section, const struct orch_grid *grid,
                        const struct orch_grid_cell *base, const struct orch_grid_cell *cell)
{
    g_autofree char *label = setting_label(grid, cell);
    if (!cell->done) {
        orch_section_text(section, "%s: missing", label);
        return;
    }
    struct orch_difference d = orch_grid_difference(base, cell);
    g_autofree char *mean = orch_number_format(d.mean), *own = orch_grid_text(grid, cell);
    g_autofree char *noise = orch_difference_text(&d, grid->better);
    orch_section_text(section, "%s: %s; %s%s against %s; %s", label, own, d.mean > 0 ? "+" : "",
                      mean, base->row, noise);
}

static const struct orch_grid_cell *find_baseline(const GPtrArray *rows, const char *named)
{
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_grid_cell *cell = rows->pdata[i];
        if (!named || strcmp(cell->row, named) == 0)
            return cell;
    }
    return NULL;
}

bool orch_answer_compare(struct orch_asked *a, GError **error)
{
    struct orch_answer_grid *g = orch_answer_grid(a, "by", "best_of", error);
    if (!g)
        return false;
    const char *named = orch_json_text(a->item->spec, "baseline", NULL);
    g_autoptr(GPtrArray) rows = best_of_rows(g->grid);
    const struct orch_grid_cell *base = find_baseline(rows, named);
    if (base && base->done) {
        g_autofree char *label = setting_label(g->grid, base);
        g_autofree char *text = orch_grid_text(g->grid, base);
        orch_section_text(a->section, "%s: %s (n = %u)", label, text, base->done);
        for (guint i = 0; i < rows->len; i++)
            if (rows->pdata[i] != base)
                say_against(a->section, g->grid, base, rows->pdata[i]);
    } else if (g->grid->cells->len) {
        orch_section_missing(a->section, NULL, "%s is not done", named ? named : "the baseline");
    }
    orch_answer_say_missing(a, g->trials);
    orch_answer_grid_free(g);
    return true;
}
