/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `table`. */
#include "core/report/items.h"

bool orch_answer_table(struct orch_asked *a, GError **error)
{
    struct orch_answer_grid *g = orch_answer_grid(a, "rows", "columns", error);
    if (!g)
        return false;
    if (g->grid->cells->len) {
        g_autofree char *legend = orch_grid_legend(g->grid);
        orch_section_table(a->section, orch_grid_table(g->grid));
        orch_section_note(a->section, "%s", legend);
        orch_answer_say_shared_base(a, g->grid);
    }
    orch_answer_say_missing(a, g->trials);
    orch_answer_grid_free(g);
    return true;
}
