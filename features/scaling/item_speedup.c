/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `speedup`: a value by number of workers against the value of one worker, and what
 * follows from both: speedup, efficiency, seconds of communication, bandwidth. Each column has a
 * formula, which a note repeats. The chart is of the first column. */
#include "core/recipe/report_shapes.h"
#include "core/report/answer.h"
#include "core/report/items.h"
#include "features/scaling/speedup_gathered.h"

#include "core/stats/numbers.h"
#include "lib/base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns --------------------------------------------------------------------------------- */

/* The columns that the item asks for, else speedup and efficiency. The recipe's check has refused
 * other names. */
static GPtrArray *columns_of(const struct orch_section_context *a)
{
    static const char *const usual[] = {"speedup", "efficiency"};
    g_autoptr(GPtrArray) names = orch_texts_from_json(json_object_get(a->item->spec, "columns"));
    GPtrArray *columns = g_ptr_array_new();
    for (guint i = 0; i < names->len; i++)
        if (orch_speedup_column(names->pdata[i]))
            g_ptr_array_add(columns, (gpointer)(uintptr_t)orch_speedup_column(names->pdata[i]));
    for (guint i = 0; !names->len && i < G_N_ELEMENTS(usual); i++)
        g_ptr_array_add(columns, (gpointer)(uintptr_t)orch_speedup_column(usual[i]));
    return columns;
}

/* The header of a column of numbers, with the unit of the item's value where the column has it. The
 * caller frees. */
static char *header_of(const struct orch_speedup_gathered *g,
                       const struct orch_speedup_column *column)
{
    return column->has_unit && g->unit ? g_strdup_printf(">%s (%s)", column->header, g->unit)
                                       : g_strdup_printf(">%s", column->header);
}

static struct orch_table *start_table(const struct orch_speedup_gathered *g,
                                      const GPtrArray *columns, const GPtrArray *by,
                                      const char *name)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
    if (by->len)
        g_ptr_array_add(headers, orch_names_joined(by));
    g_ptr_array_add(headers, g_strdup(">workers"));
    g_ptr_array_add(headers, g->unit ? g_strdup_printf(">%s (%s)", name, g->unit)
                                     : g_strdup_printf(">%s", name));
    for (guint i = 0; i < columns->len; i++)
        g_ptr_array_add(headers, header_of(g, columns->pdata[i]));
    g_ptr_array_add(headers, NULL);
    return orch_table_new((const char *const *)headers->pdata);
}

static void add_number(struct orch_table *table, const struct orch_speedup_gathered *g,
                       const struct orch_speedup_setting *s,
                       const struct orch_speedup_column *column)
{
    const struct orch_spread spread = orch_speedup_spread(g, s, column);
    if (spread.form == ORCH_SPREAD_INTERVAL)
        orch_table_add_spread(table, &spread, spread.stat.count > 0, 0);
    else
        orch_table_add_real(table, spread.centre);
}

