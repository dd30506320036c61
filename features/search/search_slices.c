/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The points of a search by the two parameters that matter most. */
#include "features/search/search_parts.h"

#include "features/search/samplers/sampler_grid.h"
#include "features/search/tried_points.h"
#include "lib/base/text.h"

#include <math.h>

#define MORE_DIGITS_MAX 15

static double number_at(const struct orch_space_param *param, double unit)
{
    g_autofree char *text = orch_space_text(param, unit);
    return g_ascii_strtod(text, NULL);
}

/* Finds the two parameters with the largest importance. Returns how many there are. */
static unsigned most_important(const struct orch_importance *importance, unsigned out[2])
{
    unsigned count = 0;
    for (unsigned p = 0; p < importance->params; p++) {
        if (isnan(importance->share[p].mid)) /* no points differ in it */
            continue;
        unsigned place = count;
        while (place > 0 && importance->share[p].mid > importance->share[out[place - 1]].mid)
            place--;
        if (place == 0 && count)
            out[1] = out[0];
        if (place < 2)
            out[place] = p;
        count = MIN(count + 1, 2);
    }
    return count;
}

/* ---- one parameter --------------------------------------------------------------------------- */

static void add_slice(struct orch_section *section, const struct orch_searched *searched,
                      unsigned index)
{
    static const char *const names[] = {"ended", "pruned, its value then"};
    const struct orch_space_param *param = orch_space_param(searched->search->space, index);
    g_autofree char *title =
        g_strdup_printf("%s: %s by %s", searched->name, searched->search->metric, param->name);
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_SCATTER, title, param->name, searched->search->metric);
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    chart->log_x = param->is_log;
    if (param->kind == ORCH_SPACE_CHOICE) {
        chart->x_names = g_ptr_array_new_with_free_func(g_free);
        for (guint k = 0; k < param->choices->len; k++)
            orch_chart_category(chart->x_names, param->choices->pdata[k]);
    }
    for (int state = ORCH_SEARCHED_ENDED; state <= ORCH_SEARCHED_PRUNED; state++) {
        struct orch_chart_series *series =
            searched->counts[state] ? orch_chart_series(panel, names[state], ORCH_SERIES_MEASURED)
                                    : NULL;
        for (guint i = 0; series && i < searched->points->len; i++) {
            const struct orch_searched_point *point = searched->points->pdata[i];
            if ((int)point->state != state || isnan(point->at[index]) || !isfinite(point->value))
                continue;
            double x = param->kind == ORCH_SPACE_CHOICE ? orch_space_choice(param, point->at[index])
                                                        : number_at(param, point->at[index]);
            orch_chart_add(series, x, point->value)->n = 1;
        }
    }
    orch_section_chart(section, chart);
}

/* ---- two parameters -------------------------------------------------------------------------- */

/* The part of a parameter's range that a coordinate is in. */
static unsigned part_of(const struct orch_space_param *param, double unit)
{
    const unsigned parts = orch_search_grid_values(param);
    return param->kind == ORCH_SPACE_CHOICE ? orch_space_choice(param, unit)
                                            : MIN((unsigned)(unit * parts), parts - 1);
}

/* A number with two digits, or as a whole one, and `more` digits. */
static char *short_number(double value, int more)
{
    char format[8], digits[G_ASCII_DTOSTR_BUF_SIZE], shortest[ORCH_REAL_CHARS];
    if (fabs(value) < 10)
        g_snprintf(format, sizeof format, "%%.%dg", 2 + more);
    else
        g_snprintf(format, sizeof format, "%%.%df", more);
    g_ascii_formatd(digits, sizeof digits, format, value);
    return g_strdup(more ? orch_real_format(g_ascii_strtod(digits, NULL), shortest) : digits);
}

/* Names the parts of a range by their middle, which is a value of the grid, or the choices. */
static GPtrArray *part_names_with(const struct orch_space_param *param, int more)
{
    const unsigned parts = orch_search_grid_values(param);
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (unsigned k = 0; k < parts; k++)
        g_ptr_array_add(names, param->kind == ORCH_SPACE_CHOICE
                                   ? g_strdup(param->choices->pdata[k])
                                   : short_number(number_at(param, (k + 0.5) / parts), more));
    return names;
}

/* The names with as many digits as tell the parts of a narrow range apart. */
static GPtrArray *part_names(const struct orch_space_param *param)
{
    for (int more = 0;; more++) {
        GPtrArray *names = part_names_with(param, more);
        g_autoptr(GHashTable) different = g_hash_table_new(g_str_hash, g_str_equal);
        for (guint i = 0; i < names->len; i++)
            g_hash_table_add(different, names->pdata[i]);
        if (g_hash_table_size(different) == names->len || more == MORE_DIGITS_MAX)
            return names;
        g_ptr_array_unref(names);
    }
}

static void add_grid(struct orch_section *section, const struct orch_searched *searched,
                     const unsigned of[2], const char *why_no_lines)
{
    const struct orch_space_param *x = orch_space_param(searched->search->space, of[0]),
                                  *y = orch_space_param(searched->search->space, of[1]);
    const unsigned columns = orch_search_grid_values(x), rows = orch_search_grid_values(y);
    g_autofree double *best = g_new(double, (gsize)columns *rows);
    g_autofree char *title = g_strdup_printf("%s: best %s by %s and %s", searched->name,
                                             searched->search->metric, x->name, y->name);
    for (unsigned i = 0; i < columns * rows; i++)
        best[i] = (double)NAN;
    for (guint i = 0; i < searched->points->len; i++) {
        const struct orch_searched_point *point = searched->points->pdata[i];
        if (point->state != ORCH_SEARCHED_ENDED || isnan(point->at[of[0]]) ||
            isnan(point->at[of[1]]))
            continue;
        double *cell = &best[part_of(y, point->at[of[1]]) * columns + part_of(x, point->at[of[0]])];
        if (orch_tried_is_better(searched->search, point->value, *cell))
            *cell = point->value;
    }
    struct orch_chart *chart = orch_chart_new(ORCH_CHART_HEAT, title, x->name, y->name);
    struct orch_chart_series *series =
        orch_chart_series(orch_chart_panel(chart, NULL), "best", ORCH_SERIES_MEASURED);
    chart->z_label = g_strdup(searched->search->metric);
    chart->x_names = part_names(x);
    chart->y_names = part_names(y);
    chart->note = g_strdup_printf(
        "each cell: the best value of its settings. No value: no setting was tried there. %s",
        why_no_lines);
    for (unsigned i = 0; i < columns * rows; i++)
        if (isfinite(best[i])) {
            struct orch_chart_point *point = orch_chart_add(series, i % columns, i / columns);
            point->z = best[i];
        }
    orch_section_chart(section, chart);
}

void orch_search_add_slices(struct orch_section *section, const struct orch_searched *searched,
                            const struct orch_importance *importance)
{
    unsigned of[2] = {0};
    unsigned count = importance->explained > 0 ? most_important(importance, of) : 0;
    for (unsigned i = 0; i < count; i++)
        add_slice(section, searched, of[i]);
    const char *why = count == 2 ? orch_search_add_contour(section, searched, of) : NULL;
    if (why)
        add_grid(section, searched, of, why);
}
