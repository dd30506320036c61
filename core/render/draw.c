/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart is laid out once on a sheet, and the pen's record is rendered as SVG, PNG or PDF. */
#include "core/render/draw.h"

#include "core/render/drawing.h"
#include "core/render/pen_svg.h"
#include "core/render/sheet.h"
#include "lib/base/error.h"
#include "lib/base/file.h"

#include <string.h>

/* Describes the chart for screen readers: "line chart of y by x: a, b". */
static char *describe(const struct orch_frame *frame)
{
    static const char *const kinds[] = {"line chart", "scatter plot", "bar chart",
                                        "box plot",   "histogram",    "heat map"};
    const struct orch_chart *chart = frame->chart;
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "%s of %s by %s", kinds[chart->kind],
                           chart->y_label ? chart->y_label : "y",
                           chart->x_label ? chart->x_label : "x");
    for (guint i = 0; i < frame->keys->len; i++) {
        g_autofree char *name = orch_frame_key(frame->keys->pdata[i], &ORCH_COLUMNS, 60);
        g_string_append_printf(out, "%s%s", i ? ", " : ": ", name);
    }
    if (chart->note)
        g_string_append_printf(out, ". %s", chart->note);
    return g_string_free(out, FALSE);
}

static bool begin(struct orch_sheet *sheet, const struct orch_chart *chart, GError **error)
{
    g_autofree char *why = orch_chart_obstacle(chart);
    if (why) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "cannot draw '%s': %s",
                       chart->title ? chart->title : "a chart without a title", why);
        return false;
    }
    *sheet = (struct orch_sheet){0};
    orch_sheet_draw(sheet, chart);
    return true;
}

/* `id` is the element's id in a page; NULL: a file. */
static char *sheet_svg(const struct orch_sheet *sheet, const char *title, const char *id)
{
    g_autofree char *about = describe(&sheet->frame);
    const struct orch_svg_options options = {
        .id = id, .title = title ? title : "chart", .about = about, .is_for_page = id != NULL};
    return orch_pen_svg(&sheet->pen, &options);
}

char *orch_chart_draw(const struct orch_chart *chart, enum orch_draw_format format,
                      gsize *out_length, GError **error)
{
    struct orch_sheet sheet;
    if (!begin(&sheet, chart, error))
        return NULL;
    char *bytes = NULL;
    switch (format) {
    case ORCH_DRAW_SVG:
        bytes = sheet_svg(&sheet, chart->title, NULL);
        *out_length = strlen(bytes);
        break;
    case ORCH_DRAW_PNG:
        bytes = orch_pen_png(&sheet.pen, out_length, error);
        break;
    case ORCH_DRAW_PDF:
        bytes = orch_pen_pdf(&sheet.pen, chart->title, out_length, error);
        break;
    }
    orch_sheet_release(&sheet);
    return bytes;
}

bool orch_chart_write(const struct orch_chart *chart, const char *path, GError **error)
{
    static const char *const endings[] = {".svg", ".png", ".pdf"};
    for (unsigned format = 0; format < G_N_ELEMENTS(endings); format++) {
        if (!g_str_has_suffix(path, endings[format]))
            continue;
        gsize length = 0;
        g_autofree char *bytes = orch_chart_draw(chart, format, &length, error);
        return bytes && orch_file_write(path, bytes, length, false, error);
    }
    orch_error_set(error, ORCH_ERROR_USAGE, "name FILE.svg, FILE.png or FILE.pdf",
                   "the ending of '%s' names no known file format", path);
    return false;
}

char *orch_chart_svg(const struct orch_chart *chart, const char *id, GError **error)
{
    struct orch_sheet sheet;
    struct orch_chart bare = *chart; /* title and note stand in the caption */
    bare.title = bare.note = NULL;
    if (!begin(&sheet, &bare, error))
        return NULL;
    char *svg = sheet_svg(&sheet, chart->title, id);
    orch_sheet_release(&sheet);
    return svg;
}
