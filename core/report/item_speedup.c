/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `speedup`: a value by number of workers against the value of one worker, and what
 * follows from both: speedup, efficiency, seconds of communication, bandwidth. Each column has a
 * formula, which a note repeats. The chart is of the first column. */
#include "core/recipe/report_shapes.h"
#include "core/report/items.h"

#include "lib/base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns -----------------------------------------------------------------------------------
 */

/* What a row is computed from. */
struct row_numbers {
    double workers, value, alone, bytes; /* alone: the value of one worker; NaN: not measured */
    bool is_less_better;
};

static double speedup(const struct row_numbers *r)
{
    return r->is_less_better ? r->alone / r->value : r->value / r->alone;
}

static double efficiency(const struct row_numbers *r)
{
    return speedup(r) / r->workers;
}

static double ratio(const struct row_numbers *r)
{
    return r->value / r->alone;
}

static double inverse(const struct row_numbers *r)
{
    return r->alone / r->value;
}

static double increase(const struct row_numbers *r)
{
    return 100 * (r->value / r->alone - 1);
}

static double computing(const struct row_numbers *r)
{
    return r->alone / r->workers;
}

static double communication(const struct row_numbers *r)
{
    return r->value - r->alone / r->workers;
}

/* Not defined where the difference of two measured times is not positive. */
static double bandwidth(const struct row_numbers *r)
{
    const double seconds = communication(r);
    return r->workers > 1 && seconds > 0
               ? 2 * (r->workers - 1) / r->workers * r->bytes / seconds / 1e9
               : (double)NAN;
}

static double ideal_speedup(double workers)
{
    return workers;
}

static double ideal_efficiency(double workers)
{
    (void)workers;
    return 1;
}

static const struct column {
    const char *name, *header, *formula_less,
        *formula_more; /* for values of which less is better */
    double (*compute)(const struct row_numbers *);
    double (*ideal)(double workers); /* NULL: it depends on the kind of scaling */
} COLUMNS[] = {
    {"speedup", "speedup", "S(n) = t(1) / t(n)", "S(n) = v(n) / v(1)", speedup, ideal_speedup},
    {"efficiency", "share of the ideal n", "S(n) / n", "S(n) / n", efficiency, ideal_efficiency},
    {"ratio", "t(n)/t(1)", "t(n) / t(1)", "v(n) / v(1)", ratio, NULL},
    {"inverse", "t(1)/t(n)", "t(1) / t(n)", "v(1) / v(n)", inverse, NULL},
    {
        "increase",
        "increase (%)",
        "100 (t(n) / t(1) - 1) %",
        "100 (v(n) / v(1) - 1) %",
        increase,
        NULL,
    },
    {"computing", "computing", "t(1) / n", "v(1) / n", computing, NULL},
    {"communication", "communication", "t(n) - t(1) / n", "v(n) - v(1) / n", communication, NULL},
    {"bandwidth", "bandwidth (GB/s)", "2 (n-1)/n x bytes / communication / 10^9",
     "2 (n-1)/n x bytes / communication / 10^9", bandwidth, NULL},
};

static const struct column *column_of(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(COLUMNS); i++)
        if (strcmp(COLUMNS[i].name, name) == 0)
            return &COLUMNS[i];
    return NULL;
}

/* The columns that the item asks for, else speedup and efficiency. The recipe's check has refused
 * other names. */
static GPtrArray *columns_of(const struct orch_section_context *a)
{
    static const char *const usual[] = {"speedup", "efficiency"};
    g_autoptr(GPtrArray) names = orch_texts_from_json(json_object_get(a->item->spec, "columns"));
    GPtrArray *columns = g_ptr_array_new();
    for (guint i = 0; i < names->len; i++)
        if (column_of(names->pdata[i]))
            g_ptr_array_add(columns, (gpointer)(uintptr_t)column_of(names->pdata[i]));
    for (guint i = 0; !names->len && i < G_N_ELEMENTS(usual); i++)
        g_ptr_array_add(columns, (gpointer)(uintptr_t)column_of(usual[i]));
    return columns;
}

