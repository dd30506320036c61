/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/charts/plot_drawing.h"

#include "core/report/answer.h"
#include "core/report/averaged_over.h"
#include "core/report/metric_bounds.h"
#include "core/stats/curve_end.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

#define POINTS_MOST 1200 /* of one series; longer ones are thinned */
#define STRETCHES 300    /* ranges of a thinned line, with two points each */

/* ---- categories --------------------------------------------------------------------------------
 */

static int compare_names(gconstpointer a, gconstpointer b)
{
    double x, y;
    const char *one = *(const char *const *)a, *two = *(const char *const *)b;
    if (!orch_real_parse(one, &x) || !orch_real_parse(two, &y))
        return 0; /* keep the given order */
    return (x > y) - (x < y);
}

static bool are_numbers(const GPtrArray *names)
{
    double number;
    for (guint i = 0; i < names->len; i++)
        if (!orch_real_parse(names->pdata[i], &number))
            return false;
    return true;
}

/* Returns the names on one axis over all trials, with numbers sorted. */
static GPtrArray *names_of(const struct orch_plot_drawing *d, bool rows)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    const GArray *lists[] = {d->v.values, d->v.empty};
    for (size_t list = 0; list < G_N_ELEMENTS(lists); list++)
        for (guint i = 0; i < lists[list]->len; i++) {
            const struct orch_plot_value *value = orch_plot_value_at(lists[list], i);
            const char *name = rows ? value->row_text : value->x_text;
            if (name)
                orch_chart_category(names, name);
        }
    if (are_numbers(names))
        g_ptr_array_sort(names, compare_names);
    return names;
}

/* Places x on categories when some name is not a number, or when the chart is of a kind that needs
 * categories (bars, boxes, heat maps). Steps and values keep their numbers. */
static void place_x(struct orch_plot_drawing *d)
{
    enum orch_chart_kind kind = d->chart->kind;
    bool has_names = false;
    for (guint i = 0; i < d->v.values->len; i++)
        has_names = has_names || isnan(orch_plot_value_at(d->v.values, i)->x);
    bool has_places = kind == ORCH_CHART_BAR || kind == ORCH_CHART_BOX || kind == ORCH_CHART_HEAT;
    d->is_named_x = d->v.over == ORCH_PLOT_OVER_AXIS && (has_names || has_places) &&
                    kind != ORCH_CHART_HISTOGRAM;
    if (!d->is_named_x)
        return;
    d->chart->x_names = names_of(d, false);
    d->chart->log_x = false;
    for (guint i = 0; i < d->v.values->len; i++) {
        struct orch_plot_value *value = &g_array_index(d->v.values, struct orch_plot_value, i);
        value->x = orch_chart_category(d->chart->x_names, value->x_text);
    }
}

/* ---- points ------------------------------------------------------------------------------------
 */

/* Records in what the trials of one point differ besides the axes. */
static void note_merged(struct orch_plot_drawing *d, const GPtrArray *trials)
{
    const struct orch_plot_values *v = &d->v;
    g_autoptr(GPtrArray) axes = g_ptr_array_new();
    g_ptr_array_extend(axes, v->by, NULL, NULL);
    g_ptr_array_extend(axes, v->panels, NULL, NULL);
    if (v->plot->row)
        g_ptr_array_add(axes, (gpointer)(uintptr_t)v->plot->row);
    g_ptr_array_add(axes, (gpointer)(uintptr_t)v->plot->x);
    g_ptr_array_add(axes, NULL);
    if (trials->len > 1)
        orch_mixed_add(v->trials, trials, (const char *const *)axes->pdata, d->merged);
}

/* Records the number of seeds behind a mean of several. */
static void note_count(struct orch_plot_drawing *d, unsigned n)
{
    if (n < 2)
        return;
    d->n_low = d->n_low ? MIN(d->n_low, n) : n;
    d->n_high = MAX(d->n_high, n);
}

/* Returns the unit of y when all drawn values share it; else NULL. */
static const char *unit_of_y(const struct orch_plot_drawing *d)
{
    for (guint i = 1; i < d->v.plot->y->len; i++)
        if (g_strcmp0(d->v.units[0], d->v.units[i]) != 0)
            return NULL;
    return d->v.units[0];
}

