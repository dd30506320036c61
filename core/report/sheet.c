/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/sheet.h"

#include "core/report/table.h"

#include <math.h>

#define WIDTH 600.0
#define LINE 18.0   /* height of a line of text */
#define SAMPLE 34.0 /* width of a legend's sample */
#define BAR 16.0    /* width of a heat map's scale */
#define NAME_MOST 22
#define KEY_MOST 44

static const struct orch_stroke AXIS = {ORCH_PEN_INK, 1, NULL};
static const struct orch_stroke GRID = {ORCH_PEN_GRID, 0.8, NULL};

struct layout {
    double width, height;
    double left, right, top, bottom; /* room around the grid of panels */
    unsigned columns, rows;
    double panel_width, panel_height, title; /* title: room above each panel */
    double gap;
    bool is_turned; /* names below the x axis are */
    double x_names; /* room below a panel for its ticks */
    unsigned key_columns, key_rows;
    double key_width;
    char **titles, **notes;
};

static double width_of(const char *text)
{
    return orch_text_columns(text) * ORCH_PEN_CHAR;
}

static const struct orch_tick *tick_of(const struct orch_axis *axis, guint i)
{
    return &g_array_index(axis->ticks, struct orch_tick, i);
}

/* Of the widest tick's label, which is shortened when it is drawn. */
static double widest(const struct orch_axis *axis)
{
    double width = 0;
    for (guint i = 0; i < axis->ticks->len; i++)
        width = fmax(width, width_of(tick_of(axis, i)->label));
    return fmin(width, NAME_MOST * ORCH_PEN_CHAR);
}

/* ---- layout ------------------------------------------------------------------------------------
 */

static bool is_heat(const struct orch_sheet *sheet)
{
    return sheet->frame.chart->kind == ORCH_CHART_HEAT && !isnan(sheet->frame.z_low);
}

static bool has_names(const struct orch_frame *frame)
{
    return frame->chart->x_names || frame->x_places;
}

static double heat_room(const struct orch_sheet *sheet)
{
    return is_heat(sheet) ? BAR + 10 + 5 * ORCH_PEN_CHAR + (sheet->frame.chart->z_label ? LINE : 0)
                          : 0;
}

static void lay_key(const struct orch_sheet *sheet, struct layout *l)
{
    const GPtrArray *keys = sheet->frame.keys;
    double width = 0;
    for (guint i = 0; i < keys->len; i++) {
        g_autofree char *name = orch_frame_key(keys->pdata[i], KEY_MOST);
        width = fmax(width, width_of(name));
    }
    bool is_needed = sheet->frame.chart->kind != ORCH_CHART_HEAT && (keys->len > 1 || width > 0);
    if (!is_needed)
        return;
    l->key_width = SAMPLE + 8 + width + 14;
    l->key_columns = (unsigned)fmax(1, floor((l->width - 24) / l->key_width));
    l->key_columns = MIN(l->key_columns, keys->len);
    l->key_rows = (keys->len + l->key_columns - 1) / l->key_columns;
}

static char **notes_of(const struct orch_sheet *sheet, double width)
{
    GString *text = g_string_new(sheet->frame.chart->note);
    unsigned lost = sheet->frame.left_out;
    if (sheet->frame.is_cut)
        g_string_append_printf(text, "%swide intervals go on beyond the frame",
                               text->len ? "; " : "");
    if (lost)
        g_string_append_printf(text, "%s%u point%s not drawn: no place on %s axis",
                               text->len ? "; " : "", lost, lost == 1 ? "" : "s",
                               sheet->frame.x.is_log || sheet->frame.y.is_log ? "a logarithmic"
                                                                              : "the");
    char **lines = orch_text_wrap(text->str, (int)((width - 24) / (ORCH_PEN_CHAR * 0.87)));
    g_string_free(text, TRUE);
    return lines;
}

/* Names below the axis stand level when each has room, else slanted: the first may then reach
 * beyond the left side. */
static void lay_names(const struct orch_sheet *sheet, struct layout *l)
{
    const struct orch_frame *frame = &sheet->frame;
    double wide = widest(&frame->x);
    double share = l->panel_width / MAX(frame->x.ticks->len, 1);
    l->is_turned = has_names(frame) && wide + 6 > share;
    if (l->is_turned) {
        double reach = fmin(width_of(tick_of(&frame->x, 0)->label), NAME_MOST * ORCH_PEN_CHAR);
        double more = fmax(0, reach * 0.77 + 4 - l->left - share / 2);
        l->left += more;
        l->panel_width -= more / l->columns;
    }
    l->x_names = l->is_turned ? 14 + wide * 0.66 : 8 + LINE;
}

