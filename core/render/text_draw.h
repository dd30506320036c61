/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of charts on a terminal. draw_text.c adds title, legend and note. */
#ifndef ORCH_CORE_RENDER_TEXT_DRAW_H
#define ORCH_CORE_RENDER_TEXT_DRAW_H

#include "core/render/draw.h"
#include "core/render/frame.h"
#include "core/render/text_canvas.h"

struct orch_text_sheet {
    struct orch_frame frame;
    struct orch_canvas canvas;
    int row;  /* the first free row */
    int rows; /* maximum number of rows of a panel */
    bool has_lost_bands;
    unsigned lost_labels;
};

/** A series' mark and colour. */
gunichar orch_text_mark(const struct orch_text_sheet *sheet,
                        const struct orch_chart_series *series);
int orch_text_color(const struct orch_text_sheet *sheet, const struct orch_chart_series *series);

/** Draws a horizontal axis: its line, ticks and labels, in three rows from `row` on, between two
 * columns. Labels that would overlap are left out. */
void orch_text_axis_across(struct orch_text_sheet *sheet, const struct orch_axis *axis, int from,
                           int to, int row);

/** Draws a panel's lines, points and bins in dots between columns `from` and `to` (text_plot.c).
 * `label_width` is the number of columns for the labels of y on the left. */
void orch_text_plot(struct orch_text_sheet *sheet, const struct orch_chart_panel *panel, int from,
                    int to, int row);
/** Draws a panel's bars, boxes or cells, one row each (text_rows.c). */
void orch_text_rows(struct orch_text_sheet *sheet, const struct orch_chart_panel *panel);

#endif
