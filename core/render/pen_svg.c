/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points are written in hundredths of a pixel, each as the difference to the previous one. This is
 * short, and rounding errors do not accumulate, because the differences are between the rounded
 * points. */
#include "core/render/pen_svg.h"

#include <math.h>
#include <string.h>

#define ID_CHARACTERS G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_"

struct writer {
    GString *out;
    const struct orch_pen *pen;
    bool is_for_page;
};

/* ---- numbers and colours --------------------------------------------------------------------- */

static long hundredths(double value)
{
    return lround(value * 100);
}

/* "12.5", "-.5", "7" */
static void put_hundredths(GString *out, long value)
{
    long whole = labs(value) / 100, part = labs(value) % 100;
    if (value < 0)
        g_string_append_c(out, '-');
    if (whole || !part)
        g_string_append_printf(out, "%ld", whole);
    if (part)
        g_string_append_printf(out, part % 10 ? ".%02ld" : ".%01ld", part % 10 ? part : part / 10);
}

static void put_number(GString *out, const char *name, double value)
{
    g_string_append_printf(out, " %s=\"", name);
    put_hundredths(out, hundredths(value));
    g_string_append_c(out, '"');
}

/* Writes two numbers for SVG; a minus sign separates them as well as a space. */
static void put_pair(GString *out, long x, long y)
{
    put_hundredths(out, x);
    if (y >= 0)
        g_string_append_c(out, ' ');
    put_hundredths(out, y);
}

/* Writes name="#rrggbb", or the page's colour. The root element sets the default fill, so texts
 * omit it. */
static void put_color(const struct writer *w, const char *name, uint32_t color)
{
    if (w->is_for_page && (color == ORCH_PEN_INK || color == ORCH_PEN_GRID)) {
        g_string_append_printf(w->out, " %s=\"currentColor\"", name);
        if (color == ORCH_PEN_GRID)
            g_string_append_printf(w->out, " %s-opacity=\".16\"", name);
        return;
    }
    if (color == ORCH_PEN_BLACK)
        g_string_append_printf(w->out, " %s=\"#000\"", name);
    else
        g_string_append_printf(w->out, " %s=\"#%06x\"", name, color);
}