/* Averages the measured values at one x by seed (struct orch_seed_mean). The caller unrefs. */
static GArray *means_at(const struct orch_plot_value *const *values, size_t count)
{
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) seeds = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (size_t i = 0; i < count; i++) {
        uint64_t seed = values[i]->trial ? values[i]->trial->seed : 0;
        g_array_append_val(numbers, values[i]->y);
        g_array_append_val(seeds, seed);
    }
    return orch_seed_means(numbers, seeds);
}

static struct orch_spread spread_of_means(const struct orch_plot_drawing *d, const GArray *means)
{
    g_autoptr(GArray) of_seeds = orch_seed_values(means);
    const struct orch_item_value *y = d->v.plot->y->pdata[0];
    if (d->v.plot->y->len == 1)
        return orch_trials_spread(d->v.trials, y, unit_of_y(d), of_seeds);
    return orch_spread_of((const double *)(void *)of_seeds->data, of_seeds->len, NULL,
                          unit_of_y(d));
}

static void add_measured(struct orch_plot_drawing *d, struct orch_chart_series *series,
                         const struct orch_plot_value *const *values, size_t count)
{
    GArray *means = means_at(values, count);
    struct orch_spread spread = spread_of_means(d, means);
    struct orch_chart_point *point = orch_chart_add(series, values[0]->x, spread.stat.mean);
    point->means = means;
    g_ptr_array_add(series->means, means);
    point->n = (unsigned)spread.stat.count;
    note_count(d, point->n);
    if (spread.form == ORCH_SPREAD_INTERVAL) {
        point->low = spread.low;
        point->high = spread.high;
        d->has_intervals = true;
    } else if (spread.form == ORCH_SPREAD_RUNS || spread.form == ORCH_SPREAD_MEDIAN) {
        point->least = spread.low;
        point->most = spread.high;
    }
}

/* Adds the mean of the forecasts at one x. */
static void add_mean(struct orch_plot_drawing *d, struct orch_chart_series *series,
                     const struct orch_plot_value *const *values, size_t count)
{
    if (series->role == ORCH_SERIES_MEASURED) {
        add_measured(d, series, values, count);
        return;
    }
    g_autofree double *numbers = g_new(double, count * 3);
    for (size_t i = 0; i < count; i++) {
        numbers[i] = values[i]->y;
        numbers[count + i] = values[i]->low;
        numbers[2 * count + i] = values[i]->high;
    }
    struct orch_chart_point *point =
        orch_chart_add(series, values[0]->x, orch_stat_of(numbers, count).mean);
    point->low = orch_stat_of(numbers + count, count).mean;
    point->high = orch_stat_of(numbers + 2 * count, count).mean;
}

static int compare_x(gconstpointer a, gconstpointer b)
{
    const struct orch_plot_value *one = *(const struct orch_plot_value *const *)a;
    const struct orch_plot_value *two = *(const struct orch_plot_value *const *)b;
    if (one->x != two->x)
        return (one->x > two->x) - (one->x < two->x);
    return (one > two) - (one < two); /* keep the given order */
}

static void add_means(struct orch_plot_drawing *d, struct orch_chart_series *series,
                      GPtrArray *values)
{
    const struct orch_plot_value *const *all = (void *)values->pdata;
    for (guint from = 0, to; from < values->len; from = to) {
        g_autoptr(GPtrArray) trials = g_ptr_array_new();
        for (to = from; to < values->len && all[to]->x == all[from]->x; to++)
            if (all[to]->trial)
                g_ptr_array_add(trials, (gpointer)(uintptr_t)all[to]->trial);
        if (from == 0 || d->v.over != ORCH_PLOT_OVER_STEPS)
            note_merged(d, trials);
        add_mean(d, series, all + from, to - from);
    }
}

static struct orch_chart_point *point_at(GArray *points, guint i)
{
    return &g_array_index(points, struct orch_chart_point, i);
}

