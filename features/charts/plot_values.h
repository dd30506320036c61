/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of a chart: collected from the store, before they are combined into points. */
#ifndef ORCH_FEATURES_CHARTS_PLOT_VALUES_H
#define ORCH_FEATURES_CHARTS_PLOT_VALUES_H

#include "features/charts/plot.h"

enum orch_plot_over {
    ORCH_PLOT_OVER_AXIS,
    ORCH_PLOT_OVER_STEPS,
    ORCH_PLOT_OVER_VALUES, /* x is another value of the run */
};

/** One number of one run, and its position in the chart. Texts are interned. */
struct orch_plot_value {
    const char *panel, *series, *x_text, *row_text; /* panel and row may be NULL */
    double x, y, low, high; /* x NaN: a category; low, high: of a forecast */
    enum orch_series_role role;
    const struct orch_report_trial *trial;
};

struct orch_plot_values {
    struct orch_trials *trials;
    const struct orch_plot *plot;
    enum orch_plot_over over;
    struct orch_item_value x; /* OVER_VALUES */
    GPtrArray *by;            /* char *: names that separate the series, task names first */
    GPtrArray *panels;        /* char *: names that separate the panels */
    guint task_names;         /* how many names of `by` or `panels` were added to separate tasks */
    GArray *values;           /* struct orch_plot_value, in the trials' order */
    GArray *empty;            /* the same for trials that have not run or have no value: y is NaN */
    const char *x_unit;       /* or NULL */
    const char **units;       /* of each y; NULL: none */
    const char *better;       /* of the first y; "none" when unknown */
    bool has_forecasts;       /* some run has a forecast */
};

/** Collects the values of a plot. Errors are those of orch_plot_draw. */
bool orch_plot_values_gather(struct orch_plot_values *values, struct orch_trials *trials,
                             const struct orch_plot *plot, struct orch_section *section,
                             GError **error);
void orch_plot_values_clear(struct orch_plot_values *values);

#endif
