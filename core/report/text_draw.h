/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of charts on a terminal. draw_text.c puts title, legend and note around them. */
#ifndef ORCH_CORE_REPORT_TEXT_DRAW_H
#define ORCH_CORE_REPORT_TEXT_DRAW_H

#include "core/report/draw.h"
#include "core/report/frame.h"
#include "core/report/text_canvas.h"

struct orch_text_sheet {
    struct orch_frame frame;
    struct orch_canvas canvas;
    int row;  /* the first free one */
    int rows; /* that a panel may take */
    bool has_lost_bands;
    unsigned lost_labels;
};

/** A series' mark and colour. */
gunichar orch_text_mark(const struct orch_text_sheet *sheet,
                        const struct orch_chart_series *series);
int orch_text_color(const struct orch_text_sheet *sheet, const struct orch_chart_series *series);

/** An axis that lies across: its line, ticks and their labels, in three rows from `row` on, between
 * two columns. Labels that would meet are left out. */
void orch_text_axis_across(struct orch_text_sheet *sheet, const struct orch_axis *axis, int from,
                           int to, int row);

/** Lines, points and bins of a panel in dots (text_plot.c). `label_width`: columns left of it for
 * the labels of y. Between columns `from` and `to`. */
void orch_text_plot(struct orch_text_sheet *sheet, const struct orch_chart_panel *panel, int from,
                    int to, int row);
/** Bars, boxes or cells of a panel, a row each (text_rows.c). */
void orch_text_rows(struct orch_text_sheet *sheet, const struct orch_chart_panel *panel);

#endif
