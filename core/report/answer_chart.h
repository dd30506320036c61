/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a chart that the sentences about it name. answer_chart.c says what lines and bars
 * show, answer_points.c what single runs show: scatter charts, histograms and boxes. */
#ifndef ORCH_CORE_REPORT_ANSWER_CHART_H
#define ORCH_CORE_REPORT_ANSWER_CHART_H

#include "core/render/chart.h"

/* More lines would no longer be read as a sentence: then the lowest and the highest are named. */
#define ORCH_ANSWER_LINES_MOST 3

/** The name in words and the unit of an axis: "epoch time (s)". */
struct orch_answer_quantity {
    char *name, *unit; /* unit: or NULL */
};

/** A measured series with points. */
struct orch_answer_line {
    char *label; /* "": the only one */
    const struct orch_chart_panel *panel;
    const struct orch_chart_series *series;
};

static inline const struct orch_chart_point *
orch_answer_point(const struct orch_chart_series *series, guint i)
{
    return &g_array_index(series->points, struct orch_chart_point, i);
}

/** Append what a chart of single runs shows; `lines` are struct orch_answer_line. A scatter chart:
 * by how much y changes with x, from settings that are means of their repeats. */
void orch_answer_scatter_append(GString *out, const struct orch_chart *chart, const GArray *lines,
                                const struct orch_answer_quantity *x,
                                const struct orch_answer_quantity *y);
/** Returns whether a line of single values scatters more than it moves from its first to its last
 * quarter, so that its ends are no rise and no fall. False for few points, and for means. */
bool orch_answer_is_noisy(const struct orch_chart_series *series);
/** Of such a line: "median 52.1 %, middle half 48 to 96 % of 118 values". */
void orch_answer_noise_append(GString *out, const struct orch_chart_series *series,
                              const char *unit);
/** A histogram: median, middle half and range of each series. */
void orch_answer_histogram_append(GString *out, const struct orch_chart *chart, const GArray *lines,
                                  const struct orch_answer_quantity *value);
/** Boxes: median and middle half of each. */
void orch_answer_boxes_append(GString *out, const struct orch_chart *chart, const GArray *lines,
                              const struct orch_answer_quantity *value);

#endif
