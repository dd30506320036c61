/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every kind of chart as SVG, PNG and PDF: each can be read, shows its labels, and is the same when
 * it is drawn again; nothing lies outside of the picture, and no text on another.
 * $ORCH_GALLERY=FOLDER: the pictures are kept there, to look at. */
#include "core/render/draw.h"
#include "core/render/font.h"
#include "core/render/sheet.h"
#include "lib/base/error.h"
#include "tests/unit/chart_gallery.h"

#include <cairo.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* clang-format off */
#include <cmocka.h>
/* clang-format on */

struct bytes {
    char *at;
    gsize length, read;
};

/* Draws twice; the caller frees what it gets. */
static struct bytes draw(const struct gallery_entry *entry, enum orch_draw_format format)
{
    struct bytes drawn[2] = {0};
    for (int i = 0; i < 2; i++) {
        struct orch_chart *chart = entry->make();
        g_autoptr(GError) error = NULL;
        drawn[i].at = orch_chart_draw(chart, format, &drawn[i].length, &error);
        if (!drawn[i].at)
            fail_msg("%s: %s", entry->name, error->message);
        orch_chart_free(chart);
    }
    if (drawn[0].length != drawn[1].length ||
        memcmp(drawn[0].at, drawn[1].at, drawn[0].length) != 0)
        fail_msg("%s: two drawings differ", entry->name);
    g_free(drawn[1].at);
    return drawn[0];
}

static void keep(const struct gallery_entry *entry, const struct bytes *bytes, const char *ending)
{
    const char *folder = g_getenv("ORCH_GALLERY");
    if (!folder)
        return;
    g_autofree char *file = g_strconcat(entry->name, ending, NULL);
    g_autofree char *path = g_build_filename(folder, file, NULL);
    assert_true(g_file_set_contents(path, bytes->at, (gssize)bytes->length, NULL));
}

/* ---- files -------------------------------------------------------------------------------------
 */

static void on_text(GMarkupParseContext *context, const char *text, gsize length, gpointer data,
                    GError **error)
{
    (void)error;
    if (strcmp(g_markup_parse_context_get_element(context), "text") == 0)
        g_hash_table_add(data, g_strndup(text, length));
}

static void test_svg(void **state)
{
    (void)state;
    static const GMarkupParser parser = {.text = on_text};
    for (size_t i = 0; i < GALLERY_COUNT; i++) {
        const struct gallery_entry *entry = &GALLERY[i];
        struct bytes svg = draw(entry, ORCH_DRAW_SVG);
        g_autoptr(GHashTable) texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, texts, NULL);
        assert_true(g_markup_parse_context_parse(context, svg.at, (gssize)svg.length, NULL));
        assert_true(g_markup_parse_context_end_parse(context, NULL));
        g_markup_parse_context_free(context);
        for (unsigned k = 0; k < G_N_ELEMENTS(entry->labels) && entry->labels[k]; k++)
            if (!g_hash_table_contains(texts, entry->labels[k]))
                fail_msg("%s: the SVG has no text '%s'", entry->name, entry->labels[k]);
        assert_null(strstr(svg.at, "nan"));
        assert_null(strstr(svg.at, "currentColor"));
        keep(entry, &svg, ".svg");
        g_free(svg.at);
    }
}

static cairo_status_t next_bytes(void *data, unsigned char *out, unsigned length)
{
    struct bytes *bytes = data;
    if (length > bytes->length - bytes->read)
        return CAIRO_STATUS_READ_ERROR;
    memcpy(out, bytes->at + bytes->read, length);
    bytes->read += length;
    return CAIRO_STATUS_SUCCESS;
}

static bool is_white(const unsigned char *row, int x)
{
    uint32_t pixel;
    memcpy(&pixel, row + (size_t)x * 4, 4);
    return (pixel & 0xffffff) == 0xffffff;
}

/* What is drawn beyond an edge leaves its trace on it. */
static void test_png(void **state)
{
    (void)state;
    for (size_t i = 0; i < GALLERY_COUNT; i++) {
        struct bytes png = draw(&GALLERY[i], ORCH_DRAW_PNG);
        cairo_surface_t *surface = cairo_image_surface_create_from_png_stream(next_bytes, &png);
        assert_int_equal(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
        int width = cairo_image_surface_get_width(surface);
        int height = cairo_image_surface_get_height(surface);
        int stride = cairo_image_surface_get_stride(surface);
        const unsigned char *pixels = cairo_image_surface_get_data(surface);
        unsigned dark = 0;
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                bool is_edge = x < 4 || y < 4 || x >= width - 4 || y >= height - 4;
                bool is_drawn = !is_white(pixels + (size_t)y * (size_t)stride, x);
                dark += is_drawn;
                if (is_edge && is_drawn)
                    fail_msg("%s: drawn at %d, %d, on the edge", GALLERY[i].name, x, y);
            }
        assert_int_equal(width, 1200);
        assert_true(dark > 1000);
        cairo_surface_destroy(surface);
        keep(&GALLERY[i], &png, ".png");
        g_free(png.at);
    }
}

/* What texts a PDF holds is seen in tests/report/plot.sh. */
static void test_pdf(void **state)
{
    (void)state;
    for (size_t i = 0; i < GALLERY_COUNT; i++) {
        struct bytes pdf = draw(&GALLERY[i], ORCH_DRAW_PDF);
        assert_true(g_str_has_prefix(pdf.at, "%PDF-1."));
        assert_memory_equal(pdf.at + pdf.length - 6, "%%EOF\n", 6);
        keep(&GALLERY[i], &pdf, ".pdf");
        g_free(pdf.at);
    }
}

