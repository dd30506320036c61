/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws lines, points and bins on a terminal: dots within two axes. Each series has a different
 * mark, so that they also differ without colour. */
#include "core/render/text_draw.h"

#include "core/render/table.h"

#include <math.h>

#define LABEL_MOST 12
#define MARKS_MOST 8 /* on one line */
#define BARS_OF_ERROR_MOST 16

struct area {
    int left, right, top, bottom; /* cells, inclusive */
};

static int dots_wide(const struct orch_text_sheet *sheet, struct area at)
{
    return (at.right - at.left + 1) * orch_canvas_dots_across(&sheet->canvas) - 1;
}

static int dots_high(const struct orch_text_sheet *sheet, struct area at)
{
    return (at.bottom - at.top + 1) * orch_canvas_dots_down(&sheet->canvas) - 1;
}

static int dot_x(const struct orch_text_sheet *sheet, struct area at, double share)
{
    return at.left * orch_canvas_dots_across(&sheet->canvas) +
           (int)lround(share * dots_wide(sheet, at));
}

static int dot_y(const struct orch_text_sheet *sheet, struct area at, double share)
{
    return at.top * orch_canvas_dots_down(&sheet->canvas) +
           (int)lround((1 - share) * dots_high(sheet, at));
}

static const struct orch_point_of *at_index(const GArray *points, guint i)
{
    return &g_array_index(points, struct orch_point_of, i);
}

/* Returns how many dots a series' line leaves out between two. */
static int skip_of(const struct orch_chart_series *series)
{
    static const int skips[] = {
        [ORCH_SERIES_MEASURED] = 0,  [ORCH_SERIES_PREDICTED] = 1, [ORCH_SERIES_IDEAL] = 3,
        [ORCH_SERIES_REFERENCE] = 2, [ORCH_SERIES_RUN] = 3,       [ORCH_SERIES_FITTED] = 1,
        [ORCH_SERIES_LEVEL] = 2};
    return skips[series->role];
}

/* ---- series ---------------------------------------------------------------------------------- */

static void draw_line(struct orch_text_sheet *sheet, const struct orch_chart_series *series,
                      const GArray *points, struct area at)
{
    for (guint i = 1; i < points->len; i++) {
        const struct orch_point_of *a = at_index(points, i - 1), *b = at_index(points, i);
        orch_canvas_line(&sheet->canvas, dot_x(sheet, at, a->x), dot_y(sheet, at, a->y),
                         dot_x(sheet, at, b->x), dot_y(sheet, at, b->y), skip_of(series),
                         orch_text_color(sheet, series));
    }
}

static void draw_intervals(struct orch_text_sheet *sheet, const struct orch_chart_series *series,
                           const GArray *points, struct area at)
{
    bool is_band = points->len > BARS_OF_ERROR_MOST;
    for (guint i = 0; i < points->len; i++) {
        const struct orch_point_of *point = at_index(points, i);
        if (isnan(point->p->low) || isnan(point->p->high))
            continue;
        if (is_band && sheet->frame.names->len > 2) {
            sheet->has_lost_bands = true;
            continue;
        }
        int x = dot_x(sheet, at, point->x), color = orch_text_color(sheet, series);
        int low = dot_y(sheet, at, orch_frame_clamped_y(&sheet->frame, point->p->low));
        int high = dot_y(sheet, at, orch_frame_clamped_y(&sheet->frame, point->p->high));
        if (is_band) {
            orch_canvas_dot(&sheet->canvas, x, low, color);
            orch_canvas_dot(&sheet->canvas, x, high, color);
        } else {
            orch_canvas_line(&sheet->canvas, x, low, x, high, 0, color);
        }
    }
}

