/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Markdown is shown as it is written, which people read well, except for what a terminal cannot do:
 * links become their words, and paragraphs and points of lists are wrapped. Tables and code are
 * left as they are. */
#include "core/cli/manual.h"

#include "core/cli/cli.h"
#include "core/feature/feature.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/program_path.h"
#include "lib/base/text.h"

#include <string.h>

enum { PAGE_BYTES_MAX = 1 << 20 };

const struct orch_help_topic *orch_manual_topic(const char *name)
{
    for (const struct orch_feature *const *f = orch_features(); *f; f++)
        for (const struct orch_help_topic *t = (*f)->topics; t && t->name; t++)
            if (strcmp(t->name, name) == 0)
                return t;
    return NULL;
}

void orch_manual_topics(FILE *out, bool with_summaries)
{
    const char *between = "";
    for (const struct orch_feature *const *f = orch_features(); *f; f++)
        for (const struct orch_help_topic *t = (*f)->topics; t && t->name; t++) {
            if (with_summaries)
                fprintf(out, "  %-16s %s\n", t->name, t->summary);
            else
                fprintf(out, "%s%s", between, t->name);
            between = ", ";
        }
}

/* "[words](target)" -> "words" */
static char *without_links(const char *line)
{
    GString *out = g_string_new(NULL);
    while (*line) {
        const char *middle = *line == '[' ? strstr(line, "](") : NULL;
        const char *end = middle ? strchr(middle, ')') : NULL;
        if (!end || memchr(line + 1, '[', (size_t)(middle - line - 1))) {
            g_string_append_c(out, *line++);
            continue;
        }
        g_string_append_len(out, line + 1, middle - line - 1);
        line = end + 1;
    }
    return g_string_free(out, FALSE);
}

/* The number of leading blanks, and of the mark of a list's point behind them. */
static int indent_of(const char *line)
{
    int blanks = (int)strspn(line, " ");
    int digits = (int)strspn(line + blanks, "0123456789");
    if (digits && line[blanks + digits] == '.' && line[blanks + digits + 1] == ' ')
        return blanks + digits + 2;
    bool is_point = strchr("-*+", line[blanks]) && line[blanks] && line[blanks + 1] == ' ';
    return blanks + (is_point ? 2 : 0);
}

static bool begins_block(const char *line)
{
    int blanks = (int)strspn(line, " ");
    return !line[blanks] || strchr("#|", line[blanks]) || indent_of(line) > blanks ||
           g_str_has_prefix(line + blanks, "```");
}

static void flush_paragraph(FILE *out, GString *paragraph, int columns)
{
    if (!paragraph->len)
        return;
    int indent = indent_of(paragraph->str), at = 0;
    g_auto(GStrv) words = g_strsplit(paragraph->str + strspn(paragraph->str, " "), " ", -1);
    at = fprintf(out, "%*s", (int)strspn(paragraph->str, " "), "");
    for (int i = 0; words[i]; i++) {
        int width = orch_text_columns(words[i]);
        bool breaks = i && at + 1 + width > columns;
        if (breaks)
            at = fprintf(out, "\n%*s", indent, "") - 1;
        else if (i)
            at += fprintf(out, " ");
        fputs(words[i], out);
        at += width;
    }
    fputc('\n', out);
    g_string_truncate(paragraph, 0);
}

static int heading_level(const char *line)
{
    int level = (int)strspn(line, "#");
    return level && line[level] == ' ' ? level : 0;
}

/* The lines of the section below a heading, up to the next heading of its level; NULL without such
 * a heading. */
static char **section_of(char **lines, const char *heading)
{
    GPtrArray *out = g_ptr_array_new();
    int level = 0;
    bool is_code = false;
    for (; *lines; lines++) {
        is_code ^= g_str_has_prefix(*lines, "```");
        int here = is_code ? 0 : heading_level(*lines);
        if (level && here && here <= level)
            break;
        if (!level && here && strcmp(*lines + here + 1, heading) == 0)
            level = here;
        if (level)
            g_ptr_array_add(out, *lines);
    }
    g_ptr_array_add(out, NULL);
    return (char **)g_ptr_array_free(out, level == 0);
}

bool orch_manual_render(FILE *out, const char *markdown, const char *heading, int columns)
{
    g_auto(GStrv) all = g_strsplit(markdown, "\n", -1);
    g_autofree char **section = heading ? section_of(all, heading) : NULL;
    if (heading && !section)
        return false;
    GString *paragraph = g_string_new(NULL);
    bool is_code = false;
    for (char **line = section ? section : all; *line && (line[1] || **line); line++) {
        bool is_fence = g_str_has_prefix(*line, "```");
        if (is_code || is_fence || begins_block(*line))
            flush_paragraph(out, paragraph, columns);
        is_code ^= is_fence;
        if (is_fence)
            continue;
        g_autofree char *text = is_code ? g_strdup(*line) : without_links(*line);
        if (is_code)
            fprintf(out, "    %s\n", text);
        else if (begins_block(text) && indent_of(text) == (int)strspn(text, " "))
            fprintf(out, "%s\n", text);
        else if (!paragraph->len && strspn(text, " ") >= 4 && indent_of(text) >= 4)
            fprintf(out, "%s\n", text);
        else
            g_string_append_printf(paragraph, "%s%s", paragraph->len ? " " : "",
                                   paragraph->len ? text + strspn(text, " ") : text);
    }
    flush_paragraph(out, paragraph, columns);
    g_string_free(paragraph, TRUE);
    return true;
}

bool orch_manual_print(FILE *out, const struct orch_help_topic *topic, int columns, GError **error)
{
    g_autofree char *folder = orch_program_path("manual", error);
    g_autofree char *path = folder ? g_build_filename(folder, topic->page, NULL) : NULL;
    g_autofree char *text = NULL;
    if (!path || !orch_file_read(path, PAGE_BYTES_MAX, &text, NULL, error))
        return false;
    if (orch_manual_render(out, text, topic->heading, columns))
        return true;
    orch_error_set(error, ORCH_ERROR_IO, NULL, "'%s' has no section '%s'", path, topic->heading);
    return false;
}
