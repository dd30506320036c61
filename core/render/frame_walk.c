/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Iterates over the series and points of a chart. */
#include "core/render/frame_parts.h"

#include "lib/base/reals.h"

#include <math.h>
#include <string.h>

void orch_span_add(struct orch_span *span, double value, bool is_log)
{
    if (!isfinite(value) || (is_log && value <= 0))
        return;
    span->low = fmin(span->low, value);
    span->high = fmax(span->high, value);
}

void orch_frame_walk(struct orch_frame *frame, orch_each_series each, void *data)
{
    const GPtrArray *panels = frame->chart->panels;
    for (guint i = 0; i < panels->len; i++) {
        const struct orch_chart_panel *panel = panels->pdata[i];
        for (guint j = 0; j < panel->series->len; j++)
            each(frame, panel->series->pdata[j], data);
    }
}

bool orch_series_is_other(const struct orch_chart_series *series)
{
    return series->role == ORCH_SERIES_REFERENCE || series->role == ORCH_SERIES_IDEAL ||
           series->role == ORCH_SERIES_LEVEL;
}

const struct orch_chart_point *orch_series_point(const struct orch_chart_series *series, guint i)
{
    return &g_array_index(series->points, struct orch_chart_point, i);
}

GArray *orch_frame_values(struct orch_frame *frame, orch_each_series add)
{
    GArray *values = g_array_new(FALSE, FALSE, sizeof(double));
    orch_frame_walk(frame, add, values);
    return values;
}

void orch_frame_add_y(struct orch_frame *frame, const struct orch_chart_series *series, void *data)
{
    (void)frame;
    for (guint i = 0; i < series->points->len; i++)
        if (isfinite(orch_series_point(series, i)->y))
            g_array_append_val((GArray *)data, orch_series_point(series, i)->y);
}
