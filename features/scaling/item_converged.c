/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `converged`: does a series still change at its end? The mean over the last stretch of
 * steps is compared with the mean over the stretch before it; below a threshold of relative change
 * the series stands still. Means are compared because single epochs scatter. The test cannot find
 * the reason: a loss also stands still when the learning rate has become small. Therefore nothing
 * is called converged. A setting that stands still far from the end of the best one has not
 * converged: more than a tenth of the way from its start to that end is left. */
#include "core/report/answer.h"
#include "core/report/items.h"

#include "core/stats/numbers.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/direction.h"

#include <math.h>
#include <string.h>

/* Defaults: the relative change that counts as none, and the stretch as a share of all steps. */
#define WITHIN 0.01
#define OVER 0.1
#define UNFINISHED "has not converged"
#define LEFT_MOST 0.1 /* of the way from a setting's start to the best end */

struct setting {
    char *label;
    GArray *starts, *ends, *changes; /* double, one for each run */
    unsigned planned;
    size_t stretch; /* points of the run read last */
};

struct gathered {
    GPtrArray *settings; /* struct setting * */
    enum orch_better better;
};

static void setting_free(gpointer pointer)
{
    struct setting *s = pointer;
    g_array_unref(s->starts);
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
    s->starts = g_array_new(FALSE, FALSE, sizeof(double));
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
    double start = mean_of(series->value, stretch);
    g_array_append_val(s->starts, start);
    g_array_append_val(s->ends, last);
    g_array_append_val(s->changes, change);
    s->stretch = stretch;
}

static bool gather(struct orch_section_context *a, struct orch_trials *trials, const GPtrArray *by,
                   struct gathered *g, GError **error)
{
    g_autoptr(GPtrArray) wanted = orch_item_values_parse(json_object_get(a->item->spec, "value"));
    const char *name = ((struct orch_item_value *)wanted->pdata[0])->name;
    double over = number_of(a, "over", OVER);
    for (guint i = 0; i < trials->all->len; i++) {
        struct orch_report_trial *trial = trials->all->pdata[i];
        g_autofree char *label = orch_trial_label(trials, trial, by);
        if (!label || !orch_trial_has(trials, trial, name))
            continue;
        struct setting *s = setting_of(g->settings, by->len ? label : "all");
        orch_section_trial(a->section, trials, trial);
        s->planned++;
        GError *problem = NULL;
        struct orch_series *series =
            trial->run ? orch_store_series(trials->store, trial->run->id, name, &problem) : NULL;
        if (problem) {
            g_propagate_error(error, problem);
            return false;
        }
        if (series) {
            add_run(s, series, over);
            g->better =
                orch_direction_of(name, series->unit, orch_better_parse(series->better)).better;
        }
        orch_series_free(series);
    }
    return true;
}

/* ---- output ---------------------------------------------------------------------------------- */

static struct orch_stat stat_of(const GArray *values)
{
    return orch_stat_of((const double *)(void *)values->data, values->len);
}

/* The setting whose series ends best. NULL: the metric has no better direction, or no setting
 * ends with a number. */
static const struct setting *best_of(const struct gathered *g)
{
    const bool is_max = g->better == ORCH_BETTER_MAX;
    const struct setting *best = NULL;
    for (guint i = 0; i < g->settings->len; i++) {
        const struct setting *s = g->settings->pdata[i];
        const double end = stat_of(s->ends).mean;
        if (isfinite(end) && stat_of(s->ends).count == s->ends->len &&
            (!best || (is_max ? end > stat_of(best->ends).mean : end < stat_of(best->ends).mean)))
            best = s;
    }
    return g->better != ORCH_BETTER_NONE ? best : NULL;
}

/* The share of the way from the setting's start to the best end that is left. NaN: not known. */
static double left_of(const struct setting *s, const struct setting *best)
{
    const double start = stat_of(s->starts).mean, end = stat_of(s->ends).mean,
                 goal = best ? stat_of(best->ends).mean : (double)NAN;
    return start < goal || start > goal ? (end - goal) / (start - goal) : (double)NAN;
}

static const char *verdict_of(const struct setting *s, const struct setting *best, double within)
{
    const struct orch_stat change = stat_of(s->changes);
    if (change.count < s->changes->len || !isfinite(change.mean)) /* some are not finite */
        return "diverged";
    if (change.max <= within && change.min >= -within)
        return left_of(s, best) > LEFT_MOST ? UNFINISHED : "stands still";
    return change.max < -within  ? "still falls"
           : change.min > within ? "still rises"
                                 : "still changes in some repeats";
}

static struct orch_spread percent_of(const GArray *changes)
{
    g_autofree double *percent = g_new(double, changes->len + 1);
    for (guint i = 0; i < changes->len; i++)
        percent[i] = 100 * g_array_index(changes, double, i);
    return orch_spread_of(percent, changes->len, NULL, NULL);
}

