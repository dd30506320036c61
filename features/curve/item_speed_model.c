/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `speed_model`: Optimus' model of training speed by parameter servers and workers (Peng
 * et al. 2018, equations 3 and 4), fitted to measured trainings. Each setting is also predicted
 * from all others, because a model of four or five terms fits a few settings in any case. */
#include "core/report/items.h"

#include "features/curve/laws/speed.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Steps per second of one setting, summed over its repeats. */
struct place {
    int servers, workers;
    double sum, batch; /* batch: of all workers; 0: unknown */
    int count;
};

struct speed_item {
    struct orch_section_context *a;
    struct orch_speed_options options;
    const char *servers_axis, *workers_axis;
    GArray *places; /* struct place */
};

/* ---- measurements ---------------------------------------------------------------------------- */

static int count_at(const struct orch_trials *trials, const struct orch_report_trial *trial,
                    const char *axis)
{
    g_autofree char *text = orch_trial_value(trials, trial, axis);
    return text ? (int)g_ascii_strtoll(text, NULL, 10) : 0;
}

static struct place *place_of(GArray *places, int servers, int workers)
{
    for (guint i = 0; i < places->len; i++) {
        struct place *p = &g_array_index(places, struct place, i);
        if (p->servers == servers && p->workers == workers)
            return p;
    }
    const struct place fresh = {.servers = servers, .workers = workers};
    g_array_append_val(places, fresh);
    return &g_array_index(places, struct place, places->len - 1);
}

static bool add_trial(struct speed_item *s, const struct orch_trials *trials,
                      struct orch_report_trial *trial, GError **error)
{
    g_autoptr(GPtrArray) wanted =
        orch_item_values_parse(json_object_get(s->a->item->spec, "value"));
    const struct orch_item_value *value = wanted->pdata[0];
    const int servers = count_at(trials, trial, s->servers_axis);
    const int workers = count_at(trials, trial, s->workers_axis);
    const char *better = NULL, *unit = NULL;
    double speed = (double)NAN;
    if (servers < 1 || workers < 1 || !orch_trial_has(trials, trial, value->name))
        return true;
    orch_section_trial(s->a->section, trials, trial);
    if (!orch_trial_number(trials, trial, value, &speed, &better, &unit, error))
        return false;
    if (!isfinite(speed) || speed <= 0)
        return true;
    struct place *p = place_of(s->places, servers, workers);
    p->sum += speed;
    p->count++;
    p->batch = (double)count_at(trials, trial, "batch") * workers;
    return true;
}

/* The synchronous model has one batch that all workers share. */
static bool find_batch(struct speed_item *s, GError **error)
{
    if (s->options.mode != ORCH_SPEED_SYNC)
        return true;
    for (guint i = 0; i < s->places->len; i++) {
        const struct place *p = &g_array_index(s->places, struct place, i);
        if (i > 0 && p->batch != s->options.total_batch) {
            orch_error_set(error, ORCH_ERROR_USAGE,
                           "sweep workers and batch together with 'zip', so that batch x workers "
                           "stays the same",
                           "the synchronous model needs the same total batch in each measurement; "
                           "found %g and %g images",
                           s->options.total_batch, p->batch);
            return false;
        }
        s->options.total_batch = p->batch;
    }
    return true;
}

/* Fits all settings but `left_out` (-1: all). NULL with an error. */
static struct orch_speed *fit(const struct speed_item *s, int left_out, GError **error)
{
    g_autofree struct orch_speed_point *points = g_new(struct orch_speed_point, s->places->len + 1);
    size_t count = 0;
    for (guint i = 0; i < s->places->len; i++) {
        const struct place *p = &g_array_index(s->places, struct place, i);
        if ((int)i != left_out)
            points[count++] = (struct orch_speed_point){p->servers, p->workers, p->sum / p->count};
    }
    return orch_speed_fit(points, count, &s->options, error);
}

