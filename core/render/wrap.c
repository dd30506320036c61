/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/wrap.h"

static double columns_of(gunichar c)
{
    return g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
}

const struct orch_ruler ORCH_COLUMNS = {columns_of, 1};

double orch_ruler_width(const struct orch_ruler *ruler, const char *text)
{
    double width = 0;
    for (; *text; text = g_utf8_next_char(text))
        width += ruler->width(g_utf8_get_char(text));
    return width * ruler->size;
}

/* Returns the end of the longest prefix that fits into the width, in one pass that stops there
 * however long the text is. The number of zero-width marks is limited as well. */
static const char *behind(const char *text, const struct orch_ruler *ruler, double width)
{
    enum { MARKS_MAX = 7 }; /* for each character with a width, and a few more */
    double used = 0;
    int marks = 0;
    for (; *text; text = g_utf8_next_char(text)) {
        double more = ruler->width(g_utf8_get_char(text)) * ruler->size;
        used += more;
        marks += more > 0 ? -MARKS_MAX : 1;
        marks = MAX(marks, -MARKS_MAX);
        if (used > width + 1e-6 || marks > MARKS_MAX)
            break;
    }
    return text;
}

char *orch_text_fit(const char *text, const struct orch_ruler *ruler, double width)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    for (char *c = valid; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = ' ';
    if (!*behind(valid, ruler, width))
        return g_steal_pointer(&valid);
    const char *end = behind(valid, ruler, width - orch_ruler_width(ruler, "..."));
    end = end == valid ? g_utf8_next_char(valid) : end;
    g_autofree char *cut = g_strndup(valid, (gsize)(end - valid));
    return g_strconcat(cut, "...", NULL);
}

char **orch_text_fit_lines(const char *text, const struct orch_ruler *ruler, double width)
{
    enum { LINES_MAX = 30 };
    g_autoptr(GStrvBuilder) lines = g_strv_builder_new();
    g_auto(GStrv) words = g_strsplit_set(text, " \n\t", -1);
    GString *line = g_string_new(NULL);
    unsigned count = 0;
    for (char **word = words; *word && count < LINES_MAX; word++) {
        g_autofree char *fits = orch_text_fit(*word, ruler, width);
        if (line->len && orch_ruler_width(ruler, line->str) + orch_ruler_width(ruler, " ") +
                                 orch_ruler_width(ruler, fits) >
                             width + 1e-6) {
            g_strv_builder_add(lines, ++count < LINES_MAX ? line->str : "...");
            g_string_truncate(line, 0);
        }
        if (*fits)
            g_string_append_printf(line, "%s%s", line->len ? " " : "", fits);
    }
    if (line->len && count < LINES_MAX)
        g_strv_builder_add(lines, line->str);
    g_string_free(line, TRUE);
    return g_strv_builder_end(lines);
}

char *orch_text_short(const char *text, int columns)
{
    return orch_text_fit(text, &ORCH_COLUMNS, columns);
}

char **orch_text_wrap(const char *text, int columns)
{
    return orch_text_fit_lines(text, &ORCH_COLUMNS, columns);
}
