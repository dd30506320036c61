/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table as data and as markup. */
#include "core/render/table_parts.h"

#include "core/render/latex_text.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

/* Characters on a line of LaTeX's article, and in a column that is not wrapped. */
enum { LATEX_COLUMNS = 84, LATEX_TEXT_MOST = 40 };

static char *format_tabbed(const struct orch_table *table)
{
    GString *out = g_string_new(NULL);
    for (unsigned i = 0; i < table->columns; i++)
        g_string_append_printf(out, "%s%c", table->headers[i],
                               i + 1 == table->columns ? '\n' : '\t');
    for (guint i = 0; i < table->cells->len; i++) {
        g_autofree char *text =
            g_strdelimit(g_strdup(orch_table_cell_at(table, i)->text), "\t\n", ' ');
        g_string_append_printf(out, "%s%c", text,
                               i % table->columns + 1 == table->columns ? '\n' : '\t');
    }
    return g_string_free(out, FALSE);
}

static json_t *spread_json(const struct orch_spread *spread)
{
    return json_pack("{s:I s:s s:o s:o s:o}", "n", (json_int_t)spread->stat.count, "form",
                     orch_spread_form_name(spread->form), "low", orch_json_finite(spread->low),
                     "high", orch_json_finite(spread->high), "mean",
                     orch_json_finite(spread->stat.mean));
}

static char *json_name(const struct orch_table *table, unsigned column)
{
    if (table->names[column])
        return g_strdup(table->names[column]);
    return g_strdelimit(g_ascii_strdown(table->headers[column], -1), " ", '_');
}

json_t *orch_table_json(const struct orch_table *table)
{
    json_t *rows = json_array(), *row = NULL;
    for (guint i = 0; i < table->cells->len; i++) {
        unsigned column = i % table->columns;
        const struct orch_table_cell *cell = orch_table_cell_at(table, i);
        if (column == 0)
            json_array_append_new(rows, row = json_object());
        g_autofree char *name = json_name(table, column);
        if (!*name)
            continue;
        json_object_set_new(row, name,
                            cell->value ? json_incref(cell->value) : json_string(cell->text));
        if (cell->standard_error > 0) {
            g_autofree char *own = g_strconcat(name, "_se", NULL);
            json_object_set_new(row, own, orch_json_finite(cell->standard_error));
        }
        if (cell->spread.form != ORCH_SPREAD_NONE) {
            g_autofree char *own = g_strconcat(name, "_spread", NULL);
            json_object_set_new(row, own, spread_json(&cell->spread));
        }
    }
    return rows;
}

/* ---- other formats --------------------------------------------------------------------------- */

static void append_markdown(GString *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("|\\*_`<[", *text)) /* no HTML tags, and no links or images to other sites */
            g_string_append_c(out, '\\');
        g_string_append_c(out, *text == '\n' ? ' ' : *text);
    }
}

struct format {
    const char *name;
    void (*append)(GString *out, const char *text);
    const char *row_begin, *between, *row_end;
};

static const struct format FORMATS[] = {{"csv", orch_csv_append, "", ",", "\r\n"},
                                        {"markdown", append_markdown, "| ", " | ", " |\n"},
                                        {"latex", orch_latex_append, "", " & ", " \\\\\n"}};

/* Markdown has no heading above several columns. */
static char *heading_of(const struct orch_table *table, unsigned column, bool is_csv)
{
    const char *group = is_csv ? NULL : table->groups[column];
    const char *label = is_csv ? table->headers[column] : orch_table_label(table, column);
    return g_strconcat(group ? group : "", group ? ": " : "", label, NULL);
}

static void append_cells(GString *out, const struct orch_table *table, const struct format *format,
                         guint first, bool headers)
{
    g_string_append(out, format->row_begin);
    for (guint i = 0; i < table->columns; i++) {
        if (i)
            g_string_append(out, format->between);
        const bool is_csv = format->append == orch_csv_append;
        g_autofree char *shown = headers  ? heading_of(table, i, is_csv)
                                 : is_csv ? g_strdup(orch_table_cell_at(table, first + i)->text)
                                          : orch_table_shown(table, first / table->columns, i);
        format->append(out, shown);
    }
    g_string_append(out, format->row_end);
}

