/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts of trials, shared by the report item `plot` and the command `orch plot`. */
#ifndef ORCH_FEATURES_CHARTS_PLOT_H
#define ORCH_FEATURES_CHARTS_PLOT_H

#include "core/report/trials.h"

#define ORCH_PLOT_KIND_OF_X (-1)

struct orch_plot {
    const char *title; /* or NULL */
    int kind; /* enum orch_chart_kind, or ORCH_PLOT_KIND_OF_X: lines for numbers and steps, bars for
                 names, points for values */
    const char *x;   /* an axis, "step", a metric's step unit, or a value ("last train_time") */
    GPtrArray *y;    /* struct orch_item_value *: the values to draw; the colour of a heat map */
    const char *row; /* heat maps: the vertical axis */
    GPtrArray *by; /* char *: one series for each combination of their values; NULL: all swept names
                      that vary and are not used elsewhere */
    const char *facet; /* one panel for each of its values, or NULL */
    bool log_x, log_y, ideal, predicted;
    bool across;             /* allow runs of different tasks in one series (core/stats/task.h) */
    const json_t *reference; /* reference lines: a number (also as text), {name, x, y, source}, or a
                                list of these; or NULL */
};

/** Parses "line", "scatter", "bar", "box", "histogram" or "heat". False for any other word. */
bool orch_plot_kind_parse(const char *word, int *out);

/** Draws the trials into a chart of the section. Notes explain the points and intervals and list
 * trials without a value. Each trial of the plot is recorded in the section. False with
 * ORCH_ERROR_USAGE when no trial has the requested `x`, `y`, `by` or `facet`, or with the
 * store's error. */
bool orch_plot_draw(struct orch_trials *trials, const struct orch_plot *plot,
                    struct orch_section *section, GError **error);

#endif
