/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the content of a chart's panels: lines, points, bands, bars, boxes, bins and cells. */
#include "core/render/sheet.h"

#include "core/render/font.h"
#include "core/stats/numbers.h"

#include <math.h>

#define BARS_OF_ERROR_MOST 16 /* intervals of longer series are drawn as bands */
#define MARKS_MOST 14         /* on one line */

/* Dashes have round ends, so gaps look shorter than they are. */
static const char *const DASHES[] = {NULL,   "7 5.5",           "0.5 5",   "9 5 0.5 5",
                                     "13 6", "5 5 0.5 5 0.5 5", "0.5 8.5", "10 6 4 6"};
static const char *const REFERENCE_DASHES[] = {"0.5 4.5", "6 5 0.5 5", "9 7", "3 6"};

static const struct orch_point_of *at_index(const GArray *points, guint i)
{
    return &g_array_index(points, struct orch_point_of, i);
}

static struct orch_stroke stroke_of(const struct orch_sheet *sheet,
                                    const struct orch_chart_series *series)
{
    const struct orch_frame *frame = &sheet->frame;
    unsigned index = orch_frame_index(frame, series);
    struct orch_stroke stroke = {orch_series_color(frame, series), 2, NULL};
    if (orch_series_is_of_a_model(series))
        stroke.dash = "5 5";
    else if (series->role == ORCH_SERIES_RUN)
        stroke.width = 0.9;
    else if (series->role == ORCH_SERIES_IDEAL)
        stroke.width = 1.2;
    else if (series->role == ORCH_SERIES_LEVEL)
        stroke.width = 0.8;
    else if (series->role == ORCH_SERIES_REFERENCE)
        stroke.dash = REFERENCE_DASHES[index % G_N_ELEMENTS(REFERENCE_DASHES)];
    else if (!frame->has_predicted) /* with predicted series a dashed line means "predicted" */
        stroke.dash = DASHES[index % G_N_ELEMENTS(DASHES)];
    return stroke;
}

/* ---- lines and points --------------------------------------------------------------------------
 */

static void draw_band(struct orch_sheet *sheet, const struct orch_chart_series *series,
                      const GArray *points, struct orch_rect at)
{
    const struct orch_frame *frame = &sheet->frame;
    for (guint from = 0; from < points->len;) {
        guint to = from;
        while (to < points->len && !isnan(at_index(points, to)->p->low))
            to++;
        orch_pen_gap(&sheet->pen);
        for (guint i = from; i < to && to - from > 1; i++)
            orch_pen_to(&sheet->pen, at.x + at.width * at_index(points, i)->x,
                        at.y +
                            at.height * orch_frame_clamped_y(frame, at_index(points, i)->p->low));
        for (guint i = to; i > from && to - from > 1; i--)
            orch_pen_to(&sheet->pen, at.x + at.width * at_index(points, i - 1)->x,
                        at.y + at.height *
                                   orch_frame_clamped_y(frame, at_index(points, i - 1)->p->high));
        from = to + 1;
    }
    orch_pen_fill(&sheet->pen, orch_series_color(frame, series), 0.2);
}

/* Adds a vertical line with end caps at x. */
static void add_error_bar(struct orch_sheet *sheet, double x, double low, double high)
{
    struct orch_pen *pen = &sheet->pen;
    orch_pen_gap(pen);
    orch_pen_to(pen, x, low);
    orch_pen_to(pen, x, high);
    orch_pen_gap(pen);
    orch_pen_to(pen, x - 4, low);
    orch_pen_to(pen, x + 4, low);
    orch_pen_gap(pen);
    orch_pen_to(pen, x - 4, high);
    orch_pen_to(pen, x + 4, high);
}

/* Draws the interval of a measured point as a thin line with end caps, of a predicted one as a
 * broad pale line, so that both are visible when they overlap. */
