/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/answer/plot_values.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

#define POINTS_MOST 1200 /* of one series; longer ones are thinned to */
#define STRETCHES 300    /* so many stretches, of two points each */
#define IDEAL_POINTS 33
#define NAMED_MOST 8

struct drawing {
    struct orch_plot_values v;
    struct orch_chart *chart;
    bool is_named_x;        /* x has categories */
    bool is_each_run;       /* points are runs, not means */
    GPtrArray *merged;      /* char *: swept names whose values one point puts together */
    unsigned n_low, n_high; /* runs behind means with an interval; 0: there are none */
    size_t thinned_from, thinned_to;
};

bool orch_plot_kind_parse(const char *word, int *out)
{
    static const char *const kinds[] = {"line", "scatter", "bar", "box", "histogram", "heat"};
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (strcmp(word, kinds[i]) == 0) {
            *out = (int)i;
            return true;
        }
    return false;
}

static const struct orch_plot_value *value_at(const GArray *values, guint i)
{
    return &g_array_index(values, struct orch_plot_value, i);
}

/* ---- categories --------------------------------------------------------------------------------
 */

static int compare_names(gconstpointer a, gconstpointer b)
{
    double x, y;
    const char *one = *(const char *const *)a, *two = *(const char *const *)b;
    if (!orch_real_parse(one, &x) || !orch_real_parse(two, &y))
        return 0; /* as they came */
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

/* Names at one axis, of all trials, numbers in their order. */
static GPtrArray *names_of(const struct drawing *d, bool rows)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    const GArray *lists[] = {d->v.values, d->v.empty};
    for (size_t list = 0; list < G_N_ELEMENTS(lists); list++)
        for (guint i = 0; i < lists[list]->len; i++) {
            const struct orch_plot_value *value = value_at(lists[list], i);
            const char *name = rows ? value->row_text : value->x_text;
            if (name)
                orch_chart_category(names, name);
        }
    if (are_numbers(names))
        g_ptr_array_sort(names, compare_names);
    return names;
}

/* Numbers stand at their value, unless the kind has places instead; steps and values are numbers.
 */
static void place_x(struct drawing *d)
{
    enum orch_chart_kind kind = d->chart->kind;
    bool has_names = false;
    for (guint i = 0; i < d->v.values->len; i++)
        has_names = has_names || isnan(value_at(d->v.values, i)->x);
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

/* Swept names in which two trials behind one point differ. */
static void note_merged(struct drawing *d, const struct orch_trial *a, const struct orch_trial *b)
{
    g_autoptr(json_t) one = orch_trial_coords(a), two = orch_trial_coords(b);
    const char *name;
    json_t *value;
    json_object_foreach(one, name, value)
    {
        if (!json_equal(value, json_object_get(two, name)) &&
            !g_ptr_array_find_with_equal_func(d->merged, name, g_str_equal, NULL))
            g_ptr_array_add(d->merged, g_strdup(name));
    }
}

/* How many runs stand behind the means that are of several. */
static void note_count(struct drawing *d, unsigned n)
{
    if (n < 2)
        return;
    d->n_low = d->n_low ? MIN(d->n_low, n) : n;
    d->n_high = MAX(d->n_high, n);
}

/* Measured values of one place as their mean with its interval; of forecasts the means of theirs.
 */
static void add_mean(struct drawing *d, struct orch_chart_series *series,
                     const struct orch_plot_value *const *values, size_t count)
{
    g_autofree double *numbers = g_new(double, count * 3);
    for (size_t i = 0; i < count; i++) {
        numbers[i] = values[i]->y;
        numbers[count + i] = values[i]->low;
        numbers[2 * count + i] = values[i]->high;
    }
    struct orch_stat stat = orch_stat_of(numbers, count);
    bool is_measured = series->role == ORCH_SERIES_MEASURED;
    struct orch_chart_point *point = orch_chart_add(series, values[0]->x, stat.mean);
    point->n = is_measured ? (unsigned)stat.count : 0;
    if (!is_measured) {
        point->low = orch_stat_of(numbers + count, count).mean;
        point->high = orch_stat_of(numbers + 2 * count, count).mean;
    } else if (stat.count > 1) {
        point->low = stat.mean - stat.half;
        point->high = stat.mean + stat.half;
        note_count(d, point->n);
    }
}

static int compare_x(gconstpointer a, gconstpointer b)
{
    const struct orch_plot_value *one = *(const struct orch_plot_value *const *)a;
    const struct orch_plot_value *two = *(const struct orch_plot_value *const *)b;
    if (one->x != two->x)
        return (one->x > two->x) - (one->x < two->x);
    return (one > two) - (one < two); /* as they came */
}

static void add_means(struct drawing *d, struct orch_chart_series *series, GPtrArray *values)
{
    const struct orch_plot_value *const *all = (void *)values->pdata;
    for (guint from = 0, to; from < values->len; from = to) {
        for (to = from + 1; to < values->len && all[to]->x == all[from]->x; to++)
            if (from == 0 || d->v.over != ORCH_PLOT_OVER_STEPS)
                note_merged(d, all[from]->trial, all[to]->trial);
        add_mean(d, series, all + from, to - from);
    }
}

static struct orch_chart_point *point_at(GArray *points, guint i)
{
    return &g_array_index(points, struct orch_chart_point, i);
}

/* A long line as the lowest and highest point of each of many stretches, its ends as they are. */
static void thin(struct drawing *d, struct orch_chart_series *series)
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
    g_array_set_size(all, 0); /* none of them has a label */
    g_array_append_vals(all, kept->data, kept->len);
    g_array_unref(kept);
}

