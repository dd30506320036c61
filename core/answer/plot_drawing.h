/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plot while it is made of its values: plot.c begins and ends it, plot_points.c puts values
 * together as points, plot_lines.c adds lines to compare with. */
#ifndef ORCH_CORE_ANSWER_PLOT_DRAWING_H
#define ORCH_CORE_ANSWER_PLOT_DRAWING_H

#include "core/answer/plot_values.h"

struct orch_plot_drawing {
    struct orch_plot_values v;
    struct orch_chart *chart;
    bool is_named_x;        /* x has categories */
    bool is_each_run;       /* points are runs, not means */
    GPtrArray *merged;      /* char *: swept names whose values one point puts together */
    unsigned n_low, n_high; /* seeds behind the means of several; 0: there are none */
    bool has_intervals;     /* of 5 seeds or more */
    bool has_runs;          /* fewer: the runs are drawn */
    size_t thinned_from, thinned_to;
};

static inline const struct orch_plot_value *orch_plot_value_at(const GArray *values, guint i)
{
    return &g_array_index(values, struct orch_plot_value, i);
}

/** Fills the chart's panels with the series, or cells, of its values. */
void orch_plot_add_points(struct orch_plot_drawing *d);
/** The ideal lines and references that the plot asks for; what cannot be drawn is noted in the
 * section, with the sources of references. */
void orch_plot_add_lines(struct orch_plot_drawing *d, struct orch_section *section);

#endif
