/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/charts/plot_drawing.h"

#include "core/report/answer.h"
#include "core/report/averaged_over.h"
#include "core/report/section_words.h"
#include "core/stats/task.h"
#include "lib/base/error.h"
#include "lib/base/unit.h"

#include <math.h>
#include <string.h>

#define NAMED_MOST 8
/* With more panels each would be too small, and the PNG too large. */
#define PANELS_MOST 60

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

/* ---- words -------------------------------------------------------------------------------------
 */

static char *with_unit(const char *name, const char *unit)
{
    return unit && !orch_answer_names_unit(name, unit) ? g_strdup_printf("%s (%s)", name, unit)
                                                       : g_strdup(name);
}

static char *y_label(const struct orch_plot_drawing *d)
{
    const GPtrArray *y = d->v.plot->y;
    GString *names = g_string_new(NULL);
    bool is_one_unit = true;
    for (guint i = 0; i < y->len; i++) {
        const struct orch_item_value *wanted = y->pdata[i];
        bool is_plain =
            d->v.over == ORCH_PLOT_OVER_STEPS || wanted->aggregate == ORCH_AGGREGATE_LAST;
        g_autofree char *words =
            orch_answer_words(d->v.trials->labels, wanted->name, d->v.units[i]);
        g_string_append_printf(names, "%s%s%s%s", i ? ", " : "",
                               is_plain ? "" : orch_aggregate_name(wanted->aggregate),
                               is_plain ? "" : " ", words);
        is_one_unit = is_one_unit && g_strcmp0(d->v.units[i], d->v.units[0]) == 0;
    }
    char *label = with_unit(names->str, is_one_unit && y->len ? d->v.units[0] : NULL);
    g_string_free(names, TRUE);
    return label;
}

static char *x_label(const struct orch_plot_drawing *d)
{
    bool is_rate;
    if (d->v.over == ORCH_PLOT_OVER_STEPS && orch_unit_is_timing(d->v.plot->x, &is_rate) &&
        !is_rate)
        return with_unit("time", d->v.plot->x); /* the steps of the metric are times */
    const bool is_value = d->v.over == ORCH_PLOT_OVER_VALUES;
    g_autofree char *words =
        orch_answer_words(d->v.trials->labels, is_value ? d->v.x.name : d->v.plot->x, d->v.x_unit);
    const bool is_plain = !is_value || d->v.x.aggregate == ORCH_AGGREGATE_LAST;
    g_autofree char *name = g_strconcat(is_plain ? "" : orch_aggregate_name(d->v.x.aggregate),
                                        is_plain ? "" : " ", words, NULL);
    return with_unit(name, d->v.x_unit);
}

enum { Y_BYTES_MOST = 48 };

/* The y label of a chart of several values that are too many for it: the words with which all of
 * them end, "loss", else "value", with their unit. The legend names them. NULL: it fits. The caller
 * frees. */
static char *short_y_label(const struct orch_plot_drawing *d, const char *label)
{
    const GPtrArray *y = d->v.plot->y;
    const char *unit = strstr(label, " (");
    if (y->len < 2 || strlen(label) <= Y_BYTES_MOST)
        return NULL;
    g_autofree char *common = NULL;
    for (guint i = 0; i < y->len; i++) {
        const struct orch_item_value *wanted = y->pdata[i];
        g_autofree char *words =
            orch_answer_words(d->v.trials->labels, wanted->name, d->v.units[i]);
        const char *last = strrchr(words, ' ');
        if (common && strcmp(common, last ? last + 1 : words) != 0)
            return g_strconcat("value", unit, NULL);
        common = common ? common : g_strdup(last ? last + 1 : words);
    }
    return g_strconcat(common, unit, NULL);
}

/* Describes the intervals and points in a note below the chart. */
static char *note_of(const struct orch_plot_drawing *d)
{
    GString *note = g_string_new(NULL);
    if (d->n_high) {
        g_autofree char *n = d->n_low == d->n_high
                                 ? g_strdup_printf("%u", d->n_low)
                                 : g_strdup_printf("%u to %u", d->n_low, d->n_high);
        g_string_append_printf(
            note, "points: means of %s repeat%s%s%s", n, d->n_high == 1 ? "" : "s",
            d->has_intervals ? ", each with its 95 % interval as a bar or band" : "",
            d->has_runs ? " (thin marks: the single runs)" : "");
    }
    if (d->has_runs_beyond)
        g_string_append_printf(note,
                               "%sa mean ends at the last %s that all of its runs reached; longer "
                               "runs continue as thin lines",
                               note->len ? "; " : "", d->v.plot->x);
    if (d->is_each_run && d->chart->kind != ORCH_CHART_HISTOGRAM &&
        d->v.over != ORCH_PLOT_OVER_STEPS)
        g_string_append_printf(note, "each %s a run",
                               d->chart->kind == ORCH_CHART_BOX ? "value is of" : "point is");
    g_autofree char *mixed = orch_mixed_text(d->v.trials, d->merged);
    if (mixed)
        g_string_append_printf(note, "%s%s", note->len ? "; " : "", mixed);
    if (d->v.has_forecasts)
        g_string_append_printf(
            note, "%spredicted: the forecast made before the run, with its 90 %% interval",
            note->len ? "; " : "");
    if (d->thinned_from)
        g_string_append_printf(note, "%slines of up to %zu points are drawn with %zu points",
                               note->len ? "; " : "", d->thinned_from, d->thinned_to);
    return g_string_free(note, note->len == 0);
}