static void draw_error_bars(struct orch_sheet *sheet, const struct orch_chart_series *series,
                            const GArray *points, struct orch_rect at)
{
    const struct orch_frame *frame = &sheet->frame;
    for (guint i = 0; i < points->len; i++) {
        const struct orch_point_of *point = at_index(points, i);
        if (isnan(point->p->low) || isnan(point->p->high))
            continue;
        double x = at.x + at.width * point->x;
        double low = at.y + at.height * orch_frame_clamped_y(frame, point->p->low);
        double high = at.y + at.height * orch_frame_clamped_y(frame, point->p->high);
        if (orch_series_is_of_a_model(series))
            orch_pen_rectangle(&sheet->pen, x - 5, low, x + 5, high);
        else
            add_error_bar(sheet, x, low, high);
    }
    if (orch_series_is_of_a_model(series))
        orch_pen_fill(&sheet->pen, orch_series_color(frame, series), 0.22);
    else
        orch_pen_line(&sheet->pen,
                      (struct orch_stroke){orch_series_color(frame, series), 1.2, NULL});
}

static void add_points(struct orch_sheet *sheet, const GArray *points, struct orch_rect at,
                       guint first, guint step)
{
    for (guint i = first; i < points->len; i += step)
        orch_pen_to(&sheet->pen, at.x + at.width * at_index(points, i)->x,
                    at.y + at.height * at_index(points, i)->y);
}

/* Draws the marks of a series. On dense lines only some points get a mark, and each series starts
 * at another point, so that the marks of two series rarely coincide. */
static void draw_marks(struct orch_sheet *sheet, const struct orch_chart_series *series,
                       const GArray *points, struct orch_rect at)
{
    unsigned index = orch_frame_index(&sheet->frame, series);
    bool is_line = sheet->frame.chart->kind == ORCH_CHART_LINE;
    guint step = is_line && points->len > 2 * MARKS_MOST ? points->len / MARKS_MOST : 1;
    guint first = step > 1 ? (index * step / 4) % step : 0;
    add_points(sheet, points, at, first, step);
    double size = points->len > 1000 && !is_line ? 1.4 : points->len > 200 && !is_line ? 2.2 : 3.2;
    orch_pen_marks(&sheet->pen, index, orch_series_is_of_a_model(series), size,
                   orch_series_color(&sheet->frame, series));
}

static bool has_marks(const struct orch_chart_series *series)
{
    return orch_series_is_of_runs(series) || series->points->len == 1;
}

static void draw_series(struct orch_sheet *sheet, const struct orch_chart_series *series,
                        struct orch_rect at)
{
    bool is_line = sheet->frame.chart->kind == ORCH_CHART_LINE || !has_marks(series);
    g_autoptr(GArray) points = orch_frame_points(&sheet->frame, series);
    if (is_line && points->len > BARS_OF_ERROR_MOST)
        draw_band(sheet, series, points, at);
    else
        draw_error_bars(sheet, series, points, at);
    if (is_line) {
        add_points(sheet, points, at, 0, 1);
        orch_pen_line(&sheet->pen, stroke_of(sheet, series));
    }
    if (has_marks(series))
        draw_marks(sheet, series, points, at);
}

/* Draws a single run: a thin line in line charts, else small dots, moved `shift` to the right. */
static void draw_run(struct orch_sheet *sheet, const struct orch_chart_series *series,
                     struct orch_rect at, double shift)
{
    g_autoptr(GArray) points = orch_frame_points(&sheet->frame, series);
    at.x += shift;
    if (sheet->frame.chart->kind == ORCH_CHART_LINE && points->len > 1) {
        add_points(sheet, points, at, 0, 1);
        orch_pen_line(&sheet->pen, stroke_of(sheet, series));
        return;
    }
    add_points(sheet, points, at, 0, 1);
    orch_pen_marks(&sheet->pen, orch_frame_index(&sheet->frame, series), true, 2.2, ORCH_PEN_INK);
}

/* ---- bars and boxes ----------------------------------------------------------------------------
 */

/* Computes a series' part of a category's width: left edge and width, as shares of 1. */
static void slot_of(const struct orch_sheet *sheet, const struct orch_chart_series *series,
                    double *out_left, double *out_width)
{
    guint at = 0, count = 0;
    for (guint i = 0; i < sheet->frame.keys->len; i++) {
        const struct orch_chart_series *key = sheet->frame.keys->pdata[i];
        if (key->role == series->role && g_strcmp0(key->name, series->name) == 0)
            at = count;
        count += orch_series_is_of_runs(key);
    }
    count = MAX(count, 1);
    *out_width = (count == 1 ? 0.6 : 0.8) / count;
    *out_left = -*out_width * count / 2 + *out_width * at;
}

