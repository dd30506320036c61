/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bars, boxes and heat maps on a terminal: a row for each, with its name and number. */
#include "core/render/text_draw.h"

#include "core/render/table.h"
#include "core/stats/numbers.h"

#include <math.h>

#define NAME_MOST 24

struct columns {
    int category, series; /* widths of the names; series 0: not shown */
    int from, to;         /* columns of the bars */
    int number;           /* width of the numbers after them */
};

static const char *tick_name(const struct orch_axis *axis, guint i)
{
    return g_array_index(axis->ticks, struct orch_tick, i).label;
}

static int widest(const struct orch_axis *axis)
{
    int width = 0;
    for (guint i = 0; i < axis->ticks->len; i++)
        width = MAX(width, orch_text_columns(tick_name(axis, i)));
    return MIN(width, NAME_MOST);
}

static int column_of(const struct orch_text_sheet *sheet, const struct columns *c, double value)
{
    return c->from + (int)lround(orch_frame_clamped_y(&sheet->frame, value) * (c->to - c->from));
}

/* ---- bars ------------------------------------------------------------------------------------ */

static char *number_of(const struct orch_chart_point *p)
{
    double range = p->high - p->low, lean = (p->high - p->y) - (p->y - p->low);
    if (!(fabs(lean) > 0.01 * range)) /* a symmetric interval, or none */
        return orch_mean_format(p->y, range / 2);
    char *texts[3];
    orch_numbers_format_like(p->high - p->low, (const double[]){p->y, p->low, p->high}, texts, 3);
    char *out = g_strdup_printf("%s [%s, %s]", texts[0], texts[1], texts[2]);
    for (int i = 0; i < 3; i++)
        g_free(texts[i]);
    return out;
}

/* Draws full blocks, with eighths of a block at the end. */
static void draw_bar(struct orch_text_sheet *sheet, const struct orch_chart_series *series,
                     const struct columns *c, const struct orch_chart_point *p)
{
    struct orch_canvas *canvas = &sheet->canvas;
    int color = orch_text_color(sheet, series), width = c->to - c->from;
    double foot = orch_frame_clamped_y(&sheet->frame, 0) * width;
    double end = orch_frame_clamped_y(&sheet->frame, p->y) * width;
    bool is_hollow = orch_series_is_of_a_model(series);
    gunichar full = canvas->ascii ? (is_hollow ? '-' : '#') : is_hollow ? 0x2591 : 0x2588;
    int first = (int)floor(fmin(foot, end)), last = (int)floor(fmax(foot, end));
    for (int i = first; i < last; i++)
        orch_canvas_put(canvas, c->from + i, sheet->row, full, color);
    int eighths = (int)lround((fmax(foot, end) - last) * 8);
    if (eighths > 0 && end > foot && !is_hollow && !canvas->ascii)
        orch_canvas_put(canvas, c->from + last, sheet->row,
                        eighths == 8 ? full : 0x2590u - (unsigned)eighths, color);
    g_autofree char *number = number_of(p);
    orch_canvas_text(canvas, c->to + 2, sheet->row, number, ORCH_NO_COLOR);
}

static void draw_box(struct orch_text_sheet *sheet, const struct orch_chart_series *series,
                     const struct columns *c, const struct orch_box_plot *box)
{
    struct orch_canvas *canvas = &sheet->canvas;
    int color = orch_text_color(sheet, series), row = sheet->row;
    bool ascii = canvas->ascii;
    int low = column_of(sheet, c, box->low), high = column_of(sheet, c, box->high);
    int q1 = column_of(sheet, c, box->q1), q3 = column_of(sheet, c, box->q3);
    for (int i = low; i <= high; i++)
        orch_canvas_put(canvas, i, row, ascii ? '-' : 0x2500, color);
    orch_canvas_put(canvas, low, row, ascii ? '|' : 0x251c, color);
    orch_canvas_put(canvas, high, row, ascii ? '|' : 0x2524, color);
    for (int i = q1; i <= q3; i++)
        orch_canvas_put(canvas, i, row, ascii ? '=' : 0x2592, color);
    orch_canvas_put(canvas, column_of(sheet, c, box->median), row, ascii ? '#' : 0x2503,
                    ORCH_NO_COLOR);
    for (guint i = 0; i < box->outliers->len; i++)
        orch_canvas_put(canvas, column_of(sheet, c, g_array_index(box->outliers, double, i)), row,
                        ascii ? 'o' : 0x25cb, color);
    g_autofree char *number = orch_number_format(box->median);
    orch_canvas_text(canvas, c->to + 2, row, number, ORCH_NO_COLOR);
}

