/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart laid out on a sheet: panels, axes, legend and texts, with room for each. */
#ifndef ORCH_CORE_RENDER_SHEET_H
#define ORCH_CORE_RENDER_SHEET_H

#include "core/render/frame.h"
#include "core/render/layout.h"
#include "core/render/pen.h"

struct orch_sheet {
    struct orch_frame frame;
    struct orch_pen pen;
};

/** Draws a chart with a new pen. Free with orch_sheet_release. */
void orch_sheet_draw(struct orch_sheet *sheet, const struct orch_chart *chart);
void orch_sheet_release(struct orch_sheet *sheet);

/** Draws the marks of a panel's series within its rectangle (sheet_marks.c). */
void orch_sheet_marks(struct orch_sheet *sheet, const struct orch_chart_panel *panel,
                      struct orch_rect at);
/** Draws the labels of a panel's points, as far as there is room (point_labels.c). */
void orch_sheet_point_labels(struct orch_sheet *sheet, const struct orch_chart_panel *panel,
                             struct orch_rect at);
/** Draws a series' sample in the legend, `width` wide. */
void orch_sheet_sample(struct orch_sheet *sheet, const struct orch_chart_series *series, double x,
                       double y, double width);

#endif