/* Thins a long line: keeps the lowest and highest point of each range, and both ends. */
static void thin(struct orch_plot_drawing *d, struct orch_chart_series *series)
{
    GArray *all = series->points;
    if (all->len <= POINTS_MOST)
        return;
    GArray *kept = g_array_new(FALSE, FALSE, sizeof(struct orch_chart_point));
    g_array_append_val(kept, *point_at(all, 0));
    guint inner = all->len - 2;
    for (guint i = 0; i < STRETCHES; i++) {
        guint from = 1 + (guint)((guint64)inner * i / STRETCHES);
        guint to = 1 + (guint)((guint64)inner * (i + 1) / STRETCHES), low = from, high = from;
        for (guint j = from; j < to; j++) {
            low = point_at(all, j)->y < point_at(all, low)->y ? j : low;
            high = point_at(all, j)->y > point_at(all, high)->y ? j : high;
        }
        g_array_append_val(kept, *point_at(all, MIN(low, high)));
        if (low != high)
            g_array_append_val(kept, *point_at(all, MAX(low, high)));
    }
    g_array_append_val(kept, *point_at(all, all->len - 1));
    d->thinned_from = MAX(d->thinned_from, all->len);
    d->thinned_to = MAX(d->thinned_to, kept->len);
    g_array_set_size(all, 0); /* the points of a line have no labels to free */
    g_array_append_vals(all, kept->data, kept->len);
    g_array_unref(kept);
}

/* Returns whether the single runs are drawn as well: some point has several runs, and no point has
 * enough runs for an interval. */
static bool are_few(const struct orch_chart_series *series)
{
    unsigned most = 0;
    for (guint i = 0; i < series->points->len; i++)
        most = MAX(most, point_at(series->points, i)->n);
    return series->role == ORCH_SERIES_MEASURED && most > 1 && most < ORCH_INTERVAL_RUNS;
}

/* Adds each run behind a series as a line of its own. `values` are sorted by x. */
static void add_runs(struct orch_plot_drawing *d, struct orch_chart_panel *panel,
                     const struct orch_chart_series *series, const GPtrArray *values)
{
    g_autoptr(GHashTable) by_trial = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < values->len; i++) {
        const struct orch_plot_value *value = values->pdata[i];
        struct orch_chart_series *run = g_hash_table_lookup(by_trial, value->trial);
        if (!run) {
            run = orch_chart_run(panel, series->name);
            g_hash_table_insert(by_trial, (gpointer)(uintptr_t)value->trial, run);
        }
        orch_chart_add(run, value->x, value->y)->n = 1;
    }
    GHashTableIter iter;
    gpointer run;
    g_hash_table_iter_init(&iter, by_trial);
    while (g_hash_table_iter_next(&iter, NULL, &run))
        if (d->chart->kind == ORCH_CHART_LINE)
            thin(d, run);
}

/* More lines of single runs than this hide the means. */
enum { RUN_LINES_MOST = 12 };

/* The single runs of lines that have too few for an interval. */
static bool are_many_lines(const struct orch_plot_drawing *d)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL),
                          counts = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < d->v.values->len; i++) {
        const struct orch_plot_value *value = orch_plot_value_at(d->v.values, i);
        gpointer series = (gpointer)(uintptr_t)value->series; /* interned */
        if (value->role == ORCH_SERIES_MEASURED &&
            g_hash_table_add(seen, (gpointer)(uintptr_t)value->trial))
            g_hash_table_insert(
                counts, series,
                GUINT_TO_POINTER(GPOINTER_TO_UINT(g_hash_table_lookup(counts, series)) + 1));
    }
    guint lines = 0;
    GHashTableIter iter;
    gpointer count;
    g_hash_table_iter_init(&iter, counts);
    while (g_hash_table_iter_next(&iter, NULL, &count))
        lines += GPOINTER_TO_UINT(count) < ORCH_INTERVAL_RUNS ? GPOINTER_TO_UINT(count) : 0;
    return d->v.over == ORCH_PLOT_OVER_STEPS && lines > RUN_LINES_MOST;
}

static bool add_few_runs(struct orch_plot_drawing *d, struct orch_chart_panel *panel,
                         const struct orch_chart_series *series, const GPtrArray *values)
{
    if (!are_few(series) || are_many_lines(d))
        return false;
    add_runs(d, panel, series, values);
    return d->has_runs = true;
}

/* Finds how far the runs behind a series have a common mean. `values` are sorted by x. */
static struct orch_curve_end end_of(const GPtrArray *values)
{
    g_autoptr(GHashTable) last_of = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < values->len; i++) {
        const struct orch_plot_value *value = values->pdata[i];
        g_hash_table_insert(last_of, (gpointer)(uintptr_t)value->trial, values->pdata[i]);
    }
    g_autoptr(GArray) last = g_array_new(FALSE, FALSE, sizeof(double));
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, last_of);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        g_array_append_val(last, ((const struct orch_plot_value *)value)->x);
    return orch_curve_end_of((const double *)(const void *)last->data, last->len);
}

