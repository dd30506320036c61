/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Renders a pen's record as PNG and PDF. */
#include "core/render/drawing.h"

#include "core/render/wrap.h"
#include "lib/base/error.h"
#include "lib/cairo/font.h"

#include <cairo-pdf.h>
#include <math.h>

#define PNG_SCALE 2
#define PDF_SCALE 0.75 /* points (1/72 inch) per pixel (1/96 inch) */

/* ---- shapes ------------------------------------------------------------------------------------
 */

static void set_color(cairo_t *cairo, uint32_t color, double opacity)
{
    uint32_t c = color == ORCH_PEN_BLACK ? 0 : color;
    cairo_set_source_rgba(cairo, (c >> 16 & 255) / 255.0, (c >> 8 & 255) / 255.0, (c & 255) / 255.0,
                          opacity);
}

static void set_stroke(cairo_t *cairo, struct orch_stroke stroke)
{
    enum { DASHES_MAX = 8 };
    double dashes[DASHES_MAX];
    int count = 0;
    char *rest = NULL;
    for (const char *c = stroke.dash; c && *c && count < DASHES_MAX; c = rest)
        dashes[count++] = g_ascii_strtod(c, &rest);
    set_color(cairo, stroke.color, 1);
    cairo_set_line_width(cairo, stroke.width);
    cairo_set_dash(cairo, dashes, count, 0);
}

static void add_path(cairo_t *cairo, const struct orch_pen *pen, const struct orch_shape *shape)
{
    bool is_new = true;
    for (guint i = 0; i < shape->count; i++) {
        const struct orch_pen_point *p =
            &g_array_index(pen->points, struct orch_pen_point, shape->first + i);
        const bool is_gap = isnan(p->x);
        if (!is_gap && is_new)
            cairo_move_to(cairo, p->x, pen->height - p->y);
        else if (!is_gap)
            cairo_line_to(cairo, p->x, pen->height - p->y);
        is_new = is_gap;
    }
}

static void add_marks(cairo_t *cairo, const struct orch_pen *pen, const struct orch_shape *shape)
{
    const struct orch_mark *mark = orch_pen_mark(shape->mark);
    for (guint i = 0; i < shape->count; i++) {
        const struct orch_pen_point *p =
            &g_array_index(pen->points, struct orch_pen_point, shape->first + i);
        double x = p->x, y = pen->height - p->y;
        if (isnan(x))
            continue;
        cairo_new_sub_path(cairo);
        if (!mark->count)
            cairo_arc(cairo, x, y, shape->size, 0, 2 * G_PI);
        for (unsigned k = 0; k < mark->count; k++)
            cairo_line_to(cairo, x + shape->size * mark->corners[k][0],
                          y - shape->size * mark->corners[k][1]);
        cairo_close_path(cairo);
    }
}

static void draw_text(cairo_t *cairo, const struct orch_pen *pen, const struct orch_shape *shape)
{
    const struct orch_pen_text *how = &shape->text;
    const struct orch_ruler ruler = {orch_font_width, how->size};
    double width = orch_ruler_width(&ruler, shape->string);
    cairo_save(cairo);
    cairo_translate(cairo, how->x, pen->height - how->y);
    cairo_rotate(cairo, -how->angle * G_PI / 180);
    set_color(cairo, how->color, 1);
    double left = how->align == ORCH_ALIGN_LEFT     ? 0
                  : how->align == ORCH_ALIGN_CENTER ? width / 2
                                                    : width;
    orch_font_show(cairo, shape->string, -left, ORCH_PEN_BASELINE * how->size, how->size);
    cairo_restore(cairo);
}

static void draw_shape(cairo_t *cairo, const struct orch_pen *pen, const struct orch_shape *shape)
{
    switch (shape->kind) {
    case ORCH_SHAPE_LINE:
        add_path(cairo, pen, shape);
        set_stroke(cairo, shape->stroke);
        cairo_stroke(cairo);
        return;
    case ORCH_SHAPE_FILL:
        add_path(cairo, pen, shape);
        set_color(cairo, shape->color, shape->opacity);
        cairo_fill(cairo);
        return;
    case ORCH_SHAPE_MARKS:
        add_marks(cairo, pen, shape);
        set_stroke(cairo, shape->stroke);
        if (shape->is_hollow)
            cairo_stroke(cairo);
        else
            cairo_fill(cairo);
        return;
    case ORCH_SHAPE_TEXT:
        draw_text(cairo, pen, shape);
        return;
    }
}

/* ---- surfaces ----------------------------------------------------------------------------------
 */

static cairo_status_t append(void *data, const unsigned char *bytes, unsigned length)
{
    g_byte_array_append(data, bytes, length);
    return CAIRO_STATUS_SUCCESS;
}

/* Draws all shapes and finishes the surface. */
static cairo_status_t draw(cairo_surface_t *surface, const struct orch_pen *pen, double scale)
{
    cairo_t *cairo = cairo_create(surface);
    cairo_scale(cairo, scale, scale);
    set_color(cairo, 0xffffff, 1);
    cairo_paint(cairo);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    for (guint i = 0; i < pen->shapes->len; i++)
        draw_shape(cairo, pen, &g_array_index(pen->shapes, struct orch_shape, i));
    cairo_show_page(cairo);
    cairo_status_t status = cairo_status(cairo);
    cairo_destroy(cairo);
    return status;
}

/* Returns the file's bytes, or an error. Takes ownership of `bytes`. */
static char *finish(GByteArray *bytes, cairo_status_t status, const char *kind, gsize *out_length,
                    GError **error)
{
    if (status == CAIRO_STATUS_SUCCESS) {
        *out_length = bytes->len;
        return (char *)g_byte_array_free(bytes, FALSE);
    }
    g_byte_array_unref(bytes);
    orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot draw the chart as %s: %s", kind,
                   cairo_status_to_string(status));
    return NULL;
}

static char *pen_png(const struct orch_pen *pen, gsize *out_length, GError **error)
{
    cairo_surface_t *surface = cairo_image_surface_create(
        CAIRO_FORMAT_RGB24, (int)ceil(pen->width * PNG_SCALE), (int)ceil(pen->height * PNG_SCALE));
    GByteArray *bytes = g_byte_array_new();
    cairo_status_t status = draw(surface, pen, PNG_SCALE);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(surface, append, bytes);
    cairo_surface_destroy(surface);
    return finish(bytes, status, "PNG", out_length, error);
}

static char *pen_pdf(const struct orch_pen *pen, const char *title, gsize *out_length,
                     GError **error)
{
    GByteArray *bytes = g_byte_array_new();
    cairo_surface_t *surface = cairo_pdf_surface_create_for_stream(
        append, bytes, pen->width * PDF_SCALE, pen->height * PDF_SCALE);
    g_autofree char *valid = g_utf8_make_valid(title ? title : "chart", -1);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, valid);
    /* no date, so that the same chart gives the same bytes */
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    cairo_status_t status = draw(surface, pen, PDF_SCALE);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return finish(bytes, status, "PDF", out_length, error);
}

const struct orch_drawing *orch_drawing(void)
{
    static const struct orch_drawing drawing = {sizeof drawing, orch_font_width, pen_png, pen_pdf};
    return &drawing;
}
