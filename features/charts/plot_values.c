/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/charts/plot_values.h"

#include "core/stats/varying_names.h"
#include "features/charts/axis_hint.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/system_metrics.h"
#include "store/write/forecast.h"

#include <math.h>
#include <string.h>

/* ---- trials ------------------------------------------------------------------------------------
 */

static const char *experiment_of(const struct orch_report_trial *trial)
{
    return trial->item ? trial->item->cell->experiment->name : trial->run->experiment;
}

static bool is_drawn(const struct orch_plot_values *v, struct orch_report_trial *trial)
{
    for (guint i = 0; i < v->plot->y->len; i++)
        if (orch_trial_has(v->trials, trial,
                           ((struct orch_item_value *)v->plot->y->pdata[i])->name))
            return true;
    return false;
}

/* ---- x axis ------------------------------------------------------------------------------------
 */

static bool any_has_axis(const struct orch_plot_values *v, const char *axis)
{
    for (guint i = 0; i < v->trials->all->len; i++) {
        g_autofree char *value = orch_trial_value(v->trials, v->trials->all->pdata[i], axis);
        if (value)
            return true;
    }
    return false;
}

static bool any_has_number(const struct orch_plot_values *v, const char *name)
{
    for (guint i = 0; i < v->trials->all->len; i++)
        if (orch_trial_has(v->trials, v->trials->all->pdata[i], name))
            return true;
    return false;
}

/* Returns whether some experiment's metric counts its steps in this unit. */
static bool is_step_unit(const struct orch_plot_values *v, const char *name)
{
    for (guint i = 0; i < v->trials->all->len; i++) {
        const struct orch_report_trial *trial = v->trials->all->pdata[i];
        const GPtrArray *metrics =
            trial->item ? trial->item->cell->experiment->manifest->metrics : NULL;
        for (guint j = 0; metrics && j < metrics->len; j++)
            if (g_strcmp0(((const struct orch_metric_spec *)metrics->pdata[j])->step_unit, name) ==
                0)
                return true;
    }
    return false;
}

/* Returns whether a trial measured the first y at several steps that count x. The plugin of a run
 * that a filter chose is not known, so that its series decides. */
static bool has_steps_of(const struct orch_plot_values *v, const struct orch_report_trial *trial,
                         const char *x)
{
    const struct orch_item_value *y = v->plot->y->pdata[0];
    const struct orch_metric_spec *metric =
        trial->item ? orch_manifest_metric(trial->item->cell->experiment->manifest, y->name) : NULL;
    if (trial->item)
        return metric && g_strcmp0(metric->step_unit, x) == 0;
    struct orch_series *series =
        trial->run ? orch_store_series(v->trials->store, trial->run->id, y->name, NULL) : NULL;
    bool has = series && series->count > 1;
    orch_series_free(series);
    return has;
}

/* Returns whether x is a list parameter for whose elements each trial measured y: the sizes of an
 * all-reduce, for example. The metric then counts its steps in that unit, and x are its steps; the
 * list as a whole would be one place with the last value only. */
static bool is_list_of_steps(const struct orch_plot_values *v, const char *x)
{
    for (guint i = 0; i < v->trials->all->len; i++) {
        const struct orch_report_trial *trial = v->trials->all->pdata[i];
        g_autofree char *value = orch_trial_value(v->trials, trial, x);
        if (value && value[0] == '[')
            return has_steps_of(v, trial, x);
    }
    return false;
}

