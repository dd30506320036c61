/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file is read with a parser and written anew from what is known to be needed: an element or
 * attribute that is not in the tables below does not reach the page. */
#include "core/report/draw_svg.h"

#include "lib/base/error.h"

#include <stdbool.h>
#include <string.h>

#define ID_CHARACTERS G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_"

static const char *const ELEMENTS[] = {"g",        "path", "rect", "circle", "polygon",
                                       "polyline", "use",  "text", NULL};
static const char *const ATTRIBUTES[] = {"d",
                                         "points",
                                         "x",
                                         "y",
                                         "width",
                                         "height",
                                         "cx",
                                         "cy",
                                         "r",
                                         "transform",
                                         "fill",
                                         "fill-opacity",
                                         "stroke",
                                         "stroke-width",
                                         "stroke-dasharray",
                                         "stroke-linecap",
                                         "stroke-linejoin",
                                         "font-size",
                                         "text-anchor",
                                         NULL};

struct writer {
    GString *out;
    const char *id;
    GString *pending; /* opened elements that may turn out to be empty */
    GArray *lengths;  /* gsize: of `pending` before each of them; G_MAXSIZE: written */
    unsigned skipped; /* depth within what is left out */
    bool is_title_due;
    const char *title, *about;
};

static char *compact(const char *value)
{
    GString *out = g_string_new(NULL);
    for (const char *c = value; *c; c++)
        if (!g_ascii_isspace(*c))
            g_string_append_c(out, *c);
    return g_string_free(out, FALSE);
}

static void put(GString *out, const char *name, const char *value)
{
    g_autofree char *escaped = g_markup_escape_text(value, -1);
    g_string_append_printf(out, " %s=\"%s\"", name, escaped);
}

/* "black" is the page's own colour; the grid's grey a faint one. */
static void put_color(GString *out, const char *name, const char *value)
{
    g_autofree char *color = compact(value);
    if (strcmp(color, "black") == 0 || strcmp(color, "rgb(0,0,0)") == 0) {
        put(out, name, "currentColor");
    } else if (strcmp(color, "rgb(221,221,221)") == 0) {
        put(out, name, "currentColor");
        g_string_append_printf(out, " %s-opacity=\"0.16\"", name);
    } else {
        put(out, name, color);
    }
}

static void put_attribute(struct writer *w, GString *out, const char *element, const char *name,
                          const char *value)
{
    bool is_use = strcmp(element, "use") == 0;
    if (strcmp(name, "id") == 0 && g_str_has_prefix(value, "gpPt")) {
        g_string_append_printf(out, " id=\"%s-%s\"", w->id, value + 2);
    } else if (strcmp(name, "xlink:href") == 0 && g_str_has_prefix(value, "#gpPt")) {
        g_string_append_printf(out, " href=\"#%s-%s\"", w->id, value + 3);
    } else if (strcmp(name, "color") == 0) {
        g_autofree char *color = compact(value);
        if (is_use && strcmp(color, "black") != 0 && strcmp(color, "rgb(0,0,0)") != 0)
            put(out, name, color);
    } else if (strcmp(name, "fill") == 0 || strcmp(name, "stroke") == 0) {
        put_color(out, name, value);
    } else if (g_strv_contains(ATTRIBUTES, name)) {
        g_autofree char *trimmed = g_strstrip(g_strdup(value));
        put(out, name, trimmed);
    }
}

/* Elements without content are never written. */
static void write_pending(struct writer *w)
{
    g_string_append(w->out, w->pending->str);
    g_string_truncate(w->pending, 0);
    for (guint i = 0; i < w->lengths->len; i++)
        g_array_index(w->lengths, gsize, i) = G_MAXSIZE;
}

static void write_head(struct writer *w, const char **names, const char **values)
{
    g_string_append(w->out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"100%\"");
    for (; *names; names++, values++)
        if (strcmp(*names, "viewBox") == 0)
            put(w->out, "viewBox", *values);
    g_string_append_printf(w->out, " id=\"%s\" aria-labelledby=\"%s-title %s-about\"", w->id, w->id,
                           w->id);
    g_string_append(w->out, " font-family=\"system-ui, sans-serif\" color=\"currentColor\">\n");
    g_autofree char *title = g_markup_escape_text(w->title, -1);
    g_autofree char *about = g_markup_escape_text(w->about, -1);
    g_string_append_printf(w->out,
                           "<title id=\"%s-title\">%s</title>\n<desc id=\"%s-about\">%s</desc>\n",
                           w->id, title, w->id, about);
}

