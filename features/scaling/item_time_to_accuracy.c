/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `time_to_accuracy`: the time (or epochs) that runs need to reach a target that some of
 * them may never reach. A run without the value is right-censored (features/scaling/censored.h).
 * Whether a run reached the target is counted of every run. The times are those of undisturbed
 * runs, whether these reached the target or not, and of runs that recorded one. */
#include "core/report/answer.h"
#include "core/report/grid_table.h"
#include "core/report/items.h"

#include "core/stats/numbers.h"
#include "features/scaling/censored.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"

#include <math.h>
#include <string.h>

/* The result that says 1 or 0, unless the item names another under `reached`. */
#define REACHED "result reached_target"

struct tally {
    struct orch_section_context *a;
    const struct orch_section_grid *g;
    struct orch_item_value *reached;
    unsigned untimed;      /* reached the target, but their time is unknown */
    bool is_censored;      /* some run never reached the target */
    bool is_left_out;      /* the time of some run is left out because the run was disturbed */
    GPtrArray *targetless; /* char *: settings whose runs do not say whether they reached it */
};

/* One value of a row. */
struct row {
    GArray *times;                /* double, of the runs whose value counts */
    size_t censored;              /* such runs that never reached the target */
    size_t runs, reached;         /* the outcome of all runs */
    size_t said;                  /* runs that say their outcome */
    struct orch_censored counted; /* of `times` and `censored` */
};

static bool has_reached(double time, double reached)
{
    return (time > 0 && isfinite(time)) || reached > 0;
}

/* Counts the run's outcome, and its time unless that is left out. */
static bool add_run(struct tally *t, struct orch_report_trial *trial, guint value, struct row *row,
                    GError **error)
{
    const struct orch_trials *trials = t->g->trials;
    bool is_time = orch_unit_is_timing(t->g->grid->units[value], NULL);
    bool is_left_out = is_time && orch_trial_is_left_out(trials, trial);
    double time, reached;
    if (!orch_trial_number(trials, trial, t->g->wanted->pdata[value], &time, NULL, NULL, error) ||
        !orch_trial_number(trials, trial, t->reached, &reached, NULL, NULL, error))
        return false;
    row->runs++;
    row->reached += has_reached(time, reached);
    row->said += has_reached(time, reached) || !isnan(reached);
    if (is_left_out)
        t->is_left_out = true;
    else if (time > 0 && isfinite(time))
        g_array_append_val(row->times, time);
    else if (reached > 0)
        t->untimed++;
    else
        row->censored++;
    return true;
}

/* The caller unrefs row->times. */
static bool summarise(struct tally *t, const struct orch_grid_cell *cell, guint value,
                      struct row *row, GError **error)
{
    *row = (struct row){.times = g_array_new(FALSE, FALSE, sizeof(double))};
    for (guint i = 0; i < cell->trials->len; i++) {
        struct orch_report_trial *trial = cell->trials->pdata[i];
        if (trial->run && !add_run(t, trial, value, row, error))
            return false;
    }
    row->counted =
        orch_censored_of((const double *)(void *)row->times->data, row->times->len, row->censored);
    t->is_censored = t->is_censored || row->censored;
    return true;
}

/* ---- table ----------------------------------------------------------------------------------- */

static char *percent(double share)
{
    if (isnan(share))
        return g_strdup("-");
    if (!(share < 10)) /* two runs: the upper end may be anything */
        return g_strdup("over 1000 %");
    return g_strdup_printf("%.*f %%", share < 0.1 ? 1 : 0, 100 * share);
}

static void add_percent(struct orch_table *table, double share)
{
    g_autofree char *text = percent(share);
    orch_table_add(table, text, isfinite(share) ? orch_json_finite(share) : json_null());
}

static void add_range(struct orch_table *table, const struct orch_censored *c)
{
    json_t *ends = c->reached ? json_pack("[f, f]", c->low, c->high) : json_null();
    g_autofree char *low = orch_number_format(c->low), *high = orch_number_format(c->high);
    g_autofree char *text = c->reached ? g_strdup_printf("%s..%s", low, high) : g_strdup("-");
    orch_table_add(table, text, ends);
}