static struct orch_table *make_table(const struct orch_speedup_gathered *g,
                                     const GPtrArray *columns, const GPtrArray *by,
                                     const char *name)
{
    struct orch_table *table = start_table(g, columns, by, name);
    for (guint i = 0; i < g->settings->len; i++) {
        const struct orch_speedup_setting *s =
            &g_array_index(g->settings, struct orch_speedup_setting, i);
        const struct orch_speedup_numbers row = orch_speedup_numbers_of(g, s);
        if (by->len)
            orch_table_add(table, s->label, NULL);
        orch_table_add_int(table, (int64_t)s->workers);
        orch_table_add_real(table, row.value);
        for (guint k = 0; k < columns->len; k++)
            add_number(table, g, s, columns->pdata[k]);
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
static void add_chart(struct orch_section_context *a, const struct orch_speedup_gathered *g,
                      const struct orch_speedup_column *column)
{
    g_autofree char *name = g_str_has_prefix(column->header, column->name)
                                ? g_strdup(column->header)
                                : g_strdup_printf("%s: %s", column->name, column->header);
    g_autofree char *label =
        column->has_unit && g->unit
            ? g_strdup_printf("%s%s (%s)", name, g->times_steps ? " of all steps" : "", g->unit)
            : g_strdup(name);
    struct orch_chart *chart = orch_chart_new(ORCH_CHART_LINE, NULL, "workers", label);
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    double fewest = HUGE_VAL, most = -HUGE_VAL;
    for (guint i = 0; i < g->settings->len; i++) {
        const struct orch_speedup_setting *s =
            &g_array_index(g->settings, struct orch_speedup_setting, i);
        const struct orch_speedup_numbers row = orch_speedup_numbers_of(g, s);
        const double y = column->compute(&row);
        fewest = isfinite(y) ? fmin(fewest, s->workers) : fewest;
        most = isfinite(y) ? fmax(most, s->workers) : most;
        add_point(panel, *s->words ? s->words : s->label, ORCH_SERIES_MEASURED, s->workers, y);
    }
    if (!(fewest < most)) { /* a single place on the axis is no course: the table has it */
        orch_chart_free(chart);
        return;
    }
    for (guint i = 0; column->ideal && i < g->settings->len; i++) {
        const double workers = g_array_index(g->settings, struct orch_speedup_setting, i).workers;
        add_point(panel, "ideal", ORCH_SERIES_IDEAL, workers, column->ideal(workers));
    }
    orch_section_chart(a->section, chart);
}

/* A header that is its own formula: "t(n)/t(1)" for t(n) / t(1). */
static bool says_itself(const char *header, const char *formula)
{
    g_auto(GStrv) words = g_strsplit(formula, " ", -1);
    g_autofree char *joined = g_strjoinv("", words);
    return strcmp(joined, header) == 0;
}

static void add_notes(struct orch_section_context *a, const struct orch_speedup_gathered *g,
                      const GPtrArray *columns, const char *name)
{
    const bool is_less_better = g_strcmp0(g->better, "max") != 0;
    bool has_all = true, any_quotient = false, any_timed = false, has_repeats = false;
    unsigned single = 0;
    for (guint i = 0; i < columns->len; i++) {
        const struct orch_speedup_column *c = columns->pdata[i];
        const char *timer =
            c->timer == ORCH_SPEEDUP_BYTES
                ? NULL
                : orch_json_text(a->item->spec, ORCH_SPEEDUP_EXTRA_KEYS[c->timer], NULL);
        any_quotient |= c->is_quotient;
        const char *wait =
            c->timer == ORCH_SPEEDUP_EXPOSED
                ? orch_json_text(a->item->spec, ORCH_SPEEDUP_EXTRA_KEYS[ORCH_SPEEDUP_WAIT], NULL)
                : NULL;
        any_timed |= c->is_timed || c->is_per_time;
        const char *transfer =
            c->timer == ORCH_SPEEDUP_EXPOSED
                ? orch_json_text(a->item->spec, ORCH_SPEEDUP_EXTRA_KEYS[ORCH_SPEEDUP_TRANSFER],
                                 NULL)
                : NULL;
        if (transfer)
            orch_section_note(
                a->section,
                "%s: includes communication during computing; measured by the trials (%s)",
                c->header, transfer);
        else if (timer)
            orch_section_note(
                a->section, "%s: %smeasured by the trials (%s%s%s)", c->header,
                c->timer == ORCH_SPEEDUP_EXPOSED ? "without communication during computing; " : "",
                timer, wait ? " - " : "", wait ? wait : "");
        else if (!says_itself(c->header, is_less_better ? c->formula_less : c->formula_more))
            orch_section_note(a->section, "%s = %s", c->header,
                              is_less_better ? c->formula_less : c->formula_more);
    }
    orch_section_note(a->section, "%s(n): %s with n workers, mean over repeats",
                      is_less_better ? "t" : "v", name);
    for (guint i = 0; i < g->settings->len; i++) {
        const struct orch_speedup_setting *s =
            &g_array_index(g->settings, struct orch_speedup_setting, i);
        const struct orch_speedup_setting *base = orch_speedup_base(g->settings, s->label);
        has_all = has_all && base;
        has_repeats |= s->values->len > 1;
        single += base && base != s && s->values->len && MIN(base->values->len, s->values->len) < 2;
    }
    if (any_quotient && single)
        orch_section_note(
            a->section,
            "settings without an interval: %u. They need two repeats, and two with one worker",
            single);
    if (any_quotient)
        orch_section_note(
            a->section,
            "[95 %% interval] of the ratio of two means, with n workers and with one (Fieller)");
    if (any_timed && has_repeats)
        orch_section_note(a->section,
                          "[95 %% interval] of a time or bandwidth: Student's t over the repeats");
    if (!has_all)
        orch_section_note(a->section, "a dash: these settings have no run with one worker");
    if (g->oversubscribed_count)
        orch_section_note(a->section,
                          "trials left out: %u. Their workers have more threads than the "
                          "machine; 'oversubscribed: true' in the item shows them",
                          g->oversubscribed_count);
}

/* ---- what limits ----------------------------------------------------------------------------- */

/* The share of the ideal time that limits nothing. */
#define NEGLIGIBLE 0.05

/* The setting of this label with most workers that has all timers. */
static const struct orch_speedup_setting *widest(const struct orch_speedup_gathered *g,
                                                 const char *label)
{
    const struct orch_speedup_setting *found = NULL;
    for (guint i = 0; i < g->settings->len; i++) {
        const struct orch_speedup_setting *s =
            &g_array_index(g->settings, struct orch_speedup_setting, i);
        const struct orch_speedup_numbers row = orch_speedup_numbers_of(g, s);
        if (strcmp(s->label, label) == 0 && isfinite(row.extra[ORCH_SPEEDUP_COMPUTE]) &&
            isfinite(row.extra[ORCH_SPEEDUP_EXPOSED]) && s->workers > 1 &&
            (!found || s->workers > found->workers))
            found = s;
    }
    return found;
}

/* Says what keeps n workers from their ideal: computing as long as alone, in proportion to the work
 * of each, and no communication that is not hidden. Returns whether it is computing, or waiting for
 * each other: workers that share cores slow each other, which is no limit of the algorithm. */
static bool add_limit(struct orch_section_context *a, const struct orch_speedup_gathered *g,
                      const struct orch_speedup_setting *base, const struct orch_speedup_setting *s,
                      bool has_label)
{
    const struct orch_speedup_numbers one = orch_speedup_numbers_of(g, base),
                                      many = orch_speedup_numbers_of(g, s);
    const double work = many.extra[ORCH_SPEEDUP_WORK] / one.extra[ORCH_SPEEDUP_WORK];
    const double ideal = one.extra[ORCH_SPEEDUP_COMPUTE] * (isfinite(work) ? work : 1);
    const double more = many.extra[ORCH_SPEEDUP_COMPUTE] - ideal,
                 exposed = many.extra[ORCH_SPEEDUP_EXPOSED];
    if (isnan(ideal) || isnan(more))
        return false;
    const double waited = many.extra[ORCH_SPEEDUP_WAIT];
    const double parts[] = {more, isnan(waited) ? 0 : waited,
                            exposed - (isnan(waited) ? 0 : waited)};
    static const char *const limits[] = {
        "slower computing limits", "waiting for other workers limits", "communication limits"};
    size_t most = 0;
    for (size_t i = 1; i < G_N_ELEMENTS(parts); i++)
        most = parts[i] >= parts[most] ? i : most;
    if (fmax(more, exposed) <= NEGLIGIBLE * ideal) {
        orch_section_text(a->section,
                          "%s%s%g workers: neither computing nor communication limits the speedup. "
                          "Each adds at most %g %% to the ideal time",
                          has_label ? s->label : "", has_label ? ", " : "", s->workers,
                          100 * NEGLIGIBLE);
        return false;
    }
    g_autofree char *computes = orch_number_format(many.extra[ORCH_SPEEDUP_COMPUTE]);
    g_autofree char *ideally = orch_number_format(ideal);
    g_autofree char *waits = orch_number_format(parts[1]);
    g_autofree char *rest = orch_number_format(parts[2]);
    g_autofree char *waiting =
        isnan(waited) ? g_strdup("") : g_strdup_printf(", waits for the others for %s s,", waits);
    orch_section_text(a->section,
                      "%s%s%g workers: %s the speedup. Each computes for %s s (ideal: %s s)%s and "
                      "communicates for %s s outside computing",
                      has_label ? s->label : "", has_label ? ", " : "", s->workers, limits[most],
                      computes, ideally, waiting, rest);
    return most < 2;
}

/* Returns whether some column is about the time of n workers, which the sentence on limits
 * explains; a bandwidth is not. */
static bool are_about_time(const GPtrArray *columns)
{
    for (guint i = 0; i < columns->len; i++) {
        const struct orch_speedup_column *column = columns->pdata[i];
        if (column->is_quotient || column->timer == ORCH_SPEEDUP_COMPUTE)
            return true;
    }
    return false;
}

static void add_limits(struct orch_section_context *a, const struct orch_speedup_gathered *g,
                       bool has_labels)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    bool by_computing = false;
    for (guint i = 0; i < g->settings->len; i++) {
        const char *label = g_array_index(g->settings, struct orch_speedup_setting, i).label;
        const struct orch_speedup_setting *base = orch_speedup_base(g->settings, label),
                                          *s = widest(g, label);
        if (g_hash_table_add(seen, (gpointer)(uintptr_t)label) && base && s &&
            !orch_speedup_is_uneven(g, s))
            by_computing |= add_limit(a, g, base, s, has_labels);
    }
    if (by_computing)
        orch_section_note(
            a->section, "workers on one machine slow each other down, because they share its cores "
                        "and memory. This says nothing about workers with a GPU or a machine each");
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* Groups of which a sentence has every column, and groups of which it has one. */
enum { GROUPS_MOST = 4, LISTED_MOST = 3 };

/* The setting of a group with most workers; NULL: none has more than one. */
static const struct orch_speedup_setting *most_workers(const struct orch_speedup_gathered *g,
                                                       const char *label)
{
    const struct orch_speedup_setting *found = NULL;
    for (guint i = 0; i < g->settings->len; i++) {
        const struct orch_speedup_setting *s =
            &g_array_index(g->settings, struct orch_speedup_setting, i);
        if (strcmp(s->label, label) == 0 && s->workers > 1 && s->values->len &&
            (!found || s->workers > found->workers))
            found = s;
    }
    return found;
}

/* The settings with most workers, one a group (const struct orch_speedup_setting *). */
static GPtrArray *widest_of(const struct orch_speedup_gathered *g)
{
    GPtrArray *out = g_ptr_array_new();
    for (guint i = 0; i < g->settings->len; i++) {
        const struct orch_speedup_setting *s =
            &g_array_index(g->settings, struct orch_speedup_setting, i);
        if (most_workers(g, s->label) == s)
            g_ptr_array_add(out, (gpointer)(uintptr_t)s);
    }
    return out;
}

/* Appends "speedup 1.63 (95 % interval 1.55 to 1.71), where 2 is ideal" of each column that has a
 * number. */
static void append_columns(GString *out, const struct orch_speedup_gathered *g,
                           const struct orch_speedup_setting *s, const GPtrArray *columns)
{
    for (guint i = 0, said = 0; i < columns->len; i++) {
        const struct orch_speedup_column *column = columns->pdata[i];
        const struct orch_spread spread = orch_speedup_spread(g, s, column);
        const char *unit = column->unit ? column->unit : column->has_unit ? g->unit : NULL;
        if (!isfinite(spread.centre))
            continue;
        g_string_append_printf(out, "%s%s ", said++ ? "; " : "", column->said);
        orch_answer_number_append(out, spread.centre, spread.low, spread.high, unit);
        if (column->ideal && column->ideal(s->workers) != 1)
            g_string_append_printf(out, ", where %g is ideal", column->ideal(s->workers));
    }
}

/* "strong, 2 workers: speedup 1.63, where 2 is ideal; share of the ideal 0.815. Weak, ..."
 * Of many groups the lowest and the highest of the first column. */
static void add_answer(struct orch_section_context *a, const struct orch_speedup_gathered *g,
                       const GPtrArray *columns)
{
    const struct orch_speedup_column *first = columns->pdata[0];
    g_autoptr(GPtrArray) widest = widest_of(g);
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GArray) entries = orch_answer_entries_new();
    for (guint i = 0; i < widest->len; i++) {
        const struct orch_speedup_setting *s = widest->pdata[i];
        g_autofree char *label =
            g_strdup_printf("%s%s%g workers", s->words, *s->words ? ", " : "", s->workers);
        const struct orch_spread spread = orch_speedup_spread(g, s, first);
        orch_answer_entries_add(entries, label, spread.centre, spread.low, spread.high);
        g_autoptr(GString) numbers = g_string_new(NULL);
        append_columns(numbers, g, s, columns);
        if (numbers->len)
            g_string_append_printf(text, "%s%s: %s", text->len ? ". " : "", label, numbers->str);
    }
    if (widest->len > GROUPS_MOST) {
        g_string_truncate(text, 0);
        const char *unit = first->unit ? first->unit : first->has_unit ? g->unit : NULL;
        orch_answer_entries_append_of(text, entries, first->said, unit, "setting", LISTED_MOST);
    }
    if (text->len)
        orch_section_answer(a->section, "%s", text->str);
}

static bool has_runs(const struct orch_trials *trials)
{
    for (guint i = 0; i < trials->all->len; i++)
        if (((const struct orch_report_trial *)trials->all->pdata[i])->run)
            return true;
    return false;
}

static bool fill(struct orch_section_context *a, GError **error)
{
    g_autoptr(GPtrArray) by = orch_texts_from_json(json_object_get(a->item->spec, "by"));
    g_autoptr(GPtrArray) columns = columns_of(a);
    g_autoptr(GArray) settings = g_array_new(FALSE, FALSE, sizeof(struct orch_speedup_setting));
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(struct orch_speedup_link));
    struct orch_speedup_gathered g = {
        .settings = settings,
        .links = links,
        .times_steps = json_object_get(a->item->spec, ORCH_SPEEDUP_EXTRA_KEYS[ORCH_SPEEDUP_STEPS])};
    g_array_set_clear_func(settings, orch_speedup_setting_clear);
    struct orch_trials *trials = orch_section_trials(a, "experiments", error);
    bool ok = trials != NULL;
    for (guint i = 0; ok && i < trials->all->len; i++)
        ok = orch_speedup_add(a, trials, trials->all->pdata[i], by, &g, error);
    ok = ok && orch_speedup_add_links(a, &g, error);
    if (ok && settings->len && has_runs(trials)) {
        g_autoptr(GPtrArray) wanted =
            orch_item_values_parse(json_object_get(a->item->spec, "value"));
        const char *name = ((const struct orch_item_value *)wanted->pdata[0])->name;
        add_chart(a, &g, columns->pdata[0]);
        orch_section_table(a->section, make_table(&g, columns, by, name));
        if (are_about_time(columns))
            add_limits(a, &g, by->len > 0);
        add_notes(a, &g, columns, name);
        add_answer(a, &g, columns);
    }
    bool any_uneven = false;
    for (guint i = 0; i < settings->len; i++)
        any_uneven |=
            orch_speedup_is_uneven(&g, &g_array_index(settings, struct orch_speedup_setting, i));
    if (ok)
        orch_section_add_missing_trials(a, trials);
    if (ok && any_uneven)
        orch_section_add_uneven(a, trials);
    orch_trials_free(trials);
    return ok;
}

