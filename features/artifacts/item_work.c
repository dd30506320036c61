/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `work`: shows how results follow from a formula with its numbers. Formulas come from
 * the item (`formula:`), else from the table of known formulas, matched by the names that they
 * use. Runs can add their own workings: a column NAME_working next to NAME in their tables, and
 * notes. */
#include "core/report/answer.h"
#include "core/report/items.h"
#include "core/report/labels.h"
#include "features/artifacts/recorded_notes.h"

#include "core/stats/numbers.h"
#include "lib/base/csv.h"
#include "lib/base/file.h"
#include "lib/base/formula.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

#define TABLE_BYTES_MAX (4 << 20) /* of a table with workings */
/* A known formula is shown only if its value agrees with the recorded result within this share. */
#define NEAR 0.01

static const char *const KNOWN[] = {
    "conv_share = 100 * conv_multiply_adds / multiply_adds",
    "time_at_peak = 1000 * operations / (peak_tflops * 1000000000000)", /* in ms */
    "images_per_s_at_peak = 1000 / time_at_peak",
    "images_per_s = train_images / mean epoch_time",
    "images_per_s = batch * steps_per_s",
};

struct work {
    struct orch_section_context *a;
    struct orch_trials *trials;
    struct orch_report_trial *trial;
    GPtrArray *axes;
    GPtrArray *values; /* struct value *: the results of formulas, for the answer */
    bool is_mean;      /* some number is a mean over several runs */
    bool is_one_run;   /* numbers are those of `trial` alone */
};

/* The results of a formula by setting. */
struct value {
    char *name, *last; /* last: the setting that was added last */
    const char *unit;  /* borrowed, or NULL */
    GArray *entries;
};

static void value_free(gpointer pointer)
{
    struct value *value = pointer;
    g_free(value->name);
    g_free(value->last);
    g_array_unref(value->entries);
    g_free(value);
}

static struct value *value_find(const struct work *w, const char *name)
{
    for (guint i = 0; i < w->values->len; i++)
        if (strcmp(((struct value *)w->values->pdata[i])->name, name) == 0)
            return w->values->pdata[i];
    return NULL;
}

static void add_value(struct work *w, const char *name, const char *unit, const char *label,
                      const struct orch_spread *spread)
{
    struct value *value = value_find(w, name);
    if (!value) {
        value = g_new0(struct value, 1);
        *value = (struct value){g_strdup(name), NULL, unit, orch_answer_entries_new()};
        g_ptr_array_add(w->values, value);
    }
    g_free(value->last);
    value->last = g_strdup(label);
    orch_answer_entries_add_spread(value->entries, label, spread);
}

/* A number without a spread. */
static struct orch_spread plain(double number)
{
    return (struct orch_spread){.stat = {.count = 1}, .centre = number, .low = NAN, .high = NAN};
}

static void add_answer(const struct work *w)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < w->values->len; i++) {
        const struct value *value = w->values->pdata[i];
        orch_labels_add_name(w->a->section->labels, value->name); /* of the recipe's formula */
        g_autofree char *words = orch_answer_words(w->a->section->labels, value->name, value->unit);
        orch_answer_entries_append(text, value->entries, words, value->unit);
    }
    if (text->len)
        orch_section_answer(w->a->section, "%s", text->str);
}

/* ---- names -------------------------------------------------------------------------------------
 */

static char *label_of(const struct work *w, const struct orch_report_trial *trial)
{
    char *label = w->axes->len ? orch_trial_label(w->trials, trial, w->axes) : NULL;
    return label ? label : orch_cell_label(trial->item->cell);
}

/* The same in words for the sentence; "" where the item has a single trial. */
static char *words_of(const struct work *w, const struct orch_report_trial *trial)
{
    if (w->axes->len)
        return orch_answer_setting(w->trials, trial, w->axes);
    g_autofree char *label = orch_cell_label(trial->item->cell);
    return w->trials->all->len > 1 ? orch_answer_series(w->trials->labels, label) : g_strdup("");
}

/* What a line of the trial begins with. */
static char *title_of(const struct work *w)
{
    g_autofree char *words = words_of(w, w->trial);
    return *words ? g_steal_pointer(&words) : label_of(w, w->trial);
}

