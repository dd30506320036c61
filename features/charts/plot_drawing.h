/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of a plot while it is drawn. plot.c begins and ends the drawing, plot_points.c
 * combines values into points, plot_lines.c adds ideal and reference lines. */
#ifndef ORCH_FEATURES_CHARTS_PLOT_DRAWING_H
#define ORCH_FEATURES_CHARTS_PLOT_DRAWING_H

#include "features/charts/plot_values.h"

struct orch_plot_drawing {
    struct orch_plot_values v;
    struct orch_chart *chart;
    bool is_named_x;        /* x has categories */
    bool is_each_run;       /* points are runs, not means */
    GPtrArray *merged;      /* char *: swept names that differ within one point */
    GHashTable *settings;   /* of the runs that are points: label to number from 1; or NULL */
    unsigned n_low, n_high; /* range of the number of seeds behind a mean; 0: no mean has several */
    bool has_intervals;     /* some mean has an interval (5 seeds or more) */
    bool has_runs;          /* single runs are drawn, as there are fewer seeds */
    bool has_runs_beyond;   /* some runs are drawn alone beyond the end of their mean */
    size_t thinned_from, thinned_to;
};

static inline const struct orch_plot_value *orch_plot_value_at(const GArray *values, guint i)
{
    return &g_array_index(values, struct orch_plot_value, i);
}

/** Fills the chart's panels with series or heat-map cells. */
void orch_plot_add_points(struct orch_plot_drawing *d);
/** Draws the ideal lines and references that the plot requests. A reference that cannot be drawn
 * is noted in the section; so are the sources of references. */
void orch_plot_add_lines(struct orch_plot_drawing *d, struct orch_section *section);

#endif