/* ---- gathering ---------------------------------------------------------------------------------
 */

/* Sums over the repeats of one setting. */
struct setting {
    char *label;
    double workers, value, bytes;
    unsigned count, byte_count;
};

struct gathered {
    GArray *settings; /* struct setting */
    const char *better, *unit;
    unsigned oversubscribed_count; /* trials that are left out */
};

static void setting_clear(gpointer pointer)
{
    g_free(((struct setting *)pointer)->label);
}

static struct setting *setting_of(GArray *settings, const char *label, double workers)
{
    for (guint i = 0; i < settings->len; i++) {
        struct setting *s = &g_array_index(settings, struct setting, i);
        if (s->workers == workers && strcmp(s->label, label) == 0)
            return s;
    }
    const struct setting fresh = {.label = g_strdup(label), .workers = workers};
    g_array_append_val(settings, fresh);
    return &g_array_index(settings, struct setting, settings->len - 1);
}

static bool read_value(const struct orch_trials *trials, struct orch_report_trial *trial,
                       const GPtrArray *wanted, struct gathered *g, double *out, GError **error)
{
    const char *better = NULL, *unit = NULL;
    *out = (double)NAN;
    if (!wanted->len)
        return true;
    if (!orch_trial_number(trials, trial, wanted->pdata[0], out, &better, &unit, error))
        return false;
    if (g && isfinite(*out)) {
        g->better = better ? better : g->better;
        g->unit = unit ? unit : g->unit;
    }
    return true;
}

/* True for a run whose workers had more threads than processors (docs/plugins/scaling.md): such
 * times are those of the scheduler, so they are no claim about scaling unless the item asks. */
static bool is_oversubscribed(const struct orch_section_context *a,
                              const struct orch_trials *trials, struct orch_report_trial *trial)
{
    static const char name[] = "oversubscribed";
    g_autoptr(json_t) spec = json_string("result oversubscribed");
    g_autoptr(GPtrArray) wanted = orch_item_values_parse(spec);
    double value;
    return !orch_item_flag(a->item->spec, name) && orch_trial_has(trials, trial, name) &&
           read_value(trials, trial, wanted, NULL, &value, NULL) && value > 0;
}

static void setting_add(struct setting *s, double value, double bytes)
{
    if (isfinite(value)) {
        s->value += value;
        s->count++;
    }
    if (isfinite(bytes)) {
        s->bytes += bytes;
        s->byte_count++;
    }
}

static bool add_trial(struct orch_section_context *a, const struct orch_trials *trials,
                      struct orch_report_trial *trial, const GPtrArray *by, struct gathered *g,
                      GError **error)
{
    const char *axis = json_string_value(json_object_get(a->item->spec, "workers"));
    g_autoptr(GPtrArray) wanted = orch_item_values_parse(json_object_get(a->item->spec, "value"));
    g_autoptr(GPtrArray) bytes = orch_item_values_parse(json_object_get(a->item->spec, "bytes"));
    const char *name = ((const struct orch_item_value *)wanted->pdata[0])->name;
    g_autofree char *workers = orch_trial_value(trials, trial, axis ? axis : "workers");
    g_autofree char *label = orch_trial_label(trials, trial, by);
    double value, sent;
    if (!workers || !orch_trial_has(trials, trial, name))
        return true;
    orch_section_trial(a->section, trials, trial);
    if (!read_value(trials, trial, wanted, g, &value, error) ||
        !read_value(trials, trial, bytes, NULL, &sent, error))
        return false;
    struct setting *s =
        setting_of(g->settings, by->len && label ? label : "all", g_ascii_strtod(workers, NULL));
    if (is_oversubscribed(a, trials, trial))
        g->oversubscribed_count++;
    else
        setting_add(s, value, sent);
    return true;
}

