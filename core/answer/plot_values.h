/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values behind a chart of trials: gathered from the store, then put together as points. */
#ifndef ORCH_CORE_ANSWER_PLOT_VALUES_H
#define ORCH_CORE_ANSWER_PLOT_VALUES_H

#include "core/answer/plot.h"

enum orch_plot_over {
    ORCH_PLOT_OVER_AXIS,
    ORCH_PLOT_OVER_STEPS,
    ORCH_PLOT_OVER_VALUES, /* another value of the run */
};

/** One number of one run at its place. Texts are interned. */
struct orch_plot_value {
    const char *panel, *series, *x_text, *row_text; /* panel, row: or NULL */
    double x, y, low, high;                         /* x NaN: a name; low, high: of a forecast */
    enum orch_series_role role;
    const struct orch_trial *trial;
};

struct orch_plot_values {
    struct orch_trials *trials;
    const struct orch_plot *plot;
    enum orch_plot_over over;
    struct orch_wanted x; /* OVER_VALUES */
    GPtrArray *by;        /* char * */
    GArray *values;       /* struct orch_plot_value, in the trials' order */
    GArray *empty;        /* the same of trials that were not run or have no value: y NaN */
    const char *x_unit;   /* or NULL */
    const char **units;   /* of each y; NULL: none */
    const char *better;   /* of the first y; "none" when unknown */
    bool has_forecasts;   /* of the runs that were asked for */
};

/** False with an error: see orch_plot_draw. */
bool orch_plot_values_gather(struct orch_plot_values *values, struct orch_trials *trials,
                             const struct orch_plot *plot, struct orch_section *section,
                             GError **error);
void orch_plot_values_clear(struct orch_plot_values *values);

/** The swept names and values of a trial (new reference). */
json_t *orch_trial_coords(const struct orch_trial *trial);

#endif