static bool find_x(struct orch_plot_values *v, GError **error)
{
    static const char *const steps[] = {"step", "epoch", "iteration", ORCH_SYSTEM_STEP_UNIT, NULL};
    const char *x = v->plot->x;
    g_autoptr(json_t) text = json_string(x);
    g_autoptr(GPtrArray) wanted = orch_item_values_parse(text);
    const struct orch_item_value *value = wanted->pdata[0];
    bool is_steps = is_list_of_steps(v, x), is_axis = any_has_axis(v, x) && !is_steps;
    if (!is_axis && any_has_number(v, value->name)) {
        v->over = ORCH_PLOT_OVER_VALUES;
        v->x = (struct orch_item_value){value->aggregate, g_strdup(value->name)};
    } else if (!is_axis && (is_steps || is_step_unit(v, x) || g_strv_contains(steps, x))) {
        v->over = ORCH_PLOT_OVER_STEPS;
    } else if (!is_axis) {
        g_autofree char *axes = orch_axis_hint(v->trials, x);
        g_autofree char *metrics =
            v->trials->store ? orch_store_metric_hint(v->trials->store, value->name) : NULL;
        g_autofree char *hint =
            axes && orch_is_suggestion(axes) ? g_strdup(axes)
            : metrics && orch_is_suggestion(metrics)
                ? g_strdup(metrics)
                : g_strdup_printf("use 'step', a value such as 'last val_loss', or a parameter%s%s",
                                  axes ? "; " : "", axes ? axes : "");
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "no trial has '%s' for the x axis", x);
        return false;
    }
    return true;
}

static bool check_axes(const struct orch_plot_values *v, GError **error)
{
    g_autoptr(GPtrArray) axes = g_ptr_array_new();
    for (guint i = 0; i < v->by->len; i++)
        g_ptr_array_add(axes, v->by->pdata[i]);
    for (guint i = 0; i < v->panels->len; i++)
        g_ptr_array_add(axes, v->panels->pdata[i]);
    if (v->plot->row)
        g_ptr_array_add(axes, (gpointer)(uintptr_t)v->plot->row);
    for (guint i = 0; i < axes->len; i++) {
        if (any_has_axis(v, axes->pdata[i]))
            continue;
        g_autofree char *hint = orch_axis_hint(v->trials, axes->pdata[i]);
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "no trial has the parameter '%s'",
                       (char *)axes->pdata[i]);
        return false;
    }
    return true;
}

/* ---- names of series ---------------------------------------------------------------------------
 */

static void add_if_varying(GPtrArray *names, GHashTable *first, const char *name, const char *value)
{
    const char *before = g_hash_table_lookup(first, name);
    if (!before)
        g_hash_table_insert(first, g_strdup(name), g_strdup(value));
    else if (strcmp(before, value) != 0 && !orch_texts_have(names, name))
        g_ptr_array_insert(names, strcmp(name, "experiment") == 0 ? 0 : -1, g_strdup(name));
}

static GPtrArray *copy_names(const GPtrArray *names)
{
    GPtrArray *copy = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < names->len; i++)
        g_ptr_array_add(copy, g_strdup(names->pdata[i]));
    return copy;
}

/* Returns whether the name is used by an axis or by the panels. */
static bool is_about(const struct orch_plot_values *v, const char *name)
{
    const struct orch_plot *plot = v->plot;
    return g_strcmp0(plot->x, name) == 0 || g_strcmp0(plot->facet, name) == 0 ||
           g_strcmp0(plot->row, name) == 0;
}

/* Adds the names by which runs of a filter are told apart besides, as a value that was set for a
 * whole sweep: their mean would be one of different settings. */
static void add_of_runs(const struct orch_plot_values *v, GPtrArray *names)
{
    g_autoptr(GPtrArray) runs = g_ptr_array_new();
    for (guint i = 0; i < v->trials->all->len; i++) {
        struct orch_report_trial *trial = v->trials->all->pdata[i];
        if (!trial->item && trial->run && is_drawn(v, trial))
            g_ptr_array_add(runs, trial->run);
    }
    g_auto(GStrv) all = runs->len ? orch_varying_names(v->trials->store, runs, NULL) : NULL;
    for (guint i = 0; all && all[i]; i++)
        if (!is_about(v, all[i]))
            orch_texts_add_once(names, all[i]);
}

/* Returns the swept names that vary, except those used by an axis or by the panels, and the seed,
 * whose values are repeats. */
static GPtrArray *names_that_vary(const struct orch_plot_values *v)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) first = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint i = 0; i < v->trials->all->len; i++) {
        struct orch_report_trial *trial = v->trials->all->pdata[i];
        if (!is_drawn(v, trial))
            continue;
        if (!is_about(v, "experiment")) {
            const char *experiment = experiment_of(trial); /* NULL: another user's run */
            add_if_varying(names, first, "experiment", experiment ? experiment : "-");
        }
        g_autoptr(json_t) coords = orch_trial_coords(trial);
        const char *name;
        json_t *value;
        json_object_foreach(coords, name, value)
        {
            g_autofree char *text = orch_json_canonical(value);
            if (!is_about(v, name) && !orch_is_seed_name(name))
                add_if_varying(names, first, name, text);
        }
    }
    add_of_runs(v, names);
    return names;
}