/* ---- output ------------------------------------------------------------------------------------
 */

/* The mean of one worker of the same group; NaN: not measured. */
static double alone_of(const GArray *settings, const char *label)
{
    for (guint i = 0; i < settings->len; i++) {
        const struct setting *s = &g_array_index(settings, struct setting, i);
        if (s->workers == 1 && strcmp(s->label, label) == 0 && s->count)
            return s->value / s->count;
    }
    return (double)NAN;
}

static struct orch_table *start_table(const struct gathered *g, const GPtrArray *columns,
                                      const GPtrArray *by, const char *name)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
    if (by->len)
        g_ptr_array_add(headers, orch_names_joined(by));
    g_ptr_array_add(headers, g_strdup(">workers"));
    g_ptr_array_add(headers, g->unit ? g_strdup_printf(">%s (%s)", name, g->unit)
                                     : g_strdup_printf(">%s", name));
    for (guint i = 0; i < columns->len; i++)
        g_ptr_array_add(headers,
                        g_strdup_printf(">%s", ((const struct column *)columns->pdata[i])->header));
    g_ptr_array_add(headers, NULL);
    return orch_table_new((const char *const *)headers->pdata);
}

static struct row_numbers numbers_of(const struct gathered *g, const struct setting *s)
{
    return (struct row_numbers){
        .workers = s->workers,
        .value = s->count ? s->value / s->count : (double)NAN,
        .alone = alone_of(g->settings, s->label),
        .bytes = s->byte_count ? s->bytes / s->byte_count : (double)NAN,
        .is_less_better = g_strcmp0(g->better, "max") != 0,
    };
}

static struct orch_table *make_table(const struct gathered *g, const GPtrArray *columns,
                                     const GPtrArray *by, const char *name)
{
    struct orch_table *table = start_table(g, columns, by, name);
    for (guint i = 0; i < g->settings->len; i++) {
        const struct setting *s = &g_array_index(g->settings, struct setting, i);
        const struct row_numbers row = numbers_of(g, s);
        if (by->len)
            orch_table_add(table, s->label, NULL);
        orch_table_add_int(table, (int64_t)s->workers);
        orch_table_add_real(table, row.value);
        for (guint k = 0; k < columns->len; k++)
            orch_table_add_real(table, ((const struct column *)columns->pdata[k])->compute(&row));
    }
    return table;
}

static void add_point(struct orch_chart_panel *panel, const char *name, enum orch_series_role role,
                      double x, double y)
{
    if (isfinite(y))
        orch_chart_add(orch_chart_series(panel, name, role), x, y);
}

/* The first column by workers, a line for each group, beside the ideal where there is one. */
static void add_chart(struct orch_section_context *a, const struct gathered *g,
                      const struct column *column)
{
    g_autofree char *label = g_str_has_prefix(column->header, column->name)
                                 ? g_strdup(column->header)
                                 : g_strdup_printf("%s: %s", column->name, column->header);
    struct orch_chart *chart = orch_chart_new(ORCH_CHART_LINE, NULL, "workers", label);
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    for (guint i = 0; i < g->settings->len; i++) {
        const struct setting *s = &g_array_index(g->settings, struct setting, i);
        const struct row_numbers row = numbers_of(g, s);
        add_point(panel, s->label, ORCH_SERIES_MEASURED, s->workers, column->compute(&row));
    }
    for (guint i = 0; column->ideal && i < g->settings->len; i++) {
        const double workers = g_array_index(g->settings, struct setting, i).workers;
        add_point(panel, "ideal", ORCH_SERIES_IDEAL, workers, column->ideal(workers));
    }
    orch_section_chart(a->section, chart);
}