static void add_series(struct drawing *d, struct orch_chart_series *series, GPtrArray *values)
{
    enum orch_chart_kind kind = d->chart->kind;
    d->is_each_run = kind == ORCH_CHART_SCATTER || kind == ORCH_CHART_BOX ||
                     kind == ORCH_CHART_HISTOGRAM || d->v.over == ORCH_PLOT_OVER_VALUES;
    g_ptr_array_sort(values, compare_x);
    if (!d->is_each_run) {
        add_means(d, series, values);
        if (kind == ORCH_CHART_LINE)
            thin(d, series);
        return;
    }
    for (guint i = 0; i < values->len; i++) {
        const struct orch_plot_value *value = values->pdata[i];
        struct orch_chart_point *point = orch_chart_add(series, value->x, value->y);
        point->low = value->low;
        point->high = value->high;
        point->n = value->role == ORCH_SERIES_MEASURED;
    }
}

/* Values by series, in order of first sight. */
static void add_all_series(struct drawing *d)
{
    g_autoptr(GPtrArray) order = g_ptr_array_new();
    g_autoptr(GHashTable) by_series =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
    for (guint i = 0; i < d->v.values->len; i++) {
        struct orch_plot_value *value = &g_array_index(d->v.values, struct orch_plot_value, i);
        struct orch_chart_panel *panel = orch_chart_panel(d->chart, value->panel);
        struct orch_chart_series *series = orch_chart_series(panel, value->series, value->role);
        GPtrArray *values = g_hash_table_lookup(by_series, series);
        if (!values) {
            values = g_ptr_array_new();
            g_hash_table_insert(by_series, series, values);
            g_ptr_array_add(order, series);
        }
        g_ptr_array_add(values, value);
    }
    for (guint i = 0; i < order->len; i++)
        add_series(d, order->pdata[i], g_hash_table_lookup(by_series, order->pdata[i]));
}

/* A cell for each place, without a colour where nothing was run. */
static void add_cells(struct drawing *d)
{
    d->chart->y_names = names_of(d, true);
    const GArray *lists[] = {d->v.values, d->v.empty};
    g_autoptr(GHashTable) numbers =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t list = 0; list < G_N_ELEMENTS(lists); list++)
        for (guint i = 0; i < lists[list]->len; i++) {
            const struct orch_plot_value *value = value_at(lists[list], i);
            struct orch_chart_panel *panel = orch_chart_panel(d->chart, value->panel);
            g_autofree char *key =
                g_strdup_printf("%p %s\n%s", (void *)panel, value->x_text, value->row_text);
            GArray *cell = g_hash_table_lookup(seen, key);
            if (!cell) {
                cell = g_array_new(FALSE, FALSE, sizeof(double));
                g_hash_table_insert(numbers, cell, cell);
                g_hash_table_insert(seen, g_steal_pointer(&key), cell);
            }
            if (isfinite(value->y))
                g_array_append_val(cell, value->y);
        }
    for (size_t list = 0; list < G_N_ELEMENTS(lists); list++)
        for (guint i = 0; i < lists[list]->len; i++) {
            const struct orch_plot_value *value = value_at(lists[list], i);
            struct orch_chart_panel *panel = orch_chart_panel(d->chart, value->panel);
            g_autofree char *key =
                g_strdup_printf("%p %s\n%s", (void *)panel, value->x_text, value->row_text);
            const GArray *cell = g_hash_table_lookup(seen, key);
            if (!cell)
                continue;
            struct orch_stat stat =
                orch_stat_of((const double *)(const void *)cell->data, cell->len);
            struct orch_chart_point *point =
                orch_chart_add(orch_chart_series(panel, NULL, ORCH_SERIES_MEASURED),
                               orch_chart_category(d->chart->x_names, value->x_text),
                               orch_chart_category(d->chart->y_names, value->row_text));
            point->z = stat.count ? stat.mean : (double)NAN;
            point->n = (unsigned)stat.count;
            note_count(d, point->n);
            g_hash_table_remove(seen, key);
        }
}