/* Separates runs of different tasks into series; a heat map, which has no series, into panels. */
static void keep_tasks_apart(struct orch_plot_values *v)
{
    const struct orch_plot *plot = v->plot;
    bool is_heat = plot->kind == ORCH_CHART_HEAT;
    g_autoptr(GHashTable) drawn = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < v->trials->all->len; i++)
        if (is_drawn(v, v->trials->all->pdata[i]))
            g_hash_table_add(drawn, v->trials->all->pdata[i]);
    g_autoptr(GPtrArray) chosen = g_ptr_array_new();
    for (guint i = 0; i < v->by->len; i++)
        g_ptr_array_add(chosen, v->by->pdata[i]);
    g_ptr_array_add(chosen, NULL);
    g_autoptr(GPtrArray) names =
        orch_trials_task_names(v->trials, drawn, (const char *const *)chosen->pdata);
    GPtrArray *to = is_heat ? v->panels : v->by;
    guint from = to->len && strcmp(to->pdata[0], "experiment") == 0; /* it stays the first */
    for (guint i = 0; i < names->len; i++)
        if (!is_about(v, names->pdata[i]))
            g_ptr_array_insert(to, (int)(from + v->task_names++), g_strdup(names->pdata[i]));
}

static bool has_no_effect(const struct orch_report_trial *trial, const char *name)
{
    const GPtrArray *names = trial->item ? trial->item->no_effect : NULL;
    return names && orch_texts_have(names, name);
}

/* Returns whether a parameter has no effect in any trial that shares this one's other names: then
 * it is no part of the series' name. (How one worker exchanges gradients has no effect either, but
 * its line goes on to two workers.) */
static bool is_idle(const struct orch_plot_values *v, const struct orch_report_trial *trial,
                    const GPtrArray *names, const char *name)
{
    if (!has_no_effect(trial, name))
        return false;
    g_autoptr(GPtrArray) rest = g_ptr_array_new();
    for (guint i = 0; i < names->len; i++)
        if (strcmp(names->pdata[i], name) != 0)
            g_ptr_array_add(rest, names->pdata[i]);
    g_autofree char *own = orch_trial_label(v->trials, trial, rest);
    for (guint i = 0; i < v->trials->all->len; i++) {
        const struct orch_report_trial *other = v->trials->all->pdata[i];
        g_autofree char *label = orch_trial_label(v->trials, other, rest);
        if (g_strcmp0(own, label) == 0 && !has_no_effect(other, name))
            return false;
    }
    return true;
}

/* Appends the values of some names: "a lr=0.1". An experiment is written without the name of its
 * axis. */
static void append_values(const struct orch_plot_values *v, const struct orch_report_trial *trial,
                          const GPtrArray *names, GString *text)
{
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        if (is_idle(v, trial, names, name))
            continue;
        g_autofree char *value = orch_trial_value(v->trials, trial, name);
        bool is_plain = strcmp(name, "experiment") == 0;
        g_string_append_printf(text, "%s%s%s%s", text->len ? " " : "", is_plain ? "" : name,
                               is_plain ? "" : "=", value ? value : "-");
    }
}

/* Returns the series' name: "lr=0.1 mode=full", preceded by the value's name when several values
 * are drawn. */
static const char *series_of(const struct orch_plot_values *v,
                             const struct orch_report_trial *trial, const struct orch_item_value *y)
{
    const struct orch_plot *plot = v->plot;
    GString *name = g_string_new(NULL);
    bool has_others = plot->ideal || plot->predicted || plot->reference;
    if (plot->y->len > 1 || (!v->by->len && has_others))
        g_string_append(name, y->name);
    append_values(v, trial, v->by, name);
    const char *interned = g_intern_string(name->str);
    g_string_free(name, TRUE);
    return interned;
}

/* ---- numbers -----------------------------------------------------------------------------------
 */