static bool is_of_whole_sheet(const char *name, const char **names, const char **values)
{
    if (strcmp(name, "rect") != 0)
        return false;
    for (; *names; names++, values++)
        if (strcmp(*names, "fill") == 0)
            return strcmp(*values, "none") == 0 || strcmp(*values, "#ffffff") == 0;
    return false;
}

static void on_start(GMarkupParseContext *context, const char *name, const char **names,
                     const char **values, gpointer data, GError **error)
{
    (void)context;
    (void)error;
    struct writer *w = data;
    if (strcmp(name, "svg") == 0 && w->is_title_due) {
        w->is_title_due = false;
        write_head(w, names, values);
        return;
    }
    if (w->skipped || !(g_strv_contains(ELEMENTS, name) || strcmp(name, "defs") == 0) ||
        is_of_whole_sheet(name, names, values)) {
        w->skipped++;
        return;
    }
    gsize before = w->pending->len;
    g_array_append_val(w->lengths, before);
    g_string_append_printf(w->pending, "<%s", name);
    for (; *names; names++, values++)
        put_attribute(w, w->pending, name, *names, *values);
    bool is_leaf = strcmp(name, "g") != 0 && strcmp(name, "defs") != 0 && strcmp(name, "text") != 0;
    g_string_append(w->pending, is_leaf ? "/>\n" : ">");
    if (is_leaf)
        write_pending(w);
}

static void on_end(GMarkupParseContext *context, const char *name, gpointer data, GError **error)
{
    (void)context;
    (void)error;
    struct writer *w = data;
    if (w->skipped) {
        w->skipped--;
        return;
    }
    if (!w->lengths->len) {
        g_string_append(w->out, "</svg>\n");
        return;
    }
    gsize before = g_array_index(w->lengths, gsize, w->lengths->len - 1);
    g_array_set_size(w->lengths, w->lengths->len - 1);
    bool has_end = strcmp(name, "g") == 0 || strcmp(name, "defs") == 0 || strcmp(name, "text") == 0;
    if (before != G_MAXSIZE)
        g_string_truncate(w->pending, before);
    else if (has_end)
        g_string_append_printf(w->out, "</%s>\n", name);
}

static void on_text(GMarkupParseContext *context, const char *text, gsize length, gpointer data,
                    GError **error)
{
    (void)error;
    struct writer *w = data;
    if (w->skipped || strcmp(g_markup_parse_context_get_element(context), "text") != 0 || !length)
        return;
    write_pending(w);
    g_autofree char *escaped = g_markup_escape_text(text, (gssize)length);
    g_string_append(w->out, escaped);
}

char *orch_svg_for_page(const char *svg, const char *id, const char *title, const char *about,
                        GError **error)
{
    static const GMarkupParser parser = {
        .start_element = on_start, .end_element = on_end, .text = on_text};
    g_autofree char *safe_id = g_strcanon(g_strdup(id), ID_CHARACTERS, '-');
    struct writer w = {.out = g_string_new(NULL),
                       .id = safe_id,
                       .pending = g_string_new(NULL),
                       .lengths = g_array_new(FALSE, FALSE, sizeof(gsize)),
                       .is_title_due = true,
                       .title = title ? title : "",
                       .about = about ? about : ""};
    GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, &w, NULL);
    g_autoptr(GError) failed = NULL;
    bool ok = g_markup_parse_context_parse(context, svg, -1, &failed) &&
              g_markup_parse_context_end_parse(context, &failed);
    if (!ok)
        orch_error_set(error, ORCH_ERROR_IO, NULL, "gnuplot's SVG cannot be read: %s",
                       failed->message);
    g_markup_parse_context_free(context);
    g_string_free(w.pending, TRUE);
    g_array_unref(w.lengths);
    return g_string_free(w.out, !ok);
}
