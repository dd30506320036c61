/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the parts around the marks: axes, labels, legend, titles. */
#include "core/render/sheet.h"

#include "core/render/font.h"
#include "core/render/layout.h"

#include <math.h>

static const struct orch_stroke AXIS = {ORCH_PEN_INK, 1, NULL};
static const struct orch_stroke GRID = {ORCH_PEN_GRID, 0.8, NULL};

static const struct orch_tick *tick_of(const struct orch_axis *axis, guint i)
{
    return &g_array_index(axis->ticks, struct orch_tick, i);
}

/* Rounds to half a pixel: at twice the size horizontal and vertical lines are sharp there. */
static double crisp(double at)
{
    return round(at * 2) / 2;
}

/* ---- axes --------------------------------------------------------------------------------------
 */

static void draw_grid(struct orch_sheet *sheet, struct orch_rect at)
{
    const struct orch_frame *frame = &sheet->frame;
    if (frame->chart->kind == ORCH_CHART_HEAT)
        return;
    for (guint i = 0; i < frame->y.ticks->len; i++) {
        double y = crisp(at.y + at.height * orch_axis_at(&frame->y, tick_of(&frame->y, i)->at));
        orch_pen_gap(&sheet->pen);
        orch_pen_to(&sheet->pen, at.x, y);
        orch_pen_to(&sheet->pen, at.x + at.width, y);
    }
    for (guint i = 0; !orch_layout_has_names(frame) && i < frame->x.ticks->len; i++) {
        double x = crisp(at.x + at.width * orch_axis_at(&frame->x, tick_of(&frame->x, i)->at));
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
    orch_pen_to(pen, crisp(at.x), at.y + at.height);
    orch_pen_to(pen, crisp(at.x), crisp(at.y));
    orch_pen_to(pen, at.x + at.width, crisp(at.y));
    for (guint i = 0; i < frame->x.ticks->len; i++) {
        double x = crisp(at.x + at.width * orch_axis_at(&frame->x, tick_of(&frame->x, i)->at));
        orch_pen_gap(pen);
        orch_pen_to(pen, x, at.y);
        orch_pen_to(pen, x, at.y - 4);
    }
    for (guint i = 0; i < frame->y.ticks->len; i++) {
        double y = crisp(at.y + at.height * orch_axis_at(&frame->y, tick_of(&frame->y, i)->at));
        orch_pen_gap(pen);
        orch_pen_to(pen, at.x, y);
        orch_pen_to(pen, at.x - 4, y);
    }
    orch_pen_line(pen, AXIS);
}

/* Labels that would overlap are left out. */
static void name_x(struct orch_sheet *sheet, const struct orch_layout *l, struct orch_rect at)
{
    const struct orch_axis *axis = &sheet->frame.x;
    double free_from = -INFINITY;
    for (guint i = 0; i < axis->ticks->len; i++) {
        g_autofree char *label = orch_layout_tick(tick_of(axis, i));
        double x = at.x + at.width * orch_axis_at(axis, tick_of(axis, i)->at);
        double half = l->is_turned ? 7 : orch_layout_width(label) / 2;
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
        g_autofree char *label = orch_layout_tick(tick_of(axis, i));
        double y = at.y + at.height * orch_axis_at(axis, tick_of(axis, i)->at);
        if (y - 7 < free_from)
            continue;
        free_from = y + 8;
        struct orch_pen_text how = {.x = at.x - 8, .y = y, .align = ORCH_ALIGN_RIGHT};
        orch_pen_write(&sheet->pen, &how, label);
    }
}

static void draw_panel(struct orch_sheet *sheet, const struct orch_layout *l, unsigned i)
{
    const GPtrArray *panels = sheet->frame.chart->panels;
    const struct orch_chart_panel *panel = panels->pdata[i];
    struct orch_rect at = orch_layout_panel(l, i);
    bool is_below = sheet->frame.chart->kind <= ORCH_CHART_SCATTER; /* marks go over the axes */
    draw_grid(sheet, at);
    if (is_below)
        draw_axes(sheet, at);
    orch_sheet_marks(sheet, panel, at);
    if (!is_below)
        draw_axes(sheet, at);
    if (i % l->columns == 0)
        name_y(sheet, at);
    if (i + l->columns >= panels->len)
        name_x(sheet, l, at);
    const struct orch_ruler ruler = orch_font_ruler(ORCH_PEN_FONT);
    g_autofree char *title =
        orch_text_fit(orch_panel_label(panel) ? orch_panel_label(panel) : "", &ruler, at.width);
    struct orch_pen_text how = {
        .x = at.x + at.width / 2, .y = at.y + at.height + 10, .align = ORCH_ALIGN_CENTER};
    orch_pen_write(&sheet->pen, &how, title);
}

/* ---- titles and legend -------------------------------------------------------------------------
 */

/* Writes lines of text at an angle, the first one on top with its middle at x, y. */
static void write_lines(struct orch_sheet *sheet, char **lines, struct orch_pen_text how,
                        double height)
{
    for (; *lines; lines++) {
        orch_pen_write(&sheet->pen, &how, *lines);
        how.x += height * sin(how.angle * G_PI / 180);
        how.y -= height * cos(how.angle * G_PI / 180);
    }
}

static void draw_labels(struct orch_sheet *sheet, const struct orch_layout *l)
{
    struct orch_pen_text title = {.x = l->width / 2,
                                  .y = l->height - 10 - (ORCH_LAYOUT_LINE + 2) / 2,
                                  .align = ORCH_ALIGN_CENTER,
                                  .size = ORCH_TITLE_SIZE};
    write_lines(sheet, l->titles, title, ORCH_LAYOUT_LINE + 2);
    struct orch_pen_text x = {.x = (l->left + l->width - l->right) / 2,
                              .y = l->bottom - l->x_names - ORCH_LAYOUT_LINE / 2,
                              .align = ORCH_ALIGN_CENTER};
    write_lines(sheet, l->x_label, x, ORCH_LAYOUT_LINE);
    struct orch_pen_text y = {.x = 14,
                              .y = (l->bottom + l->height - l->top) / 2,
                              .align = ORCH_ALIGN_CENTER,
                              .angle = 90};
    write_lines(sheet, l->y_label, y, ORCH_LAYOUT_LINE);
    unsigned notes = g_strv_length(l->notes);
    struct orch_pen_text note = {.x = 12,
                                 .y = 8 + ORCH_LAYOUT_NOTE * (notes - 0.5),
                                 .align = ORCH_ALIGN_LEFT,
                                 .size = ORCH_NOTE_SIZE};
    write_lines(sheet, l->notes, note, ORCH_LAYOUT_NOTE);
}

/* The names at the ends of the lines, each behind its mark. */
static void draw_ends(struct orch_sheet *sheet, const struct orch_layout *l)
{
    const struct orch_rect at = orch_layout_panel(l, 0);
    for (guint i = 0; i < l->ends->len; i++) {
        const double y = at.y + g_array_index(l->ends, double, i);
        orch_sheet_sample(sheet, sheet->frame.keys->pdata[i], at.x + at.width + 3, y, 12);
        struct orch_pen_text how = {.x = at.x + at.width + 19, .y = y};
        orch_pen_write(&sheet->pen, &how, l->keys->pdata[i]);
    }
}

static void draw_legend(struct orch_sheet *sheet, const struct orch_layout *l)
{
    if (l->ends) {
        draw_ends(sheet, l);
        return;
    }
    unsigned notes = g_strv_length(l->notes);
    double foot = 8 + (notes ? notes * ORCH_LAYOUT_NOTE + 4 : 0), all = 0, x = 0;
    for (guint i = 0; i < l->key_widths->len; i++)
        all += g_array_index(l->key_widths, double, i);
    for (guint i = 0; i < l->keys->len; i++) {
        unsigned column = i % l->key_columns;
        x = column ? x + g_array_index(l->key_widths, double, column - 1) : (l->width - all) / 2;
        double y = foot + ORCH_LAYOUT_LINE * (l->key_rows - i / l->key_columns - 0.5);
        orch_sheet_sample(sheet, sheet->frame.keys->pdata[i], x, y, ORCH_LAYOUT_SAMPLE);
        struct orch_pen_text how = {.x = x + ORCH_LAYOUT_SAMPLE + ORCH_LAYOUT_SAMPLE_GAP, .y = y};
        orch_pen_write(&sheet->pen, &how, l->keys->pdata[i]);
    }
}

/* Draws the colour scale of a heat map. */
static void draw_scale(struct orch_sheet *sheet, const struct orch_layout *l)
{
    if (!orch_layout_has_scale(&sheet->frame))
        return;
    const struct orch_frame *frame = &sheet->frame;
    double x = l->width - l->right + 16, foot = l->bottom, height = l->height - l->top - l->bottom;
    height -= l->title;
    for (int i = 0; i < 48; i++) {
        orch_pen_rectangle(&sheet->pen, x, foot + height * i / 48, x + ORCH_LAYOUT_SCALE,
                           foot + height * (i + 1) / 48 + (i < 47 ? 0.4 : 0));
        orch_pen_fill(&sheet->pen, orch_heat_color((i + 0.5) / 48), 1);
    }
    struct orch_axis axis;
    orch_axis_numbers(&axis, frame->z_low, frame->z_high, false, (int)fmax(3, height / 35));
    for (guint i = 0; i < axis.ticks->len; i++) {
        struct orch_pen_text how = {.x = x + ORCH_LAYOUT_SCALE + 6,
                                    .y =
                                        foot + height * orch_axis_at(&axis, tick_of(&axis, i)->at)};
        orch_pen_write(&sheet->pen, &how, tick_of(&axis, i)->label);
    }
    orch_axis_clear(&axis);
    struct orch_pen_text how = {
        .x = l->width - 12, .y = foot + height / 2, .align = ORCH_ALIGN_CENTER, .angle = 90};
    const struct orch_ruler ruler = orch_font_ruler(ORCH_PEN_FONT);
    const char *z_label = frame->chart->z_label;
    g_autofree char *label = orch_text_fit(z_label ? z_label : "", &ruler, height);
    orch_pen_write(&sheet->pen, &how, label);
}

void orch_sheet_draw(struct orch_sheet *sheet, const struct orch_chart *chart)
{
    unsigned panels = chart->panels->len;
    orch_frame_init(&sheet->frame, chart, panels == 1 ? 8 : 4, panels == 1 ? 7 : 5);
    struct orch_layout l;
    orch_layout_make(&l, &sheet->frame);
    orch_pen_init(&sheet->pen, l.width, l.height);
    for (guint i = 0; i < panels; i++)
        draw_panel(sheet, &l, i);
    draw_scale(sheet, &l);
    draw_legend(sheet, &l);
    draw_labels(sheet, &l);
    orch_layout_clear(&l);
}

void orch_sheet_release(struct orch_sheet *sheet)
{
    orch_frame_release(&sheet->frame);
    orch_pen_release(&sheet->pen);
}