/* Returns the position of a trial's numbers for this y; x and y are not set. */
static struct orch_plot_value place_of(const struct orch_plot_values *v,
                                       const struct orch_report_trial *trial,
                                       const struct orch_item_value *y)
{
    struct orch_plot_value value = {.x = (double)NAN,
                                    .y = (double)NAN,
                                    .low = (double)NAN,
                                    .high = (double)NAN,
                                    .series = series_of(v, trial, y),
                                    .trial = trial};
    if (v->panels->len) {
        GString *title = g_string_new(NULL);
        append_values(v, trial, v->panels, title);
        value.panel = g_intern_string(title->str);
        g_string_free(title, TRUE);
    }
    if (v->plot->row) {
        g_autofree char *text = orch_trial_value(v->trials, trial, v->plot->row);
        value.row_text = g_intern_string(text ? text : "-");
    }
    if (v->over == ORCH_PLOT_OVER_AXIS) {
        g_autofree char *text = orch_trial_value(v->trials, trial, v->plot->x);
        value.x_text = g_intern_string(text ? text : "-");
        double number;
        if (text && orch_real_parse(text, &number))
            value.x = number;
    }
    return value;
}

static bool add_curve(struct orch_plot_values *v, const struct orch_plot_value *place,
                      const struct orch_item_value *y, guint index, GError **error)
{
    g_autoptr(GError) failed = NULL;
    struct orch_series *series =
        orch_store_series(v->trials->store, place->trial->run->id, y->name, &failed);
    if (failed) {
        g_propagate_error(error, g_steal_pointer(&failed));
        return false;
    }
    guint before = v->values->len;
    for (size_t i = 0; series && i < series->count; i++) {
        struct orch_plot_value value = *place;
        value.x = (double)series->step[i];
        value.y = series->value[i];
        if (isfinite(value.y))
            g_array_append_val(v->values, value);
    }
    if (v->values->len == before)
        g_array_append_val(v->empty, *place);
    else if (series->unit && *series->unit)
        v->units[index] = g_intern_string(series->unit);
    orch_series_free(series);
    return true;
}

static bool add_number(struct orch_plot_values *v, struct orch_report_trial *trial,
                       struct orch_plot_value value, const struct orch_item_value *y, guint index,
                       GError **error)
{
    const char *better = NULL;
    if (!orch_trial_number(v->trials, trial, y, &value.y, &better, &v->units[index], error))
        return false;
    if (index == 0 && better)
        v->better = better;
    if (v->over == ORCH_PLOT_OVER_VALUES &&
        !orch_trial_number(v->trials, trial, &v->x, &value.x, NULL, &v->x_unit, error))
        return false;
    bool has_place = v->over != ORCH_PLOT_OVER_VALUES || isfinite(value.x);
    g_array_append_val(isfinite(value.y) && has_place ? v->values : v->empty, value);
    return true;
}

static bool add_trial(struct orch_plot_values *v, struct orch_report_trial *trial, GError **error)
{
    for (guint i = 0; i < v->plot->y->len; i++) {
        const struct orch_item_value *y = v->plot->y->pdata[i];
        if (!orch_trial_has(v->trials, trial, y->name))
            continue;
        struct orch_plot_value place = place_of(v, trial, y);
        bool ok = true;
        if (!trial->run)
            g_array_append_val(v->empty, place);
        else if (v->over == ORCH_PLOT_OVER_STEPS)
            ok = add_curve(v, &place, y, i, error);
        else
            ok = add_number(v, trial, place, y, i, error);
        if (!ok)
            return false;
    }
    return true;
}