/* The speed of a setting by the model of all others; NaN: they do not determine it. */
static double left_out_speed(const struct speed_item *s, guint i)
{
    const struct place *p = &g_array_index(s->places, struct place, i);
    struct orch_speed *others = fit(s, (int)i, NULL);
    const double speed = others && orch_speed_is_determined(others, p->servers, p->workers)
                             ? orch_speed_model(others, p->servers, p->workers)
                             : (double)NAN;
    orch_speed_free(others);
    return speed;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void add_table(const struct speed_item *s, const struct orch_speed *model)
{
    static const char *const headers[] = {">servers",
                                          ">workers",
                                          ">runs",
                                          ">measured (steps/s)",
                                          ">model",
                                          ">error (%)",
                                          ">left out: error (%)",
                                          NULL};
    struct orch_table *table = orch_table_new(headers);
    orch_table_set_heading(table, 6, NULL, "error when left out (%)");
    double sum = 0;
    int found = 0;
    for (guint i = 0; i < s->places->len; i++) {
        const struct place *p = &g_array_index(s->places, struct place, i);
        const double measured = p->sum / p->count;
        const double fitted = orch_speed_model(model, p->servers, p->workers);
        const double error = 100 * (left_out_speed(s, i) - measured) / measured;
        orch_table_add_int(table, p->servers);
        orch_table_add_int(table, p->workers);
        orch_table_add_int(table, p->count);
        orch_table_add_real(table, measured);
        orch_table_add_real(table, fitted);
        orch_table_add_real(table, 100 * (fitted - measured) / measured);
        orch_table_add_real(table, error);
        sum += isfinite(error) ? fabs(error) : 0;
        found += isfinite(error);
    }
    orch_section_table(s->a->section, table);
    if (found)
        orch_section_answer(
            s->a->section,
            "the mean error of the speed model is %.3g %%, when each of %d settings is "
            "predicted from the others",
            sum / found, found);
}

static void add_chart(const struct speed_item *s, const struct orch_speed *model)
{
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_LINE, NULL, "workers", "speed (steps/s of all workers)");
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    for (guint i = 0; i < s->places->len; i++) {
        const struct place *p = &g_array_index(s->places, struct place, i);
        g_autofree char *name = g_strdup_printf("%d server%s", p->servers, orch_plural(p->servers));
        orch_chart_add(orch_chart_series(panel, name, ORCH_SERIES_MEASURED), p->workers,
                       p->sum / p->count);
        orch_chart_add(orch_chart_series(panel, name, ORCH_SERIES_FITTED), p->workers,
                       orch_speed_model(model, p->servers, p->workers));
    }
    orch_section_chart(s->a->section, chart);
}

static void add_notes(const struct speed_item *s, const struct orch_speed *model)
{
    const bool is_sync = s->options.mode == ORCH_SPEED_SYNC;
    g_autoptr(GString) text = g_string_new(is_sync ? "seconds a step = " : "workers / speed = ");
    for (int i = 0; i < orch_speed_terms(s->options.mode); i++)
        g_string_append_printf(text, "%s%.4g x %s", i ? " + " : "", orch_speed_theta(model)[i],
                               orch_speed_term_name(s->options.mode, i));
    orch_section_note(
        s->a->section,
        "Optimus' %s model (Peng et al. 2018, equation %d) with p servers and w workers: %s",
        is_sync ? "synchronous" : "asynchronous", is_sync ? 4 : 3, text->str);
    if (is_sync)
        orch_section_note(s->a->section, "M: %g images of all workers together",
                          s->options.total_batch);
    if (orch_speed_warning(model))
        orch_section_note(s->a->section, "%s", orch_speed_warning(model));
}

static bool show(struct speed_item *s, GError **error)
{
    if (!find_batch(s, error))
        return false;
    struct orch_speed *model = fit(s, -1, error);
    if (!model)
        return false;
    add_chart(s, model);
    add_table(s, model);
    add_notes(s, model);
    orch_speed_free(model);
    return true;
}

static bool fill(struct orch_section_context *a, GError **error)
{
    const json_t *spec = a->item->spec;
    const char *mode = orch_json_text(spec, "mode", "asynchronous");
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(struct place));
    struct speed_item s = {
        .a = a,
        .options = {.mode = strcmp(mode, "synchronous") == 0 ? ORCH_SPEED_SYNC : ORCH_SPEED_ASYNC,
                    .is_relative = true},
        .servers_axis = orch_json_text(spec, "servers", "servers"),
        .workers_axis = orch_json_text(spec, "workers", "workers"),
        .places = places,
    };
    GError *problem = NULL;
    struct orch_trials *trials = orch_section_trials(a, "experiments", error);
    bool ok = trials != NULL;
    for (guint i = 0; ok && i < trials->all->len; i++)
        ok = add_trial(&s, trials, trials->all->pdata[i], error);
    if (ok && places->len && !show(&s, &problem))
        orch_section_missing(a->section, NULL, "%s", problem->message);
    if (ok)
        orch_section_add_missing_trials(a, trials);
    g_clear_error(&problem);
    orch_trials_free(trials);
    return ok;
}

static const char *const MODE_WORDS[] = {"asynchronous", "synchronous", NULL};
static const struct orch_report_words SPEED_MODES = {.words = MODE_WORDS,
                                                     .what = "mode",
                                                     .of = " of a speed model",
                                                     .hint = "asynchronous or synchronous"};

static const struct orch_report_key KEYS[] = {
    {.name = "value", .shape = ORCH_SHAPE_VALUE, .is_required = true},
    {.name = "servers", .shape = ORCH_SHAPE_AXIS},
    {.name = "workers", .shape = ORCH_SHAPE_AXIS},
    {.name = "mode", .shape = ORCH_SHAPE_WORD, .words = &SPEED_MODES},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

const struct orch_report_kind ORCH_REPORT_SPEED_MODEL = {
    .name = "speed_model",
    .keys = KEYS,
    .fill = fill,
};
