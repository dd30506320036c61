/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/chart.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

static void clear_point(gpointer pointer)
{
    g_free(((struct orch_chart_point *)pointer)->label);
}

static void free_series(gpointer pointer)
{
    struct orch_chart_series *series = pointer;
    g_free(series->name);
    g_free(series->label);
    g_free(series->runs);
    g_array_unref(series->points);
    g_ptr_array_unref(series->means);
    g_free(series);
}

static void free_panel(gpointer pointer)
{
    struct orch_chart_panel *panel = pointer;
    g_free(panel->title);
    g_free(panel->label);
    g_ptr_array_unref(panel->series);
    g_free(panel);
}

struct orch_chart *orch_chart_new(enum orch_chart_kind kind, const char *title, const char *x_label,
                                  const char *y_label)
{
    struct orch_chart *chart = g_new0(struct orch_chart, 1);
    chart->kind = kind;
    chart->title = g_strdup(title);
    chart->x_label = g_strdup(x_label);
    chart->y_label = g_strdup(y_label);
    chart->panels = g_ptr_array_new_with_free_func(free_panel);
    return chart;
}

void orch_chart_free(struct orch_chart *chart)
{
    if (!chart)
        return;
    g_free(chart->title);
    g_free(chart->x_label);
    g_free(chart->y_label);
    g_free(chart->y_short);
    g_free(chart->z_label);
    g_free(chart->note);
    g_clear_pointer(&chart->x_names, g_ptr_array_unref);
    g_clear_pointer(&chart->y_names, g_ptr_array_unref);
    g_ptr_array_unref(chart->panels);
    g_free(chart);
}

struct orch_chart_panel *orch_chart_panel(struct orch_chart *chart, const char *title)
{
    for (guint i = 0; i < chart->panels->len; i++) {
        struct orch_chart_panel *panel = chart->panels->pdata[i];
        if (g_strcmp0(panel->title, title) == 0)
            return panel;
    }
    struct orch_chart_panel *panel = g_new0(struct orch_chart_panel, 1);
    panel->title = g_strdup(title);
    panel->series = g_ptr_array_new_with_free_func(free_series);
    g_ptr_array_add(chart->panels, panel);
    return panel;
}

static struct orch_chart_series *add_series(struct orch_chart_panel *panel, const char *name,
                                            enum orch_series_role role)
{
    struct orch_chart_series *series = g_new0(struct orch_chart_series, 1);
    series->name = g_strdup(name);
    series->role = role;
    series->points = g_array_new(FALSE, FALSE, sizeof(struct orch_chart_point));
    g_array_set_clear_func(series->points, clear_point);
    series->means = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    g_ptr_array_add(panel->series, series);
    return series;
}

struct orch_chart_series *orch_chart_series(struct orch_chart_panel *panel, const char *name,
                                            enum orch_series_role role)
{
    for (guint i = 0; i < panel->series->len; i++) {
        struct orch_chart_series *series = panel->series->pdata[i];
        if (series->role == role && g_strcmp0(series->name, name) == 0)
            return series;
    }
    return add_series(panel, name, role);
}

struct orch_chart_series *orch_chart_run(struct orch_chart_panel *panel, const char *name)
{
    return add_series(panel, name, ORCH_SERIES_RUN);
}

struct orch_chart_series *orch_chart_level(struct orch_chart_panel *panel, const char *name)
{
    return add_series(panel, name, ORCH_SERIES_LEVEL);
}

struct orch_chart_point *orch_chart_add(struct orch_chart_series *series, double x, double y)
{
    struct orch_chart_point point = {.x = x,
                                     .y = y,
                                     .low = (double)NAN,
                                     .high = (double)NAN,
                                     .least = (double)NAN,
                                     .most = (double)NAN,
                                     .z = (double)NAN};
    g_array_append_val(series->points, point);
    return &g_array_index(series->points, struct orch_chart_point, series->points->len - 1);
}

const char *orch_series_label(const struct orch_chart_series *series)
{
    return series->label ? series->label : series->name;
}

const char *orch_panel_label(const struct orch_chart_panel *panel)
{
    return panel->label ? panel->label : panel->title;
}

bool orch_series_is_of_runs(const struct orch_chart_series *series)
{
    return series->role == ORCH_SERIES_MEASURED || series->role == ORCH_SERIES_PREDICTED;
}

bool orch_series_is_of_a_model(const struct orch_chart_series *series)
{
    return series->role == ORCH_SERIES_PREDICTED || series->role == ORCH_SERIES_FITTED;
}

double orch_chart_category(GPtrArray *names, const char *name)
{
    guint at;
    if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, &at)) {
        at = names->len;
        g_ptr_array_add(names, g_strdup(name));
    }
    return at;
}