/* A number of the run; with axes the mean over all runs of its setting that have it. */
static double mean_of(struct work *w, const struct orch_item_value *wanted)
{
    g_autofree char *label = label_of(w, w->trial);
    double sum = 0;
    unsigned count = 0;
    for (guint i = 0; i < w->trials->all->len; i++) {
        struct orch_report_trial *trial = w->trials->all->pdata[i];
        double value = NAN;
        g_autofree char *other = trial->run ? label_of(w, trial) : NULL;
        if (!other || (w->is_one_run && trial != w->trial) ||
            (trial != w->trial && (!w->axes->len || strcmp(other, label) != 0)) ||
            !orch_trial_number(w->trials, trial, wanted, &value, NULL, NULL, NULL) || isnan(value))
            continue;
        sum += value;
        count++;
    }
    w->is_mean = w->is_mean || count > 1;
    return count ? sum / count : (double)NAN;
}

/* Looks up a parameter, else a number of the setting. */
static double number_of(void *ctx, const char *name)
{
    struct work *w = ctx;
    g_autofree char *text =
        strchr(name, ' ') ? NULL : orch_cell_value_text(w->trial->item->cell, name);
    double value = NAN;
    if (text && orch_real_parse(text, &value))
        return value;
    g_autoptr(json_t) word = json_string(name);
    g_autoptr(GPtrArray) wanted = orch_item_values_parse(word);
    return mean_of(w, wanted->pdata[0]);
}

static const char *unit_of(struct work *w, const char *name)
{
    struct orch_item_value wanted = {ORCH_AGGREGATE_LAST, (char *)(uintptr_t)name};
    const char *unit = NULL;
    double value;
    orch_trial_number(w->trials, w->trial, &wanted, &value, NULL, &unit, NULL);
    return unit;
}

static void add_plain(struct work *w, const char *name, const char *label, double number)
{
    const struct orch_spread spread = plain(number);
    add_value(w, name, unit_of(w, name), label, &spread);
}

/* ---- formulas ----------------------------------------------------------------------------------
 */

/* The formula's value from the means, with the spread of its values of the setting's single runs.
 */
static struct orch_spread spread_of(struct work *w, const struct orch_formula *f, double value,
                                    const char *unit)
{
    struct orch_report_trial *const own = w->trial;
    g_autofree char *label = label_of(w, own);
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
    const bool is_mean = w->is_mean;
    w->is_one_run = true;
    for (guint i = 0; w->axes->len && i < w->trials->all->len; i++) {
        w->trial = w->trials->all->pdata[i];
        g_autofree char *other = w->trial->run ? label_of(w, w->trial) : NULL;
        const double one =
            other && strcmp(other, label) == 0 ? orch_formula_value(f, number_of, w) : (double)NAN;
        if (!isnan(one))
            g_array_append_val(values, one);
    }
    w->is_one_run = false;
    w->is_mean = is_mean;
    w->trial = own;
    struct orch_spread spread =
        orch_spread_of((double *)(void *)values->data, values->len, orch_formula_left(f), unit);
    if (spread.form != ORCH_SPREAD_RUNS && spread.form != ORCH_SPREAD_INTERVAL)
        return plain(value);
    spread.centre = value;
    return spread;
}

/* Adds "vgg16: images_per_s = 64 * 1.502 = 96.1 images/s". False when a name in the formula
 * has no number in this run. */
static bool add_formula(struct work *w, const struct orch_formula *f, bool must_agree)
{
    const char *left = orch_formula_left(f);
    double value = orch_formula_value(f, number_of, w), recorded = number_of(w, left);
    if (isnan(value) || (must_agree && !(fabs(value - recorded) <= NEAR * fabs(recorded))))
        return false;
    const char *unit = unit_of(w, left);
    g_autofree char *numbers = orch_formula_with_numbers(f, number_of, w, orch_number_format);
    g_autofree char *result = orch_number_format(value), *was = orch_number_format(recorded);
    bool differs = !isnan(recorded) && strcmp(result, was) != 0;
    g_autofree char *words = words_of(w, w->trial), *label = title_of(w);
    const struct orch_spread spread = spread_of(w, f, value, unit);
    add_value(w, left, unit, words, &spread);
    g_autofree char *grouped = orch_digits_grouped(numbers), *shown = orch_digits_grouped(result);
    g_autofree char *ends =
        isfinite(spread.low) ? orch_interval_format(spread.low, spread.high) : NULL;
    g_autofree char *runs = !ends ? g_strdup("")
                            : spread.form == ORCH_SPREAD_RUNS
                                ? g_strdup_printf(" (single runs: %s)", ends)
                                : g_strdup_printf(" (95 %% interval over runs: %s)", ends);
    orch_section_text(w->a->section, "%s: %s = %s = %s = %s%s%s%s%s%s%s", label, left,
                      orch_formula_right(f), grouped, shown, unit ? " " : "", unit ? unit : "",
                      runs, differs ? " (recorded: " : "", differs ? was : "", differs ? ")" : "");
    return true;
}

