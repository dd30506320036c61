/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart before it is drawn: what gnuplot, a terminal and the files of data behind it are made
 * from. */
#ifndef ORCH_CORE_REPORT_CHART_H
#define ORCH_CORE_REPORT_CHART_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum orch_chart_kind {
    ORCH_CHART_LINE,
    ORCH_CHART_SCATTER,
    ORCH_CHART_BAR,       /* x: positions of categories; bars of several series side by side */
    ORCH_CHART_BOX,       /* a box for each category, from all y of that x */
    ORCH_CHART_HISTOGRAM, /* of y; x is not read */
    ORCH_CHART_HEAT,      /* x, y: positions of categories; z the colour */
};

/** What a series stands for: drawn unlike each other, not by colour alone. */
enum orch_series_role {
    ORCH_SERIES_MEASURED,
    ORCH_SERIES_PREDICTED, /* dashed */
    ORCH_SERIES_IDEAL,     /* thin, grey */
    ORCH_SERIES_REFERENCE, /* from elsewhere: a paper's curve */
    ORCH_SERIES_RUN, /* one run behind the measured series of that name: a thin line, small dots */
    ORCH_SERIES_FITTED, /* a model's curve through measured points: a dashed line without marks */
};

struct orch_chart_point {
    double x, y;
    double low, high; /* ends of its interval; NaN: none */
    double z;         /* of a heat map; else NaN */
    unsigned n;       /* runs behind it; 0: not made of runs */
    char *label;      /* written beside it, or NULL */
};
struct orch_chart_series {
    char *name; /* "lr 0.1" */
    enum orch_series_role role;
    GArray *points; /* struct orch_chart_point, in order of x for lines */
};
/** A part of a chart under a heading of its own; a chart without facets has one. */
struct orch_chart_panel {
    char *title;       /* or NULL */
    GPtrArray *series; /* struct orch_chart_series * */
};

struct orch_chart {
    enum orch_chart_kind kind;
    char *title, *x_label, *y_label; /* with units: "epoch time (s)" */
    char *z_label;                   /* of a heat map, or NULL */
    bool log_x, log_y;
    GPtrArray *x_names, *y_names; /* char *: categories at positions 0, 1, ...; NULL: numbers */
    GPtrArray *panels;            /* struct orch_chart_panel * */
    char *note;                   /* below it: "bands: 95 % interval over 3 repeats"; or NULL */
};

struct orch_chart *orch_chart_new(enum orch_chart_kind kind, const char *title, const char *x_label,
                                  const char *y_label);
void orch_chart_free(struct orch_chart *chart);
/** The panel of that title (NULL: the one without), made when it is not there. Borrowed. */
struct orch_chart_panel *orch_chart_panel(struct orch_chart *chart, const char *title);
/** The series of that name, made with the role when it is not there. Borrowed. */
struct orch_chart_series *orch_chart_series(struct orch_chart_panel *panel, const char *name,
                                            enum orch_series_role role);
/** Adds a series of one run, which belongs to the measured series of that name. Borrowed. */
struct orch_chart_series *orch_chart_run(struct orch_chart_panel *panel, const char *name);
/** Adds a point with no interval: low, high and z are NaN. Borrowed until the next is added. */
struct orch_chart_point *orch_chart_add(struct orch_chart_series *series, double x, double y);
/** Measured or predicted: not a line through them, or to compare them with. */
bool orch_series_is_of_runs(const struct orch_chart_series *series);
/** Predicted or fitted: dashed, hollow, in the colour of the measured series of that name. */
bool orch_series_is_of_a_model(const struct orch_chart_series *series);
/** Position of a category, added at the end when it is not there. */
double orch_chart_category(GPtrArray *names, const char *name);
bool orch_chart_is_empty(const struct orch_chart *chart);

/** The data behind it: "panel,series,role,x,y,low,high,n" lines under a heading. Caller frees. */
char *orch_chart_csv(const struct orch_chart *chart);
/** The same as JSON, with kind, labels and axes (new reference). */
json_t *orch_chart_json(const struct orch_chart *chart);

#endif