static void add_row(struct orch_table *table, const struct setting *s, const struct setting *best,
                    const char *name, double within)
{
    struct orch_spread end =
        orch_spread_of((const double *)(void *)s->ends->data, s->ends->len, name, NULL);
    struct orch_spread percent = percent_of(s->changes);
    orch_table_add(table, s->label, NULL);
    if (!s->changes->len) {
        for (int j = 0; j < (best ? 4 : 3); j++)
            orch_table_add_missing(table);
        return;
    }
    orch_table_add_spread(table, &end, s->ends->len, s->planned);
    if (best)
        orch_table_add_real(table, end.stat.mean / stat_of(best->ends).mean);
    orch_table_add_spread(table, &percent, 0, 0);
    orch_table_add(table, verdict_of(s, best, within), NULL);
}

static struct orch_table *make_table(const struct gathered *g, const GPtrArray *by,
                                     const char *name, double within)
{
    g_autofree char *axes = by->len ? orch_names_joined(by) : g_strdup("trials");
    g_autofree char *value = g_strdup_printf(">%s at the end", name);
    const struct setting *best = g->settings->len > 1 ? best_of(g) : NULL;
    const char *headers[6] = {axes, value};
    unsigned count = 2;
    if (best)
        headers[count++] = ">times the best";
    headers[count++] = ">change %";
    headers[count++] = "verdict";
    struct orch_table *table = orch_table_new(headers);
    if (best)
        orch_table_set_heading(table, 2, NULL, "times the best end");
    for (guint i = 0; i < g->settings->len; i++)
        add_row(table, g->settings->pdata[i], best, name, within);
    return table;
}

/* ". It ends at 0.9638, 5.9 times the best of all settings" */
static void append_end(GString *text, const struct setting *s, const struct setting *best,
                       const char *end)
{
    const double times = best ? stat_of(s->ends).mean / stat_of(best->ends).mean : 1;
    g_string_append_printf(text, ". It ends at %s", end);
    if (s == best)
        g_string_append(text, ", the best of all settings");
    else if (best && left_of(s, best) > LEFT_MOST && isfinite(times) && times > 0)
        g_string_append_printf(text, ", %.2g times the best of all settings", times);
}

/* "with learning rate 0.1, train loss stands still. It ends at 0.021, the best of all
 * settings. With learning rate 0.01, train loss still falls. It ends at 0.4" */
static void add_answer(struct orch_section *section, const struct gathered *g, const GPtrArray *by,
                       const char *name, double within)
{
    static const char *const verdicts[] = {
        "stands still", UNFINISHED, "still falls", "still rises", "still changes in some repeats",
        "diverged"};
    const struct setting *best = g->settings->len > 1 ? best_of(g) : NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree char *axis = orch_answer_axes(section->labels, by);
    g_autofree char *words = orch_answer_words(section->labels, name, NULL);
    for (unsigned v = 0; v < G_N_ELEMENTS(verdicts); v++) {
        for (guint i = 0; i < g->settings->len; i++) {
            const struct setting *s = g->settings->pdata[i];
            if (!s->changes->len || strcmp(verdict_of(s, best, within), verdicts[v]) != 0)
                continue;
            g_autofree char *end = orch_number_format(stat_of(s->ends).mean);
            if (by->len)
                g_string_append_printf(text, "%s %s%s%s, ", text->len ? ". With" : "with",
                                       by->len == 1 ? axis : "", by->len == 1 ? " " : "", s->label);
            g_string_append_printf(text, "%s %s", words, verdicts[v]);
            if (isfinite(stat_of(s->ends).mean))
                append_end(text, s, best, end);
        }
    }
    if (text->len)
        orch_section_answer(section, "%s", text->str);
}

static bool fill(struct orch_section_context *a, GError **error)
{
    g_autoptr(GPtrArray) by = orch_texts_from_json(json_object_get(a->item->spec, "by"));
    g_autoptr(GPtrArray) settings = g_ptr_array_new_with_free_func(setting_free);
    struct gathered g = {.settings = settings};
    const char *name = orch_json_text(a->item->spec, "value", "");
    double within = number_of(a, "within", WITHIN);
    struct orch_trials *trials = orch_section_trials(a, "experiments", error);
    bool ok = trials && gather(a, trials, by, &g, error);
    size_t stretch = 0;
    for (guint i = 0; ok && i < settings->len; i++)
        stretch = MAX(stretch, ((struct setting *)settings->pdata[i])->stretch);
    if (ok && settings->len) {
        orch_section_table(a->section, make_table(&g, by, name, within));
        add_answer(a->section, &g, by, name, within);
        if (stretch)
            orch_section_note(
                a->section,
                "end: the mean of the last %zu point%s. change: from the mean of the %zu point%s "
                "before to the end. 'stands still': the change is within %g %% in every "
                "repeat. 'has not converged': the curve stands still, but has covered less "
                "than %.0f %% of the way from its start to the best end of all settings",
                stretch, orch_plural((int64_t)stretch), stretch, orch_plural((int64_t)stretch),
                100 * within, 100 - 100 * LEFT_MOST);
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