static bool has_panel_titles(const struct orch_chart *chart)
{
    for (guint i = 0; i < chart->panels->len; i++)
        if (((const struct orch_chart_panel *)chart->panels->pdata[i])->title)
            return true;
    return false;
}

static void lay_out(const struct orch_sheet *sheet, struct layout *l)
{
    const struct orch_chart *chart = sheet->frame.chart;
    unsigned panels = MAX(chart->panels->len, 1);
    l->columns = panels == 1 ? 1 : 2;
    l->rows = (panels + l->columns - 1) / l->columns;
    l->width = WIDTH;
    l->gap = 16;
    l->title = has_panel_titles(chart) ? LINE + 2 : 0;
    l->titles = orch_text_wrap(chart->title ? chart->title : "",
                               (int)((l->width - 24) / (ORCH_PEN_CHAR * 1.12)));
    l->notes = notes_of(sheet, l->width);
    l->left = 10 + (chart->y_label ? LINE + 2 : 0) + widest(&sheet->frame.y) + 10;
    l->right = 18 + heat_room(sheet);
    l->panel_width = (l->width - l->left - l->right - l->gap * (l->columns - 1)) / l->columns;
    l->panel_height = panels == 1 ? 230 : 190;
    if (chart->kind == ORCH_CHART_HEAT)
        l->panel_height =
            fmin(fmax(sheet->frame.y.ticks->len * 34.0, 150), panels == 1 ? 600 : 400);
    lay_names(sheet, l);
    lay_key(sheet, l);
    unsigned titles = g_strv_length(l->titles), notes = g_strv_length(l->notes);
    l->top = 10 + titles * (LINE + 2) + (titles ? 4 : 0);
    l->bottom = l->x_names + (chart->x_label ? LINE + 2 : 0) +
                (l->key_rows ? l->key_rows * LINE + 8 : 0) + (notes ? notes * (LINE - 2) + 4 : 0) +
                8;
    l->height =
        l->top + l->rows * (l->panel_height + l->title) + (l->rows - 1) * l->gap + l->bottom;
}

static struct orch_rect panel_at(const struct layout *l, unsigned i)
{
    unsigned column = i % l->columns, row = i / l->columns;
    return (struct orch_rect){l->left + column * (l->panel_width + l->gap),
                              l->height - l->top - (row + 1) * (l->panel_height + l->title) -
                                  row * l->gap,
                              l->panel_width, l->panel_height};
}

/* ---- axes --------------------------------------------------------------------------------------
 */

static void draw_grid(struct orch_sheet *sheet, struct orch_rect at)
{
    const struct orch_frame *frame = &sheet->frame;
    if (frame->chart->kind == ORCH_CHART_HEAT)
        return;
    for (guint i = 0; i < frame->y.ticks->len; i++) {
        double y = at.y + at.height * orch_axis_at(&frame->y, tick_of(&frame->y, i)->at);
        orch_pen_gap(&sheet->pen);
        orch_pen_to(&sheet->pen, at.x, y);
        orch_pen_to(&sheet->pen, at.x + at.width, y);
    }
    for (guint i = 0; !has_names(frame) && i < frame->x.ticks->len; i++) {
        double x = at.x + at.width * orch_axis_at(&frame->x, tick_of(&frame->x, i)->at);
        orch_pen_gap(&sheet->pen);
        orch_pen_to(&sheet->pen, x, at.y);
        orch_pen_to(&sheet->pen, x, at.y + at.height);
    }
    orch_pen_line(&sheet->pen, GRID);
}

