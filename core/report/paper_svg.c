/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Works on what draw_svg.c writes (an element a tag, ids in one <defs>, attributes in double
 * quotes), not on any SVG: what it does not know stays as it is. */
#include "core/report/paper_svg.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#define DEPTH_MAX 4

/* The value of an attribute of a tag, or NULL. The caller frees. */
static char *attribute(const char *tag, const char *name)
{
    g_autofree char *begin = g_strdup_printf(" %s=\"", name);
    const char *at = strstr(tag, begin);
    if (!at)
        return NULL;
    at += strlen(begin);
    return g_strndup(at, strcspn(at, "\""));
}

/* The tag without some of its attributes. The caller frees. */
static char *without(const char *tag, const char *const *names)
{
    GString *out = g_string_new(tag);
    for (; *names; names++) {
        g_autofree char *value = attribute(out->str, *names);
        g_autofree char *whole =
            value ? g_strdup_printf(" %s=\"%s\"", *names, value) : g_strdup("");
        if (*whole)
            g_string_replace(out, whole, "", 1);
    }
    return g_string_free(out, FALSE);
}

/* The tag that begins at `at`, with its brackets. The caller frees. */
static char *tag_at(const char *at)
{
    const char *end = strchr(at, '>');
    return end ? g_strndup(at, (gsize)(end - at) + 1) : g_strdup(at);
}

/* id -> tag of everything with an id. */
static GHashTable *read_marks(const char *svg)
{
    GHashTable *marks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    const char *defs = strstr(svg, "<defs>"), *end = defs ? strstr(defs, "</defs>") : NULL;
    for (const char *p = defs; end && (p = strchr(p + 1, '<')) && p < end;) {
        char *tag = tag_at(p), *id = attribute(tag, "id");
        if (id)
            g_hash_table_replace(marks, id, tag);
        else
            g_free(tag);
    }
    return marks;
}

static void append_colored(GString *out, const char *tag, const char *color)
{
    g_autoptr(GString) text = g_string_new(tag);
    g_string_replace(text, "currentColor", color, 0);
    g_string_append_len(out, text->str, (gssize)text->len);
}

/* What a <use> stands for. False: nothing that is known. */
static bool append_used(GString *out, GHashTable *marks, const char *tag, const char *outer,
                        unsigned depth)
{
    static const char *const names[] = {"href", "color", "id", NULL};
    g_autofree char *href = attribute(tag, "href");
    g_autofree char *own = attribute(tag, "color");
    const char *color = own && strcmp(own, "currentColor") != 0 ? own : outer;
    const char *mark = href && *href == '#' ? g_hash_table_lookup(marks, href + 1) : NULL;
    const char *at = strstr(tag, "/>");
    if (!mark || !at || depth > DEPTH_MAX)
        return false;
    g_autofree char *group = without(tag, names);
    g_string_append(out, "<g");
    g_autofree char *attributes = g_strndup(group + 4, strlen(group) - 6);
    append_colored(out, attributes, color);
    g_string_append_c(out, '>');
    if (!g_str_has_prefix(mark, "<use ") || !append_used(out, marks, mark, color, depth + 1)) {
        static const char *const id[] = {"id", NULL};
        g_autofree char *plain = without(mark, id);
        append_colored(out, plain, color);
    }
    g_string_append(out, "</g>");
    return true;
}

char *orch_svg_for_paper(const char *svg)
{
    g_autoptr(GHashTable) marks = read_marks(svg);
    GString *out = g_string_new(NULL);
    const char *defs = strstr(svg, "<defs>"), *end = defs ? strstr(defs, "</defs>") : NULL;
    for (const char *p = svg; *p;) {
        if (p == defs && end) {
            p = end + strlen("</defs>");
            continue;
        }
        const char *next = strchr(*p == '<' ? p + 1 : p, '<');
        const gsize length = next ? (gsize)(next - p) : strlen(p);
        g_autofree char *piece = g_strndup(p, length); /* a tag and the text behind it */
        g_autofree char *tag = tag_at(piece);
        if (g_str_has_prefix(piece, "<use ") && append_used(out, marks, tag, "black", 0))
            g_string_append(out, piece + strlen(tag));
        else if (*piece == '<') {
            append_colored(out, tag, "black");
            g_string_append(out, piece + strlen(tag));
        } else {
            g_string_append(out, piece);
        }
        p += length;
    }
    return g_string_free(out, FALSE);
}
