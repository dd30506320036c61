/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The best value so far of searches, by points and by device time. */
#include "features/search/search_parts.h"

#include "features/search/tried_points.h"
#include "lib/base/reals.h"

#include <math.h>
#include <stdlib.h>

/* A metric whose largest value is so many times its smallest is drawn along its logarithm. */
#define LOG_RATIO 100
#define MINUTE_S 60.0
#define HOUR_S 3600.0

/* The unit of a time axis. */
struct time_unit {
    const char *name;
    double seconds;
};

static struct time_unit unit_of(const GPtrArray *searches)
{
    double longest_s = 0;
    for (guint i = 0; i < searches->len; i++)
        longest_s = fmax(longest_s, ((const struct orch_searched *)searches->pdata[i])->device_s);
    return longest_s < 3 * MINUTE_S ? (struct time_unit){"s", 1}
           : longest_s < 3 * HOUR_S ? (struct time_unit){"min", MINUTE_S}
                                    : (struct time_unit){"h", HOUR_S};
}

/* A point of a search on the x axis of a chart. */
struct place {
    double x;
    const struct orch_searched_point *point;
    double best; /* value so far; NAN: none yet */
};

/* The points with their places, by number or by the device time until their end. */
static GArray *places_of(const struct orch_searched *searched, double unit_s)
{
    GArray *places = g_array_new(FALSE, FALSE, sizeof(struct place));
    double best = (double)NAN, spent_s = 0;
    for (guint i = 0; i < searched->points->len; i++) {
        const struct orch_searched_point *point = searched->points->pdata[i];
        spent_s += point->device_s;
        if (point->state == ORCH_SEARCHED_ENDED && point->goals.excess <= 0 &&
            orch_tried_is_better(searched->search, point->value, best))
            best = point->value;
        const struct place place = {isnan(unit_s) ? i + 1 : spent_s / unit_s, point, best};
        g_array_append_val(places, place);
    }
    return places;
}

static const struct place *place_at(const GArray *places, guint i)
{
    return &g_array_index(places, struct place, i);
}

/* The worst value of a search: where its failed points, which have none, are drawn. */
static double worst_of(const struct orch_searched *searched)
{
    double worst = (double)NAN;
    for (guint i = 0; i < searched->points->len; i++) {
        double value = ((const struct orch_searched_point *)searched->points->pdata[i])->value;
        if (isfinite(value) &&
            (isnan(worst) || (searched->search->is_max ? value < worst : value > worst)))
            worst = value;
    }
    return worst;
}

static void add_dots(struct orch_chart_panel *panel, const struct orch_searched *searched,
                     const GArray *places)
{
    static const char *const names[] = {"ended", "pruned, its value then", "failed, without value"};
    const double worst = worst_of(searched);
    for (int state = ORCH_SEARCHED_ENDED; state <= ORCH_SEARCHED_FAILED; state++) {
        if (!searched->counts[state])
            continue;
        struct orch_chart_series *series =
            orch_chart_series(panel, names[state], ORCH_SERIES_MEASURED);
        for (guint i = 0; i < places->len; i++) {
            const struct place *place = place_at(places, i);
            double y = isfinite(place->point->value) ? place->point->value : worst;
            if ((int)place->point->state == state && isfinite(y))
                orch_chart_add(series, place->x, y)->n = 1;
        }
    }
}

/* Adds the best value so far as a line with steps. */
static void add_steps(struct orch_chart_series *series, const GArray *places)
{
    double before = (double)NAN;
    for (guint i = 0; i < places->len; i++) {
        const struct place *place = place_at(places, i);
        if (isfinite(before) && place->best != before)
            orch_chart_add(series, place->x, before);
        if (isfinite(place->best) && (place->best != before || i + 1 == places->len))
            orch_chart_add(series, place->x, place->best);
        before = place->best;
    }
}

/* ---- several searches ------------------------------------------------------------------------ */