/* ---- places ------------------------------------------------------------------------------------
 */

/* The box around a text, which may be turned. */
static struct orch_rect box_of(const struct orch_shape *shape)
{
    const struct orch_pen_text *how = &shape->text;
    const struct orch_ruler ruler = orch_font_ruler(how->size);
    double width = orch_ruler_width(&ruler, shape->string), height = how->size;
    double left = how->align == ORCH_ALIGN_LEFT     ? 0
                  : how->align == ORCH_ALIGN_CENTER ? -width / 2
                                                    : -width;
    double cosine = cos(how->angle * G_PI / 180), sine = sin(how->angle * G_PI / 180);
    double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
    for (int corner = 0; corner < 4; corner++) {
        double u = left + (corner & 1 ? width : 0), v = (corner & 2 ? 0.5 : -0.5) * height;
        double x = how->x + u * cosine - v * sine, y = how->y + u * sine + v * cosine;
        x0 = fmin(x0, x);
        x1 = fmax(x1, x);
        y0 = fmin(y0, y);
        y1 = fmax(y1, y);
    }
    return (struct orch_rect){x0, y0, x1 - x0, y1 - y0};
}

static void assert_inside(const char *name, const struct orch_pen *pen, struct orch_rect box,
                          const char *what)
{
    if (box.x < 0 || box.y < 0 || box.x + box.width > pen->width ||
        box.y + box.height > pen->height)
        fail_msg("%s: '%s' lies outside: %.1f %.1f, %.1f wide, %.1f high", name, what, box.x, box.y,
                 box.width, box.height);
}

static void assert_shapes_inside(const char *name, const struct orch_pen *pen)
{
    for (guint i = 0; i < pen->shapes->len; i++) {
        const struct orch_shape *shape = &g_array_index(pen->shapes, struct orch_shape, i);
        double reach = shape->kind == ORCH_SHAPE_MARKS ? shape->size : shape->stroke.width / 2;
        if (shape->kind == ORCH_SHAPE_TEXT)
            assert_inside(name, pen, box_of(shape), shape->string);
        for (guint k = 0; shape->kind != ORCH_SHAPE_TEXT && k < shape->count; k++) {
            const struct orch_pen_point *p =
                &g_array_index(pen->points, struct orch_pen_point, shape->first + k);
            if (!isnan(p->x))
                assert_inside(name, pen,
                              (struct orch_rect){p->x - reach, p->y - reach, 2 * reach, 2 * reach},
                              "shape");
        }
    }
}

/* Of texts that stand level or upright: the boxes of slanted ones overlap where the texts do not.
 */
static void assert_texts_apart(const char *name, const struct orch_pen *pen)
{
    for (guint i = 0; i < pen->shapes->len; i++)
        for (guint k = 0; k < i; k++) {
            const struct orch_shape *a = &g_array_index(pen->shapes, struct orch_shape, i);
            const struct orch_shape *b = &g_array_index(pen->shapes, struct orch_shape, k);
            if (a->kind != ORCH_SHAPE_TEXT || b->kind != ORCH_SHAPE_TEXT ||
                fmod(a->text.angle, 90) != 0 || fmod(b->text.angle, 90) != 0)
                continue;
            struct orch_rect p = box_of(a), q = box_of(b);
            if (p.x < q.x + q.width && q.x < p.x + p.width && p.y < q.y + q.height &&
                q.y < p.y + p.height)
                fail_msg("%s: '%s' lies on '%s'", name, a->string, b->string);
        }
}

static void test_places(void **state)
{
    (void)state;
    for (size_t i = 0; i < GALLERY_COUNT; i++) {
        struct orch_chart *chart = GALLERY[i].make();
        struct orch_sheet sheet = {0};
        orch_sheet_draw(&sheet, chart);
        assert_true(sheet.pen.shapes->len > 5);
        assert_shapes_inside(GALLERY[i].name, &sheet.pen);
        assert_texts_apart(GALLERY[i].name, &sheet.pen);
        orch_sheet_release(&sheet);
        orch_chart_free(chart);
    }
}

/* ---- the font ----------------------------------------------------------------------------------
 */

/* Widths of the built-in font, in thousandths of its size: those that DejaVu Sans has. */
static void test_font(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double width;
    } known[] = {{"A", 0.684}, {"i", 0.278}, {" ", 0.318},
                 {"W", 0.989}, {"μ", 0.636}, {"Aμ", 1.32}};
    const struct orch_ruler ruler = orch_font_ruler(1);
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        assert_true(fabs(orch_ruler_width(&ruler, known[i].text) - known[i].width) < 0.002);
    const struct orch_ruler large = orch_font_ruler(20);
    g_autofree char *cut = orch_text_fit("a name that is too long", &large, 100);
    assert_true(g_str_has_suffix(cut, "...") && orch_ruler_width(&large, cut) <= 100);
    /* a character that no font has takes room, too */
    assert_true(orch_ruler_width(&ruler, "\xf4\x8f\xbf\xbd") > 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_svg), cmocka_unit_test(test_png),
                                       cmocka_unit_test(test_pdf), cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_font)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
