/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/table_parts.h"

#include <string.h>

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

/* Narrows the widest text columns until a line fits; numbers and headings are not shortened.
 * Returns the width. */
static int fit(const struct orch_table *table, int *widths, int limit)
{
    int total = 2 * ((int)table->columns - 1);
    for (unsigned i = 0; i < table->columns; i++)
        total += widths[i];
    while (limit && total > limit) {
        int widest = -1;
        for (int i = 0; i < (int)table->columns; i++)
            if (!table->right[i] &&
                widths[i] > MAX(10, orch_text_columns(orch_table_label(table, i))) &&
                (widest < 0 || widths[i] > widths[widest]))
                widest = i;
        if (widest < 0)
            return total;
        widths[widest]--;
        total--;
    }
    return total;
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

/* The line of headings that stand above several columns. A longer one gets its room from the last
 * of them. */
static void widen_for_groups(const struct orch_table *table, int *widths)
{
    for (unsigned i = 0; i < table->columns; i += orch_table_group_columns(table, i)) {
        const unsigned count = orch_table_group_columns(table, i);
        int width = 2 * (int)(count - 1);
        for (unsigned k = i; k < i + count; k++)
            width += widths[k];
        const int wanted = table->groups[i] ? orch_text_columns(table->groups[i]) : 0;
        widths[i + count - 1] += MAX(0, wanted - width);
    }
}

static void append_groups(GString *out, const struct orch_table *table, const int *widths)
{
    g_autoptr(GString) line = g_string_new(NULL);
    for (unsigned i = 0; i < table->columns; i += orch_table_group_columns(table, i)) {
        const unsigned count = orch_table_group_columns(table, i);
        int width = 2 * (int)(count - 1);
        for (unsigned k = i; k < i + count; k++)
            width += widths[k];
        append_padded(line, table->groups[i] ? table->groups[i] : "", width, table->right[i], false,
                      false);
    }
    g_string_append_printf(out, "%s\n", g_strchomp(line->str));
}

static void append_labels(GString *out, const struct orch_table *table, const int *widths)
{
    g_autoptr(GString) line = g_string_new(NULL);
    for (unsigned i = 0; i < table->columns; i++)
        append_padded(line, orch_table_label(table, i), widths[i], table->right[i],
                      i + 1 == table->columns, false);
    g_string_append(out, line->str);
}

static void append_rows(GString *out, const struct orch_table *table, const GPtrArray *texts,
                        const int *widths, bool color)
{
    g_autofree const char **rest = g_new0(const char *, table->columns + 1);
    for (guint i = 0; i + table->columns <= texts->len; i += table->columns) {
        for (unsigned j = 0; j < table->columns; j++)
            rest[j] = texts->pdata[i + j];
        append_row(out, table, rest, widths, color);
    }
}

char *orch_table_aligned(const struct orch_table *table, bool color, int limit)
{
    g_autofree int *widths = g_new0(int, table->columns + 1);
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < table->columns; i++)
        widths[i] = orch_text_columns(orch_table_label(table, i));
    for (guint i = 0; i < table->cells->len; i++) {
        const unsigned column = i % table->columns;
        g_ptr_array_add(texts, orch_table_shown(table, i / table->columns, column));
        widths[column] = MAX(widths[column], orch_text_columns(texts->pdata[i]));
    }
    const bool is_wide = limit && fit(table, widths, limit) > limit;
    struct orch_table *turned =
        is_wide && table->is_grouped ? orch_table_turned_for(table, limit) : NULL;
    if (turned) {
        char *text = orch_table_aligned(turned, color, limit);
        orch_table_free(turned);
        return text;
    }
    widen_for_groups(table, widths);
    GString *out = g_string_new(color ? "\033[1m" : NULL);
    if (orch_table_has_groups(table))
        append_groups(out, table, widths);
    append_labels(out, table, widths);
    g_string_append(out, color ? "\033[0m\n" : "\n");
    append_rows(out, table, texts, widths, color);
    return g_string_free(out, FALSE);
}