/* Adds forecasts of wall time: for each measured value, the newest forecast made before the run. */
static bool add_forecasts(struct orch_plot_values *v, GError **error)
{
    g_autoptr(GPtrArray) grades =
        v->trials->store ? orch_store_grades(v->trials->store, error) : g_ptr_array_new();
    if (!grades)
        return false;
    g_autoptr(GHashTable) by_run = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < grades->len; i++) /* oldest first */
        g_hash_table_insert(by_run, ((struct orch_ended_forecast *)grades->pdata[i])->run_key,
                            grades->pdata[i]);
    guint measured = v->values->len;
    for (guint i = 0; i < measured; i++) {
        struct orch_plot_value value = g_array_index(v->values, struct orch_plot_value, i);
        const struct orch_ended_forecast *grade =
            g_hash_table_lookup(by_run, value.trial->run->key);
        if (!grade)
            continue;
        value.role = ORCH_SERIES_PREDICTED;
        value.y = grade->time_s.mid;
        value.low = grade->time_s.low;
        value.high = grade->time_s.high;
        g_array_append_val(v->values, value);
        v->has_forecasts = true;
    }
    g_ptr_array_set_free_func(grades, (GDestroyNotify)orch_ended_forecast_free);
    return true;
}

static bool check_y(const struct orch_plot_values *v, GError **error)
{
    for (guint i = 0; i < v->plot->y->len; i++) {
        const struct orch_item_value *y = v->plot->y->pdata[i];
        if (any_has_number(v, y->name))
            continue;
        g_autofree char *hint =
            v->trials->store ? orch_store_metric_hint(v->trials->store, y->name) : NULL;
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "no trial has a metric or result '%s'",
                       y->name);
        return false;
    }
    return true;
}

/* Uses the units that plugins declare where no run recorded one. */
static void fill_units(struct orch_plot_values *v)
{
    for (guint i = 0; i < v->trials->all->len; i++) {
        const struct orch_report_trial *trial = v->trials->all->pdata[i];
        const struct orch_manifest *manifest =
            trial->item ? trial->item->cell->experiment->manifest : NULL;
        if (!manifest)
            continue;
        const struct orch_param_spec *param = orch_manifest_param(manifest, v->plot->x);
        if (v->over == ORCH_PLOT_OVER_AXIS && !v->x_unit && param && param->unit && *param->unit)
            v->x_unit = g_intern_string(param->unit);
        for (guint j = 0; j < v->plot->y->len; j++) {
            const struct orch_item_value *y = v->plot->y->pdata[j];
            const struct orch_metric_spec *system = orch_system_metric_find(y->name);
            const struct orch_metric_spec *metric =
                system ? system : orch_manifest_metric(manifest, y->name);
            if (!v->units[j] && metric && metric->unit && *metric->unit)
                v->units[j] = g_intern_string(metric->unit);
        }
    }
}

bool orch_plot_values_gather(struct orch_plot_values *v, struct orch_trials *trials,
                             const struct orch_plot *plot, struct orch_section *section,
                             GError **error)
{
    *v = (struct orch_plot_values){.trials = trials, .plot = plot, .better = "none"};
    v->values = g_array_new(FALSE, FALSE, sizeof(struct orch_plot_value));
    v->empty = g_array_new(FALSE, FALSE, sizeof(struct orch_plot_value));
    v->units = g_new0(const char *, plot->y->len + 1);
    bool is_heat = plot->kind == ORCH_CHART_HEAT;
    v->panels = g_ptr_array_new_with_free_func(g_free);
    if (plot->facet)
        g_ptr_array_add(v->panels, g_strdup(plot->facet));
    if (plot->by)
        v->by = copy_names(plot->by);
    else
        v->by = is_heat ? g_ptr_array_new_with_free_func(g_free) : names_that_vary(v);
    if (!plot->across)
        keep_tasks_apart(v);
    if (!trials->all->len)
        return true;
    if (!check_y(v, error) || !find_x(v, error) || !check_axes(v, error))
        return false;
    for (guint i = 0; i < trials->all->len; i++) {
        struct orch_report_trial *trial = trials->all->pdata[i];
        if (!is_drawn(v, trial))
            continue;
        orch_section_trial(section, trials, trial);
        if (!add_trial(v, trial, error))
            return false;
    }
    fill_units(v);
    return !plot->predicted || add_forecasts(v, error);
}

void orch_plot_values_clear(struct orch_plot_values *v)
{
    g_clear_pointer(&v->values, g_array_unref);
    g_clear_pointer(&v->empty, g_array_unref);
    g_clear_pointer(&v->by, g_ptr_array_unref);
    g_clear_pointer(&v->panels, g_ptr_array_unref);
    g_free(v->units);
    g_free(v->x.name);
}
