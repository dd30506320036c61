/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines for comparison: ideal scaling, and published reference values. */
#include "features/charts/plot_drawing.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

#define IDEAL_POINTS 33

static void add_ideal(struct orch_chart_panel *panel, const struct orch_chart_series *of,
                      bool is_alone, bool falls)
{
    struct orch_chart_point first = {.x = INFINITY}, last = {.x = -INFINITY};
    for (guint i = 0; i < of->points->len; i++) {
        const struct orch_chart_point *p = &g_array_index(of->points, struct orch_chart_point, i);
        first = p->x > 0 && p->x < first.x ? *p : first;
        last = p->x > last.x ? *p : last;
    }
    if (!(first.x < last.x))
        return;
    g_autofree char *name = is_alone ? g_strdup("ideal") : g_strdup_printf("ideal of %s", of->name);
    struct orch_chart_series *ideal = orch_chart_series(panel, name, ORCH_SERIES_IDEAL);
    for (int i = 0; i < IDEAL_POINTS; i++) {
        double x = first.x * pow(last.x / first.x, (double)i / (IDEAL_POINTS - 1));
        orch_chart_add(ideal, x, falls ? first.y * first.x / x : first.y * x / first.x);
    }
}

/* Adds ideal lines from the smallest x: proportional to x for a rate, or to 1/x for a time (less
 * is better). */
static void add_ideals(struct orch_plot_drawing *d, struct orch_section *section)
{
    if (d->is_named_x) {
        orch_section_note(section, "an ideal line needs numbers on the x axis");
        return;
    }
    bool falls = strcmp(d->v.better, "min") == 0;
    for (guint i = 0; i < d->chart->panels->len; i++) {
        struct orch_chart_panel *panel = d->chart->panels->pdata[i];
        guint count = panel->series->len, measured = 0;
        for (guint j = 0; j < count; j++)
            measured +=
                ((struct orch_chart_series *)panel->series->pdata[j])->role == ORCH_SERIES_MEASURED;
        for (guint j = 0; j < count; j++) {
            const struct orch_chart_series *series = panel->series->pdata[j];
            if (series->role == ORCH_SERIES_MEASURED)
                add_ideal(panel, series, measured == 1, falls);
        }
    }
}

static bool number_of(const json_t *json, double *out)
{
    if (json_is_number(json))
        *out = json_number_value(json);
    return json_is_number(json) ||
           (json_is_string(json) && orch_real_parse(json_string_value(json), out));
}

/* Adds a horizontal line across the panel. */
static void add_level(struct orch_plot_drawing *d, struct orch_chart_panel *panel, double level)
{
    double low = INFINITY, high = -INFINITY;
    for (guint i = 0; i < d->v.values->len; i++) {
        low = fmin(low, orch_plot_value_at(d->v.values, i)->x);
        high = fmax(high, orch_plot_value_at(d->v.values, i)->x);
    }
    if (d->is_named_x) {
        low = -0.5;
        high = d->chart->x_names->len - 0.5;
    }
    char text[ORCH_REAL_CHARS];
    g_autofree char *name = g_strdup_printf("reference %s", orch_real_format(level, text));
    struct orch_chart_series *series = orch_chart_series(panel, name, ORCH_SERIES_REFERENCE);
    orch_chart_add(series, low, level);
    orch_chart_add(series, high, level);
}

static void add_reference_curve(struct orch_plot_drawing *d, struct orch_chart_panel *panel,
                                const json_t *reference)
{
    const json_t *xs = json_object_get(reference, "x"), *ys = json_object_get(reference, "y");
    struct orch_chart_series *series = orch_chart_series(
        panel, orch_json_text(reference, "name", "reference"), ORCH_SERIES_REFERENCE);
    for (size_t i = 0; i < json_array_size(xs) && i < json_array_size(ys); i++) {
        const json_t *place = json_array_get(xs, i);
        double x, y;
        guint at;
        bool known = number_of(place, &x);
        if (d->is_named_x) {
            known = json_is_string(place) &&
                    g_ptr_array_find_with_equal_func(d->chart->x_names, json_string_value(place),
                                                     g_str_equal, &at);
            x = known ? at : 0;
        }
        if (known && number_of(json_array_get(ys, i), &y))
            orch_chart_add(series, x, y);
    }
}

static void add_reference(struct orch_plot_drawing *d, const json_t *reference)
{
    if (json_is_array(reference)) {
        for (size_t i = 0; i < json_array_size(reference); i++)
            add_reference(d, json_array_get(reference, i));
        return;
    }
    double level;
    bool is_level = number_of(reference, &level);
    for (guint i = 0; i < d->chart->panels->len; i++) {
        if (is_level)
            add_level(d, d->chart->panels->pdata[i], level);
        else if (json_is_object(reference))
            add_reference_curve(d, d->chart->panels->pdata[i], reference);
    }
}

static void note_sources(const json_t *reference, struct orch_section *section)
{
    for (size_t i = 0; i < json_array_size(reference); i++)
        note_sources(json_array_get(reference, i), section);
    const char *source =
        json_is_object(reference) ? orch_json_text(reference, "source", NULL) : NULL;
    if (source)
        orch_section_note(section, "%s: %s", orch_json_text(reference, "name", "reference"),
                          source);
}

void orch_plot_add_lines(struct orch_plot_drawing *d, struct orch_section *section)
{
    const struct orch_plot *plot = d->v.plot;
    bool has_numbers_up = d->chart->kind <= ORCH_CHART_BOX;
    if (plot->ideal && has_numbers_up)
        add_ideals(d, section);
    if (plot->reference && has_numbers_up)
        add_reference(d, plot->reference);
    note_sources(plot->reference, section);
}
