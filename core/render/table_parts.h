/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of tables share: table.c makes and turns them, table_text.c prints them on a
 * terminal, table_format.c writes them as CSV, Markdown, LaTeX and JSON. */
#ifndef ORCH_CORE_RENDER_TABLE_PARTS_H
#define ORCH_CORE_RENDER_TABLE_PARTS_H

#include "core/render/table.h"

struct orch_table {
    unsigned columns;
    char **headers;
    char **groups, **labels; /* what people read above the columns; NULL: nothing, the header */
    bool *right;
    char **names; /* names in JSON; NULL: derived from the header; "": not in JSON */
    bool is_grouped;
    GArray *cells; /* struct orch_table_cell, row by row */
};

static inline const struct orch_table_cell *orch_table_cell_at(const struct orch_table *table,
                                                               guint i)
{
    return &g_array_index(table->cells, struct orch_table_cell, i);
}

#endif