static const char *const COLUMN_WORDS[] = {
    "speedup", "efficiency", "ratio", "inverse",   "increase",   "computing", "communication",
    "waiting", "rest",       "moved", "bandwidth", "link_share", NULL};
static const struct orch_report_words SPEEDUP_COLUMNS = {
    .words = COLUMN_WORDS, .what = "column", .of = " of a speedup"};

static const struct orch_report_key KEYS[] = {
    {.name = "value", .shape = ORCH_SHAPE_VALUE, .is_required = true},
    {.name = "workers", .shape = ORCH_SHAPE_AXIS},
    {.name = "by", .shape = ORCH_SHAPE_AXES},
    {.name = "bytes", .shape = ORCH_SHAPE_VALUE},
    {.name = "compute", .shape = ORCH_SHAPE_VALUE},
    {.name = "exposed", .shape = ORCH_SHAPE_VALUE},
    {.name = "wait", .shape = ORCH_SHAPE_VALUE},
    {.name = "link", .shape = ORCH_SHAPE_OTHER_EXPERIMENTS},
    {.name = "work", .shape = ORCH_SHAPE_VALUE},
    {.name = "steps", .shape = ORCH_SHAPE_VALUE},
    {.name = "transfer", .shape = ORCH_SHAPE_VALUE},
    {.name = "columns", .shape = ORCH_SHAPE_WORDS, .words = &SPEEDUP_COLUMNS},
    {.name = "oversubscribed", .shape = ORCH_SHAPE_FLAG},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

/* The keys without which a column has no number. */
static const struct {
    const char *column, *key, *hint;
} NEEDS[] = {{"bandwidth", "bytes", "write bytes: result epoch_reduced_bytes"},
             {"moved", "bytes", "write bytes: result epoch_reduced_bytes"},
             {"link_share", "bytes", "write bytes: result epoch_reduced_bytes"},
             {"link_share", "link", "name an experiment of allreduce: link: [all_reduces]"},
             {"waiting", "wait", "write wait: result peer_wait_time"}};

static void check_needs(struct report_item *item)
{
    g_autoptr(GPtrArray) columns = orch_recipe_get_texts(item->draft, item->spec, "columns");
    for (guint i = 0; columns && i < columns->len; i++) {
        const struct orch_yaml *column = columns->pdata[i];
        for (guint k = 0; k < G_N_ELEMENTS(NEEDS); k++)
            if (strcmp(column->text, NEEDS[k].column) == 0 &&
                !orch_yaml_get(item->spec, NEEDS[k].key))
                orch_recipe_error_at(item->draft, column, NEEDS[k].hint, "column '%s' needs '%s'",
                                     column->text, NEEDS[k].key);
    }
}

const struct orch_report_kind ORCH_REPORT_SPEEDUP = {
    .name = "speedup",
    .divides_times = true,
    .keys = KEYS,
    .check = check_needs,
    .fill = fill,
};
