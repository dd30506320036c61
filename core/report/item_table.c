/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `table`. */
#include "core/report/items.h"

#include "lib/base/json.h"

bool orch_section_fill_table(struct orch_section_context *a, GError **error)
{
    struct orch_section_grid *g = orch_section_grid(a, "rows", "columns", error);
    if (!g)
        return false;
    if (g->grid->cells->len) {
        g->grid->shows_deviation = orch_item_flag(a->item->spec, "deviation");
        g_autofree char *legend = orch_grid_legend(g->grid);
        orch_section_table(a->section, orch_grid_table(g->grid));
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