static void add_notes(struct orch_section_context *a, const struct gathered *g,
                      const GPtrArray *columns, const char *name)
{
    const bool is_less_better = g_strcmp0(g->better, "max") != 0;
    bool has_all = true;
    for (guint i = 0; i < columns->len; i++) {
        const struct column *c = columns->pdata[i];
        orch_section_note(a->section, "%s = %s", c->header,
                          is_less_better ? c->formula_less : c->formula_more);
    }
    orch_section_note(a->section, "%s: %s, mean over repeats; n: workers",
                      is_less_better ? "t" : "v", name);
    for (guint i = 0; i < g->settings->len; i++)
        has_all = has_all && !isnan(alone_of(g->settings,
                                             g_array_index(g->settings, struct setting, i).label));
    if (!has_all)
        orch_section_note(a->section, "a dash: one worker was not measured with these settings");
    if (g->oversubscribed_count)
        orch_section_note(a->section,
                          "%u oversubscribed trials are left out: their workers have more threads "
                          "than processors ('oversubscribed: true' in the item shows them)",
                          g->oversubscribed_count);
}

static bool fill(struct orch_section_context *a, GError **error)
{
    g_autoptr(GPtrArray) by = orch_texts_from_json(json_object_get(a->item->spec, "by"));
    g_autoptr(GPtrArray) columns = columns_of(a);
    g_autoptr(GArray) settings = g_array_new(FALSE, FALSE, sizeof(struct setting));
    struct gathered g = {.settings = settings};
    g_array_set_clear_func(settings, setting_clear);
    struct orch_trials *trials = orch_section_trials(a, "experiments", error);
    bool ok = trials != NULL;
    for (guint i = 0; ok && i < trials->all->len; i++)
        ok = add_trial(a, trials, trials->all->pdata[i], by, &g, error);
    if (ok && settings->len) {
        g_autoptr(GPtrArray) wanted =
            orch_item_values_parse(json_object_get(a->item->spec, "value"));
        const char *name = ((const struct orch_item_value *)wanted->pdata[0])->name;
        add_chart(a, &g, columns->pdata[0]);
        orch_section_table(a->section, make_table(&g, columns, by, name));
        add_notes(a, &g, columns, name);
    }
    if (ok)
        orch_section_add_missing_trials(a, trials);
    orch_trials_free(trials);
    return ok;
}

static const char *const COLUMN_WORDS[] = {"speedup",       "efficiency", "ratio",
                                           "inverse",       "increase",   "computing",
                                           "communication", "bandwidth",  NULL};
static const struct orch_report_words SPEEDUP_COLUMNS = {
    .words = COLUMN_WORDS, .what = "column", .of = " of a speedup"};

static const struct orch_report_key KEYS[] = {
    {.name = "value", .shape = ORCH_SHAPE_VALUE, .is_required = true},
    {.name = "workers", .shape = ORCH_SHAPE_AXIS},
    {.name = "by", .shape = ORCH_SHAPE_AXES},
    {.name = "bytes", .shape = ORCH_SHAPE_VALUE},
    {.name = "columns", .shape = ORCH_SHAPE_WORDS, .words = &SPEEDUP_COLUMNS},
    {.name = "oversubscribed", .shape = ORCH_SHAPE_FLAG},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

/* Checks that the bandwidth has bytes to be computed from. */
static void check_bytes(struct report_item *item)
{
    g_autoptr(GPtrArray) columns = orch_recipe_get_texts(item->draft, item->spec, "columns");
    for (guint i = 0; columns && i < columns->len; i++) {
        const struct orch_yaml *column = columns->pdata[i];
        if (strcmp(column->text, "bandwidth") == 0 && !orch_yaml_get(item->spec, "bytes"))
            orch_recipe_error_at(item->draft, column, "write bytes: result epoch_reduced_bytes",
                                 "column 'bandwidth' needs 'bytes'");
    }
}

const struct orch_report_kind ORCH_REPORT_SPEEDUP = {
    .name = "speedup",
    .keys = KEYS,
    .check = check_bytes,
    .fill = fill,
};