static void put_stroke(const struct writer *w, struct orch_stroke stroke)
{
    g_string_append(w->out, " fill=\"none\"");
    put_color(w, "stroke", stroke.color);
    if (stroke.width != 1)
        put_number(w->out, "stroke-width", stroke.width);
    if (stroke.dash)
        g_string_append_printf(w->out, " stroke-dasharray=\"%s\"", stroke.dash);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

struct at {
    long x, y; /* hundredths, y downwards */
};

static struct at at_of(const struct writer *w, const struct orch_pen_point *p)
{
    return (struct at){hundredths(p->x), hundredths(w->pen->height - p->y)};
}

/* Writes M, then l with differences. Points equal to the previous one are omitted. */
static void put_path(const struct writer *w, const struct orch_shape *shape)
{
    struct at last = {0};
    bool is_new = true, is_line = false;
    for (guint i = 0; i < shape->count; i++) {
        const struct orch_pen_point *p =
            &g_array_index(w->pen->points, struct orch_pen_point, shape->first + i);
        if (isnan(p->x)) {
            is_new = true;
            continue;
        }
        struct at at = at_of(w, p);
        if (is_new) {
            g_string_append_c(w->out, 'M');
            put_pair(w->out, at.x, at.y);
        } else if (at.x != last.x || at.y != last.y) {
            if (!is_line)
                g_string_append_c(w->out, 'l');
            else if (at.x >= last.x)
                g_string_append_c(w->out, ' ');
            put_pair(w->out, at.x - last.x, at.y - last.y);
            is_line = true;
        }
        is_line = is_line && !is_new;
        is_new = false;
        last = at;
    }
}

static void put_mark(const struct writer *w, const struct orch_shape *shape, struct at at)
{
    const struct orch_mark *mark = orch_pen_mark(shape->mark);
    GString *out = w->out;
    g_string_append_c(out, 'M');
    if (!mark->count) { /* a circle as two arcs */
        long r = hundredths(shape->size);
        put_pair(out, at.x - r, at.y);
        for (int half = 1; half >= -1; half -= 2) {
            g_string_append_c(out, 'a');
            put_pair(out, r, r);
            g_string_append(out, " 0 0 0 ");
            put_pair(out, 2 * half * r, 0);
        }
        g_string_append_c(out, 'z');
        return;
    }
    struct at last = {0};
    for (unsigned i = 0; i < mark->count; i++) {
        struct at corner = {at.x + hundredths(shape->size * mark->corners[i][0]),
                            at.y - hundredths(shape->size * mark->corners[i][1])};
        if (i == 1)
            g_string_append_c(out, 'l');
        else if (i > 1 && corner.x >= last.x)
            g_string_append_c(out, ' ');
        put_pair(out, corner.x - last.x, corner.y - last.y);
        last = corner;
    }
    g_string_append_c(out, 'z');
}

static void write_shape(const struct writer *w, const struct orch_shape *shape)
{
    g_string_append(w->out, "<path");
    if (shape->kind == ORCH_SHAPE_LINE || (shape->kind == ORCH_SHAPE_MARKS && shape->is_hollow)) {
        put_stroke(w, shape->stroke);
    } else {
        put_color(w, "fill", shape->color);
        if (shape->kind == ORCH_SHAPE_FILL && shape->opacity < 1)
            put_number(w->out, "fill-opacity", shape->opacity);
    }
    g_string_append(w->out, " d=\"");
    if (shape->kind != ORCH_SHAPE_MARKS)
        put_path(w, shape);
    for (guint i = 0; shape->kind == ORCH_SHAPE_MARKS && i < shape->count; i++) {
        const struct orch_pen_point *p =
            &g_array_index(w->pen->points, struct orch_pen_point, shape->first + i);
        if (!isnan(p->x))
            put_mark(w, shape, at_of(w, p));
    }
    g_string_append(w->out, "\"/>\n");
}

static void write_text(const struct writer *w, const struct orch_shape *shape)
{
    static const char *const anchors[] = {NULL, "middle", "end"};
    const struct orch_pen_text *how = &shape->text;
    double x = how->x, y = w->pen->height - how->y, below = ORCH_PEN_BASELINE * how->size;
    g_string_append(w->out, "<text");
    if (how->angle != 0) {
        g_string_append(w->out, " transform=\"translate(");
        put_pair(w->out, hundredths(x), hundredths(y));
        g_string_append(w->out, ")rotate(");
        put_hundredths(w->out, hundredths(-how->angle));
        g_string_append(w->out, ")\"");
        x = y = 0;
    }
    if (x != 0)
        put_number(w->out, "x", x);
    put_number(w->out, "y", y + below);
    if (anchors[how->align])
        g_string_append_printf(w->out, " text-anchor=\"%s\"", anchors[how->align]);
    if (how->size != ORCH_PEN_FONT)
        put_number(w->out, "font-size", how->size);
    if (how->color != ORCH_PEN_INK)
        put_color(w, "fill", how->color);
    g_autofree char *escaped = g_markup_escape_text(shape->string, -1);
    g_string_append_printf(w->out, ">%s</text>\n", escaped);
}

/* ---- the element ----------------------------------------------------------------------------- */

/* Writes <tag id="ID-what">text</tag>. */
static void put_element(GString *out, const char *tag, const char *id, const char *what,
                        const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text ? text : "", -1);
    g_autofree char *escaped = g_markup_escape_text(valid, -1);
    g_string_append_printf(out, "<%s id=\"%s-%s\">%s</%s>\n", tag, id, what, escaped, tag);
}

/* Writes the opening tag. A file names the font that the layout was measured with, so letters are
 * where they were measured if that font is installed. A page uses its own font, which is hardly
 * wider. */
static void write_head(const struct writer *w, const struct orch_svg_options *options)
{
    g_autofree char *id =
        g_strcanon(g_strdup(options->id ? options->id : "chart"), ID_CHARACTERS, '-');
    GString *out = w->out;
    g_string_append(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"");
    if (options->is_for_page) {
        g_string_append(out, " width=\"100%\"");
    } else {
        put_number(out, "width", w->pen->width);
        put_number(out, "height", w->pen->height);
    }
    g_string_append(out, " viewBox=\"0 0 ");
    put_pair(out, hundredths(w->pen->width), hundredths(w->pen->height));
    g_string_append_printf(out, "\" id=\"%s\" aria-labelledby=\"%s-title %s-about\"", id, id, id);
    g_string_append_printf(out,
                           " font-family=\"%s\" font-size=\"%g\" fill=\"%s\""
                           " stroke-linecap=\"round\" stroke-linejoin=\"round\">\n",
                           options->is_for_page ? "system-ui, 'DejaVu Sans', sans-serif"
                                                : "'DejaVu Sans', Verdana, sans-serif",
                           ORCH_PEN_FONT, options->is_for_page ? "currentColor" : "#000000");
    put_element(out, "title", id, "title", options->title);
    put_element(out, "desc", id, "about", options->about);
    if (!options->is_for_page)
        g_string_append(out, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
}

char *orch_pen_svg(const struct orch_pen *pen, const struct orch_svg_options *options)
{
    struct writer w = {g_string_new(NULL), pen, options->is_for_page};
    write_head(&w, options);
    for (guint i = 0; i < pen->shapes->len; i++) {
        const struct orch_shape *shape = &g_array_index(pen->shapes, struct orch_shape, i);
        if (shape->kind == ORCH_SHAPE_TEXT)
            write_text(&w, shape);
        else
            write_shape(&w, shape);
    }
    g_string_append(w.out, "</svg>\n");
    return g_string_free(w.out, FALSE);
}
