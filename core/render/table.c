/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/table_parts.h"

#include "core/stats/numbers.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* With more rows a turned table would be as wide. */
enum { TURNED_ROWS_MOST = 3 };
/* Columns of text are wrapped at about this width where a table is wide. */
enum { WRAPPED_AT_MOST = 24 };
/* Between two columns of a page or an article. */
enum { GAP = 3 };

/* Standard errors below this share of the estimate are rounding errors. */
#define ROUNDING 1e-12

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
    table->groups = g_new0(char *, table->columns + 1);
    table->labels = g_new0(char *, table->columns + 1);
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

void orch_table_set_heading(struct orch_table *table, unsigned column, const char *group,
                            const char *label)
{
    g_free(table->groups[column]);
    g_free(table->labels[column]);
    table->groups[column] = group ? orch_text_line(g_strdup(group)) : NULL;
    table->labels[column] = label ? orch_text_line(g_strdup(label)) : NULL;
}

void orch_table_free(struct orch_table *table)
{
    for (unsigned i = 0; i < table->columns; i++) {
        g_free(table->names[i]);
        g_free(table->groups[i]);
        g_free(table->labels[i]);
    }
    g_free(table->names);
    g_free(table->groups);
    g_free(table->labels);
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

void orch_table_set_value(struct orch_table *table, json_t *value)
{
    struct orch_table_cell *cell =
        &g_array_index(table->cells, struct orch_table_cell, table->cells->len - 1);
    json_decref(cell->value);
    cell->value = value;
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
    g_autofree char *text = done < planned
                                ? g_strdup_printf("%s, from %u of %u trials", value, done, planned)
                                : g_strdup(value);
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

const char *orch_table_label(const struct orch_table *table, unsigned column)
{
    return table->labels[column] ? table->labels[column] : table->headers[column];
}

const char *orch_table_group(const struct orch_table *table, unsigned column)
{
    return table->groups[column];
}

unsigned orch_table_group_columns(const struct orch_table *table, unsigned column)
{
    unsigned end = column + 1;
    while (table->groups[column] && end < table->columns &&
           g_strcmp0(table->groups[end], table->groups[column]) == 0)
        end++;
    return end - column;
}

bool orch_table_has_groups(const struct orch_table *table)
{
    for (unsigned i = 0; i < table->columns; i++)
        if (table->groups[i])
            return true;
    return false;
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

/* ---- as it is read --------------------------------------------------------------------------- */

void orch_table_group_digits(struct orch_table *table)
{
    table->is_grouped = true;
}

/* Numbers and calculations: everything else, such as a key or an address, stays as it is. */
char *orch_table_shown(const struct orch_table *table, unsigned row, unsigned column)
{
    const guint i = row * table->columns + column;
    const char *text = orch_table_cell_at(table, i)->text;
    const bool is_arithmetic = text[strspn(text, "0123456789 +-*/().,=%[]<>")] == '\0';
    return table->is_grouped && column && (table->right[column] || is_arithmetic)
               ? orch_digits_grouped(text)
               : g_strdup(text);
}

int orch_text_columns(const char *text)
{
    int width = 0;
    for (const char *p = text; *p; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        width += g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
    }
    return width;
}

int orch_table_width(const struct orch_table *table)
{
    int width = 0;
    for (unsigned c = 0; c < table->columns; c++) {
        int widest = orch_text_columns(orch_table_label(table, c));
        for (unsigned r = 0; r < orch_table_rows(table); r++)
            widest = MAX(widest, orch_text_columns(orch_table_cell(table, r, c)->text));
        widest = table->right[c] ? widest : MIN(widest, WRAPPED_AT_MOST);
        width += widest + (c ? GAP : 0);
    }
    return width;
}

static void copy_cell(struct orch_table *to, const struct orch_table *from, unsigned row,
                      unsigned column)
{
    g_autofree char *shown = orch_table_shown(from, row, column);
    orch_table_add(to, shown, NULL);
    g_array_index(to->cells, struct orch_table_cell, to->cells->len - 1).is_missing =
        orch_table_cell(from, row, column)->is_missing;
}

/* Numbers of several kinds below each other are read from their left. What stood above several
 * columns stands at the first of their rows. */
static struct orch_table *turned(const struct orch_table *table)
{
    static const char *const headers[TURNED_ROWS_MOST + 3] = {"", "", "", "", ""};
    const unsigned rows = orch_table_rows(table), heads = orch_table_has_groups(table) ? 2 : 1;
    struct orch_table *out = orch_table_new(headers + TURNED_ROWS_MOST + 2 - rows - heads);
    orch_table_set_heading(out, 0, NULL, orch_table_label(table, 0));
    for (unsigned r = 0; r < rows; r++)
        orch_table_set_heading(out, r + heads, NULL, orch_table_cell(table, r, 0)->text);
    for (unsigned c = 1; c < table->columns; c++) {
        const bool is_first = g_strcmp0(table->groups[c], table->groups[c - 1]) != 0;
        if (heads > 1)
            orch_table_add(out, is_first && table->groups[c] ? table->groups[c] : "", NULL);
        orch_table_add(out, orch_table_label(table, c), NULL);
        for (unsigned r = 0; r < rows; r++)
            copy_cell(out, table, r, c);
    }
    return out;
}

struct orch_table *orch_table_turned_for(const struct orch_table *table, int width)
{
    const unsigned rows = orch_table_rows(table);
    if (!rows || rows > TURNED_ROWS_MOST || table->columns <= 2 * rows)
        return NULL;
    if (orch_table_width(table) <= (rows > 1 ? width + width / 3 : width))
        return NULL;
    return turned(table);
}