/* Draws a series' bar or box at a category; false when there is none. */
static bool draw_at(struct orch_text_sheet *sheet, const struct orch_chart_series *series,
                    const struct columns *c, guint category)
{
    if (sheet->frame.chart->kind == ORCH_CHART_BOX) {
        struct orch_box_plot box = {0};
        if (!orch_frame_box(&sheet->frame, series, category, &box))
            return false;
        draw_box(sheet, series, c, &box);
        orch_box_plot_clear(&box);
        return true;
    }
    for (guint i = 0; i < series->points->len; i++) {
        const struct orch_chart_point *p =
            &g_array_index(series->points, struct orch_chart_point, i);
        if (orch_frame_x(&sheet->frame, p->x) == category && isfinite(p->y)) {
            draw_bar(sheet, series, c, p);
            return true;
        }
    }
    return false;
}

static struct columns lay_out(const struct orch_text_sheet *sheet,
                              const struct orch_chart_panel *panel)
{
    struct columns c = {.category = widest(&sheet->frame.x), .number = 6};
    for (guint i = 0; i < panel->series->len; i++) {
        const struct orch_chart_series *series = panel->series->pdata[i];
        g_autofree char *name = orch_frame_key(series, &ORCH_COLUMNS, NAME_MOST);
        if (orch_series_is_of_runs(series) && sheet->frame.keys->len > 1)
            c.series = MAX(c.series, orch_text_columns(name));
        for (guint j = 0; j < series->points->len; j++) {
            g_autofree char *number =
                number_of(&g_array_index(series->points, struct orch_chart_point, j));
            c.number = MAX(c.number, orch_text_columns(number));
        }
    }
    if (sheet->frame.chart->kind == ORCH_CHART_BOX)
        c.number = 8;
    int columns = sheet->canvas.columns, least = 10;
    int available = columns - c.number - 5 - least; /* the width left for names */
    c.series = MIN(c.series, MAX(available / 2, 3));
    c.category = MIN(c.category, MAX(available - c.series, 3));
    c.from = c.category + 1 + (c.series ? c.series + 1 : 0) + 1;
    c.to = MAX(columns - c.number - 3, c.from + 3);
    return c;
}

/* Lists the values of reference and ideal lines below the chart, because these have no row. */
static void add_others_note(struct orch_text_sheet *sheet, const struct orch_chart_panel *panel)
{
    for (guint i = 0; i < panel->series->len; i++) {
        const struct orch_chart_series *series = panel->series->pdata[i];
        if (orch_series_is_of_runs(series) || series->role == ORCH_SERIES_RUN ||
            !series->points->len)
            continue;
        g_autofree char *number =
            orch_number_format(g_array_index(series->points, struct orch_chart_point, 0).y);
        g_autofree char *text =
            g_strdup_printf("%s: %s", series->name ? orch_series_label(series) : "", number);
        orch_canvas_text(&sheet->canvas, 0, sheet->row++, text, ORCH_NO_COLOR);
    }
}

/* Marks the single runs of a bar when there are few. */
static void mark_runs(struct orch_text_sheet *sheet, const struct orch_chart_panel *panel,
                      const struct orch_chart_series *bar, const struct columns *c, guint category)
{
    for (guint i = 0; i < panel->series->len; i++) {
        const struct orch_chart_series *run = panel->series->pdata[i];
        if (run->role != ORCH_SERIES_RUN || g_strcmp0(run->name, bar->name) != 0)
            continue;
        for (guint j = 0; j < run->points->len; j++) {
            const struct orch_chart_point *p =
                &g_array_index(run->points, struct orch_chart_point, j);
            if (orch_frame_x(&sheet->frame, p->x) == category && isfinite(p->y))
                orch_canvas_put(&sheet->canvas, column_of(sheet, c, p->y), sheet->row,
                                sheet->canvas.ascii ? 'o' : 0x25cb, ORCH_NO_COLOR);
        }
    }
}

