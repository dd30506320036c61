/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to the frame: shared by frame.c, frame_axes.c, histogram.c and boxes.c. */
#ifndef ORCH_CORE_RENDER_FRAME_PARTS_H
#define ORCH_CORE_RENDER_FRAME_PARTS_H

#include "core/render/frame.h"

struct orch_span {
    double low, high; /* low > high: empty */
};
/** Extends the span by a value; values without a position on the axis are ignored. */
void orch_span_add(struct orch_span *span, double value, bool is_log);

typedef void (*orch_each_series)(struct orch_frame *frame, const struct orch_chart_series *series,
                                 void *data);
/** Calls `each` for every series of every panel, in order. */
void orch_frame_walk(struct orch_frame *frame, orch_each_series each, void *data);
/** Collects the numbers (double) that `add` appends to the GArray passed as its `data`. The caller
 * unrefs. */
GArray *orch_frame_values(struct orch_frame *frame, orch_each_series add);
/** Appends the finite y values of a series. */
void orch_frame_add_y(struct orch_frame *frame, const struct orch_chart_series *series, void *data);

/** Returns whether the series is a reference or an ideal line. */
bool orch_series_is_other(const struct orch_chart_series *series);
const struct orch_chart_point *orch_series_point(const struct orch_chart_series *series, guint i);

/** Sets the frame's axes, with about x_ticks and y_ticks ticks (frame_axes.c). */
void orch_frame_span_axes(struct orch_frame *frame, int x_ticks, int y_ticks);
/** Sets the bins of a histogram, and its axes (histogram.c). */
void orch_frame_make_bins(struct orch_frame *frame, int x_ticks, int y_ticks);

#endif