static bool names_it(const struct orch_section_context *a, const char *left)
{
    g_autoptr(GPtrArray) wanted = orch_item_values_parse(json_object_get(a->item->spec, "value"));
    bool named = !wanted->len;
    for (guint i = 0; i < wanted->len; i++)
        named = named || strcmp(((struct orch_item_value *)wanted->pdata[i])->name, left) == 0;
    return named;
}

/* Adds the item's formulas, or the known ones. Returns how many gave a number. */
static unsigned add_formulas(struct work *w)
{
    g_autoptr(GPtrArray) own = orch_texts_from_json(json_object_get(w->a->item->spec, "formula"));
    unsigned said = 0;
    for (guint i = 0; i < own->len; i++) {
        struct orch_formula *f = orch_formula_parse(own->pdata[i], NULL);
        said += f && add_formula(w, f, false);
        orch_formula_free(f);
    }
    for (size_t i = 0; !own->len && i < G_N_ELEMENTS(KNOWN); i++) {
        struct orch_formula *f = orch_formula_parse(KNOWN[i], NULL);
        said += f && names_it(w->a, orch_formula_left(f)) && add_formula(w, f, true);
        orch_formula_free(f);
    }
    return said;
}

/* ---- workings recorded by runs -----------------------------------------------------------------
 */

/* Returns the columns of a table with workings: those that the item's `columns` lists, or those
 * with a working that its `value` lists. Empty when the table has none of them. */
static GArray *shown_columns(const struct orch_section_context *a, const struct orch_csv *csv)
{
    g_autoptr(GPtrArray) named = orch_texts_from_json(json_object_get(a->item->spec, "columns"));
    GArray *columns = g_array_new(FALSE, FALSE, sizeof(int));
    for (guint i = 0; i < named->len; i++) {
        int column = orch_csv_find(csv, named->pdata[i]);
        if (column > 0) /* the first column is always shown */
            g_array_append_val(columns, column);
    }
    if (named->len && !json_object_get(a->item->spec, "value"))
        return columns;
    for (int i = 0; i < orch_csv_columns(csv); i++) {
        g_autofree char *working = g_strdup_printf("%s_working", orch_csv_name(csv, i));
        if (orch_csv_find(csv, working) >= 0 && names_it(a, orch_csv_name(csv, i)))
            g_array_append_val(columns, i);
    }
    return columns;
}

/* Parses the number that a working ends with: "3*3 = 9", "34,848". False when there is none. */
static bool end_of(const char *working, double *out)
{
    const char *equals = strrchr(working, '=');
    g_auto(GStrv) groups = g_strsplit(equals ? equals + 1 : working, ",", -1);
    g_autofree char *number = g_strjoinv("", groups);
    return orch_real_parse(g_strstrip(number), out);
}

/* Formats a working: "10*10 + 10 = 110". When it does not end with the recorded value (it may omit
 * biases), the recorded value is appended. */
static char *working_of(const struct orch_csv *csv, size_t row, int column)
{
    g_autofree char *name = g_strdup_printf("%s_working", orch_csv_name(csv, column));
    const int beside = orch_csv_find(csv, name);
    const char *working = beside >= 0 ? orch_csv_text(csv, row, beside) : "";
    const char *value = orch_csv_text(csv, row, column);
    double ends, recorded;
    g_auto(GStrv) digits = g_strsplit(working, ",", -1);
    g_autofree char *number = g_strjoinv("", digits);
    if (!*working || strcmp(number, value) == 0) /* "4,096" is 4096 */
        return g_strdup(*working ? working : value);
    if (!strchr(working, '='))
        return g_strdup_printf("%s = %s", working, value);
    bool differs = end_of(working, &ends) && orch_real_parse(value, &recorded) && ends != recorded;
    return differs ? g_strdup_printf("%s; recorded: %s", working, value) : g_strdup(working);
}

