/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/table.h"

#include "core/stats/numbers.h"
#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Standard errors below this share of the estimate are rounding errors. */
#define ROUNDING 1e-12

struct orch_table {
    unsigned columns;
    char **headers;
    bool *right;
    char **names; /* names in JSON; NULL: derived from the header */
    bool is_grouped;
    GArray *cells; /* struct orch_table_cell, row by row */
};

static void cell_clear(void *pointer)
{
    struct orch_table_cell *cell = pointer;
    g_free(cell->text);
    json_decref(cell->value);
}

struct orch_table *orch_table_new(const char *const *headers)
{
    struct orch_table *table = g_new0(struct orch_table, 1);
    while (headers[table->columns])
        table->columns++;
    table->headers = g_new0(char *, table->columns + 1);
    table->right = g_new0(bool, table->columns + 1);
    table->names = g_new0(char *, table->columns + 1);
    for (unsigned i = 0; i < table->columns; i++) {
        table->right[i] = headers[i][0] == '>';
        table->headers[i] = orch_text_line(g_strdup(headers[i] + table->right[i]));
    }
    table->cells = g_array_new(FALSE, FALSE, sizeof(struct orch_table_cell));
    g_array_set_clear_func(table->cells, cell_clear);
    return table;
}

void orch_table_set_name(struct orch_table *table, unsigned column, const char *name)
{
    g_free(table->names[column]);
    table->names[column] = g_strdup(name);
}

void orch_table_free(struct orch_table *table)
{
    for (unsigned i = 0; i < table->columns; i++)
        g_free(table->names[i]);
    g_free(table->names);
    g_strfreev(table->headers);
    g_free(table->right);
    g_array_unref(table->cells);
    g_free(table);
}

void orch_table_add(struct orch_table *table, const char *text, json_t *value)
{
    char *plain = orch_text_plain(g_strdup(text ? text : ""));
    bool is_plain = strcmp(plain, text ? text : "") == 0;
    struct orch_table_cell cell = {.text = plain,
                                   .value = value || is_plain ? value : json_string(text),
                                   .number = json_is_number(value) ? json_number_value(value)
                                                                   : (double)NAN};
    g_array_append_val(table->cells, cell);
}

void orch_table_add_who(struct orch_table *table, const char *who)
{
    g_autofree char *name = orch_who_name(who);
    orch_table_add(table, name ? name : "-", orch_json_text_or_null(who));
}

void orch_table_add_int(struct orch_table *table, int64_t value)
{
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, value);
    orch_table_add(table, text, json_integer(value));
}

void orch_table_add_real(struct orch_table *table, double value)
{
    g_autofree char *text = isnan(value) ? g_strdup("-") : orch_number_format(value);
    orch_table_add(table, text, orch_json_real_or_null(value));
}

void orch_table_add_spread(struct orch_table *table, const struct orch_spread *spread,
                           unsigned done, unsigned planned)
{
    g_autofree char *value = orch_spread_format(spread);
    g_autofree char *text =
        done < planned ? g_strdup_printf("%s n=%u/%u", value, done, planned) : g_strdup(value);
    orch_table_add(table, text,
                   isnan(spread->centre) ? json_null() : orch_json_finite(spread->centre));
    struct orch_table_cell *cell =
        &g_array_index(table->cells, struct orch_table_cell, table->cells->len - 1);
    cell->number = spread->centre;
    cell->spread = *spread;
}

void orch_table_add_estimate(struct orch_table *table, double value, double standard_error)
{
    if (isnan(value) || !isfinite(standard_error) || standard_error <= ROUNDING * fabs(value)) {
        orch_table_add_real(table, value);
        return;
    }
    char *texts[2];
    orch_numbers_format_like(2 * standard_error, (const double[]){value, standard_error}, texts, 2);
    g_autofree char *text = g_strdup_printf("%s (%s)", texts[0], texts[1]);
    g_free(texts[0]);
    g_free(texts[1]);
    orch_table_add(table, text, orch_json_finite(value));
    struct orch_table_cell *cell =
        &g_array_index(table->cells, struct orch_table_cell, table->cells->len - 1);
    cell->number = value;
    cell->standard_error = standard_error;
}

void orch_table_add_missing(struct orch_table *table)
{
    orch_table_add(table, "missing", json_null());
    g_array_index(table->cells, struct orch_table_cell, table->cells->len - 1).is_missing = true;
}

unsigned orch_table_columns(const struct orch_table *table)
{
    return table->columns;
}

unsigned orch_table_rows(const struct orch_table *table)
{
    return table->cells->len / MAX(table->columns, 1);
}

