/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `converged`: does a series still change at its end? The mean over the last stretch of
 * steps is compared with the mean over the stretch before it; a relative change below a threshold
 * counts as converged. Means are compared because single epochs scatter. The test cannot find the
 * reason: a loss also stops changing when the learning rate has become small, so show the curves
 * with this item. */
#include "core/report/items.h"

#include "core/stats/numbers.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Defaults: the relative change that counts as none, and the stretch as a share of all steps. */
#define WITHIN 0.01
#define OVER 0.1

struct setting {
    char *label;
    GArray *ends, *changes; /* double, one for each run */
    unsigned planned;
    size_t stretch; /* points of the run read last */
};

static void setting_free(gpointer pointer)
{
    struct setting *s = pointer;
    g_array_unref(s->ends);
    g_array_unref(s->changes);
    g_free(s->label);
    g_free(s);
}

static struct setting *setting_of(GPtrArray *settings, const char *label)
{
    for (guint i = 0; i < settings->len; i++)
        if (strcmp(((struct setting *)settings->pdata[i])->label, label) == 0)
            return settings->pdata[i];
    struct setting *s = g_new0(struct setting, 1);
    s->label = g_strdup(label);
    s->ends = g_array_new(FALSE, FALSE, sizeof(double));
    s->changes = g_array_new(FALSE, FALSE, sizeof(double));
    g_ptr_array_add(settings, s);
    return s;
}

static double number_of(const struct orch_section_context *a, const char *key, double otherwise)
{
    double value = otherwise;
    const char *text = orch_json_text(a->item->spec, key, NULL);
    return text && orch_real_parse(text, &value) ? value : otherwise;
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* Appends the relative change of the mean over the last stretch. It is NaN when points are not
 * finite. A run with too few points appends nothing. */
static void add_run(struct setting *s, const struct orch_series *series, double over)
{
    size_t stretch = (size_t)fmax(1, ceil(over * (double)series->count));
    if (series->count < 2 * stretch)
        return;
    const double *end = series->value + series->count - stretch;
    double last = mean_of(end, stretch), before = mean_of(end - stretch, stretch);
    double change = last == before ? 0 : last / before - 1;
    g_array_append_val(s->ends, last);
    g_array_append_val(s->changes, change);
    s->stretch = stretch;
}

static bool gather(struct orch_section_context *a, struct orch_trials *trials, const GPtrArray *by,
                   GPtrArray *settings, GError **error)
{
    g_autoptr(GPtrArray) wanted = orch_item_values_parse(json_object_get(a->item->spec, "value"));
    const char *name = ((struct orch_item_value *)wanted->pdata[0])->name;
    double over = number_of(a, "over", OVER);
    for (guint i = 0; i < trials->all->len; i++) {
        struct orch_report_trial *trial = trials->all->pdata[i];
        g_autofree char *label = orch_trial_label(trials, trial, by);
        if (!label || !orch_trial_has(trials, trial, name))
            continue;
        struct setting *s = setting_of(settings, by->len ? label : "all");
        orch_section_trial(a->section, trials, trial);
        s->planned++;
        GError *problem = NULL;
        struct orch_series *series =
            trial->run ? orch_store_series(trials->store, trial->run->id, name, &problem) : NULL;
        if (problem) {
            g_propagate_error(error, problem);
            return false;
        }
        if (series)
            add_run(s, series, over);
        orch_series_free(series);
    }
    return true;
}

/* ---- output ------------------------------------------------------------------------------------
 */

static const char *verdict_of(const struct setting *s, const struct orch_stat *change,
                              double within)
{
    if (change->count < s->changes->len || !isfinite(change->mean)) /* some are not finite */
        return "diverged";
    bool is_inside = change->max <= within && change->min >= -within;
    bool is_outside = change->min > within || change->max < -within;
    return is_inside ? "yes" : is_outside ? "no" : "not in every repeat";
}

static struct orch_spread percent_of(const GArray *changes)
{
    g_autofree double *percent = g_new(double, changes->len + 1);
    for (guint i = 0; i < changes->len; i++)
        percent[i] = 100 * g_array_index(changes, double, i);
    return orch_spread_of(percent, changes->len, NULL, NULL);
}

static struct orch_table *make_table(const GPtrArray *settings, const GPtrArray *by,
                                     const char *name, double within)
{
    g_autofree char *axes = by->len ? orch_names_joined(by) : g_strdup("trials");
    g_autofree char *value = g_strdup_printf(">%s at the end", name);
    const char *headers[] = {axes, value, ">change %", "converged", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < settings->len; i++) {
        const struct setting *s = settings->pdata[i];
        struct orch_spread end =
            orch_spread_of((const double *)(void *)s->ends->data, s->ends->len, name, NULL);
        struct orch_stat change =
            orch_stat_of((const double *)(void *)s->changes->data, s->changes->len);
        orch_table_add(table, s->label, NULL);
        if (!s->changes->len) {
            for (int j = 0; j < 3; j++)
                orch_table_add_missing(table);
            continue;
        }
        struct orch_spread percent = percent_of(s->changes);
        orch_table_add_spread(table, &end, s->ends->len, s->planned);
        orch_table_add_spread(table, &percent, 0, 0);
        orch_table_add(table, verdict_of(s, &change, within), NULL);
    }
    return table;
}

static bool fill(struct orch_section_context *a, GError **error)
{
    g_autoptr(GPtrArray) by = orch_texts_from_json(json_object_get(a->item->spec, "by"));
    g_autoptr(GPtrArray) settings = g_ptr_array_new_with_free_func(setting_free);
    const char *name = orch_json_text(a->item->spec, "value", "");
    double within = number_of(a, "within", WITHIN);
    struct orch_trials *trials = orch_section_trials(a, "experiments", error);
    bool ok = trials && gather(a, trials, by, settings, error);
    size_t stretch = 0;
    for (guint i = 0; ok && i < settings->len; i++)
        stretch = MAX(stretch, ((struct setting *)settings->pdata[i])->stretch);
    if (ok && settings->len) {
        orch_section_table(a->section, make_table(settings, by, name, within));
        if (stretch)
            orch_section_note(a->section,
                              "change of the mean over the last %zu points against the %zu before, "
                              "with the lowest..highest run, or the [95 %% interval] of 5 runs or "
                              "more; converged: within %g %% in every repeat. A small learning "
                              "rate makes a loss stand still, too",
                              stretch, stretch, 100 * within);
    }
    if (ok)
        orch_section_add_missing_trials(a, trials);
    orch_trials_free(trials);
    return ok;
}

static const struct orch_report_key KEYS[] = {
    {.name = "value", .shape = ORCH_SHAPE_SERIES, .is_required = true},
    {.name = "by", .shape = ORCH_SHAPE_AXES},
    {.name = "within", .shape = ORCH_SHAPE_NUMBERS},
    {.name = "over", .shape = ORCH_SHAPE_SHARE},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

const struct orch_report_kind ORCH_REPORT_CONVERGED = {
    .name = "converged",
    .keys = KEYS,
    .fill = fill,
};