/* Returns whether a layer has a nonzero value in any shown column; other layers are omitted. */
static bool has_work(const struct orch_csv *csv, size_t row, const GArray *columns)
{
    for (guint i = 0; i < columns->len; i++)
        if (strcmp(orch_csv_text(csv, row, g_array_index(columns, int, i)), "0") != 0)
            return true;
    return false;
}

/* Builds a table of the first column and the columns with workings, one row for each layer. */
static struct orch_table *worked_table(const struct orch_csv *csv, const GArray *columns,
                                       bool is_whole)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new();
    g_ptr_array_add(headers, (char *)(uintptr_t)orch_csv_name(csv, 0));
    for (guint i = 0; i < columns->len; i++)
        g_ptr_array_add(headers,
                        (char *)(uintptr_t)orch_csv_name(csv, g_array_index(columns, int, i)));
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    for (size_t row = 0; row < orch_csv_rows(csv); row++) {
        if (!is_whole && !has_work(csv, row, columns))
            continue;
        orch_table_add(table, orch_csv_text(csv, row, 0), NULL);
        for (guint i = 0; i < columns->len; i++) {
            g_autofree char *text = working_of(csv, row, g_array_index(columns, int, i));
            orch_table_add(table, text, NULL);
        }
    }
    return table;
}

/* Keeps the sums of a table's last row, which is called "total", for the answer. */
static void keep_totals(struct work *w, const struct orch_csv *csv, const GArray *columns)
{
    const size_t rows = orch_csv_rows(csv);
    g_autofree char *label = words_of(w, w->trial);
    if (!rows || strcmp(orch_csv_text(csv, rows - 1, 0), "total") != 0)
        return;
    for (guint i = 0; i < columns->len; i++) {
        const int column = g_array_index(columns, int, i);
        const char *name = orch_csv_name(csv, column);
        g_autofree char *working = working_of(csv, rows - 1, column);
        double sum;
        if (names_it(w->a, name) && end_of(working, &sum))
            add_plain(w, name, label, sum);
    }
}

/* Adds a table artifact that has workings. False when there is none. */
static bool add_artifact(struct work *w, const char *name)
{
    g_autofree char *path = orch_run_artifact(w->trials->store, w->trial->run, name, NULL);
    g_autofree char *text = NULL;
    size_t length;
    if (!path || !orch_file_read(path, TABLE_BYTES_MAX, &text, &length, NULL) ||
        !strstr(text, "_working"))
        return false;
    struct orch_csv *csv = orch_csv_parse(name, text, length, NULL);
    g_autoptr(GArray) columns = csv ? shown_columns(w->a, csv) : NULL;
    bool is_whole = json_object_get(w->a->item->spec, "columns");
    bool any = csv && columns->len && orch_csv_rows(csv);
    if (any) {
        g_autofree char *label = title_of(w);
        orch_section_text(w->a->section, "%s, by %s:", label, orch_csv_name(csv, 0));
        orch_section_table(w->a->section, worked_table(csv, columns, is_whole));
        keep_totals(w, csv, columns);
    }
    orch_csv_free(csv);
    return any;
}

/* Returns whether a note begins with the name of an artifact, which it describes: "samples: ...".
 */
static bool is_on_artifact(const struct orch_manifest *manifest, const char *text)
{
    const char *colon = strstr(text, ": ");
    g_autofree char *name = colon ? g_strndup(text, (gsize)(colon - text)) : NULL;
    return name && orch_manifest_artifact(manifest, name);
}

/* Returns whether a note is shown. A note "NAME = ..." is the working of the plugin's metric NAME,
 * and is shown only when the item's `value` lists NAME. Notes that describe artifacts belong to the
 * item `images`. */
