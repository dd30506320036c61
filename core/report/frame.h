/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every way to draw a chart needs to know first: its axes, the place of each point, how series
 * look, boxes and bins. */
#ifndef ORCH_CORE_REPORT_FRAME_H
#define ORCH_CORE_REPORT_FRAME_H

#include "core/report/axis.h"
#include "core/report/chart.h"

#include <stdint.h>

struct orch_bins {
    double low, width;
    unsigned count; /* 0: the chart is no histogram */
};

struct orch_frame {
    const struct orch_chart *chart;
    struct orch_axis x, y;
    GArray *x_places, *y_places; /* double: numbers that stand as categories, or NULL */
    GPtrArray *names;  /* const char *: measured and predicted series, in order of sight */
    GPtrArray *keys;   /* const struct orch_chart_series *: each name and role once */
    GPtrArray *others; /* const char *: references, in order of sight */
    struct orch_bins bins;
    double z_low, z_high; /* of a heat map; NaN: it has none */
    unsigned left_out;    /* points without a place: not finite, or not above 0 on a log axis */
    bool has_predicted;
    bool is_cut; /* intervals reach beyond the y axis, far beyond the points */
};

/** The frame of a chart drawn with about so many ticks. The chart stays borrowed. */
void orch_frame_init(struct orch_frame *frame, const struct orch_chart *chart, int x_ticks,
                     int y_ticks);
void orch_frame_release(struct orch_frame *frame);

/** A point's position on the axes, categories as 0, 1, ... */
double orch_frame_x(const struct orch_frame *frame, double x);
double orch_frame_y(const struct orch_frame *frame, double y);
/** Which of the names (or of the others) a series has: what its colour and marks go by. */
unsigned orch_frame_index(const struct orch_frame *frame, const struct orch_chart_series *series);
/** As a legend names it: "lr 0.1, predicted", shortened to `columns`. The caller frees. */
char *orch_frame_key(const struct orch_chart_series *series, int columns);
/** A text of at most so many characters, the last one '...' where it was cut. The caller frees. */
char *orch_text_short(const char *text, int columns);
/** Lines of at most so many characters, broken at spaces where there are any; 30 at most, the last
 * one '...' where there were more. g_strfreev. */
char **orch_text_wrap(const char *text, int columns);

struct orch_point_of {
    const struct orch_chart_point *p;
    double x, y; /* 0 to 1 within the frame */
};
/** The points of a series that have a place. struct orch_point_of; the caller unrefs. */
GArray *orch_frame_points(const struct orch_frame *frame, const struct orch_chart_series *series);
/** Position 0 to 1 of a value of y, held within the frame (an interval that ends below 0 on a log
 * axis ends at its foot). */
double orch_frame_held(const struct orch_frame *frame, double y);

/** Numbers of a box plot: quartiles, whiskers at the last value within 1.5 of their distance. */
struct orch_box {
    double q1, median, q3, low, high;
    GArray *outliers; /* double */
};
/** The box of a series' points at a category; false when it has none there. */
bool orch_frame_box(const struct orch_frame *frame, const struct orch_chart_series *series,
                    double category, struct orch_box *out);
void orch_box_clear(struct orch_box *box);
/** How many of a series' values are in each bin (frame->bins.count of them). g_free. */
unsigned *orch_frame_bins(const struct orch_frame *frame, const struct orch_chart_series *series);
/** How high a heat map's value is, 0 to 1; NaN: it has none. */
double orch_frame_heat(const struct orch_frame *frame, double z);

/** Colours that tell apart for all eyes (Okabe and Ito 2008), as 0xRRGGBB. */
uint32_t orch_series_color(const struct orch_frame *frame, const struct orch_chart_series *series);
/** Dark blue to yellow, of even lightness steps (cividis): `share` 0 to 1. */
uint32_t orch_heat_color(double share);
/** Is black easier to read on it than white? */
bool orch_color_is_light(uint32_t color);

#endif
