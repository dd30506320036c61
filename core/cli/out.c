/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cell {
    char *text;
    json_t *value; /* NULL: the text */
};

struct orch_table {
    unsigned columns;
    char **headers;
    bool *right;
    GArray *cells; /* struct cell, row by row */
};

static void cell_clear(void *pointer)
{
    struct cell *cell = pointer;
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
    for (unsigned i = 0; i < table->columns; i++) {
        table->right[i] = headers[i][0] == '>';
        table->headers[i] = g_strdup(headers[i] + table->right[i]);
    }
    table->cells = g_array_new(FALSE, FALSE, sizeof(struct cell));
    g_array_set_clear_func(table->cells, cell_clear);
    return table;
}

static void table_free(struct orch_table *table)
{
    g_strfreev(table->headers);
    g_free(table->right);
    g_array_unref(table->cells);
    g_free(table);
}

void orch_table_add(struct orch_table *table, const char *text, json_t *value)
{
    struct cell cell = {g_strdup(text ? text : ""), value};
    g_array_append_val(table->cells, cell);
}

void orch_table_add_int(struct orch_table *table, int64_t value)
{
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, value);
    orch_table_add(table, text, json_integer(value));
}

void orch_table_add_real(struct orch_table *table, double value)
{
    g_autofree char *text = isnan(value) ? g_strdup("-") : orch_number_format(value);
    orch_table_add(table, text, isnan(value) ? json_null() : orch_json_real(value));
}

char *orch_number_format(double value)
{
    char text[ORCH_REAL_CHARS];
    if (!isfinite(value))
        return g_strdup(orch_real_format(value, text));
    double size = fabs(value);
    if (value == floor(value) && size < 1e15)
        return g_strdup_printf("%.0f", value);
    if (size >= 1e6 || size < 1e-4)
        return g_strdup(g_ascii_formatd(text, sizeof text, "%.3e", value));
    int digits = size >= 1000 ? 1 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
    char format[8];
    snprintf(format, sizeof format, "%%.%df", digits);
    g_ascii_formatd(text, sizeof text, format, value);
    return g_strdup(text);
}

bool orch_cli_color(const struct orch_cli *cli, bool on_stderr)
{
    if (cli->color && strcmp(cli->color, "auto") != 0)
        return strcmp(cli->color, "always") == 0;
    const char *no = g_getenv("NO_COLOR"), *force = g_getenv("CLICOLOR_FORCE");
    if (no && *no)
        return false;
    if (force && *force && strcmp(force, "0") != 0)
        return true;
    return (on_stderr ? cli->stderr_is_tty : cli->stdout_is_tty) &&
           g_strcmp0(g_getenv("TERM"), "dumb") != 0;
}

/* Columns that a text takes on a terminal. */
static int width_of(const char *text)
{
    int width = 0;
    for (const char *p = text; *p; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        width += g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
    }
    return width;
}

static const char *color_of(const char *text)
{
    static const struct {
        const char *word, *code;
    } colors[] = {{"ok", "\033[32m"},
                  {"done", "\033[32m"},
                  {"failed", "\033[31m"},
                  {"crashed", "\033[31m"},
                  {"timeout", "\033[31m"},
                  {"lost", "\033[31m"},
                  {"protocol-error", "\033[31m"},
                  {"stale", "\033[33m"},
                  {"skipped", "\033[33m"},
                  {"running", "\033[36m"},
                  {"held", "\033[36m"},
                  {"diverged", "\033[35m"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(colors); i++)
        if (strcmp(colors[i].word, text) == 0)
            return colors[i].code;
    return NULL;
}

static void append_padded(GString *out, const char *text, int width, bool right, bool last,
                          bool color)
{
    int padding = width - width_of(text);
    const char *code = color ? color_of(text) : NULL;
    if (right)
        g_string_append_printf(out, "%*s", padding, "");
    g_string_append_printf(out, "%s%s%s", code ? code : "", text, code ? "\033[0m" : "");
    if (!right && !last)
        g_string_append_printf(out, "%*s", padding, "");
    if (!last)
        g_string_append(out, "  ");
}

static const struct cell *cell_at(const struct orch_table *table, guint i)
{
    return &g_array_index(table->cells, struct cell, i);
}

static char *aligned(const struct orch_table *table, bool color)
{
    g_autofree int *widths = g_new0(int, table->columns + 1);
    for (unsigned i = 0; i < table->columns; i++)
        widths[i] = width_of(table->headers[i]);
    for (guint i = 0; i < table->cells->len; i++)
        widths[i % table->columns] =
            MAX(widths[i % table->columns], width_of(cell_at(table, i)->text));
    GString *out = g_string_new(NULL);
    if (color)
        g_string_append(out, "\033[1m");
    for (unsigned i = 0; i < table->columns; i++)
        append_padded(out, table->headers[i], widths[i], table->right[i], i + 1 == table->columns,
                      false);
    g_string_append(out, color ? "\033[0m\n" : "\n");
    for (guint i = 0; i < table->cells->len; i++) {
        unsigned column = i % table->columns;
        bool last = column + 1 == table->columns;
        append_padded(out, cell_at(table, i)->text, widths[column], table->right[column], last,
                      color);
        if (last)
            g_string_append_c(out, '\n');
    }
    return g_string_free(out, FALSE);
}

static char *tabbed(const struct orch_table *table)
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

json_t *orch_table_to_json(struct orch_table *table)
{
    json_t *rows = json_array(), *row = NULL;
    for (guint i = 0; i < table->cells->len; i++) {
        unsigned column = i % table->columns;
        const struct cell *cell = cell_at(table, i);
        if (column == 0)
            json_array_append_new(rows, row = json_object());
        g_autofree char *name = g_strdelimit(g_ascii_strdown(table->headers[column], -1), " ", '_');
        json_object_set_new(row, name,
                            cell->value ? json_incref(cell->value) : json_string(cell->text));
    }
    table_free(table);
    return rows;
}

char *orch_table_to_text(struct orch_table *table, bool color)
{
    char *text = aligned(table, color);
    table_free(table);
    return text;
}

void orch_cli_print_json(json_t *object)
{
    json_object_set_new(object, "schema_version", json_integer(1));
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
    puts(text);
    free(text);
    json_decref(object);
}

void orch_table_print(struct orch_cli *cli, struct orch_table *table, const char *name)
{
    if (cli->json) {
        orch_cli_print_json(json_pack("{s:o}", name, orch_table_to_json(table)));
        return;
    }
    g_autofree char *text =
        cli->stdout_is_tty ? aligned(table, orch_cli_color(cli, false)) : tabbed(table);
    fputs(text, stdout);
    table_free(table);
}
