/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The front of a search with several metrics: its settings, a picture, the hypervolume. */
#include "features/search/search_parts.h"

#include "lib/base/text.h"

#include <math.h>

/* Names of two metrics at most are the axes of the picture. */
static char *axis_of(const struct orch_search *search, unsigned number)
{
    const struct orch_goal goal = orch_goals_goal(search, number);
    return g_strdup_printf("%s (%s is better)", goal.metric, goal.is_max ? "higher" : "lower");
}

static void add_table(struct orch_section *section, const struct orch_searched *searched)
{
    const unsigned goals = orch_goals_count(searched->search);
    const char *headers[ORCH_SEARCH_GOALS_MAX + 3] = {"setting"};
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (unsigned k = 0; k < goals; k++) {
        g_ptr_array_add(names, g_strconcat(">", orch_goals_goal(searched->search, k).metric, NULL));
        headers[k + 1] = names->pdata[k];
    }
    headers[goals + 1] = "knee";
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < searched->front->len; i++) {
        const struct orch_searched_point *point = searched->front->pdata[i];
        g_autofree char *setting = orch_search_values(searched->search, point->at);
        orch_table_add(table, setting, NULL);
        for (unsigned k = 0; k < goals; k++)
            orch_table_add_real(table, point->goals.at[k]);
        orch_table_add(table, point == searched->best ? "yes" : "", NULL);
    }
    orch_section_table(section, table);
    orch_section_note(section,
                      "knee: on the front, the setting nearest to the best values of all metrics");
}

/* Draws the border of the region that a front of two metrics dominates. It has steps, because a
 * sloped line would show values that no setting has. */
static void add_steps(struct orch_chart_panel *panel, const GPtrArray *front)
{
    struct orch_chart_series *steps =
        orch_chart_series(panel, "border of the front", ORCH_SERIES_REFERENCE);
    for (guint i = 0; i < front->len; i++) {
        const struct orch_searched_point *point = front->pdata[i];
        const struct orch_searched_point *next = i + 1 < front->len ? front->pdata[i + 1] : NULL;
        orch_chart_add(steps, point->goals.at[1], point->goals.at[0]);
        if (next)
            orch_chart_add(steps, point->goals.at[1], next->goals.at[0]);
    }
}

/* Draws the points by the first two metrics, the front and its knee apart. */
static void add_picture(struct orch_section *section, const struct orch_searched *searched)
{
    static const char *const names[] = {"other settings", "on the front", "knee"};
    g_autofree char *title = g_strdup_printf("%s: front", searched->name),
                    *x = axis_of(searched->search, 1), *y = axis_of(searched->search, 0);
    struct orch_chart *chart = orch_chart_new(ORCH_CHART_SCATTER, title, x, y);
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    for (unsigned kind = 0; kind < G_N_ELEMENTS(names); kind++)
        for (guint i = 0; i < searched->points->len; i++) {
            const struct orch_searched_point *point = searched->points->pdata[i];
            const unsigned is_kind = point == searched->best                          ? 2
                                     : g_ptr_array_find(searched->front, point, NULL) ? 1
                                                                                      : 0;
            if (point->state == ORCH_SEARCHED_ENDED && is_kind == kind)
                orch_chart_add(orch_chart_series(panel, names[kind], ORCH_SERIES_MEASURED),
                               point->goals.at[1], point->goals.at[0])
                    ->n = 1;
        }
    if (orch_goals_count(searched->search) == 2)
        add_steps(panel, searched->front);
    orch_section_chart(section, chart);
}

static void add_volume(struct orch_section *section, const struct orch_searched *searched)
{
    g_autofree struct orch_goal_row *rows = orch_searched_rows(searched);
    g_autofree double *volumes = orch_goals_volumes(searched->search, rows, searched->points->len);
    g_autofree char *title = g_strdup_printf("%s: hypervolume by settings", searched->name);
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_LINE, title, "settings", "hypervolume (share of the box)");
    struct orch_chart_series *series = orch_chart_series(
        orch_chart_panel(chart, NULL), "dominated by the front", ORCH_SERIES_REFERENCE);
    for (guint i = 0; i < searched->points->len; i++)
        orch_chart_add(series, i + 1, volumes[i]);
    chart->note = g_strdup("the box lies between the best and the worst value of each metric");
    orch_section_chart(section, chart);
}

char *orch_search_front_text(const struct orch_searched *searched)
{
    g_autofree char *knee = orch_search_values(searched->search, searched->best->at),
                    *values = orch_goals_text(searched->search, &searched->best->goals);
    return g_strdup_printf(
        "Pareto front of %s: %u of %u setting%s. Its knee (the best compromise) is %s with %s",
        searched->name, searched->front->len, searched->points->len,
        orch_plural(searched->points->len), knee, values);
}

void orch_search_add_front(struct orch_section *section, const struct orch_searched *searched)
{
    add_table(section, searched);
    add_picture(section, searched);
    add_volume(section, searched);
}