static void add_row(struct orch_table *table, const struct tally *t,
                    const struct orch_grid_cell *cell, guint value, const struct row *row)
{
    const struct orch_censored *c = &row->counted;
    const struct orch_item_value *wanted = t->g->wanted->pdata[value];
    const char *unit = t->g->grid->units[value];
    g_autofree char *name =
        unit ? g_strdup_printf("%s (%s)", wanted->name, unit) : g_strdup(wanted->name);
    g_autofree char *share = g_strdup_printf("%zu of %zu", row->reached, row->runs);
    g_autofree char *low = percent(c->cv_low), *high = percent(c->cv_high);
    g_autofree char *interval =
        isnan(c->cv_low) ? g_strdup("-") : g_strdup_printf("%s to %s", low, high);
    orch_table_add(table, t->g->rows->len ? cell->row : "all", NULL);
    g_autofree char *words = orch_grid_value_words(t->g->grid, value);
    if (t->g->wanted->len > 1)
        orch_table_add(table, words, json_string(name));
    orch_table_add_int(table, (int64_t)row->runs);
    orch_table_add(
        table, share,
        orch_json_finite(row->runs ? (double)row->reached / (double)row->runs : (double)NAN));
    if (t->is_left_out)
        orch_table_add_int(table, (int64_t)c->runs);
    if (c->reached && isnan(c->median))
        orch_table_add(table, "half of the runs or fewer reached the target", json_null());
    else
        orch_table_add_real(table, c->median);
    add_range(table, c);
    add_percent(table, c->cv);
    orch_table_add(table, interval,
                   isfinite(c->cv_high) ? json_pack("[f, f]", c->cv_low, c->cv_high) : json_null());
}

/* The columns after the axes. */
static const struct {
    const char *name, *header; /* header NULL: the median */
} COLUMNS[] = {
    {"value", "value"},
    {"runs", ">runs"},
    {"reached", ">reached the target"},
    {"counted", ">undisturbed runs"},
    {"median", NULL},
    {"range", ">lowest..highest"},
    {"cv", ">coefficient of variation"},
    {"cv_interval", ">95 % interval"},
};

static char *median_header(const struct tally *t)
{
    const struct orch_item_value *first = t->g->wanted->pdata[0];
    const char *unit = t->g->grid->units[0];
    if (t->g->wanted->len > 1)
        return g_strdup(">median");
    return unit ? g_strdup_printf(">median %s (%s)", first->name, unit)
                : g_strdup_printf(">median %s", first->name);
}

static struct orch_table *make_table(const struct tally *t)
{
    g_autofree char *axes = t->g->rows->len ? orch_names_joined(t->g->rows) : g_strdup("runs of");
    g_autofree char *median = median_header(t);
    const char *headers[G_N_ELEMENTS(COLUMNS) + 2] = {axes}, *names[G_N_ELEMENTS(COLUMNS) + 2];
    guint count = 1;
    for (guint i = 0; i < G_N_ELEMENTS(COLUMNS); i++) {
        bool is_shown = strcmp(COLUMNS[i].name, "value") == 0     ? t->g->wanted->len > 1
                        : strcmp(COLUMNS[i].name, "counted") == 0 ? t->is_left_out
                                                                  : true;
        if (!is_shown)
            continue;
        names[count] = COLUMNS[i].name;
        headers[count++] = COLUMNS[i].header ? COLUMNS[i].header : median;
    }
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 1; i < count; i++)
        orch_table_set_name(table, i, names[i]);
    return table;
}

/* A line of the table: a value of a cell. */
struct line {
    const struct orch_grid_cell *cell;
    guint value;
    struct row row;
};

static void line_clear(gpointer line)
{
    g_array_unref(((struct line *)line)->row.times);
}

/* An item that names the outcome is about runs that have one: an environment without a target has
 * not failed to reach it. Without `reached`, a run without a time never reached the target. */
static bool is_targetless(const struct tally *t, const struct row *row)
{
    return json_object_get(t->a->item->spec, "reached") && row->runs && !row->said;
}

static void add_targetless(struct tally *t, const struct orch_grid_cell *cell)
{
    char *setting = orch_answer_row(t->g->trials, t->g->grid, cell);
    if (g_ptr_array_find_with_equal_func(t->targetless, setting, g_str_equal, NULL))
        g_free(setting);
    else
        g_ptr_array_add(t->targetless, setting);
}

static void note_targetless(const struct tally *t)
{
    g_autofree char *name = orch_answer_words(t->g->trials->labels, t->reached->name, NULL);
    g_autoptr(GString) settings = g_string_new(NULL);
    for (guint i = 0; i < t->targetless->len; i++)
        g_string_append_printf(settings, "%s%s", i ? "; " : "", (char *)t->targetless->pdata[i]);
    if (settings->len)
        orch_section_note(t->a->section, "these settings have no target (no result '%s'): %s", name,
                          settings->str);
}

/* Summarises every value of each cell that has runs: without any, its trials are reported as
 * missing. */
