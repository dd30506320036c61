/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a chart would be an empty frame: said in its place. */
#include "core/render/chart.h"

#include "core/stats/numbers.h"
#include "lib/base/text.h"

#include <math.h>

/* The numbers on one axis. */
struct extent {
    unsigned points, finite, drawn; /* drawn: finite, and above 0 on a logarithmic axis */
    double low, high;
};

static void add_number(struct extent *e, double value, bool is_log)
{
    const bool is_drawn = isfinite(value) && !(is_log && value <= 0);
    e->points++;
    e->finite += isfinite(value) != 0;
    e->drawn += is_drawn;
    if (is_drawn) {
        e->low = fmin(e->low, value);
        e->high = fmax(e->high, value);
    }
}

static void add_series(const struct orch_chart *chart, const struct orch_chart_series *series,
                       struct extent *x, struct extent *y)
{
    const bool is_heat = chart->kind == ORCH_CHART_HEAT;
    for (guint i = 0; i < series->points->len; i++) {
        const struct orch_chart_point *p =
            &g_array_index(series->points, struct orch_chart_point, i);
        add_number(x, chart->kind == ORCH_CHART_HISTOGRAM ? 0 : p->x,
                   chart->log_x && !chart->x_names);
        if (is_heat && isnan(p->z)) /* a setting without a run is an empty cell */
            y->points++;
        else
            add_number(y, is_heat ? p->z : p->y, chart->log_y && !is_heat);
    }
}

/* Why one axis has no place for its numbers; NULL: it has. `name` is its label. */
static char *obstacle_of(const struct extent *e, const char *name)
{
    if (!e->finite)
        return g_strdup_printf("%s: %s value is NaN or infinite", name,
                               e->points == 1 ? "the only" : "every");
    if (!e->drawn)
        return g_strdup_printf("%s: no value is above 0, and the axis is logarithmic", name);
    if (isfinite(e->high - e->low))
        return NULL;
    g_autofree char *low = orch_number_format(e->low), *high = orch_number_format(e->high);
    return g_strdup_printf("%s: values from %s to %s are too far apart for an axis", name, low,
                           high);
}

static char *obstacle_of_one_point(const struct orch_chart *chart, const struct extent *x,
                                   const struct extent *y)
{
    const bool is_line = chart->kind == ORCH_CHART_LINE && !chart->x_names;
    if (!is_line || y->points > 1)
        return NULL;
    g_autofree char *at = orch_number_format(x->low), *value = orch_number_format(y->low);
    return g_strdup_printf("one point, and a line needs two: %s is %s at %s %s",
                           chart->y_label ? chart->y_label : "y", value,
                           chart->x_label ? chart->x_label : "x", at);
}

/* An ideal line alone is not what the chart is about. */
static bool has_only_ideals(const struct orch_chart *chart)
{
    for (guint i = 0; i < chart->panels->len; i++) {
        const struct orch_chart_panel *panel = chart->panels->pdata[i];
        for (guint j = 0; j < panel->series->len; j++) {
            const struct orch_chart_series *series = panel->series->pdata[j];
            if (series->points->len && series->role != ORCH_SERIES_IDEAL)
                return false;
        }
    }
    return true;
}

char *orch_chart_obstacle(const struct orch_chart *chart)
{
    struct extent x = {.low = INFINITY, .high = -INFINITY}, y = x;
    if (has_only_ideals(chart))
        return g_strdup("no run has a value for it yet");
    for (guint i = 0; i < chart->panels->len; i++) {
        const struct orch_chart_panel *panel = chart->panels->pdata[i];
        for (guint j = 0; j < panel->series->len; j++)
            add_series(chart, panel->series->pdata[j], &x, &y);
    }
    const bool is_heat = chart->kind == ORCH_CHART_HEAT;
    const char *name = is_heat                               ? chart->z_label
                       : chart->kind == ORCH_CHART_HISTOGRAM ? chart->x_label
                                                             : chart->y_label;
    char *why = obstacle_of(&y, name ? name : "y");
    why = why ? why : obstacle_of(&x, chart->x_label ? chart->x_label : "x");
    return why ? why : obstacle_of_one_point(chart, &x, &y);
}
