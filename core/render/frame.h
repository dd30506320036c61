/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all renderers of a chart share: its axes, the position of each point, the look of series,
 * boxes and bins. */
#ifndef ORCH_CORE_RENDER_FRAME_H
#define ORCH_CORE_RENDER_FRAME_H

#include "core/render/axis.h"
#include "core/render/chart.h"
#include "core/render/palette.h"
#include "core/render/wrap.h"

#include <stdint.h>

struct orch_axis_bins {
    double low, width;
    unsigned count; /* 0: the chart is not a histogram */
};

struct orch_frame {
    const struct orch_chart *chart;
    struct orch_axis x, y;
    GArray *x_places, *y_places; /* double: numbers used as categories, or NULL */
    GPtrArray *names;  /* const char *: measured and predicted series, in order of appearance */
    GPtrArray *keys;   /* const struct orch_chart_series *: each name and role once */
    GPtrArray *others; /* const char *: reference and ideal lines, in order of appearance */
    struct orch_axis_bins bins;
    double z_low, z_high; /* range of a heat map's values; NaN: it has none */
    unsigned left_out;    /* points without a position: not finite, or not above 0 on a log axis */
    bool has_predicted;
    bool is_cut; /* the y axis is cut off, because intervals reach far beyond the points */
};

/** Computes the frame of a chart with about x_ticks and y_ticks ticks. The frame borrows the chart.
 */
void orch_frame_init(struct orch_frame *frame, const struct orch_chart *chart, int x_ticks,
                     int y_ticks);
void orch_frame_release(struct orch_frame *frame);

/** Returns a point's position on the axis; categories are 0, 1, ... */
double orch_frame_x(const struct orch_frame *frame, double x);
double orch_frame_y(const struct orch_frame *frame, double y);
/** Returns the index of a series in `names` (or `others`), which selects its colour and marks. */
unsigned orch_frame_index(const struct orch_frame *frame, const struct orch_chart_series *series);
/** Formats a series' name for the legend, cut to a width: "lr 0.1, predicted", "lr 0.1 (8 runs, to
 * step 400: 3 ended before step 1000)". The caller frees. */
char *orch_frame_key(const struct orch_chart_series *series, const struct orch_ruler *ruler,
                     double width);

struct orch_point_of {
    const struct orch_chart_point *p;
    double x, y; /* 0 to 1 within the frame */
};
/** Returns the points of a series that have a position (struct orch_point_of); the caller unrefs.
 */
GArray *orch_frame_points(const struct orch_frame *frame, const struct orch_chart_series *series);
/** Returns the position of y from 0 to 1, clamped to the frame (an interval that ends below 0 on a
 * log axis is drawn to the lower edge). */
double orch_frame_clamped_y(const struct orch_frame *frame, double y);

/** The numbers of a box plot: quartiles, and whiskers at the last value within 1.5 interquartile
 * ranges. */
struct orch_box_plot {
    double q1, median, q3, low, high;
    GArray *outliers; /* double */
};
/** Computes the box of a series' points at a category; false when there are none. */
bool orch_frame_box(const struct orch_frame *frame, const struct orch_chart_series *series,
                    double category, struct orch_box_plot *out);
void orch_box_plot_clear(struct orch_box_plot *box);
/** Counts a series' values in each bin (frame->bins.count of them). Free with g_free. */
unsigned *orch_frame_bins(const struct orch_frame *frame, const struct orch_chart_series *series);
/** Returns a heat map value's position in the colour range, 0 to 1; NaN: it has none. */
double orch_frame_heat(const struct orch_frame *frame, double z);

/** Returns the series' colour in every drawing of the chart, as 0xRRGGBB (palette.h). */
uint32_t orch_series_color(const struct orch_frame *frame, const struct orch_chart_series *series);

#endif
