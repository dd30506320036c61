/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/markup.h"

#include "lib/base/text.h"

#include <string.h>

/* Characters beside each other: a wider table is turned where it can be, and set smaller. */
enum { TURNED_BEYOND = 90, SMALLER_BEYOND = 84, SMALLEST_BEYOND = 120 };
/* On paper a table of so many rows is not divided. */
enum { SHORT_MOST = 14 };

static const char *entity_of(gunichar c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return orch_text_is_hidden(c) ? "\xef\xbf\xbd" : NULL; /* U+FFFD */
    }
}

void orch_html_append(GString *out, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text ? text : "", -1);
    for (const char *p = valid; *p;) {
        const char *next = g_utf8_next_char(p), *entity = entity_of(g_utf8_get_char(p));
        if (entity)
            g_string_append(out, entity);
        else
            g_string_append_len(out, p, next - p);
        p = next;
    }
}

/* Like orch_html_append; a name may be broken after an underscore, where a column is too narrow. */
static void append_breaking(GString *out, const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, "_", -1);
    for (guint i = 0; parts[i]; i++) {
        g_string_append(out, i ? "_<wbr>" : "");
        orch_html_append(out, parts[i]);
    }
}

/* The format string is our own markup; its arguments are untrusted and therefore escaped. */
void orch_html_printf(GString *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (const char *p = format; *p; p++) {
        if (*p != '%') {
            g_string_append_c(out, *p);
            continue;
        }
        p++;
        if (*p == 's')
            orch_html_append(out, va_arg(args, const char *));
        else if (*p == 'u')
            g_string_append_printf(out, "%u", va_arg(args, unsigned));
        else if (*p == '%')
            g_string_append_c(out, '%');
        else
            g_error("orch_html_printf knows %%s and %%u alone");
    }
    va_end(args);
}

static void append_style(GString *out, bool right, bool styled)
{
    if (right)
        g_string_append(out, styled ? " style=\"text-align:right\"" : " class=\"number\"");
    else if (styled)
        g_string_append(out, " style=\"text-align:left\"");
}

static void append_cell(GString *out, const struct orch_table *table, unsigned row, unsigned column,
                        bool styled)
{
    const struct orch_table_cell *cell = orch_table_cell(table, row, column);
    const char *element = column ? "td" : "th scope=\"row\"";
    g_string_append_printf(out, "<%s", element);
    if (cell->is_missing && !styled)
        g_string_append(out, orch_table_is_right(table, column) ? " class=\"number missing\""
                                                                : " class=\"missing\"");
    else
        append_style(out, orch_table_is_right(table, column), styled);
    g_string_append_c(out, '>');
    g_autofree char *shown = orch_table_shown(table, row, column);
    append_breaking(out, shown);
    g_string_append(out, column ? "</td>" : "</th>");
}

static void append_heading(GString *out, const struct orch_table *table, unsigned column,
                           const char *attributes, bool styled)
{
    g_string_append_printf(out, "<th scope=\"col\"%s", attributes);
    append_style(out, orch_table_is_right(table, column), styled);
    g_string_append_c(out, '>');
    append_breaking(out, orch_table_label(table, column));
    g_string_append(out, "</th>");
}

/* The headings; one that stands above several columns has a row of its own. */
static void append_head(GString *out, const struct orch_table *table, bool styled)
{
    const bool has_groups = orch_table_has_groups(table);
    g_string_append(out, "<thead>\n<tr>");
    for (unsigned c = 0; has_groups && c < orch_table_columns(table);
         c += orch_table_group_columns(table, c)) {
        const char *group = orch_table_group(table, c);
        if (group) {
            orch_html_printf(out, "<th scope=\"colgroup\" class=\"group\" colspan=\"%u\">",
                             orch_table_group_columns(table, c));
            append_breaking(out, group);
            g_string_append(out, "</th>");
        } else {
            append_heading(out, table, c, " rowspan=\"2\"", styled);
        }
    }
    g_string_append(out, has_groups ? "</tr>\n<tr>" : "");
    for (unsigned c = 0; c < orch_table_columns(table); c++)
        if (!has_groups || orch_table_group(table, c))
            append_heading(out, table, c, "", styled);
    g_string_append(out, "</tr>\n</thead>\n");
}

static void append_table(GString *out, const struct orch_table *table, const char *caption,
                         bool styled)
{
    const int width = orch_table_width(table);
    const bool is_short = orch_table_rows(table) <= SHORT_MOST;
    g_string_append_printf(out, "<table%s>\n",
                           styled                               ? ""
                           : width > SMALLEST_BEYOND            ? " class=\"wider\""
                           : width > SMALLER_BEYOND && is_short ? " class=\"wide short\""
                           : width > SMALLER_BEYOND             ? " class=\"wide\""
                           : is_short                           ? " class=\"short\""
                                                                : "");
    if (caption && *caption)
        orch_html_printf(out, "<caption>%s</caption>\n", caption);
    append_head(out, table, styled);
    g_string_append(out, "<tbody>\n");
    for (unsigned r = 0; r < orch_table_rows(table); r++) {
        g_string_append(out, "<tr>");
        for (unsigned c = 0; c < orch_table_columns(table); c++)
            append_cell(out, table, r, c, styled);
        g_string_append(out, "</tr>\n");
    }
    g_string_append(out, "</tbody>\n</table>\n");
}

void orch_html_table(GString *out, const struct orch_table *table, const char *caption, bool styled)
{
    struct orch_table *turned = orch_table_turned_for(table, TURNED_BEYOND);
    append_table(out, turned ? turned : table, caption, styled);
    if (turned)
        orch_table_free(turned);
}