static void draw_marks(struct orch_text_sheet *sheet, const struct orch_chart_series *series,
                       const GArray *points, struct area at)
{
    unsigned index = orch_frame_index(&sheet->frame, series);
    bool is_line = sheet->frame.chart->kind == ORCH_CHART_LINE;
    guint step = is_line && points->len > 2 * MARKS_MOST ? points->len / MARKS_MOST : 1;
    for (guint i = step > 1 ? (index * step / 4) % step : 0; i < points->len; i += step) {
        const struct orch_point_of *point = at_index(points, i);
        orch_canvas_put(&sheet->canvas,
                        dot_x(sheet, at, point->x) / orch_canvas_dots_across(&sheet->canvas),
                        dot_y(sheet, at, point->y) / orch_canvas_dots_down(&sheet->canvas),
                        orch_text_mark(sheet, series), orch_text_color(sheet, series));
    }
}

/* Draws a label next to its point if there is room. */
static bool draw_label(struct orch_text_sheet *sheet, const char *text, int column, int row,
                       struct area at)
{
    g_autofree char *label = orch_text_short(text, 16);
    int width = orch_text_columns(label);
    for (int below = 0; below < 3; below++) {
        int places[] = {column + 2, column - 1 - width}, where = row + (below == 2 ? -1 : below);
        for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
            if (where < at.top || where > at.bottom || places[i] < at.left ||
                places[i] + width > at.right + 1 ||
                !orch_canvas_is_free(&sheet->canvas, places[i], where, width))
                continue;
            orch_canvas_text(&sheet->canvas, places[i], where, label, ORCH_NO_COLOR);
            return true;
        }
    }
    return false;
}

static void draw_labels(struct orch_text_sheet *sheet, const struct orch_chart_series *series,
                        struct area at)
{
    g_autoptr(GArray) points = orch_frame_points(&sheet->frame, series);
    for (guint i = 0; i < points->len; i++) {
        const struct orch_point_of *point = at_index(points, i);
        int column = dot_x(sheet, at, point->x) / orch_canvas_dots_across(&sheet->canvas);
        int row = dot_y(sheet, at, point->y) / orch_canvas_dots_down(&sheet->canvas);
        if (point->p->label && !draw_label(sheet, point->p->label, column, row, at))
            sheet->lost_labels++;
    }
}

static void draw_series(struct orch_text_sheet *sheet, const struct orch_chart_series *series,
                        struct area at)
{
    g_autoptr(GArray) points = orch_frame_points(&sheet->frame, series);
    draw_intervals(sheet, series, points, at);
    if (sheet->frame.chart->kind == ORCH_CHART_LINE || !orch_series_is_of_runs(series))
        draw_line(sheet, series, points, at);
    if (orch_series_is_of_runs(series) || points->len == 1)
        draw_marks(sheet, series, points, at);
}

static void draw_bins(struct orch_text_sheet *sheet, const struct orch_chart_series *series,
                      struct area at)
{
    const struct orch_frame *frame = &sheet->frame;
    g_autofree unsigned *counts = orch_frame_bins(frame, series);
    bool is_filled = frame->keys->len == 1;
    int color = orch_text_color(sheet, series), foot = dot_y(sheet, at, 0), before = foot;
    for (unsigned i = 0; i < frame->bins.count; i++) {
        double low = frame->bins.low + frame->bins.width * i;
        int x0 = dot_x(sheet, at, orch_axis_at(&frame->x, low));
        int x1 = dot_x(sheet, at, orch_axis_at(&frame->x, low + frame->bins.width));
        int y = dot_y(sheet, at, orch_axis_at(&frame->y, counts[i]));
        orch_canvas_line(&sheet->canvas, x0, before, x0, y, 0, color);
        orch_canvas_line(&sheet->canvas, x0, y, x1, y, 0, color);
        for (int x = x0; is_filled && x <= x1; x++)
            orch_canvas_line(&sheet->canvas, x, y, x, foot, 0, color);
        if (!is_filled && counts[i])
            orch_canvas_put(&sheet->canvas, (x0 + x1) / 2 / orch_canvas_dots_across(&sheet->canvas),
                            y / orch_canvas_dots_down(&sheet->canvas),
                            orch_text_mark(sheet, series), color);
        before = y;
    }
}

/* ---- axes ------------------------------------------------------------------------------------ */

static int label_width(const struct orch_axis *axis)
{
    int width = 0;
    for (guint i = 0; i < axis->ticks->len; i++)
        width =
            MAX(width, orch_text_columns(g_array_index(axis->ticks, struct orch_tick, i).label));
    return MIN(width, LABEL_MOST);
}