bool orch_chart_is_empty(const struct orch_chart *chart)
{
    for (guint i = 0; i < chart->panels->len; i++) {
        const struct orch_chart_panel *panel = chart->panels->pdata[i];
        for (guint j = 0; j < panel->series->len; j++)
            if (((const struct orch_chart_series *)panel->series->pdata[j])->points->len)
                return false;
    }
    return true;
}

/* ---- the data behind it ------------------------------------------------------------------------
 */

static const char *role_name(enum orch_series_role role)
{
    static const char *const names[] = {"measured", "predicted", "ideal", "reference",
                                        "run",      "fitted",    "level"};
    return names[role];
}

static void add_number(GString *out, double value)
{
    char text[ORCH_REAL_CHARS];
    g_string_append_printf(out, ",%s", isnan(value) ? "" : orch_real_format(value, text));
}

/* Appends a position as the name of its category. */
static void add_place(GString *out, const GPtrArray *names, double value)
{
    if (!names || !(value >= 0 && value < names->len)) {
        add_number(out, value);
        return;
    }
    g_string_append_c(out, ',');
    orch_csv_append(out, names->pdata[(guint)value]);
}

static void add_points(GString *out, const struct orch_chart *chart, const char *panel,
                       const struct orch_chart_series *series)
{
    for (guint i = 0; i < series->points->len; i++) {
        const struct orch_chart_point *p =
            &g_array_index(series->points, struct orch_chart_point, i);
        orch_csv_append(out, panel ? panel : "");
        g_string_append_c(out, ',');
        orch_csv_append(out, series->name ? series->name : "");
        g_string_append_printf(out, ",%s", role_name(series->role));
        add_place(out, chart->x_names, p->x);
        add_place(out, chart->y_names, p->y);
        add_number(out, p->low);
        add_number(out, p->high);
        add_number(out, p->z);
        g_string_append_printf(out, ",%u\n", p->n);
    }
}

char *orch_chart_csv(const struct orch_chart *chart)
{
    GString *out = g_string_new("panel,series,role,x,y,low,high,z,n\n");
    for (guint i = 0; i < chart->panels->len; i++) {
        const struct orch_chart_panel *panel = chart->panels->pdata[i];
        for (guint j = 0; j < panel->series->len; j++)
            add_points(out, chart, panel->title, panel->series->pdata[j]);
    }
    return g_string_free(out, FALSE);
}

static json_t *names_json(const GPtrArray *names)
{
    json_t *out = names ? json_array() : json_null();
    for (guint i = 0; names && i < names->len; i++)
        json_array_append_new(out, json_string(names->pdata[i]));
    return out;
}

static json_t *series_json(const struct orch_chart_series *series, const char *panel)
{
    json_t *points = json_array();
    for (guint i = 0; i < series->points->len; i++) {
        const struct orch_chart_point *p =
            &g_array_index(series->points, struct orch_chart_point, i);
        json_array_append_new(points, json_pack("{s:o, s:o, s:o, s:o, s:o, s:i}", "x",
                                                orch_json_real_or_null(p->x), "y",
                                                orch_json_real_or_null(p->y), "low",
                                                orch_json_real_or_null(p->low), "high",
                                                orch_json_real_or_null(p->high), "z",
                                                orch_json_real_or_null(p->z), "n", (int)p->n));
    }
    return json_pack("{s:s?, s:s?, s:s?, s:s, s:s?, s:o}", "panel", panel, "name", series->name,
                     "label", orch_series_label(series), "role", role_name(series->role), "runs",
                     series->runs, "points", points);
}

json_t *orch_chart_json(const struct orch_chart *chart)
{
    static const char *const kinds[] = {"line", "scatter", "bar", "box", "histogram", "heat"};
    json_t *series = json_array();
    for (guint i = 0; i < chart->panels->len; i++) {
        const struct orch_chart_panel *panel = chart->panels->pdata[i];
        for (guint j = 0; j < panel->series->len; j++)
            json_array_append_new(series, series_json(panel->series->pdata[j], panel->title));
    }
    return json_pack("{s:s, s:s?, s:s?, s:s?, s:s?, s:b, s:b, s:o, s:o, s:s?, s:o}", "kind",
                     kinds[chart->kind], "title", chart->title, "x", chart->x_label, "y",
                     chart->y_label, "z", chart->z_label, "log_x", chart->log_x, "log_y",
                     chart->log_y, "x_names", names_json(chart->x_names), "y_names",
                     names_json(chart->y_names), "note", chart->note, "series", series);
}

const char *orch_chart_y_drawn(const struct orch_chart *chart)
{
    return chart->y_short ? chart->y_short : chart->y_label ? chart->y_label : "";
}

char *orch_chart_axes(const struct orch_chart *chart)
{
    const char *y = chart->z_label ? chart->z_label : chart->y_label, *x = chart->x_label;
    const char *row = chart->z_label ? chart->y_label : NULL;
    return y && x ? g_strconcat(y, " by ", x, row ? " and " : NULL, row, NULL) : NULL;
}
