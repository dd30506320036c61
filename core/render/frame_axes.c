/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computes the range of a chart's axes. */
#include "core/render/frame_parts.h"

#include "lib/base/reals.h"

#include <math.h>

static void sort_unique(GArray *values)
{
    g_array_sort(values, orch_compare_reals);
    guint kept = 0;
    for (guint i = 0; i < values->len; i++) {
        double value = g_array_index(values, double, i);
        if (!kept || value > g_array_index(values, double, kept - 1))
            g_array_index(values, double, kept++) = value;
    }
    g_array_set_size(values, kept);
}

static void add_x(struct orch_frame *frame, const struct orch_chart_series *series, void *data)
{
    for (guint i = 0; i < series->points->len; i++)
        if (isfinite(orch_series_point(series, i)->x) &&
            !(frame->x.is_log && orch_series_point(series, i)->x <= 0))
            g_array_append_val((GArray *)data, orch_series_point(series, i)->x);
}

/* Appends the x of points from runs only, because reference and ideal lines can have points
 * anywhere. */
static void add_x_of_runs(struct orch_frame *frame, const struct orch_chart_series *series,
                          void *data)
{
    if (!orch_series_is_other(series))
        add_x(frame, series, data);
}

static bool has_categories(enum orch_chart_kind kind)
{
    return kind == ORCH_CHART_BAR || kind == ORCH_CHART_BOX || kind == ORCH_CHART_HEAT;
}

static void named_axis(struct orch_axis *axis, const GArray *places)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < places->len; i++)
        g_ptr_array_add(names, orch_tick_format(g_array_index(places, double, i)));
    orch_axis_names(axis, names);
}

/* Adds a margin of 4 % to the span. The lower end becomes 0 when the values are not negative and
 * start near 0. */
static struct orch_span padded(struct orch_span span, bool is_log)
{
    if (span.low > span.high)
        return (struct orch_span){is_log ? 1 : 0, is_log ? 10 : 1};
    if (is_log) {
        double by = span.high > span.low ? pow(span.high / span.low, 0.04) : 2;
        return (struct orch_span){span.low / by, span.high * by};
    }
    double by = (span.high - span.low) * 0.04;
    bool is_near = span.low >= 0 && span.low <= 0.3 * span.high;
    return (struct orch_span){is_near ? 0 : span.low - by, span.high + by};
}

/* Whether x counts something, such as workers, and a round tick stands between two of them. */
static bool has_broken_ticks(const struct orch_axis *axis, const GArray *values)
{
    bool is_broken = false;
    for (guint i = 0; i < values->len; i++)
        if (g_array_index(values, double, i) != floor(g_array_index(values, double, i)))
            return false;
    for (guint i = 0; i < axis->ticks->len; i++) {
        const double at = g_array_index(axis->ticks, struct orch_tick, i).at;
        is_broken = is_broken || fabs(at - round(at)) > 1e-6;
    }
    return is_broken;
}

/* Returns whether ascending numbers are far enough apart on the axis for each to have a tick. */
static bool stand_apart(const struct orch_axis *axis, const GArray *values, int most)
{
    for (guint i = 1; i < values->len; i++)
        if (orch_axis_at(axis, g_array_index(values, double, i)) -
                orch_axis_at(axis, g_array_index(values, double, i - 1)) <
            0.5 / MAX(most, 1))
            return false;
    return true;
}

static void make_x(struct orch_frame *frame, int most)
{
    const struct orch_chart *chart = frame->chart;
    if (chart->x_names) {
        orch_axis_names(&frame->x, chart->x_names);
        return;
    }
    frame->x.is_log = chart->log_x && !has_categories(chart->kind);
    g_autoptr(GArray) values = orch_frame_values(frame, add_x);
    sort_unique(values);
    if (has_categories(chart->kind)) {
        frame->x_places = g_array_ref(values);
        named_axis(&frame->x, values);
        return;
    }
    g_autoptr(GArray) runs = orch_frame_values(frame, add_x_of_runs);
    sort_unique(runs);
    struct orch_span span = {INFINITY, -INFINITY};
    for (guint i = 0; i < values->len; i++)
        orch_span_add(&span, g_array_index(values, double, i), chart->log_x);
    struct orch_span wide = padded(span, chart->log_x);
    bool is_curve = chart->kind == ORCH_CHART_LINE && runs->len > 30 && !chart->log_x;
    if (is_curve) /* a curve fills the panel's width */
        wide = (struct orch_span){span.low > 0 && span.low <= 0.05 * span.high ? 0 : span.low,
                                  span.high};
    orch_axis_numbers(&frame->x, wide.low, wide.high, chart->log_x, most);
    if ((chart->log_x || has_broken_ticks(&frame->x, runs)) && runs->len > 1 &&
        runs->len <= (guint)MIN(most + 2, 9) && stand_apart(&frame->x, runs, most))
        orch_axis_ticks_at(&frame->x, (const double *)(void *)runs->data, runs->len);
}

static void span_series(struct orch_frame *frame, const struct orch_chart_series *series,
                        void *data)
{
    for (guint i = 0; i < series->points->len; i++) {
        const struct orch_chart_point *p = orch_series_point(series, i);
        orch_span_add(data, p->y, frame->chart->log_y);
        orch_span_add(data, p->low, frame->chart->log_y);
        orch_span_add(data, p->high, frame->chart->log_y);
    }
}

/* Limits how far intervals widen the y axis of a line chart: to half of the points' span on each
 * side. Intervals of two or three runs can be many times wider than all points, which would
 * flatten the curves. */
static void bound_intervals(struct orch_frame *frame, struct orch_span *span)
{
    struct orch_span points = {INFINITY, -INFINITY};
    g_autoptr(GArray) values = orch_frame_values(frame, orch_frame_add_y);
    for (guint i = 0; i < values->len; i++)
        orch_span_add(&points, g_array_index(values, double, i), false);
    if (frame->chart->kind != ORCH_CHART_LINE || frame->chart->log_y || points.low >= points.high)
        return;
    double room = (points.high - points.low) / 2;
    frame->is_cut = span->low < points.low - room || span->high > points.high + room;
    span->low = fmax(span->low, points.low - room);
    span->high = fmin(span->high, points.high + room);
}

static void make_y(struct orch_frame *frame, int most)
{
    const struct orch_chart *chart = frame->chart;
    if (chart->y_names) {
        orch_axis_names(&frame->y, chart->y_names);
        return;
    }
    if (chart->kind == ORCH_CHART_HEAT) {
        g_autoptr(GArray) values = orch_frame_values(frame, orch_frame_add_y);
        sort_unique(values);
        frame->y_places = g_array_ref(values);
        named_axis(&frame->y, values);
        return;
    }
    struct orch_span span = {INFINITY, -INFINITY};
    orch_frame_walk(frame, span_series, &span);
    bound_intervals(frame, &span);
    if (chart->kind == ORCH_CHART_BAR && !chart->log_y)
        orch_span_add(&span, 0, false);
    span = padded(span, chart->log_y);
    if (chart->kind == ORCH_CHART_BAR && chart->log_y)
        span.low /= 2; /* so that the smallest bar is visible */
    orch_axis_numbers(&frame->y, span.low, span.high, chart->log_y, most);
}

void orch_frame_span_axes(struct orch_frame *frame, int x_ticks, int y_ticks)
{
    make_x(frame, x_ticks);
    make_y(frame, y_ticks);
}