static bool is_note_shown(const struct work *w, const char *text)
{
    const struct orch_manifest *manifest = w->trial->item->cell->experiment->manifest;
    const char *equals = strstr(text, " = ");
    g_autofree char *name = equals ? g_strndup(text, (gsize)(equals - text)) : NULL;
    if (is_on_artifact(manifest, text))
        return false;
    return !name || !orch_manifest_metric(manifest, name) || names_it(w->a, name);
}

static unsigned add_notes(struct work *w)
{
    g_autoptr(json_t) notes = orch_recorded_notes(w->trial->run);
    unsigned said = 0;
    for (size_t i = 0; i < json_array_size(notes); i++) {
        g_autofree char *label = title_of(w);
        const char *text = json_string_value(json_array_get(notes, i));
        if (!text || !is_note_shown(w, text))
            continue;
        g_autofree char *grouped = orch_digits_grouped(text);
        orch_section_text(w->a->section, "%s: %s", label, grouped);
        said++;
    }
    return said;
}

/* Keeps the recorded results that the item names and no formula gave, for the answer. */
static void keep_results(struct work *w)
{
    const struct orch_manifest *manifest = w->trial->item->cell->experiment->manifest;
    g_autoptr(GPtrArray) wanted =
        orch_item_values_parse(json_object_get(w->a->item->spec, "value"));
    g_autofree char *label = words_of(w, w->trial);
    for (guint i = 0; i < wanted->len; i++) {
        const char *name = ((const struct orch_item_value *)wanted->pdata[i])->name;
        const struct value *value = value_find(w, name);
        if (orch_manifest_metric(manifest, name) && !(value && strcmp(value->last, label) == 0))
            add_plain(w, name, label, number_of(w, name));
    }
}

static unsigned add_trial(struct work *w)
{
    const struct orch_manifest *manifest = w->trial->item->cell->experiment->manifest;
    bool own = json_object_get(w->a->item->spec, "formula");
    unsigned said = 0;
    for (guint i = 0; !own && i < manifest->artifacts->len; i++)
        said += add_artifact(w, ((struct orch_artifact_spec *)manifest->artifacts->pdata[i])->name);
    said += add_formulas(w);
    said += own ? 0 : add_notes(w);
    if (said && !own)
        keep_results(w);
    return said;
}

/* ---- the item ----------------------------------------------------------------------------------
 */

static bool fill(struct orch_section_context *a, GError **error)
{
    g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(value_free);
    struct work w = {
        .a = a, .trials = orch_section_trials(a, "experiments", error), .values = values};
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    unsigned said = 0;
    if (!w.trials)
        return false;
    w.axes = orch_texts_from_json(json_object_get(a->item->spec, "by"));
    for (guint i = 0; i < w.trials->all->len; i++) {
        w.trial = w.trials->all->pdata[i];
        orch_section_trial(a->section, w.trials, w.trial);
        if (!w.trial->run)
            continue;
        g_autofree char *label = label_of(&w, w.trial);
        if (w.axes->len && g_hash_table_contains(seen, label))
            continue; /* one trial of each setting is enough */
        unsigned more = add_trial(&w);
        if (more)
            g_hash_table_add(seen, g_steal_pointer(&label));
        said += more;
    }
    add_answer(&w);
    if (w.is_mean)
        orch_section_note(a->section, "numbers are means over the runs of a setting");
    if (!said && a->section->done)
        orch_section_missing(
            a->section, NULL, "%s",
            json_object_get(a->item->spec, "formula")
                ? "no run of this item has all the numbers of the formula"
                : "the runs recorded no calculations: give a formula with 'formula:'");
    orch_section_add_missing_trials(a, w.trials);
    g_ptr_array_unref(w.axes);
    orch_trials_free(w.trials);
    return true;
}

static const struct orch_report_key KEYS[] = {
    {.name = "value", .shape = ORCH_SHAPE_VALUES},
    {.name = "formula", .shape = ORCH_SHAPE_FORMULAS},
    {.name = "columns", .shape = ORCH_SHAPE_TEXTS},
    {.name = "by", .shape = ORCH_SHAPE_AXES},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

const struct orch_report_kind ORCH_REPORT_WORK = {
    .name = "work",
    .keys = KEYS,
    .may_be_bare = true,
    .fill = fill,
};