/* The best value of a search at `x`; NAN: none yet. */
static double best_at(const GArray *places, double x)
{
    double best = (double)NAN;
    for (guint i = 0; i < places->len && place_at(places, i)->x <= x; i++)
        best = place_at(places, i)->best;
    return best;
}

/* Adds the median of the searches, where all of them have a value, as a line with steps. */
static void add_median(struct orch_chart_series *series, const GPtrArray *all)
{
    g_autoptr(GArray) xs = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) medians = g_array_new(FALSE, FALSE, sizeof(struct place));
    g_autofree double *values = g_new(double, all->len);
    double end = HUGE_VAL;
    for (guint k = 0; k < all->len; k++) {
        const GArray *places = all->pdata[k];
        for (guint i = 0; i < places->len; i++)
            g_array_append_val(xs, place_at(places, i)->x);
        end = fmin(end, places->len ? place_at(places, places->len - 1)->x : 0);
    }
    g_array_sort(xs, orch_compare_reals);
    for (guint i = 0; i < xs->len && g_array_index(xs, double, i) <= end; i++) {
        const double x = g_array_index(xs, double, i);
        bool has_all = !i || x > g_array_index(xs, double, i - 1);
        for (guint k = 0; k < all->len; k++) {
            values[k] = best_at(all->pdata[k], x);
            has_all = has_all && isfinite(values[k]);
        }
        if (!has_all)
            continue;
        qsort(values, all->len, sizeof *values, orch_compare_reals);
        const struct place place = {x, NULL,
                                    (values[(all->len - 1) / 2] + values[all->len / 2]) / 2};
        g_array_append_val(medians, place);
    }
    add_steps(series, medians);
}

/* ---- charts ---------------------------------------------------------------------------------- */

static bool wants_log(const GPtrArray *searches)
{
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (guint k = 0; k < searches->len; k++) {
        const struct orch_searched *searched = searches->pdata[k];
        for (guint i = 0; i < searched->points->len; i++) {
            double value = ((const struct orch_searched_point *)searched->points->pdata[i])->value;
            low = isfinite(value) ? fmin(low, value) : low;
            high = isfinite(value) ? fmax(high, value) : high;
        }
    }
    return low > 0 && high > LOG_RATIO * low;
}

static void add_chart(struct orch_section *section, const GPtrArray *searches, const char *title,
                      const char *x_label, double unit_s)
{
    const struct orch_searched *first = searches->pdata[0];
    bool is_one = searches->len == 1;
    g_autofree char *y_label = first->unit
                                   ? g_strdup_printf("%s (%s)", first->search->metric, first->unit)
                                   : g_strdup(first->search->metric);
    struct orch_chart *chart =
        orch_chart_new(is_one ? ORCH_CHART_SCATTER : ORCH_CHART_LINE, title, x_label, y_label);
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    chart->log_y = wants_log(searches);
    for (guint i = 0; i < searches->len; i++)
        g_ptr_array_add(all, places_of(searches->pdata[i], unit_s));
    if (is_one) {
        add_dots(panel, first, all->pdata[0]);
        add_steps(orch_chart_series(panel, "best so far", ORCH_SERIES_REFERENCE), all->pdata[0]);
    } else {
        static const char name[] = "median of the best so far";
        add_median(orch_chart_series(panel, name, ORCH_SERIES_MEASURED), all);
        for (guint i = 0; i < all->len; i++)
            add_steps(orch_chart_run(panel, name), all->pdata[i]);
        chart->note = g_strdup_printf("thin lines: each of %u searches", searches->len);
    }
    orch_section_chart(section, chart);
}

void orch_search_add_progress(struct orch_section *section, const GPtrArray *searches,
                              const char *name)
{
    const struct time_unit unit = unit_of(searches);
    g_autofree char *by_points = g_strdup_printf("%s: best so far by settings", name);
    g_autofree char *by_time = g_strdup_printf("%s: best so far by device time", name);
    g_autofree char *time_label = g_strdup_printf("device time of all settings (%s)", unit.name);
    add_chart(section, searches, by_points, "settings", (double)NAN);
    add_chart(section, searches, by_time, time_label, unit.seconds);
}