static bool gather(struct tally *t, GArray *lines, GError **error)
{
    for (guint i = 0; i < t->g->grid->cells->len; i++) {
        const struct orch_grid_cell *cell = t->g->grid->cells->pdata[i];
        for (guint value = 0; cell->seeds->len && value < t->g->wanted->len; value++) {
            struct line line = {.cell = cell, .value = value};
            bool ok = summarise(t, cell, value, &line.row, error);
            if (ok && is_targetless(t, &line.row)) {
                add_targetless(t, cell);
                line_clear(&line);
                continue;
            }
            g_array_append_val(lines, line);
            if (!ok)
                return false;
        }
    }
    return true;
}

enum { LISTED_MOST = 3 };

/* ". 1 of 16 runs did not reach it (copies 4)": a median hides it. Settings without a median are
 * said apart. */
static void append_misses(GString *out, const struct tally *t, const GArray *lines)
{
    size_t missed = 0, runs = 0;
    g_autoptr(GString) settings = g_string_new(NULL);
    for (guint i = 0; i < lines->len; i++) {
        const struct line *line = &g_array_index(lines, struct line, i);
        const size_t misses = line->row.runs - line->row.reached;
        if (line->value || isnan(line->row.counted.median))
            continue;
        runs += line->row.runs;
        missed += misses;
        g_autofree char *setting = orch_answer_row(t->g->trials, t->g->grid, line->cell);
        if (misses && *setting)
            g_string_append_printf(settings, "%s%s", settings->len ? "; " : "", setting);
    }
    if (missed)
        g_string_append_printf(out, ". %zu of %zu runs did not reach the target%s%s%s", missed,
                               runs, settings->len ? " (" : "", settings->str,
                               settings->len ? ")" : "");
}

/* "time to accuracy: 12.1 s for 1 worker (5 of 6 runs reached the target, coefficient of variation
 * 4.2 % with 95 % interval 2.6 % to 10 %)" of each value: its median by row. */
static void add_answer(const struct tally *t, const GArray *lines)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint value = 0; value < t->g->wanted->len; value++) {
        const struct orch_item_value *wanted = t->g->wanted->pdata[value];
        g_autofree char *words =
            orch_answer_value(t->g->trials->labels, wanted, t->g->grid->units[value]);
        g_autofree char *name = g_strdup_printf("median %s", words);
        g_autoptr(GArray) entries = orch_answer_entries_new();
        unsigned unreached = 0;
        for (guint i = 0; i < lines->len; i++) {
            const struct line *line = &g_array_index(lines, struct line, i);
            const struct orch_censored *c = &line->row.counted;
            if (line->value != value)
                continue;
            unreached += isnan(c->median);
            g_autofree char *cv = percent(c->cv), *low = percent(c->cv_low),
                            *high = percent(c->cv_high);
            g_autoptr(GString) label = g_string_new(NULL);
            g_autofree char *setting = orch_answer_row(t->g->trials, t->g->grid, line->cell);
            g_string_append_printf(label, "%s%s%zu of %zu run%s reached the target",
                                   t->g->rows->len ? setting : "all runs", " (", line->row.reached,
                                   line->row.runs, orch_plural((int64_t)line->row.runs));
            if (value) /* reached as often, and varying alike: the table has it */
                g_string_assign(label, t->g->rows->len ? setting : "");
            if (!value && isfinite(c->cv))
                g_string_append_printf(label, ", coefficient of variation %s", cv);
            if (!value && isfinite(c->cv) && isfinite(c->cv_low))
                g_string_append_printf(label, " with 95 %% interval %s to %s", low, high);
            if (!value)
                g_string_append_c(label, ')');
            orch_answer_entries_add(entries, label->str, c->median, (double)NAN, (double)NAN);
        }
        orch_answer_entries_append_of(text, entries, name, t->g->grid->units[value], "setting",
                                      LISTED_MOST);
        if (!value)
            append_misses(text, t, lines);
        if (unreached && !value)
            g_string_append_printf(
                text, "%s%s: half of the runs or fewer reached the target in %u setting%s",
                text->len ? ". " : "", words, unreached, orch_plural(unreached));
    }
    if (text->len)
        orch_section_answer(t->a->section, "%s", text->str);
}

/* Says for one value whether the settings vary alike: of those whose variation is known, the one
 * that differs most from the first, with p corrected for all of them. */