static void draw_axes(struct orch_sheet *sheet, struct orch_rect at)
{
    struct orch_pen *pen = &sheet->pen;
    const struct orch_frame *frame = &sheet->frame;
    orch_pen_to(pen, at.x, at.y + at.height);
    orch_pen_to(pen, at.x, at.y);
    orch_pen_to(pen, at.x + at.width, at.y);
    for (guint i = 0; i < frame->x.ticks->len; i++) {
        double x = at.x + at.width * orch_axis_at(&frame->x, tick_of(&frame->x, i)->at);
        orch_pen_gap(pen);
        orch_pen_to(pen, x, at.y);
        orch_pen_to(pen, x, at.y - 4);
    }
    for (guint i = 0; i < frame->y.ticks->len; i++) {
        double y = at.y + at.height * orch_axis_at(&frame->y, tick_of(&frame->y, i)->at);
        orch_pen_gap(pen);
        orch_pen_to(pen, at.x, y);
        orch_pen_to(pen, at.x - 4, y);
    }
    orch_pen_line(pen, AXIS);
}

/* Labels that would stand on one another are left out. */
static void name_x(struct orch_sheet *sheet, const struct layout *l, struct orch_rect at)
{
    const struct orch_axis *axis = &sheet->frame.x;
    double free_from = -INFINITY;
    for (guint i = 0; i < axis->ticks->len; i++) {
        g_autofree char *label = orch_text_short(tick_of(axis, i)->label, NAME_MOST);
        double x = at.x + at.width * orch_axis_at(axis, tick_of(axis, i)->at);
        double half = l->is_turned ? 7 : width_of(label) / 2;
        if (x - half < free_from)
            continue;
        free_from = x + half + (l->is_turned ? 1 : 5);
        struct orch_pen_text how = {.x = x, .y = at.y - 14, .align = ORCH_ALIGN_CENTER};
        if (l->is_turned)
            how = (struct orch_pen_text){
                .x = x + 4, .y = at.y - 10, .align = ORCH_ALIGN_RIGHT, .angle = 40};
        orch_pen_write(&sheet->pen, &how, label);
    }
}

static void name_y(struct orch_sheet *sheet, struct orch_rect at)
{
    const struct orch_axis *axis = &sheet->frame.y;
    double free_from = -INFINITY;
    for (guint i = 0; i < axis->ticks->len; i++) {
        g_autofree char *label = orch_text_short(tick_of(axis, i)->label, NAME_MOST);
        double y = at.y + at.height * orch_axis_at(axis, tick_of(axis, i)->at);
        if (y - 7 < free_from)
            continue;
        free_from = y + 8;
        struct orch_pen_text how = {.x = at.x - 8, .y = y, .align = ORCH_ALIGN_RIGHT};
        orch_pen_write(&sheet->pen, &how, label);
    }
}

static void draw_panel(struct orch_sheet *sheet, const struct layout *l, unsigned i)
{
    const GPtrArray *panels = sheet->frame.chart->panels;
    const struct orch_chart_panel *panel = panels->pdata[i];
    struct orch_rect at = panel_at(l, i);
    draw_grid(sheet, at);
    orch_sheet_marks(sheet, panel, at);
    draw_axes(sheet, at);
    if (i % l->columns == 0)
        name_y(sheet, at);
    if (i + l->columns >= panels->len)
        name_x(sheet, l, at);
    g_autofree char *title =
        orch_text_short(panel->title ? panel->title : "", (int)(at.width / ORCH_PEN_CHAR));
    struct orch_pen_text how = {
        .x = at.x + at.width / 2, .y = at.y + at.height + 10, .align = ORCH_ALIGN_CENTER};
    orch_pen_write(&sheet->pen, &how, title);
}

/* ---- what stands around ------------------------------------------------------------------------
 */

static void draw_labels(struct orch_sheet *sheet, const struct layout *l)
{
    const struct orch_chart *chart = sheet->frame.chart;
    struct orch_pen_text how = {.x = l->width / 2, .align = ORCH_ALIGN_CENTER, .size = 14.5};
    for (unsigned i = 0; l->titles[i]; i++) {
        how.y = l->height - 10 - (LINE + 2) * (i + 0.5);
        orch_pen_write(&sheet->pen, &how, l->titles[i]);
    }
    double middle = (l->left + l->width - l->right) / 2, foot = l->bottom - l->x_names;
    how = (struct orch_pen_text){.x = middle, .y = foot - LINE / 2, .align = ORCH_ALIGN_CENTER};
    g_autofree char *x = orch_text_short(chart->x_label ? chart->x_label : "",
                                         (int)((l->width - l->left) / ORCH_PEN_CHAR));
    orch_pen_write(&sheet->pen, &how, x);
    how = (struct orch_pen_text){.x = 14,
                                 .y = (l->bottom + l->height - l->top) / 2,
                                 .align = ORCH_ALIGN_CENTER,
                                 .angle = 90};
    g_autofree char *y = orch_text_short(chart->y_label ? chart->y_label : "",
                                         (int)((l->height - l->bottom - 4) / ORCH_PEN_CHAR));
    orch_pen_write(&sheet->pen, &how, y);
    how = (struct orch_pen_text){.x = 12, .align = ORCH_ALIGN_LEFT, .size = 11.5};
    unsigned notes = g_strv_length(l->notes);
    for (unsigned i = 0; i < notes; i++) {
        how.y = 8 + (LINE - 2) * (notes - i - 0.5);
        orch_pen_write(&sheet->pen, &how, l->notes[i]);
    }
}

