/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts of trials: what the item `plot` and the command of that name have in common. */
#ifndef ORCH_CORE_ANSWER_PLOT_H
#define ORCH_CORE_ANSWER_PLOT_H

#include "core/answer/trials.h"

#define ORCH_PLOT_KIND_OF_X (-1)

struct orch_plot {
    const char *title; /* or NULL */
    int kind;        /* enum orch_chart_kind, or ORCH_PLOT_KIND_OF_X: lines over numbers and steps,
                        bars over names, points over values */
    const char *x;   /* an axis, "step" or a metric's step unit, or a value ("last train_time") */
    GPtrArray *y;    /* struct orch_wanted *: what is drawn; of a heat map: its colour */
    const char *row; /* of a heat map: the axis that goes up */
    GPtrArray *by;   /* char *: a series for each of their values; NULL: all swept names that vary
                        and stand nowhere else */
    const char *facet; /* a panel for each of its values, or NULL */
    bool log_x, log_y, ideal, predicted;
    const json_t *reference; /* numbers (as texts, too), {name, x, y, source}, or a list; or NULL */
};

/** "line", "scatter", "bar", "box", "histogram", "heat"; false for another word. */
bool orch_plot_kind_parse(const char *word, int *out);

/** Draws the trials into a chart of the section, with notes of what its points and intervals are,
 * and names what is missing. Each trial that the plot is about is noted in the section. False with
 * ORCH_ERROR_USAGE when no trial has what is asked for as `x`, `y`, `by` or `facet`, or with the
 * store's error. */
bool orch_plot_draw(struct orch_trials *trials, const struct orch_plot *plot,
                    struct orch_section *section, GError **error);

#endif