static void draw_bars(struct orch_text_sheet *sheet, const struct orch_chart_panel *panel)
{
    struct columns c = lay_out(sheet, panel);
    struct orch_canvas *canvas = &sheet->canvas;
    for (guint category = 0; category < sheet->frame.x.ticks->len; category++) {
        g_autofree char *name = orch_text_short(tick_name(&sheet->frame.x, category), c.category);
        bool is_first = true;
        for (guint i = 0; i < panel->series->len; i++) {
            const struct orch_chart_series *series = panel->series->pdata[i];
            if (!orch_series_is_of_runs(series) || !draw_at(sheet, series, &c, category))
                continue;
            if (sheet->frame.chart->kind == ORCH_CHART_BAR)
                mark_runs(sheet, panel, series, &c, category);
            if (is_first)
                orch_canvas_text(canvas, c.category - orch_text_columns(name), sheet->row, name,
                                 ORCH_NO_COLOR);
            is_first = false;
            g_autofree char *key = orch_frame_key(series, &ORCH_COLUMNS, c.series);
            if (c.series)
                orch_canvas_text(canvas, c.category + 1, sheet->row, key,
                                 orch_text_color(sheet, series));
            orch_canvas_put(canvas, c.from - 1, sheet->row, canvas->ascii ? '|' : 0x2502,
                            ORCH_NO_COLOR);
            sheet->row++;
        }
    }
    orch_text_axis_across(sheet, &sheet->frame.y, c.from, c.to, sheet->row);
    sheet->row += 2;
    const char *y_label = sheet->frame.chart->y_label;
    g_autofree char *label = orch_text_short(y_label ? y_label : "", c.to - c.from);
    orch_canvas_text(canvas, (c.from + c.to - orch_text_columns(label)) / 2, sheet->row++, label,
                     ORCH_NO_COLOR);
    add_others_note(sheet, panel);
}

/* ---- heat maps ------------------------------------------------------------------------------- */

static const struct orch_chart_point *
cell_of(const struct orch_text_sheet *sheet, const struct orch_chart_panel *panel, guint x, guint y)
{
    for (guint i = 0; i < panel->series->len; i++) {
        const struct orch_chart_series *series = panel->series->pdata[i];
        for (guint j = 0; j < series->points->len; j++) {
            const struct orch_chart_point *p =
                &g_array_index(series->points, struct orch_chart_point, j);
            if (orch_frame_x(&sheet->frame, p->x) == x && orch_frame_y(&sheet->frame, p->y) == y)
                return p;
        }
    }
    return NULL;
}

/* Returns the nearest colour of the 6 x 6 x 6 cube of a 256-colour terminal. */
static int near_color(guint32 color)
{
    int red = (int)(color >> 16 & 255), green = (int)(color >> 8 & 255), blue = (int)(color & 255);
    return 16 + 36 * ((red * 5 + 127) / 255) + 6 * ((green * 5 + 127) / 255) +
           (blue * 5 + 127) / 255;
}

/* Draws a cell: its number after two characters that are darker for higher values; in colour, the
 * number on the colour. */