const char *orch_table_header(const struct orch_table *table, unsigned column)
{
    return table->headers[column];
}

bool orch_table_is_right(const struct orch_table *table, unsigned column)
{
    return table->right[column];
}

const struct orch_table_cell *orch_table_cell(const struct orch_table *table, unsigned row,
                                              unsigned column)
{
    return &g_array_index(table->cells, struct orch_table_cell, row * table->columns + column);
}

/* ---- text --------------------------------------------------------------------------------------
 */

int orch_text_columns(const char *text)
{
    int width = 0;
    for (const char *p = text; *p; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        width += g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
    }
    return width;
}

const char *orch_color_of(const char *text)
{
    static const struct {
        const char *word, *code;
    } colors[] = {{"ok", "\033[32m"},       {"done", "\033[32m"},           {"failed", "\033[31m"},
                  {"missing", "\033[33m"},  {"crashed", "\033[31m"},        {"timeout", "\033[31m"},
                  {"lost", "\033[31m"},     {"protocol-error", "\033[31m"}, {"stale", "\033[33m"},
                  {"skipped", "\033[33m"},  {"running", "\033[36m"},        {"held", "\033[36m"},
                  {"diverged", "\033[35m"}, {"pruned", "\033[35m"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(colors); i++)
        if (strcmp(colors[i].word, text) == 0)
            return colors[i].code;
    return NULL;
}

static void append_padded(GString *out, const char *text, int width, bool right, bool last,
                          bool color)
{
    int padding = width - orch_text_columns(text);
    const char *code = color ? orch_color_of(text) : NULL;
    if (right)
        g_string_append_printf(out, "%*s", padding, "");
    g_string_append_printf(out, "%s%s%s", code ? code : "", text, code ? "\033[0m" : "");
    if (!right && !last)
        g_string_append_printf(out, "%*s", padding, "");
    if (!last)
        g_string_append(out, "  ");
}

static const struct orch_table_cell *cell_at(const struct orch_table *table, guint i)
{
    return &g_array_index(table->cells, struct orch_table_cell, i);
}

void orch_table_group_digits(struct orch_table *table)
{
    table->is_grouped = true;
}

/* Numbers and calculations: everything else, such as a key or an address, stays as it is. */
static char *shown_at(const struct orch_table *table, guint i)
{
    const char *text = cell_at(table, i)->text;
    const unsigned column = i % table->columns;
    const bool is_arithmetic = text[strspn(text, "0123456789 +-*/().,=%[]<>")] == '\0';
    return table->is_grouped && column && (table->right[column] || is_arithmetic)
               ? orch_digits_grouped(text)
               : g_strdup(text);
}

char *orch_table_shown(const struct orch_table *table, unsigned row, unsigned column)
{
    return shown_at(table, row * table->columns + column);
}

/* Narrows the widest text columns until a line fits; numbers and headers are not shortened. */
static void fit(const struct orch_table *table, int *widths, int limit)
{
    int total = 2 * ((int)table->columns - 1);
    for (unsigned i = 0; i < table->columns; i++)
        total += widths[i];
    while (limit && total > limit) {
        int widest = -1;
        for (int i = 0; i < (int)table->columns; i++)
            if (!table->right[i] && widths[i] > MAX(10, orch_text_columns(table->headers[i])) &&
                (widest < 0 || widths[i] > widths[widest]))
                widest = i;
        if (widest < 0)
            return;
        widths[widest]--;
        total--;
    }
}

/* Takes from *text what fits into a width: up to the last space, else as many characters as fit. */
static char *take_line(const char **text, int width)
{
    const char *p = *text, *blank = NULL;
    int columns = 0;
    for (; *p; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        columns += g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
        if (columns > width && p > *text)
            break;
        if (*p == ' ' && p > *text)
            blank = p;
    }
    const char *end = *p && *p != ' ' && blank ? blank : p;
    char *line = g_strdelimit(g_strndup(*text, (gsize)(end - *text)), "\t\n", ' ');
    for (*text = end; **text == ' ';)
        (*text)++;
    return line;
}

/* Appends one row, on as many lines as its longest cell needs. */
static void append_row(GString *out, const struct orch_table *table, const char **rest,
                       const int *widths, bool color)
{
    bool more = true;
    while (more) {
        more = false;
        for (unsigned i = 0; i < table->columns; i++) {
            g_autofree char *piece = take_line(&rest[i], MAX(1, widths[i]));
            append_padded(out, piece, widths[i], table->right[i], i + 1 == table->columns, color);
            more = more || *rest[i];
        }
        while (out->len && out->str[out->len - 1] == ' ')
            g_string_truncate(out, out->len - 1);
        g_string_append_c(out, '\n');
    }
}

char *orch_table_aligned(const struct orch_table *table, bool color, int limit)
{
    g_autofree int *widths = g_new0(int, table->columns + 1);
    g_autofree const char **rest = g_new0(const char *, table->columns + 1);
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < table->cells->len; i++)
        g_ptr_array_add(texts, shown_at(table, i));
    for (unsigned i = 0; i < table->columns; i++)
        widths[i] = orch_text_columns(table->headers[i]);
    for (guint i = 0; i < table->cells->len; i++)
        widths[i % table->columns] =
            MAX(widths[i % table->columns], orch_text_columns(texts->pdata[i]));
    fit(table, widths, limit);
    GString *out = g_string_new(color ? "\033[1m" : NULL);
    for (unsigned i = 0; i < table->columns; i++)
        append_padded(out, table->headers[i], widths[i], table->right[i], i + 1 == table->columns,
                      false);
    g_string_append(out, color ? "\033[0m\n" : "\n");
    for (guint i = 0; i + table->columns <= table->cells->len; i += table->columns) {
        for (unsigned j = 0; j < table->columns; j++)
            rest[j] = texts->pdata[i + j];
        append_row(out, table, rest, widths, color);
    }
    return g_string_free(out, FALSE);
}