/* Fills a rectangle with slanted lines, so that bars also differ without colour. */
static void add_hatch(struct orch_pen *pen, struct orch_rect r, double slope)
{
    double rise = r.width * slope;
    for (double foot = r.y - fmax(rise, 0); foot < r.y + r.height - fmin(rise, 0); foot += 6) {
        double t0 = 0, t1 = 1; /* shares of the way from the left side to the right one */
        if (rise != 0) {
            double a = (r.y - foot) / rise, b = (r.y + r.height - foot) / rise;
            t0 = fmax(t0, fmin(a, b));
            t1 = fmin(t1, fmax(a, b));
        }
        if (t0 >= t1 || (rise == 0 && foot < r.y))
            continue;
        orch_pen_gap(pen);
        orch_pen_to(pen, r.x + r.width * t0, foot + rise * t0);
        orch_pen_to(pen, r.x + r.width * t1, foot + rise * t1);
    }
}

/* Draws a rectangle in the style of a series: with its own hatch; predicted: dashed and nearly
 * empty. */
static void draw_filled(struct orch_sheet *sheet, const struct orch_chart_series *series,
                        struct orch_rect r)
{
    static const double slopes[] = {0, 1, -1, 0};
    struct orch_pen *pen = &sheet->pen;
    bool is_bar = sheet->frame.chart->kind == ORCH_CHART_BAR;
    uint32_t color = orch_series_color(&sheet->frame, series);
    unsigned index = orch_frame_index(&sheet->frame, series);
    orch_pen_rectangle(pen, r.x, r.y, r.x + r.width, r.y + r.height);
    orch_pen_fill(pen, color, orch_series_is_of_a_model(series) ? 0.12 : is_bar ? 0.85 : 0.25);
    if (index % 4 && !orch_series_is_of_a_model(series)) {
        add_hatch(pen, r, slopes[index % 4]);
        orch_pen_line(pen,
                      (struct orch_stroke){is_bar ? 0xffffff : color, is_bar ? 1.1 : 0.5, NULL});
    }
    orch_pen_rectangle(pen, r.x, r.y, r.x + r.width, r.y + r.height);
    orch_pen_line(pen, (struct orch_stroke){color, 1.4,
                                            orch_series_is_of_a_model(series) ? "3.5 4.2" : NULL});
}

static void draw_bars(struct orch_sheet *sheet, const struct orch_chart_series *series,
                      struct orch_rect at)
{
    const struct orch_frame *frame = &sheet->frame;
    double left, width, unit = at.width * (orch_axis_at(&frame->x, 1) - orch_axis_at(&frame->x, 0));
    slot_of(sheet, series, &left, &width);
    g_autoptr(GArray) points = orch_frame_points(frame, series);
    double foot = orch_frame_clamped_y(frame, 0);
    for (guint i = 0; i < points->len; i++) {
        const struct orch_point_of *point = at_index(points, i);
        double x = at.x + at.width * point->x + left * unit,
               top = orch_frame_clamped_y(frame, point->p->y);
        struct orch_rect r = {x + 1, at.y + at.height * fmin(foot, top), width * unit - 2,
                              at.height * fabs(top - foot)};
        draw_filled(sheet, series, r);
    }
    for (guint i = 0; i < points->len; i++) {
        const struct orch_point_of *point = at_index(points, i);
        if (!isnan(point->p->low) && !isnan(point->p->high))
            add_error_bar(sheet, at.x + at.width * point->x + (left + width / 2) * unit,
                          at.y + at.height * orch_frame_clamped_y(frame, point->p->low),
                          at.y + at.height * orch_frame_clamped_y(frame, point->p->high));
    }
    orch_pen_line(&sheet->pen, (struct orch_stroke){ORCH_PEN_INK, 1.2, NULL});
}

/* Draws the values of single runs as dots in the middle of their bar. */
static void draw_run_of_bar(struct orch_sheet *sheet, const struct orch_chart_series *series,
                            struct orch_rect at)
{
    const struct orch_frame *frame = &sheet->frame;
    struct orch_chart_series bar = *series;
    double left, width, unit = at.width * (orch_axis_at(&frame->x, 1) - orch_axis_at(&frame->x, 0));
    bar.role = ORCH_SERIES_MEASURED;
    slot_of(sheet, &bar, &left, &width);
    draw_run(sheet, series, at, (left + width / 2) * unit);
}