/* Returns the values from the common end on, of the runs that go on; none when all end together. */
static GPtrArray *beyond(const GPtrArray *values, const struct orch_curve_end *end)
{
    g_autoptr(GHashTable) goes_on = g_hash_table_new(NULL, NULL);
    GPtrArray *out = g_ptr_array_new();
    for (guint i = 0; i < values->len; i++) {
        const struct orch_plot_value *value = values->pdata[i];
        if (value->x > end->end)
            g_hash_table_add(goes_on, (gpointer)(uintptr_t)value->trial);
    }
    for (guint i = 0; i < values->len; i++) {
        const struct orch_plot_value *value = values->pdata[i];
        if (value->x >= end->end && g_hash_table_contains(goes_on, value->trial))
            g_ptr_array_add(out, values->pdata[i]);
    }
    return out;
}

/* Adds the means up to the common end of the runs, and the runs beyond it. With few runs these are
 * drawn as a whole. */
static void add_curves(struct orch_plot_drawing *d, struct orch_chart_panel *panel,
                       struct orch_chart_series *series, GPtrArray *values)
{
    const struct orch_curve_end end = end_of(values);
    g_autoptr(GPtrArray) common = g_ptr_array_new();
    for (guint i = 0; i < values->len; i++)
        if (((const struct orch_plot_value *)values->pdata[i])->x <= end.end)
            g_ptr_array_add(common, values->pdata[i]);
    series->runs = orch_curve_end_text(&end, d->v.plot->x);
    add_means(d, series, common);
    g_autoptr(GPtrArray) rest = beyond(values, &end);
    if (!add_few_runs(d, panel, series, values) && rest->len)
        add_runs(d, panel, series, rest);
    d->has_runs_beyond = d->has_runs_beyond || rest->len;
}

/* The number of the setting that a value's run repeats. Steps of one run are no repeats: 0. */
static unsigned setting_of(struct orch_plot_drawing *d, const struct orch_plot_value *value)
{
    static const char *const axes[] = {"experiment", "setting"};
    const GPtrArray of_setting = {(gpointer *)(uintptr_t)axes, G_N_ELEMENTS(axes)};
    if (d->v.over == ORCH_PLOT_OVER_STEPS || !value->trial)
        return 0;
    g_autofree char *label = orch_trial_label(d->v.trials, value->trial, &of_setting);
    if (!label)
        return 0;
    if (!d->settings)
        d->settings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    unsigned number = GPOINTER_TO_UINT(g_hash_table_lookup(d->settings, label));
    if (!number) {
        number = g_hash_table_size(d->settings) + 1;
        g_hash_table_insert(d->settings, g_steal_pointer(&label), GUINT_TO_POINTER(number));
    }
    return number;
}

static void add_series(struct orch_plot_drawing *d, struct orch_chart_panel *panel,
                       struct orch_chart_series *series, GPtrArray *values)
{
    enum orch_chart_kind kind = d->chart->kind;
    d->is_each_run = kind == ORCH_CHART_SCATTER || kind == ORCH_CHART_BOX ||
                     kind == ORCH_CHART_HISTOGRAM || d->v.over == ORCH_PLOT_OVER_VALUES;
    g_ptr_array_sort(values, compare_x);
    if (!d->is_each_run) {
        if (d->v.over == ORCH_PLOT_OVER_STEPS && series->role == ORCH_SERIES_MEASURED) {
            add_curves(d, panel, series, values);
        } else {
            add_means(d, series, values);
            add_few_runs(d, panel, series, values);
        }
        if (kind == ORCH_CHART_LINE)
            thin(d, series);
        return;
    }
    for (guint i = 0; i < values->len; i++) {
        const struct orch_plot_value *value = values->pdata[i];
        struct orch_chart_point *point = orch_chart_add(series, value->x, value->y);
        point->setting = setting_of(d, value);
        point->low = value->low;
        point->high = value->high;
        point->n = value->role == ORCH_SERIES_MEASURED;
    }
}

/* The name of a line that begins with one of several values, in words; NULL for any other. */
static char *label_of(const struct orch_plot_drawing *d, const char *name)
{
    for (guint i = 0; i < d->v.plot->y->len; i++) {
        const struct orch_item_value *y = d->v.plot->y->pdata[i];
        const size_t length = strlen(y->name);
        if (!g_str_has_prefix(name, y->name) || (name[length] && name[length] != ' '))
            continue;
        g_autofree char *words = orch_answer_words(d->v.trials->labels, y->name, d->v.units[i]);
        g_autofree char *setting = orch_answer_series(
            d->v.trials->labels,
            g_str_has_prefix(name + length, " ") ? name + length + 1 : name + length);
        return g_strconcat(words, *setting ? ", " : "", setting, NULL);
    }
    return NULL;
}

