/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data of a chart. Drawings, charts on a terminal and data files are made from it. */
#ifndef ORCH_CORE_RENDER_CHART_H
#define ORCH_CORE_RENDER_CHART_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum orch_chart_kind {
    ORCH_CHART_LINE,
    ORCH_CHART_SCATTER,
    ORCH_CHART_BAR,       /* x: category positions; the bars of several series are side by side */
    ORCH_CHART_BOX,       /* one box for each category, from all its y */
    ORCH_CHART_HISTOGRAM, /* of y; x is ignored */
    ORCH_CHART_HEAT,      /* x, y: category positions; z: the colour */
};

/** The meaning of a series. Each role is drawn differently, not only in another colour. */
enum orch_series_role {
    ORCH_SERIES_MEASURED,
    ORCH_SERIES_PREDICTED, /* dashed */
    ORCH_SERIES_IDEAL,     /* thin, grey */
    ORCH_SERIES_REFERENCE, /* from another source, such as a paper's curve */
    ORCH_SERIES_RUN,    /* one run of the measured series of that name: a thin line, small dots */
    ORCH_SERIES_FITTED, /* a model fitted to measured points: a dashed line without marks */
    ORCH_SERIES_LEVEL,  /* a line of equal height of a surface, named by it: thin, in no legend */
};

struct orch_chart_point {
    double x, y;
    double low, high; /* the interval's ends; NaN: none */
    double least,
        most;         /* the lowest and highest of 2 to 4 runs, which have no interval; else NaN */
    double z;         /* the value in a heat map; else NaN */
    unsigned n;       /* number of runs averaged; 0: not from runs */
    unsigned setting; /* of a point that is a run: repeats have the same number; 0: unknown */
    const GArray *means; /* of a mean: its values by seed (struct orch_seed_mean); or NULL */
    char *label;         /* drawn next to the point, or NULL */
};
struct orch_chart_series {
    char *name;  /* "lr=0.1": in data */
    char *label; /* "learning rate 0.1": for people; NULL: the name */
    enum orch_series_role role;
    char *runs;       /* behind the name in the legend: "8 runs, to step 400: ..."; or NULL */
    GArray *points;   /* struct orch_chart_point; sorted by x for lines */
    GPtrArray *means; /* GArray *: what its points borrow */
};
/** A part of a chart with its own heading. A chart without facets has one panel. */
struct orch_chart_panel {
    char *title;       /* or NULL */
    char *label;       /* the title for people; NULL: the title */
    GPtrArray *series; /* struct orch_chart_series * */
};

struct orch_chart {
    enum orch_chart_kind kind;
    char *title, *x_label, *y_label; /* with units: "epoch time (s)" */
    char *z_label;                   /* of a heat map, or NULL */
    char *y_short; /* what is drawn beside the y axis instead of a long y_label; or NULL */
    bool log_x, log_y;
    GPtrArray *x_names, *y_names; /* char *: names of positions 0, 1, ...; NULL: a numeric axis */
    GPtrArray *panels;            /* struct orch_chart_panel * */
    char *note; /* shown below the chart: "bands: 95 % interval over 3 repeats"; or NULL */
};

/** What is drawn beside the y axis; "": nothing. Borrowed. */
const char *orch_chart_y_drawn(const struct orch_chart *chart);

struct orch_chart *orch_chart_new(enum orch_chart_kind kind, const char *title, const char *x_label,
                                  const char *y_label);
void orch_chart_free(struct orch_chart *chart);
/** Returns the panel with that title (NULL: without title), and adds it when it does not exist.
 * Borrowed. */
struct orch_chart_panel *orch_chart_panel(struct orch_chart *chart, const char *title);
/** Returns the series of that name, and adds it with the role when it does not exist. Borrowed. */
struct orch_chart_series *orch_chart_series(struct orch_chart_panel *panel, const char *name,
                                            enum orch_series_role role);
/** Adds a series for one run of the measured series of that name. Borrowed. */
struct orch_chart_series *orch_chart_run(struct orch_chart_panel *panel, const char *name);
/** Adds one line of that height; a height may have several. Borrowed. */
struct orch_chart_series *orch_chart_level(struct orch_chart_panel *panel, const char *name);
/** Adds a point without interval: low, high and z are NaN. The result is borrowed until the next
 * point is added. */
struct orch_chart_point *orch_chart_add(struct orch_chart_series *series, double x, double y);
/** Returns whether the series is measured or predicted, not a fitted, ideal or reference line. */
bool orch_series_is_of_runs(const struct orch_chart_series *series);
/** Returns whether the series is predicted or fitted. These are drawn dashed and hollow, in the
 * colour of the measured series of that name. */
bool orch_series_is_of_a_model(const struct orch_chart_series *series);
/** Returns a category's position, and appends the category when it does not exist. */
double orch_chart_category(GPtrArray *names, const char *name);
bool orch_chart_is_empty(const struct orch_chart *chart);
/** Returns why nothing would be seen in the chart's frame: no point, no finite value, values too
 * far apart, a line of one point (obstacle.c). NULL: it can be drawn. The caller frees. */
char *orch_chart_obstacle(const struct orch_chart *chart);
/** Return the texts for people. Borrowed. */
const char *orch_series_label(const struct orch_chart_series *series);
const char *orch_panel_label(const struct orch_chart_panel *panel);

/** Names what is drawn: "training loss by epoch". NULL without labels. The caller frees. */
char *orch_chart_axes(const struct orch_chart *chart);

/** Formats the chart's data as CSV with the columns panel, series, role, x, y, low, high, n. The
 * caller frees. */
char *orch_chart_csv(const struct orch_chart *chart);
/** Returns the data as JSON, with kind, labels and axes (new reference). */
json_t *orch_chart_json(const struct orch_chart *chart);

#endif
