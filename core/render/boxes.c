/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/frame_parts.h"

#include "core/stats/quartiles.h"

#include <math.h>

bool orch_frame_box(const struct orch_frame *frame, const struct orch_chart_series *series,
                    double category, struct orch_box_plot *out)
{
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < series->points->len; i++) {
        const struct orch_chart_point *p = orch_series_point(series, i);
        if (orch_frame_x(frame, p->x) == category && !isnan(orch_axis_at(&frame->y, p->y)))
            g_array_append_val(values, p->y);
    }
    if (!values->len)
        return false;
    double *v = (double *)(void *)values->data;
    const struct orch_quartiles q = orch_quartiles_of(v, values->len);
    out->q1 = out->low = q.q1;
    out->median = q.median;
    out->q3 = out->high = q.q3;
    out->outliers = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < values->len; i++) {
        if (orch_is_outlier(&q, v[i])) {
            g_array_append_val(out->outliers, v[i]);
            continue;
        }
        out->low = fmin(out->low, v[i]);
        out->high = fmax(out->high, v[i]);
    }
    return true;
}

void orch_box_plot_clear(struct orch_box_plot *box)
{
    g_clear_pointer(&box->outliers, g_array_unref);
}
