/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/frame_parts.h"

#include "lib/base/reals.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

#define BINS_MAX 60

static void count_most(struct orch_frame *frame, const struct orch_chart_series *series, void *data)
{
    g_autofree unsigned *counts = orch_frame_bins(frame, series);
    for (unsigned i = 0; i < frame->bins.count; i++)
        *(unsigned *)data = MAX(*(unsigned *)data, counts[i]);
}

/* Chooses bins of a round width near the Freedman-Diaconis rule, and at least as many as Sturges'
 * rule gives. */
void orch_frame_make_bins(struct orch_frame *frame, int x_most, int y_most)
{
    g_autoptr(GArray) values = orch_frame_values(frame, orch_frame_add_y);
    g_array_sort(values, orch_compare_reals);
    size_t n = values->len;
    const double *v = (const double *)(void *)values->data;
    double low = n ? v[0] : 0, high = n ? v[n - 1] : 1, width = 0;
    if (n > 1 && high > low) {
        double quarters = gsl_stats_quantile_from_sorted_data(v, 1, n, 0.75) -
                          gsl_stats_quantile_from_sorted_data(v, 1, n, 0.25);
        double sturges = (high - low) / (ceil(log2((double)n)) + 1);
        width = 2 * quarters / cbrt((double)n);
        width = width > 0 ? fmin(width, sturges) : sturges;
        width = fmax(width, (high - low) / (BINS_MAX - 2));
    }
    if (width <= 0)
        width = low == 0 ? 1 : fabs(low) * 0.1;
    double nice = orch_round_step(width);
    width = (high - low) / nice >= 4 ? nice : width;
    frame->bins.width = width;
    frame->bins.low = floor(low / width) * width;
    frame->bins.count = (unsigned)floor((high - frame->bins.low) / width + 1e-9) + 1;
    unsigned most = 1;
    orch_frame_walk(frame, count_most, &most);
    orch_axis_numbers(&frame->x, frame->bins.low, frame->bins.low + width * frame->bins.count,
                      false, x_most);
    orch_axis_numbers(&frame->y, 0, most * 1.05, false, MIN(y_most, (int)most));
}

unsigned *orch_frame_bins(const struct orch_frame *frame, const struct orch_chart_series *series)
{
    unsigned *counts = g_new0(unsigned, frame->bins.count);
    for (guint i = 0; i < series->points->len; i++) {
        double y = orch_series_point(series, i)->y;
        if (!isfinite(y))
            continue;
        double bin = floor((y - frame->bins.low) / frame->bins.width + 1e-9);
        counts[(unsigned)fmin(fmax(bin, 0), frame->bins.count - 1)]++;
    }
    return counts;
}