static void add_variation(const struct tally *t, const GArray *lines, guint value)
{
    const struct line *base = NULL, *most = NULL;
    double least = (double)INFINITY;
    unsigned contrasts = 0;
    for (guint i = 0; i < lines->len; i++) {
        const struct line *line = &g_array_index(lines, struct line, i);
        if (line->value != value || isnan(line->row.counted.log_variance))
            continue;
        const double p = base ? orch_censored_same_variation(&line->row.counted, &base->row.counted)
                              : (double)INFINITY;
        most = p < least ? line : most;
        least = fmin(p, least);
        contrasts += base != NULL;
        base = base ? base : line;
    }
    if (!most)
        return;
    const struct orch_censored *a = &most->row.counted, *b = &base->row.counted;
    const double p = fmin(1, contrasts * least);
    const struct orch_item_value *wanted = t->g->wanted->pdata[value];
    g_autofree char *name =
        orch_answer_value(t->g->trials->labels, wanted, t->g->grid->units[value]);
    g_autofree char *one =
        orch_answer_setting(t->g->trials, most->cell->trials->pdata[0], t->g->rows);
    g_autofree char *against =
        orch_answer_setting(t->g->trials, base->cell->trials->pdata[0], t->g->rows);
    g_autofree char *own = percent(a->cv), *other = percent(b->cv), *p_text = orch_p_format(p);
    orch_section_text(t->a->section,
                      "coefficient of variation of %s: %s (%s, n = %zu) against %s (%s, n = "
                      "%zu)%s, %s. Test: F test, p %s%s",
                      name, own, one, a->reached, other, against, b->reached,
                      contrasts > 1 ? ", the largest difference" : "",
                      p < ORCH_NOISE_LEVEL ? "more than noise" : "not more than noise", p_text,
                      contrasts > 1 ? ", corrected for all comparisons (Bonferroni)" : "");
}

static bool add_table(struct tally *t, GError **error)
{
    g_autoptr(GArray) lines = g_array_new(FALSE, FALSE, sizeof(struct line));
    g_array_set_clear_func(lines, line_clear);
    if (!gather(t, lines, error))
        return false;
    struct orch_table *table = make_table(t);
    for (guint i = 0; i < lines->len; i++) {
        const struct line *line = &g_array_index(lines, struct line, i);
        add_row(table, t, line->cell, line->value, &line->row);
    }
    if (lines->len)
        orch_section_table(t->a->section, table);
    else
        orch_table_free(table);
    add_answer(t, lines);
    for (guint value = 0; value < t->g->wanted->len; value++)
        add_variation(t, lines, value);
    note_targetless(t);
    return true;
}

static void add_notes(const struct tally *t)
{
    struct orch_section *section = t->a->section;
    orch_section_note(
        section, "the median is of all runs. The lowest, the highest and the coefficient of "
                 "variation (standard deviation / mean) are of the runs that reached the target. "
                 "The interval assumes log-normal times (Koopmans, Owen and Rosenblatt 1964)");
    if (t->is_censored)
        orch_section_note(
            section,
            "for the median, a run that never reached the target counts as longer than all others");
    if (t->untimed)
        orch_section_note(
            section, "%u run%s reached the target but recorded no time; %s counted as reached",
            t->untimed, orch_plural(t->untimed), t->untimed == 1 ? "it is" : "they are");
    if (t->is_left_out)
        orch_section_note(
            section,
            "the numbers of runs and epochs count all runs; times are only of undisturbed runs");
}

static bool fill(struct orch_section_context *a, GError **error)
{
    struct orch_section_grid *g = orch_section_grid(a, "by", NULL, error);
    if (!g)
        return false;
    json_t *named = json_object_get(a->item->spec, "reached");
    g_autoptr(json_t) reached = named ? json_incref(named) : json_string(REACHED);
    g_autoptr(GPtrArray) values = orch_item_values_parse(reached);
    g_autoptr(GPtrArray) targetless = g_ptr_array_new_with_free_func(g_free);
    struct tally t = {.a = a, .g = g, .reached = values->pdata[0], .targetless = targetless};
    bool ok = !a->section->done || add_table(&t, error);
    if (ok && a->section->done)
        add_notes(&t);
    if (ok)
        orch_section_add_missing_trials(a, g->trials);
    orch_section_grid_free(g);
    return ok;
}

static const struct orch_report_key KEYS[] = {
    {.name = "value", .shape = ORCH_SHAPE_VALUES, .is_required = true},
    {.name = "reached", .shape = ORCH_SHAPE_VALUE},
    {.name = "by", .shape = ORCH_SHAPE_AXES},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

const struct orch_report_kind ORCH_REPORT_TIME_TO_ACCURACY = {
    .name = "time_to_accuracy",
    .keys = KEYS,
    .fill = fill,
};