/* Groups the values by series, in order of first appearance. */
static void add_all_series(struct orch_plot_drawing *d)
{
    g_autoptr(GPtrArray) order = g_ptr_array_new(), panels = g_ptr_array_new();
    g_autoptr(GHashTable) by_series =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
    for (guint i = 0; i < d->v.values->len; i++) {
        struct orch_plot_value *value = &g_array_index(d->v.values, struct orch_plot_value, i);
        struct orch_chart_panel *panel = orch_chart_panel(d->chart, value->panel);
        struct orch_chart_series *series = orch_chart_series(panel, value->series, value->role);
        GPtrArray *values = g_hash_table_lookup(by_series, series);
        if (!series->label)
            series->label = label_of(d, value->series);
        if (!values) {
            values = g_ptr_array_new();
            g_hash_table_insert(by_series, series, values);
            g_ptr_array_add(order, series);
            g_ptr_array_add(panels, panel);
        }
        g_ptr_array_add(values, value);
    }
    for (guint i = 0; i < order->len; i++)
        add_series(d, panels->pdata[i], order->pdata[i],
                   g_hash_table_lookup(by_series, order->pdata[i]));
}

/* ---- cells -------------------------------------------------------------------------------------
 */

/* A cell of a heat map and its numbers. */
struct cell {
    struct orch_chart_panel *panel;
    const char *x, *row;
    GPtrArray *trials; /* those with a number: const struct orch_report_trial *, borrowed */
    GArray *numbers;
};

static void free_cell(gpointer pointer)
{
    struct cell *cell = pointer;
    g_array_unref(cell->numbers);
    g_ptr_array_unref(cell->trials);
    g_free(cell);
}

static struct cell *cell_of(GPtrArray *cells, struct orch_chart_panel *panel,
                            const struct orch_plot_value *value)
{
    for (guint i = 0; i < cells->len; i++) {
        struct cell *cell = cells->pdata[i];
        if (cell->panel == panel && cell->x == value->x_text && cell->row == value->row_text)
            return cell; /* texts are interned, so pointers can be compared */
    }
    struct cell *cell = g_new0(struct cell, 1);
    *cell = (struct cell){.panel = panel, .x = value->x_text, .row = value->row_text};
    cell->numbers = g_array_new(FALSE, FALSE, sizeof(double));
    cell->trials = g_ptr_array_new();
    g_ptr_array_add(cells, cell);
    return cell;
}

static void fill_cells(struct orch_plot_drawing *d, GPtrArray *cells, const GArray *values)
{
    for (guint i = 0; i < values->len; i++) {
        const struct orch_plot_value *value = orch_plot_value_at(values, i);
        struct cell *cell = cell_of(cells, orch_chart_panel(d->chart, value->panel), value);
        if (!isfinite(value->y))
            continue;
        g_ptr_array_add(cell->trials, (gpointer)(uintptr_t)value->trial);
        g_array_append_val(cell->numbers, value->y);
    }
}

/* Adds a cell for each position; a cell without a run has no colour. */
static void add_cells(struct orch_plot_drawing *d)
{
    g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(free_cell);
    d->chart->y_names = names_of(d, true);
    fill_cells(d, cells, d->v.values);
    fill_cells(d, cells, d->v.empty);
    for (guint i = 0; i < cells->len; i++) {
        const struct cell *cell = cells->pdata[i];
        struct orch_stat stat =
            orch_stat_of((const double *)(const void *)cell->numbers->data, cell->numbers->len);
        struct orch_chart_point *point =
            orch_chart_add(orch_chart_series(cell->panel, NULL, ORCH_SERIES_MEASURED),
                           orch_chart_category(d->chart->x_names, cell->x),
                           orch_chart_category(d->chart->y_names, cell->row));
        point->z = stat.count ? stat.mean : (double)NAN;
        point->n = (unsigned)stat.count;
        note_count(d, point->n);
        note_merged(d, cell->trials);
    }
}

void orch_plot_add_points(struct orch_plot_drawing *d)
{
    place_x(d);
    if (d->chart->kind == ORCH_CHART_HEAT)
        add_cells(d);
    else
        add_all_series(d);
}
