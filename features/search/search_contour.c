/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The points of a search by two parameters, with lines of equal values between them. */
#include "features/search/search_parts.h"

#include "features/search/isolines.h"
#include "lib/base/text.h"
#include "predictors/search/space_surface.h"

#include <math.h>

#define POINTS_LEAST 10 /* as many as importances need (predictors/search/param_importance.h) */
#define HEIGHTS 10      /* at most so many lines */

/* The points that ended and have both parameters. */
struct fitted {
    GArray *units;  /* double: two each */
    GArray *values; /* double */
};

static struct fitted gather(const struct orch_searched *searched, const unsigned of[2])
{
    struct fitted f = {g_array_new(FALSE, FALSE, sizeof(double)),
                       g_array_new(FALSE, FALSE, sizeof(double))};
    for (guint i = 0; i < searched->points->len; i++) {
        const struct orch_searched_point *point = searched->points->pdata[i];
        const double units[2] = {point->at[of[0]], point->at[of[1]]};
        if (point->state != ORCH_SEARCHED_ENDED || isnan(units[0] + units[1]) ||
            !isfinite(point->value))
            continue;
        g_array_append_vals(f.units, units, 2);
        g_array_append_val(f.values, point->value);
    }
    return f;
}

static void fitted_clear(struct fitted *f)
{
    g_array_unref(f->units);
    g_array_unref(f->values);
}

static struct orch_surface *surface_of(const struct fitted *f)
{
    struct orch_space *space = orch_space_new();
    const bool ok = orch_space_add(space, "x", "uniform(0, 1)", NULL, NULL) &&
                    orch_space_add(space, "y", "uniform(0, 1)", NULL, NULL);
    struct orch_surface *surface =
        ok ? orch_surface_fit(space, (const double *)(const void *)f->units->data,
                              (const double *)(const void *)f->values->data, f->values->len)
           : NULL;
    orch_space_free(space);
    return surface;
}

/* Adds the lines of one height; the longest is named by it. */
static void add_lines(struct orch_chart_panel *panel, const struct orch_surface *surface,
                      double height, const struct orch_space_param *const params[2])
{
    char name[ORCH_REAL_CHARS], digits[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(digits, sizeof digits, "%.6g", height);
    orch_real_format(g_ascii_strtod(digits, NULL), name);
    g_autoptr(GPtrArray) lines =
        orch_isolines(surface->mean, ORCH_SURFACE_SIDE, ORCH_SURFACE_SIDE, height);
    struct orch_chart_series *longest = NULL;
    for (guint i = 0; i < lines->len; i++) {
        const GArray *line = lines->pdata[i];
        struct orch_chart_series *series = orch_chart_level(panel, name);
        for (guint k = 0; k < line->len; k++) {
            const struct orch_isopoint *at = &g_array_index(line, struct orch_isopoint, k);
            orch_chart_add(series, orch_space_number(params[0], at->x / (ORCH_SURFACE_SIDE - 1)),
                           orch_space_number(params[1], at->y / (ORCH_SURFACE_SIDE - 1)))
                ->z = height;
        }
        longest = !longest || line->len > longest->points->len ? series : longest;
    }
    if (longest)
        g_array_index(longest->points, struct orch_chart_point, longest->points->len / 2).label =
            g_strdup(name);
}

static void add_points(struct orch_chart_panel *panel, const struct orch_searched *searched,
                       const struct orch_space_param *const params[2], const unsigned of[2])
{
    static const char *const names[] = {"ended", "pruned", "failed"};
    const char *best = searched->search->more_count ? "knee" : "best";
    for (int state = ORCH_SEARCHED_ENDED; state <= ORCH_SEARCHED_FAILED; state++)
        for (guint i = 0; i < searched->points->len; i++) {
            const struct orch_searched_point *point = searched->points->pdata[i];
            if ((int)point->state != state || isnan(point->at[of[0]] + point->at[of[1]]))
                continue;
            struct orch_chart_series *series = orch_chart_series(
                panel, point == searched->best ? best : names[state], ORCH_SERIES_MEASURED);
            struct orch_chart_point *added =
                orch_chart_add(series, orch_space_number(params[0], point->at[of[0]]),
                               orch_space_number(params[1], point->at[of[1]]));
            added->z = point->value;
            added->n = 1;
        }
}

const char *orch_search_add_contour(struct orch_section *section,
                                    const struct orch_searched *searched, const unsigned of[2])
{
    const struct orch_space_param *const params[2] = {
        orch_space_param(searched->search->space, of[0]),
        orch_space_param(searched->search->space, of[1])};
    if (params[0]->kind == ORCH_SPACE_CHOICE || params[1]->kind == ORCH_SPACE_CHOICE)
        return "Lines of equal values need two parameters that are numbers";
    struct fitted fitted = gather(searched, of);
    const bool is_few = fitted.values->len < POINTS_LEAST;
    g_autofree struct orch_surface *surface = is_few ? NULL : surface_of(&fitted);
    fitted_clear(&fitted);
    if (!surface)
        return is_few ? "Lines of equal values need 10 settings with both parameters"
                      : "No surface fits the values, so there are no lines of equal values";
    g_autofree char *title =
        g_strdup_printf("%s: %s by %s and %s", searched->name, searched->search->metric,
                        params[0]->name, params[1]->name);
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_SCATTER, title, params[0]->name, params[1]->name);
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    g_autoptr(GArray) heights =
        orch_isoline_heights(surface->mean, ORCH_SURFACE_SIDE, ORCH_SURFACE_SIDE, HEIGHTS);
    chart->log_x = params[0]->is_log;
    chart->log_y = params[1]->is_log;
    chart->z_label = g_strdup(searched->search->metric);
    for (guint i = 0; i < heights->len; i++)
        add_lines(panel, surface, g_array_index(heights, double, i), params);
    add_points(panel, searched, params, of);
    chart->note = g_strdup("lines: equal values, estimated by a Gaussian process from the settings "
                           "that ended. No lines where there are too few settings");
    orch_section_chart(section, chart);
    return NULL;
}