static char *format_tabbed(const struct orch_table *table)
{
    GString *out = g_string_new(NULL);
    for (unsigned i = 0; i < table->columns; i++)
        g_string_append_printf(out, "%s%c", table->headers[i],
                               i + 1 == table->columns ? '\n' : '\t');
    for (guint i = 0; i < table->cells->len; i++) {
        g_autofree char *text = g_strdelimit(g_strdup(cell_at(table, i)->text), "\t\n", ' ');
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
        const struct orch_table_cell *cell = cell_at(table, i);
        if (column == 0)
            json_array_append_new(rows, row = json_object());
        g_autofree char *name = json_name(table, column);
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

static void append_latex(GString *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("&%$#_{}", *text))
            g_string_append_c(out, '\\');
        if (*text == '\\' || *text == '^' || *text == '~')
            g_string_append(out, *text == '\\'  ? "\\textbackslash{}"
                                 : *text == '^' ? "\\textasciicircum{}"
                                                : "\\textasciitilde{}");
        else
            g_string_append_c(out, *text);
    }
}

struct format {
    const char *name;
    void (*append)(GString *out, const char *text);
    const char *row_begin, *between, *row_end;
};

static const struct format FORMATS[] = {{"csv", orch_csv_append, "", ",", "\r\n"},
                                        {"markdown", append_markdown, "| ", " | ", " |\n"},
                                        {"latex", append_latex, "", " & ", " \\\\\n"}};

static void append_cells(GString *out, const struct orch_table *table, const struct format *format,
                         guint first, bool headers)
{
    g_string_append(out, format->row_begin);
    for (guint i = 0; i < table->columns; i++) {
        if (i)
            g_string_append(out, format->between);
        const bool is_csv = format->append == orch_csv_append;
        g_autofree char *shown = headers  ? g_strdup(table->headers[i])
                                 : is_csv ? g_strdup(cell_at(table, first + i)->text)
                                          : shown_at(table, first + i);
        format->append(out, shown);
    }
    g_string_append(out, format->row_end);
}

char *orch_table_format(const struct orch_table *table, enum orch_table_format chosen)
{
    if (chosen == ORCH_TABLE_TEXT)
        return orch_table_aligned(table, false, 0);
    if (chosen == ORCH_TABLE_TSV)
        return format_tabbed(table);
    const struct format *format = &FORMATS[chosen - ORCH_TABLE_CSV];
    GString *out = g_string_new(NULL);
    bool latex = strcmp(format->name, "latex") == 0;
    if (latex) {
        g_string_append(out, "\\begin{tabular}{");
        for (guint i = 0; i < table->columns; i++)
            g_string_append_c(out, table->right[i] ? 'r' : 'l');
        g_string_append(out, "}\n\\hline\n");
    }
    append_cells(out, table, format, 0, true);
    if (latex)
        g_string_append(out, "\\hline\n");
    if (strcmp(format->name, "markdown") == 0) {
        for (guint i = 0; i < table->columns; i++)
            g_string_append(out, table->right[i] ? "| ---: " : "| --- ");
        g_string_append(out, "|\n");
    }
    for (guint i = 0; i + table->columns <= table->cells->len; i += table->columns)
        append_cells(out, table, format, i, false);
    if (latex)
        g_string_append(out, "\\hline\n\\end{tabular}\n");
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
