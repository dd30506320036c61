/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart laid out on a sheet: panels, axes, legend and texts, with room for each. */
#ifndef ORCH_CORE_REPORT_SHEET_H
#define ORCH_CORE_REPORT_SHEET_H

#include "core/report/frame.h"
#include "core/report/pen.h"

struct orch_rect {
    double x, y, width, height; /* x, y: its lower left corner */
};

struct orch_sheet {
    struct orch_frame frame;
    struct orch_pen pen;
    GArray *taken; /* struct orch_rect: where labels of points stand already */
};

/** Draws a chart with a pen of its own; orch_sheet_release afterwards. */
void orch_sheet_draw(struct orch_sheet *sheet, const struct orch_chart *chart);
void orch_sheet_release(struct orch_sheet *sheet);

/** The marks of a panel's series within its rectangle (sheet_marks.c). */
void orch_sheet_marks(struct orch_sheet *sheet, const struct orch_chart_panel *panel,
                      struct orch_rect at);
/** The sample of a series beside its name in the legend, `width` wide. */
void orch_sheet_sample(struct orch_sheet *sheet, const struct orch_chart_series *series, double x,
                       double y, double width);

#endif