static void draw_cell(struct orch_text_sheet *sheet, const struct orch_chart_point *p, int column,
                      int width)
{
    static const char *const shades[] = {"  ", "░░", "▒▒", "▓▓", "██"};
    static const char *const plain[] = {"  ", "..", "++", "%%", "##"};
    struct orch_canvas *canvas = &sheet->canvas;
    double share = p ? orch_frame_heat(&sheet->frame, p->z) : (double)NAN;
    g_autofree char *number = isnan(share) ? g_strdup("-") : orch_number_format(p->z);
    int at = isnan(share) ? 0 : (int)fmin(floor(share * 5), 4);
    if (canvas->color && !isnan(share)) {
        guint32 color = orch_heat_color(share);
        for (int i = 0; i < width - 1; i++)
            orch_canvas_shade(canvas, column + i, sheet->row, near_color(color));
        int left = MAX((width - 1 - orch_text_columns(number)) / 2, 0);
        for (int i = 0; i < width - 1; i++)
            orch_canvas_put(canvas, column + i, sheet->row, ' ', ORCH_NO_COLOR);
        orch_canvas_text(canvas, column + left, sheet->row, number,
                         orch_color_is_light(color) ? 16 : 231);
        return;
    }
    orch_canvas_text(canvas, column, sheet->row, (canvas->ascii ? plain : shades)[at],
                     ORCH_NO_COLOR);
    orch_canvas_text(canvas, column + 3, sheet->row, number, ORCH_NO_COLOR);
}

static int cell_width(const struct orch_text_sheet *sheet, const struct orch_chart_panel *panel)
{
    int width = 4;
    for (guint i = 0; i < panel->series->len; i++) {
        const struct orch_chart_series *series = panel->series->pdata[i];
        for (guint j = 0; j < series->points->len; j++) {
            g_autofree char *number =
                orch_number_format(g_array_index(series->points, struct orch_chart_point, j).z);
            width = MAX(width, orch_text_columns(number) + 4);
        }
    }
    return MAX(width, MIN(widest(&sheet->frame.x) + 1, 14));
}

static void draw_heat(struct orch_text_sheet *sheet, const struct orch_chart_panel *panel)
{
    const struct orch_frame *frame = &sheet->frame;
    struct orch_canvas *canvas = &sheet->canvas;
    int names = widest(&frame->y), width = cell_width(sheet, panel);
    guint fit = (guint)MAX((canvas->columns - names - 2) / width, 1);
    guint columns = MIN(frame->x.ticks->len, fit);
    g_autofree char *axes = g_strdup_printf("%s (down) by %s (across)",
                                            frame->chart->y_label ? frame->chart->y_label : "y",
                                            frame->chart->x_label ? frame->chart->x_label : "x");
    g_autofree char *axes_short = orch_text_short(axes, canvas->columns);
    orch_canvas_text(canvas, 0, sheet->row++, axes_short, ORCH_NO_COLOR);
    for (guint x = 0; x < columns; x++) {
        g_autofree char *name = orch_text_short(tick_name(&frame->x, x), width - 1);
        orch_canvas_text(canvas, names + 2 + (int)x * width, sheet->row, name, ORCH_NO_COLOR);
    }
    sheet->row++;
    for (guint i = frame->y.ticks->len; i > 0; i--) { /* the first tick is at the bottom */
        g_autofree char *name = orch_text_short(tick_name(&frame->y, i - 1), NAME_MOST);
        orch_canvas_text(canvas, names - orch_text_columns(name), sheet->row, name, ORCH_NO_COLOR);
        for (guint x = 0; x < columns; x++)
            draw_cell(sheet, cell_of(sheet, panel, x, i - 1), names + 2 + (int)x * width, width);
        sheet->row++;
    }
    const char *z_label = frame->chart->z_label;
    g_autofree char *low = orch_number_format(frame->z_low);
    g_autofree char *high = orch_number_format(frame->z_high);
    g_autofree char *more =
        columns < frame->x.ticks->len
            ? g_strdup_printf("; %u more columns do not fit", frame->x.ticks->len - columns)
            : g_strdup("");
    g_autofree char *scale =
        g_strdup_printf("%s: %s to %s%s", z_label ? z_label : "value", low, high, more);
    g_autofree char *scale_short = orch_text_short(scale, canvas->columns);
    orch_canvas_text(canvas, 0, sheet->row++, scale_short, ORCH_NO_COLOR);
}

void orch_text_rows(struct orch_text_sheet *sheet, const struct orch_chart_panel *panel)
{
    if (sheet->frame.chart->kind == ORCH_CHART_HEAT)
        draw_heat(sheet, panel);
    else
        draw_bars(sheet, panel);
}