/* ---- lines to compare with ---------------------------------------------------------------------
 */

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

/* From the smallest x on in proportion to x (a rate), or to 1/x (where less is better: a time). */
static void add_ideals(struct drawing *d, struct orch_section *section)
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

/* A level from side to side. */
static void add_level(struct drawing *d, struct orch_chart_panel *panel, double level)
{
    double low = INFINITY, high = -INFINITY;
    for (guint i = 0; i < d->v.values->len; i++) {
        low = fmin(low, value_at(d->v.values, i)->x);
        high = fmax(high, value_at(d->v.values, i)->x);
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

static void add_reference_curve(struct drawing *d, struct orch_chart_panel *panel,
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

static void add_reference(struct drawing *d, const json_t *reference)
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

/* ---- words -------------------------------------------------------------------------------------
 */

static char *with_unit(const char *name, const char *unit)
{
    return unit ? g_strdup_printf("%s (%s)", name, unit) : g_strdup(name);
}

static char *y_label(const struct drawing *d)
{
    const GPtrArray *y = d->v.plot->y;
    GString *names = g_string_new(NULL);
    bool is_one_unit = true;
    for (guint i = 0; i < y->len; i++) {
        const struct orch_wanted *wanted = y->pdata[i];
        bool is_plain =
            d->v.over == ORCH_PLOT_OVER_STEPS || wanted->aggregate == ORCH_AGGREGATE_LAST;
        g_string_append_printf(names, "%s%s%s%s", i ? ", " : "",
                               is_plain ? "" : orch_aggregate_name(wanted->aggregate),
                               is_plain ? "" : " ", wanted->name);
        is_one_unit = is_one_unit && g_strcmp0(d->v.units[i], d->v.units[0]) == 0;
    }
    char *label = with_unit(names->str, is_one_unit && y->len ? d->v.units[0] : NULL);
    g_string_free(names, TRUE);
    return label;
}

static char *x_label(const struct drawing *d)
{
    return with_unit(d->v.plot->x, d->v.x_unit);
}

/* What intervals and points are, as a note below the chart. */
static char *note_of(const struct drawing *d)
{
    GString *note = g_string_new(NULL);
    if (d->n_high) {
        g_autofree char *n = d->n_low == d->n_high
                                 ? g_strdup_printf("%u", d->n_low)
                                 : g_strdup_printf("%u to %u", d->n_low, d->n_high);
        g_string_append_printf(
            note, "mean%s over n = %s runs",
            d->chart->kind == ORCH_CHART_HEAT ? "" : " and its 95 % interval (t)", n);
    }
    if (d->is_each_run && d->chart->kind != ORCH_CHART_HISTOGRAM &&
        d->v.over != ORCH_PLOT_OVER_STEPS)
        g_string_append_printf(note, "each %s a run",
                               d->chart->kind == ORCH_CHART_BOX ? "value is of" : "point is");
    if (d->merged->len) {
        g_ptr_array_add(d->merged, NULL);
        g_autofree char *names = g_strjoinv(", ", (char **)d->merged->pdata);
        g_ptr_array_set_size(d->merged, (int)d->merged->len - 1);
        g_string_append_printf(note, "%smeans are also over %s", note->len ? "; " : "", names);
    }
    if (d->v.has_forecasts)
        g_string_append_printf(
            note, "%spredicted: the forecast made before the run, with its 90 %% interval",
            note->len ? "; " : "");
    if (d->thinned_from)
        g_string_append_printf(note,
                               "%slines of up to %zu points are drawn with %zu: the lowest and "
                               "highest of each stretch",
                               note->len ? "; " : "", d->thinned_from, d->thinned_to);
    return g_string_free(note, note->len == 0);
}

/* Trials that were run without leaving the number; what was not run is said by who knows the cure.
 */
static void name_missing(const struct drawing *d, struct orch_section *section)
{
    GString *names[2] = {g_string_new(NULL), g_string_new(NULL)}; /* not run; without a value */
    unsigned counts[2] = {0, 0};
    const struct orch_trial *last = NULL;
    for (guint i = 0; i < d->v.empty->len; i++) {
        const struct orch_trial *trial = value_at(d->v.empty, i)->trial;
        int which = trial->run ? 1 : 0;
        if (trial == last)
            continue;
        last = trial;
        g_autofree char *name = orch_trial_name(trial);
        if (counts[which]++ < NAMED_MOST)
            g_string_append_printf(names[which], "%s%s", counts[which] > 1 ? ", " : "", name);
    }
    static const char *const what[2] = {"not run", "without a value to draw"};
    for (int i = 0; i < 2; i++) {
        if (counts[i] > NAMED_MOST)
            g_string_append_printf(names[i], " and %u more", counts[i] - NAMED_MOST);
        if (counts[i])
            orch_section_missing(section, NULL, "%s: %s", what[i], names[i]->str);
        g_string_free(names[i], TRUE);
    }
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

static enum orch_chart_kind kind_of(const struct orch_plot_values *v)
{
    if (v->plot->kind != ORCH_PLOT_KIND_OF_X)
        return (enum orch_chart_kind)v->plot->kind;
    if (v->over == ORCH_PLOT_OVER_VALUES)
        return ORCH_CHART_SCATTER;
    for (guint i = 0; i < v->values->len && v->over == ORCH_PLOT_OVER_AXIS; i++)
        if (isnan(value_at(v->values, i)->x))
            return ORCH_CHART_BAR;
    return ORCH_CHART_LINE;
}

static struct orch_chart *begin_chart(const struct drawing *d)
{
    const struct orch_plot *plot = d->v.plot;
    enum orch_chart_kind kind = kind_of(&d->v);
    g_autofree char *x = x_label(d), *y = y_label(d);
    if (kind == ORCH_CHART_HISTOGRAM)
        return orch_chart_new(kind, plot->title, y,
                              d->v.over == ORCH_PLOT_OVER_STEPS ? "points" : "runs");
    if (kind == ORCH_CHART_HEAT) {
        struct orch_chart *chart = orch_chart_new(kind, plot->title, x, plot->row);
        chart->z_label = g_steal_pointer(&y);
        return chart;
    }
    struct orch_chart *chart = orch_chart_new(kind, plot->title, x, y);
    chart->log_x = plot->log_x;
    chart->log_y = plot->log_y;
    return chart;
}

static void fill_chart(struct drawing *d, struct orch_section *section)
{
    const struct orch_plot *plot = d->v.plot;
    place_x(d);
    if (d->chart->kind == ORCH_CHART_HEAT)
        add_cells(d);
    else
        add_all_series(d);
    bool has_lines = d->chart->kind <= ORCH_CHART_BOX;
    if (plot->ideal && has_lines)
        add_ideals(d, section);
    if (plot->reference && has_lines)
        add_reference(d, plot->reference);
    d->chart->note = note_of(d);
}

bool orch_plot_draw(struct orch_trials *trials, const struct orch_plot *plot,
                    struct orch_section *section, GError **error)
{
    struct drawing d = {.merged = g_ptr_array_new_with_free_func(g_free)};
    bool ok = orch_plot_values_gather(&d.v, trials, plot, section, error);
    if (ok && d.v.values->len) {
        d.chart = begin_chart(&d);
        fill_chart(&d, section);
        orch_section_chart(section, d.chart);
        note_sources(plot->reference, section);
        if (plot->predicted && !d.v.has_forecasts)
            orch_section_note(section,
                              "no forecast of these runs is kept: they were not predicted");
    }
    if (ok)
        name_missing(&d, section);
    orch_plot_values_clear(&d.v);
    g_ptr_array_unref(d.merged);
    return ok;
}
