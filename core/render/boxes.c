/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/frame_parts.h"

#include "lib/base/reals.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

bool orch_frame_box(const struct orch_frame *frame, const struct orch_chart_series *series,
                    double category, struct orch_box *out)
{
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < series->points->len; i++) {
        const struct orch_chart_point *p = orch_series_point(series, i);
        if (orch_frame_x(frame, p->x) == category && !isnan(orch_axis_at(&frame->y, p->y)))
            g_array_append_val(values, p->y);
    }
    if (!values->len)
        return false;
    g_array_sort(values, orch_compare_reals);
    const double *v = (const double *)(void *)values->data;
    out->q1 = gsl_stats_quantile_from_sorted_data(v, 1, values->len, 0.25);
    out->median = gsl_stats_quantile_from_sorted_data(v, 1, values->len, 0.5);
    out->q3 = gsl_stats_quantile_from_sorted_data(v, 1, values->len, 0.75);
    out->low = out->q1;
    out->high = out->q3;
    out->outliers = g_array_new(FALSE, FALSE, sizeof(double));
    double reach = 1.5 * (out->q3 - out->q1);
    for (guint i = 0; i < values->len; i++) {
        if (v[i] < out->q1 - reach || v[i] > out->q3 + reach) {
            g_array_append_val(out->outliers, v[i]);
            continue;
        }
        out->low = fmin(out->low, v[i]);
        out->high = fmax(out->high, v[i]);
    }
    return true;
}

void orch_box_clear(struct orch_box *box)
{
    g_clear_pointer(&box->outliers, g_array_unref);
}
