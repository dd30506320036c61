/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/text_draw.h"

#include "core/render/table.h"

#include <math.h>

#define COLUMNS_LEAST 24
#define ROWS_LEAST 5
#define PANEL_LEAST 44 /* least columns of each of several panels side by side */

/* ---- title, legend and notes -------------------------------------------------------------------
 */

static void add_lines(struct orch_text_sheet *sheet, const char *text)
{
    g_auto(GStrv) lines = orch_text_wrap(text ? text : "", sheet->canvas.columns);
    for (char **line = lines; *line; line++)
        orch_canvas_text(&sheet->canvas, 0, sheet->row++, *line, ORCH_NO_COLOR);
}

static bool is_in_rows(enum orch_chart_kind kind)
{
    return kind == ORCH_CHART_BAR || kind == ORCH_CHART_BOX || kind == ORCH_CHART_HEAT;
}

static void add_legend(struct orch_text_sheet *sheet)
{
    const GPtrArray *keys = sheet->frame.keys;
    int column = 0, columns = sheet->canvas.columns;
    if (is_in_rows(sheet->frame.chart->kind))
        return;
    for (guint i = 0; i < keys->len; i++) {
        const struct orch_chart_series *series = keys->pdata[i];
        g_autofree char *name = orch_frame_key(series, &ORCH_COLUMNS, columns - 3);
        int width = orch_text_columns(name) + 2;
        if (keys->len == 1 && !*name)
            return;
        if (column && column + width > columns) {
            column = 0;
            sheet->row++;
        }
        orch_canvas_put(&sheet->canvas, column, sheet->row, orch_text_mark(sheet, series),
                        orch_text_color(sheet, series));
        orch_canvas_text(&sheet->canvas, column + 2, sheet->row, name, ORCH_NO_COLOR);
        column += width + 3;
    }
    sheet->row++;
}

static void add_note(struct orch_text_sheet *sheet)
{
    const char *note = sheet->frame.chart->note;
    GString *text = g_string_new(note);
    if (sheet->has_lost_bands)
        g_string_append_printf(text, "%sintervals of so many curves are not drawn here",
                               text->len ? "; " : "");
    else if (sheet->frame.is_cut)
        g_string_append_printf(text, "%sa bar that reaches the frame goes on beyond it",
                               text->len ? "; " : "");
    if (sheet->frame.left_out)
        g_string_append_printf(text, "%spoints without a place on the axes: %u",
                               text->len ? "; " : "", sheet->frame.left_out);
    if (sheet->lost_labels)
        g_string_append_printf(text, "%snames without room: %u", text->len ? "; " : "",
                               sheet->lost_labels);
    add_lines(sheet, text->str);
    g_string_free(text, TRUE);
}

/* ---- panels ------------------------------------------------------------------------------------
 */

static void add_panels_in_rows(struct orch_text_sheet *sheet)
{
    const GPtrArray *panels = sheet->frame.chart->panels;
    for (guint i = 0; i < panels->len; i++) {
        const struct orch_chart_panel *panel = panels->pdata[i];
        if (panel->title)
            add_lines(sheet, orch_panel_label(panel));
        orch_text_rows(sheet, panel);
    }
}

/* Puts as many panels side by side as there is room for. */
static void add_panels(struct orch_text_sheet *sheet)
{
    const struct orch_chart *chart = sheet->frame.chart;
    const GPtrArray *panels = chart->panels;
    int beside = CLAMP(sheet->canvas.columns / PANEL_LEAST, 1, (int)panels->len);
    int width = sheet->canvas.columns / beside;
    for (guint i = 0; i < panels->len; i += (guint)beside) {
        bool has_titles = false;
        for (guint j = i; j < panels->len && j < i + (guint)beside; j++)
            has_titles = has_titles || ((const struct orch_chart_panel *)panels->pdata[j])->title;
        for (guint j = i; j < panels->len && j < i + (guint)beside; j++) {
            const struct orch_chart_panel *panel = panels->pdata[j];
            int from = (int)(j - i) * width, to = from + width - 2;
            g_autofree char *title =
                orch_text_short(panel->title ? orch_panel_label(panel) : "", width - 2);
            orch_canvas_text(&sheet->canvas, from, sheet->row, title, ORCH_NO_COLOR);
            orch_text_plot(sheet, panel, from, to, sheet->row + has_titles);
        }
        sheet->row = sheet->canvas.rows;
    }
}

static void add_obstacle(struct orch_text_sheet *sheet, const char *why)
{
    g_autofree char *line = g_strdup_printf("not drawn: %s", why);
    add_lines(sheet, line);
}

char *orch_chart_text(const struct orch_chart *chart, const struct orch_draw_text *how)
{
    struct orch_text_sheet sheet = {0};
    int columns = MAX(how->columns, COLUMNS_LEAST);
    int beside = CLAMP(columns / PANEL_LEAST, 1, MAX((int)chart->panels->len, 1));
    /* 6 rows are for the title, y's name, the axis and its labels, x's name and a legend */
    int rows = MAX((how->rows > 0 ? how->rows : 24) - 6, ROWS_LEAST);
    bool is_across = is_in_rows(chart->kind); /* y is horizontal */
    orch_frame_init(&sheet.frame, chart, columns / beside / 9,
                    is_across ? MAX(columns / 10, 2) : rows / 3);
    orch_canvas_init(&sheet.canvas, columns, how->ascii, how->color);
    sheet.rows = rows;
    if (g_strcmp0(chart->title, how->said) != 0)
        add_lines(&sheet, chart->title);
    g_autofree char *obstacle = orch_chart_obstacle(chart);
    if (obstacle)
        add_obstacle(&sheet, obstacle);
    else if (is_across)
        add_panels_in_rows(&sheet);
    else
        add_panels(&sheet);
    sheet.row = MAX(sheet.row, sheet.canvas.rows);
    if (!obstacle) {
        add_legend(&sheet);
        add_note(&sheet);
    }
    char *text = orch_canvas_format(&sheet.canvas);
    orch_canvas_release(&sheet.canvas);
    orch_frame_release(&sheet.frame);
    return text;
}

char *orch_chart_text_plain(const struct orch_chart *chart)
{
    const struct orch_draw_text how = {.columns = 78, .rows = 20, .ascii = true};
    return orch_chart_text(chart, &how);
}