static void draw_box(struct orch_sheet *sheet, const struct orch_chart_series *series,
                     const struct orch_box_plot *box, struct orch_rect slot)
{
    const struct orch_frame *frame = &sheet->frame;
    struct orch_pen *pen = &sheet->pen;
    uint32_t color = orch_series_color(frame, series);
    double q1 = slot.y + slot.height * orch_frame_clamped_y(frame, box->q1);
    double q3 = slot.y + slot.height * orch_frame_clamped_y(frame, box->q3);
    double median = slot.y + slot.height * orch_frame_clamped_y(frame, box->median);
    double middle = slot.x + slot.width / 2;
    draw_filled(sheet, series, (struct orch_rect){slot.x, q1, slot.width, q3 - q1});
    add_error_bar(sheet, middle, slot.y + slot.height * orch_frame_clamped_y(frame, box->low), q1);
    add_error_bar(sheet, middle, q3, slot.y + slot.height * orch_frame_clamped_y(frame, box->high));
    orch_pen_line(pen, (struct orch_stroke){color, 1.4,
                                            orch_series_is_of_a_model(series) ? "3.5 4.2" : NULL});
    orch_pen_to(pen, slot.x, median);
    orch_pen_to(pen, slot.x + slot.width, median);
    orch_pen_line(pen, (struct orch_stroke){ORCH_PEN_INK, 2.2, NULL});
    for (guint i = 0; i < box->outliers->len; i++)
        orch_pen_to(pen, middle,
                    slot.y + slot.height * orch_frame_clamped_y(
                                               frame, g_array_index(box->outliers, double, i)));
    orch_pen_marks(pen, orch_frame_index(frame, series), true, 2.6, color);
}

static void draw_boxes(struct orch_sheet *sheet, const struct orch_chart_series *series,
                       struct orch_rect at)
{
    const struct orch_frame *frame = &sheet->frame;
    double left, width, unit = at.width * (orch_axis_at(&frame->x, 1) - orch_axis_at(&frame->x, 0));
    slot_of(sheet, series, &left, &width);
    for (guint i = 0; i < frame->x.ticks->len; i++) {
        struct orch_box_plot box = {0};
        if (!orch_frame_box(frame, series, i, &box))
            continue;
        double x = at.x + at.width * orch_axis_at(&frame->x, i);
        double pad = width * unit * 0.12;
        struct orch_rect slot = {x + left * unit + pad, at.y, width * unit - 2 * pad, at.height};
        draw_box(sheet, series, &box, slot);
        orch_box_plot_clear(&box);
    }
}

/* ---- bins and cells ----------------------------------------------------------------------------
 */

static void add_steps(struct orch_sheet *sheet, const unsigned *counts, struct orch_rect at)
{
    const struct orch_frame *frame = &sheet->frame;
    const struct orch_axis_bins *bins = &frame->bins;
    orch_pen_gap(&sheet->pen);
    orch_pen_to(&sheet->pen, at.x + at.width * orch_axis_at(&frame->x, bins->low), at.y);
    for (unsigned i = 0; i < bins->count; i++) {
        double y = at.y + at.height * orch_axis_at(&frame->y, counts[i]);
        double x0 = orch_axis_at(&frame->x, bins->low + bins->width * i);
        double x1 = orch_axis_at(&frame->x, bins->low + bins->width * (i + 1));
        orch_pen_to(&sheet->pen, at.x + at.width * x0, y);
        orch_pen_to(&sheet->pen, at.x + at.width * x1, y);
    }
    double end = bins->low + bins->width * bins->count;
    orch_pen_to(&sheet->pen, at.x + at.width * orch_axis_at(&frame->x, end), at.y);
}

static void draw_histogram(struct orch_sheet *sheet, const struct orch_chart_series *series,
                           struct orch_rect at)
{
    g_autofree unsigned *counts = orch_frame_bins(&sheet->frame, series);
    bool is_alone = sheet->frame.keys->len == 1;
    add_steps(sheet, counts, at);
    orch_pen_fill(&sheet->pen, orch_series_color(&sheet->frame, series), is_alone ? 0.6 : 0.2);
    add_steps(sheet, counts, at);
    orch_pen_line(&sheet->pen, stroke_of(sheet, series));
}