/* Long texts are wrapped in a column of fixed width. */
static bool is_wrapped(const struct orch_table *table, unsigned column)
{
    for (unsigned r = 0; r < orch_table_rows(table) && !table->right[column]; r++)
        if (orch_text_columns(orch_table_cell(table, r, column)->text) > LATEX_TEXT_MOST)
            return true;
    return false;
}

/* The headings that stand above several columns, with a line below each. */
static void append_latex_groups(GString *out, const struct orch_table *table)
{
    g_autoptr(GString) lines = g_string_new(NULL);
    for (unsigned i = 0; i < table->columns; i += orch_table_group_columns(table, i)) {
        const unsigned count = orch_table_group_columns(table, i);
        g_string_append(out, i ? " & " : "");
        if (!table->groups[i])
            continue;
        g_string_append_printf(out, "\\multicolumn{%u}{c}{", count);
        orch_latex_append(out, table->groups[i]);
        g_string_append_c(out, '}');
        g_string_append_printf(lines, "\\cline{%u-%u}", i + 1, i + count);
    }
    g_string_append_printf(out, " \\\\ %s\n", lines->str);
}

static void append_latex_head(GString *out, const struct orch_table *table)
{
    g_string_append(out, "\\begin{tabular}{");
    for (guint i = 0; i < table->columns; i++)
        g_string_append(out, table->right[i]        ? "r"
                             : is_wrapped(table, i) ? "p{0.4\\linewidth}"
                                                    : "l");
    g_string_append(out, "}\n\\hline\n");
    if (orch_table_has_groups(table))
        append_latex_groups(out, table);
    for (guint i = 0; i < table->columns; i++) {
        g_string_append(out, i ? " & " : "");
        orch_latex_append(out, orch_table_label(table, i));
    }
    g_string_append(out, " \\\\\n\\hline\n");
}

static char *format_latex(const struct orch_table *table)
{
    struct orch_table *turned = orch_table_turned_for(table, LATEX_COLUMNS);
    const struct orch_table *shown = turned ? turned : table;
    GString *out = g_string_new(NULL);
    append_latex_head(out, shown);
    for (guint i = 0; i + shown->columns <= shown->cells->len; i += shown->columns)
        append_cells(out, shown, &FORMATS[ORCH_TABLE_LATEX - ORCH_TABLE_CSV], i, false);
    g_string_append(out, "\\hline\n\\end{tabular}\n");
    if (turned)
        orch_table_free(turned);
    return g_string_free(out, FALSE);
}

char *orch_table_format(const struct orch_table *table, enum orch_table_format chosen)
{
    if (chosen == ORCH_TABLE_TEXT)
        return orch_table_aligned(table, false, 0);
    if (chosen == ORCH_TABLE_TSV)
        return format_tabbed(table);
    if (chosen == ORCH_TABLE_LATEX)
        return format_latex(table);
    const struct format *format = &FORMATS[chosen - ORCH_TABLE_CSV];
    GString *out = g_string_new(NULL);
    append_cells(out, table, format, 0, true);
    if (chosen == ORCH_TABLE_MARKDOWN) {
        for (guint i = 0; i < table->columns; i++)
            g_string_append(out, table->right[i] ? "| ---: " : "| --- ");
        g_string_append(out, "|\n");
    }
    for (guint i = 0; i + table->columns <= table->cells->len; i += table->columns)
        append_cells(out, table, format, i, false);
    return g_string_free(out, FALSE);
}

bool orch_table_format_parse(const char *name, enum orch_table_format *out, GError **error)
{
    *out = ORCH_TABLE_TEXT;
    if (!name || strcmp(name, "text") == 0)
        return true;
    if (strcmp(name, "tsv") == 0) {
        *out = ORCH_TABLE_TSV;
        return true;
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(FORMATS); i++)
        if (strcmp(FORMATS[i].name, name) == 0) {
            *out = (enum orch_table_format)(ORCH_TABLE_CSV + i);
            return true;
        }
    orch_error_set(error, ORCH_ERROR_USAGE, "use text, tsv, csv, markdown or latex",
                   "option '--format': unknown format '%s'", name);
    return false;
}