/* Lists the trials without a point: not run, run only by an earlier version, or run without this
 * value. */
static void name_missing(const struct orch_plot_drawing *d, struct orch_section *section)
{
    enum { NOT_RUN, STALE, WITHOUT_VALUE, KINDS };
    static const char *const what[KINDS] = {"no run of", "only an outdated run of",
                                            "no value to draw in the run of"};
    GString *names[KINDS] = {g_string_new(NULL), g_string_new(NULL), g_string_new(NULL)};
    unsigned counts[KINDS] = {0};
    const struct orch_report_trial *last = NULL;
    for (guint i = 0; i < d->v.empty->len; i++) {
        const struct orch_report_trial *trial = orch_plot_value_at(d->v.empty, i)->trial;
        bool is_stale = trial->item && trial->item->state == ORCH_PLAN_STALE;
        int which = trial->run ? WITHOUT_VALUE : is_stale ? STALE : NOT_RUN;
        const bool is_skipped = trial->item && trial->item->state == ORCH_PLAN_SKIPPED;
        if (trial == last || is_skipped) /* those that cannot run here are counted apart */
            continue;
        last = trial;
        g_autofree char *name = orch_trial_name(trial);
        if (counts[which]++ < NAMED_MOST)
            g_string_append_printf(names[which], "%s%s", counts[which] > 1 ? ", " : "", name);
    }
    for (int i = 0; i < KINDS; i++) {
        if (counts[i] > NAMED_MOST)
            g_string_append_printf(names[i], " and %u more", counts[i] - NAMED_MOST);
        if (counts[i] && (i != NOT_RUN || d->v.values->len)) /* of all it would only be repeated */
            orch_section_missing(section, NULL, "%s %s", what[i], names[i]->str);
        g_string_free(names[i], TRUE);
    }
}

/* ---- the plot ----------------------------------------------------------------------------------
 */

static enum orch_chart_kind kind_of(const struct orch_plot_values *v)
{
    if (v->plot->kind != ORCH_PLOT_KIND_OF_X)
        return (enum orch_chart_kind)v->plot->kind;
    if (v->over == ORCH_PLOT_OVER_VALUES)
        return ORCH_CHART_SCATTER;
    for (guint i = 0; i < v->values->len && v->over == ORCH_PLOT_OVER_AXIS; i++)
        if (isnan(orch_plot_value_at(v->values, i)->x))
            return ORCH_CHART_BAR;
    return ORCH_CHART_LINE;
}

static struct orch_chart *begin_chart(const struct orch_plot_drawing *d)
{
    const struct orch_plot *plot = d->v.plot;
    enum orch_chart_kind kind = kind_of(&d->v);
    g_autofree char *x = x_label(d), *y = y_label(d);
    if (kind == ORCH_CHART_HISTOGRAM)
        return orch_chart_new(kind, plot->title, y,
                              d->v.over == ORCH_PLOT_OVER_STEPS ? "points" : "runs");
    if (kind == ORCH_CHART_HEAT) {
        g_autofree char *row =
            plot->row ? orch_answer_words(d->v.trials->labels, plot->row, NULL) : NULL;
        struct orch_chart *chart = orch_chart_new(kind, plot->title, x, row);
        chart->z_label = g_steal_pointer(&y);
        return chart;
    }
    struct orch_chart *chart = orch_chart_new(kind, plot->title, x, y);
    chart->y_short = short_y_label(d, y);
    chart->log_x = plot->log_x;
    chart->log_y = plot->log_y;
    return chart;
}

static bool check_panels(const struct orch_plot_values *v, GError **error)
{
    g_autoptr(GHashTable) panels = g_hash_table_new(NULL, NULL); /* interned */
    for (guint i = 0; i < v->values->len; i++)
        g_hash_table_add(panels, (gpointer)(uintptr_t)orch_plot_value_at(v->values, i)->panel);
    if (g_hash_table_size(panels) <= PANELS_MOST)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "choose fewer runs with a filter",
                   "'%s' has %u values, but a chart has at most %d panels", v->plot->facet,
                   g_hash_table_size(panels), PANELS_MOST);
    return false;
}

bool orch_plot_draw(struct orch_trials *trials, const struct orch_plot *plot,
                    struct orch_section *section, GError **error)
{
    struct orch_plot_drawing d = {.merged = g_ptr_array_new_with_free_func(g_free)};
    bool ok =
        orch_plot_values_gather(&d.v, trials, plot, section, error) && check_panels(&d.v, error);
    if (ok && d.v.values->len) {
        d.chart = begin_chart(&d);
        orch_section_chart(section, d.chart);
        orch_plot_add_points(&d);
        orch_plot_add_lines(&d, section);
        d.chart->note = note_of(&d);
        orch_section_label(section, trials);
        orch_section_words(section, NULL);
        if (d.v.task_names)
            orch_section_note(section,
                              "runs of different tasks (" ORCH_TASK_WORDS ") are drawn separately");
        if (plot->predicted && !d.v.has_forecasts)
            orch_section_note(section, "no forecast was stored for these runs");
    }
    if (ok)
        name_missing(&d, section);
    orch_plot_values_clear(&d.v);
    g_clear_pointer(&d.settings, g_hash_table_unref);
    g_ptr_array_unref(d.merged);
    return ok;
}