static void draw_cell(struct orch_sheet *sheet, const struct orch_chart_point *p,
                      struct orch_rect cell)
{
    double share = orch_frame_heat(&sheet->frame, p->z);
    orch_pen_rectangle(&sheet->pen, cell.x, cell.y, cell.x + cell.width, cell.y + cell.height);
    if (isnan(share)) {
        orch_pen_line(&sheet->pen, (struct orch_stroke){0x999999, 0.8, "1.2 2"});
        return;
    }
    uint32_t color = orch_heat_color(share);
    orch_pen_fill(&sheet->pen, color, 1);
    g_autofree char *text = orch_number_format(p->z);
    const struct orch_ruler ruler = orch_font_ruler(ORCH_PEN_FONT);
    struct orch_pen_text how = {.x = cell.x + cell.width / 2,
                                .y = cell.y + cell.height / 2,
                                .align = ORCH_ALIGN_CENTER,
                                .color = orch_color_is_light(color) ? ORCH_PEN_BLACK : 0xffffff};
    if (orch_ruler_width(&ruler, text) < cell.width - 4 && cell.height > 14)
        orch_pen_write(&sheet->pen, &how, text);
}

static void draw_cells(struct orch_sheet *sheet, const struct orch_chart_series *series,
                       struct orch_rect at)
{
    const struct orch_frame *frame = &sheet->frame;
    double width = at.width / MAX(frame->x.ticks->len, 1);
    double height = at.height / MAX(frame->y.ticks->len, 1);
    g_autoptr(GArray) points = orch_frame_points(frame, series);
    for (guint i = 0; i < points->len; i++) {
        const struct orch_point_of *point = at_index(points, i);
        struct orch_rect cell = {at.x + at.width * point->x - width / 2 + 0.5,
                                 at.y + at.height * point->y - height / 2 + 0.5, width - 1,
                                 height - 1};
        draw_cell(sheet, point->p, cell);
    }
}

void orch_sheet_marks(struct orch_sheet *sheet, const struct orch_chart_panel *panel,
                      struct orch_rect at)
{
    static void (*const draw[])(struct orch_sheet *, const struct orch_chart_series *,
                                struct orch_rect) = {
        [ORCH_CHART_LINE] = draw_series, [ORCH_CHART_SCATTER] = draw_series,
        [ORCH_CHART_BAR] = draw_bars,    [ORCH_CHART_BOX] = draw_boxes,
        [ORCH_CHART_HEAT] = draw_cells,  [ORCH_CHART_HISTOGRAM] = draw_histogram,
    };
    for (guint i = 0; i < panel->series->len; i++) {
        const struct orch_chart_series *series = panel->series->pdata[i];
        if (series->role == ORCH_SERIES_RUN && sheet->frame.chart->kind == ORCH_CHART_BAR)
            draw_run_of_bar(sheet, series, at);
        else if (series->role == ORCH_SERIES_RUN)
            draw_run(sheet, series, at, 0);
        else if (!orch_series_is_of_runs(series) && sheet->frame.chart->kind <= ORCH_CHART_BOX)
            draw_series(sheet, series, at);
        else
            draw[sheet->frame.chart->kind](sheet, series, at);
    }
    if (sheet->frame.chart->kind <= ORCH_CHART_SCATTER)
        orch_sheet_point_labels(sheet, panel, at);
}

void orch_sheet_sample(struct orch_sheet *sheet, const struct orch_chart_series *series, double x,
                       double y, double width)
{
    enum orch_chart_kind kind = sheet->frame.chart->kind;
    bool is_other = !orch_series_is_of_runs(series);
    if ((kind == ORCH_CHART_BAR || kind == ORCH_CHART_BOX) && !is_other) {
        draw_filled(sheet, series, (struct orch_rect){x + width - 26, y - 6, 24, 12});
        return;
    }
    if (kind != ORCH_CHART_SCATTER || is_other) {
        orch_pen_to(&sheet->pen, x, y);
        orch_pen_to(&sheet->pen, x + width, y);
        orch_pen_line(&sheet->pen, stroke_of(sheet, series));
    }
    if (kind == ORCH_CHART_HISTOGRAM || is_other)
        return;
    orch_pen_to(&sheet->pen, x + width / 2, y);
    orch_pen_marks(&sheet->pen, orch_frame_index(&sheet->frame, series),
                   orch_series_is_of_a_model(series), 3.2,
                   orch_series_color(&sheet->frame, series));
}