static void draw_key(struct orch_sheet *sheet, const struct layout *l)
{
    if (!l->key_rows)
        return;
    unsigned notes = g_strv_length(l->notes);
    double foot = 8 + (notes ? notes * (LINE - 2) + 4 : 0);
    double left = (l->width - l->key_columns * l->key_width) / 2;
    for (guint i = 0; i < sheet->frame.keys->len; i++) {
        const struct orch_chart_series *series = sheet->frame.keys->pdata[i];
        double x = left + (i % l->key_columns) * l->key_width;
        double y = foot + LINE * (l->key_rows - i / l->key_columns - 0.5);
        orch_sheet_sample(sheet, series, x, y, SAMPLE);
        g_autofree char *name = orch_frame_key(series, KEY_MOST);
        struct orch_pen_text how = {.x = x + SAMPLE + 8, .y = y};
        orch_pen_write(&sheet->pen, &how, name);
    }
}

/* The scale of a heat map's colours. */
static void draw_scale(struct orch_sheet *sheet, const struct layout *l)
{
    if (!is_heat(sheet))
        return;
    const struct orch_frame *frame = &sheet->frame;
    double x = l->width - l->right + 16, foot = l->bottom, height = l->height - l->top - l->bottom;
    height -= l->title;
    for (int i = 0; i < 48; i++) {
        orch_pen_rectangle(&sheet->pen, x, foot + height * i / 48, x + BAR,
                           foot + height * (i + 1) / 48 + (i < 47 ? 0.4 : 0));
        orch_pen_fill(&sheet->pen, orch_heat_color((i + 0.5) / 48), 1);
    }
    struct orch_axis axis;
    orch_axis_numbers(&axis, frame->z_low, frame->z_high, false, (int)fmax(3, height / 35));
    for (guint i = 0; i < axis.ticks->len; i++) {
        struct orch_pen_text how = {
            .x = x + BAR + 6, .y = foot + height * orch_axis_at(&axis, tick_of(&axis, i)->at)};
        orch_pen_write(&sheet->pen, &how, tick_of(&axis, i)->label);
    }
    orch_axis_clear(&axis);
    struct orch_pen_text how = {
        .x = l->width - 12, .y = foot + height / 2, .align = ORCH_ALIGN_CENTER, .angle = 90};
    g_autofree char *label = orch_text_short(frame->chart->z_label ? frame->chart->z_label : "",
                                             (int)(height / ORCH_PEN_CHAR));
    orch_pen_write(&sheet->pen, &how, label);
}

void orch_sheet_draw(struct orch_sheet *sheet, const struct orch_chart *chart)
{
    unsigned panels = chart->panels->len;
    orch_frame_init(&sheet->frame, chart, panels == 1 ? 8 : 4, panels == 1 ? 7 : 5);
    sheet->taken = g_array_new(FALSE, FALSE, sizeof(struct orch_rect));
    struct layout l = {0};
    lay_out(sheet, &l);
    orch_pen_init(&sheet->pen, l.width, l.height);
    for (guint i = 0; i < panels; i++)
        draw_panel(sheet, &l, i);
    draw_scale(sheet, &l);
    draw_key(sheet, &l);
    draw_labels(sheet, &l);
    g_strfreev(l.titles);
    g_strfreev(l.notes);
}

void orch_sheet_release(struct orch_sheet *sheet)
{
    orch_frame_release(&sheet->frame);
    orch_pen_release(&sheet->pen);
    g_array_unref(sheet->taken);
}