static void draw_y_axis(struct orch_text_sheet *sheet, struct area at)
{
    const struct orch_axis *axis = &sheet->frame.y;
    struct orch_canvas *canvas = &sheet->canvas;
    for (int row = at.top; row <= at.bottom; row++)
        orch_canvas_put(canvas, at.left - 1, row, canvas->ascii ? '|' : 0x2502, ORCH_NO_COLOR);
    int free_above = at.bottom + 1;
    for (guint i = 0; i < axis->ticks->len; i++) {
        const struct orch_tick *tick = &g_array_index(axis->ticks, struct orch_tick, i);
        int row = dot_y(sheet, at, orch_axis_at(axis, tick->at)) / orch_canvas_dots_down(canvas);
        if (row >= free_above)
            continue;
        free_above = row;
        g_autofree char *label = orch_text_short(tick->label, LABEL_MOST);
        orch_canvas_text(canvas, at.left - 2 - orch_text_columns(label), row, label, ORCH_NO_COLOR);
        orch_canvas_put(canvas, at.left - 1, row, canvas->ascii ? '+' : 0x2524, ORCH_NO_COLOR);
    }
}

void orch_text_axis_across(struct orch_text_sheet *sheet, const struct orch_axis *axis, int from,
                           int to, int row)
{
    struct orch_canvas *canvas = &sheet->canvas;
    for (int column = from - 1; column <= to; column++)
        orch_canvas_put(canvas, column, row, canvas->ascii ? '-' : 0x2500, ORCH_NO_COLOR);
    orch_canvas_put(canvas, from - 1, row, canvas->ascii ? '+' : 0x2514, ORCH_NO_COLOR);
    struct area at = {from, to, 0, 0};
    int free_from = from - 3;
    for (guint i = 0; i < axis->ticks->len; i++) {
        const struct orch_tick *tick = &g_array_index(axis->ticks, struct orch_tick, i);
        int column =
            dot_x(sheet, at, orch_axis_at(axis, tick->at)) / orch_canvas_dots_across(canvas);
        orch_canvas_put(canvas, column, row, canvas->ascii ? '+' : 0x252c, ORCH_NO_COLOR);
        g_autofree char *label = orch_text_short(tick->label, LABEL_MOST);
        int width = orch_text_columns(label);
        int start = MIN(column - width / 2, canvas->columns - width);
        if (start < free_from || start < 0)
            continue;
        free_from = orch_canvas_text(canvas, start, row + 1, label, ORCH_NO_COLOR) + 1;
    }
}

void orch_text_plot(struct orch_text_sheet *sheet, const struct orch_chart_panel *panel, int from,
                    int to, int row)
{
    const struct orch_chart *chart = sheet->frame.chart;
    if (chart->y_label) {
        g_autofree char *label = orch_text_short(orch_chart_y_drawn(chart), to - from);
        orch_canvas_text(&sheet->canvas, from, row++, label, ORCH_NO_COLOR);
    }
    /* rows below: the axis, its labels and its name */
    struct area at = {from + label_width(&sheet->frame.y) + 2, to, row, row + sheet->rows - 1};
    draw_y_axis(sheet, at);
    for (guint i = 0; i < panel->series->len; i++) {
        if (chart->kind == ORCH_CHART_HISTOGRAM)
            draw_bins(sheet, panel->series->pdata[i], at);
        else
            draw_series(sheet, panel->series->pdata[i], at);
    }
    for (guint i = 0; i < panel->series->len; i++)
        draw_labels(sheet, panel->series->pdata[i], at);
    orch_text_axis_across(sheet, &sheet->frame.x, at.left, at.right, at.bottom + 1);
    if (chart->x_label) {
        g_autofree char *label = orch_text_short(chart->x_label, at.right - at.left);
        int column = (at.left + at.right - orch_text_columns(label)) / 2;
        orch_canvas_text(&sheet->canvas, column, at.bottom + 3, label, ORCH_NO_COLOR);
    }
}
