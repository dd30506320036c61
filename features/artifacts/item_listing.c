/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `listing`: a table that runs leave as a CSV artifact, with some of its columns as bars.
 * Shows one run of each setting (`by`), or without `by` the first run that has the table. */
#include "core/report/answer.h"
#include "core/report/items.h"

#include "lib/base/csv.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

#define TABLE_BYTES_MAX (4 << 20)
/* Above this number bars cannot be distinguished, and only the table shows the values. */
#define BARS_MOST 60
/* Rows that a sentence names one by one. */
#define ANSWER_ROWS_MOST 3

/* Returns the indices (int) of the columns that a key names, or of all without the key. NULL when
 * a column does not exist; the section then says so. */
static GArray *columns_of(struct orch_section_context *a, const struct orch_csv *csv,
                          const char *key)
{
    g_autoptr(GPtrArray) names = orch_texts_from_json(json_object_get(a->item->spec, key));
    g_autoptr(GArray) out = g_array_new(FALSE, FALSE, sizeof(int));
    for (guint i = 0; i < names->len; i++) {
        g_autoptr(GError) error = NULL;
        int column;
        if (!orch_csv_column(csv, names->pdata[i], &column, &error)) {
            orch_section_missing(a->section, NULL, "%s", error->message);
            return NULL;
        }
        g_array_append_val(out, column);
    }
    for (int i = 0; !names->len && i < orch_csv_columns(csv); i++)
        g_array_append_val(out, i);
    return g_steal_pointer(&out);
}

static bool is_number_column(const struct orch_csv *csv, int column)
{
    double value;
    for (size_t row = 0; row < orch_csv_rows(csv); row++)
        if (!orch_csv_real(csv, row, column, &value, NULL))
            return false;
    return orch_csv_rows(csv) > 0;
}

static struct orch_table *make_table(const struct orch_csv *csv, const GArray *columns)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < columns->len; i++) {
        int column = g_array_index(columns, int, i);
        g_ptr_array_add(headers, g_strconcat(is_number_column(csv, column) ? ">" : "",
                                             orch_csv_name(csv, column), NULL));
    }
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    for (size_t row = 0; row < orch_csv_rows(csv); row++)
        for (guint i = 0; i < columns->len; i++) {
            int column = g_array_index(columns, int, i);
            int64_t whole;
            const char *text = orch_csv_text(csv, row, column);
            orch_table_add(table, text,
                           orch_csv_int(csv, row, column, &whole, NULL) ? json_integer(whole)
                                                                        : NULL);
        }
    return table;
}

/* Whether all columns begin with the first `length` bytes of the first column. */
static bool begin_alike(const struct orch_csv *csv, const GArray *columns, size_t length)
{
    const char *first = orch_csv_name(csv, g_array_index(columns, int, 0));
    for (guint i = 1; i < columns->len; i++)
        if (strncmp(orch_csv_name(csv, g_array_index(columns, int, i)), first, length) != 0)
            return false;
    return true;
}

/* Returns the last words that all columns share: "training images, validation images" -> "images".
 * A remark in brackets says what only with their first word: "AP before (VOC 2007), AP (VOC 2007)"
 * -> "AP (VOC 2007)". */
static char *common_end(const struct orch_csv *csv, const GArray *columns)
{
    const char *first = orch_csv_name(csv, g_array_index(columns, int, 0));
    for (const char *end = first; end; end = strchr(end, ' ') ? strchr(end, ' ') + 1 : NULL) {
        bool all = true;
        for (guint i = 1; all && i < columns->len; i++)
            all = g_str_has_suffix(orch_csv_name(csv, g_array_index(columns, int, i)), end);
        const size_t word = strcspn(first, " ") + 1;
        if (all && *end == '(' && end > first + word - 1 && begin_alike(csv, columns, word))
            return g_strdup_printf("%.*s%s", (int)word, first, end);
        if (all)
            return g_strdup(end);
    }
    return g_strdup("value");
}

static void draw(struct orch_section_context *a, const struct orch_csv *csv, const GArray *columns)
{
    if (orch_csv_rows(csv) > BARS_MOST) {
        orch_section_note(a->section, "%zu rows: too many for a chart", orch_csv_rows(csv));
        return;
    }
    g_autofree char *y = common_end(csv, columns);
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_BAR, a->item->title, orch_csv_name(csv, 0), y);
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    chart->x_names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < columns->len; i++) {
        int column = g_array_index(columns, int, i);
        struct orch_chart_series *series =
            orch_chart_series(panel, orch_csv_name(csv, column), ORCH_SERIES_MEASURED);
        for (size_t row = 0; row < orch_csv_rows(csv); row++) {
            double value;
            double x = orch_chart_category(chart->x_names, orch_csv_text(csv, row, 0));
            if (orch_csv_real(csv, row, column, &value, NULL))
                orch_chart_add(series, x, value);
        }
    }
    orch_section_chart(a->section, chart);
}

/* Appends what the columns of key `answer` say: of each row that the first names, the values of the
 * others. */
static void append_answer(struct orch_section_context *a, const struct orch_csv *csv,
                          const char *label, GString *out)
{
    g_autoptr(GArray) columns = columns_of(a, csv, "answer");
    for (guint i = 1; columns && i < columns->len; i++) {
        const int name = g_array_index(columns, int, 0), column = g_array_index(columns, int, i);
        g_autoptr(GArray) entries = orch_answer_entries_new();
        for (size_t row = 0; row < orch_csv_rows(csv); row++) {
            double value;
            if (orch_csv_real(csv, row, column, &value, NULL))
                orch_answer_entries_add(entries, orch_csv_text(csv, row, name), value, (double)NAN,
                                        (double)NAN);
        }
        const char *value = orch_csv_name(csv, column);
        g_autofree char *of = *label ? g_strdup_printf("%s, %s", value, label) : g_strdup(value);
        orch_answer_entries_append_of(out, entries, of, NULL, orch_csv_name(csv, name),
                                      ANSWER_ROWS_MOST);
    }
}

/* Adds the table to the section, and the answer of the first chart. False when the run left no such
 * table. */
static bool show(struct orch_section_context *a, const struct orch_trials *trials,
                 const struct orch_report_trial *trial, const char *artifact, const char *label,
                 const char *words, GString *answer, bool *has_answer)
{
    g_autofree char *path = orch_run_artifact(trials->store, trial->run, artifact, NULL);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    size_t length;
    if (!path || !orch_file_read(path, TABLE_BYTES_MAX, &text, &length, NULL))
        return false;
    struct orch_csv *csv = orch_csv_parse(artifact, text, length, &error);
    if (!csv) {
        orch_section_missing(a->section, NULL, "%s", error->message);
        return true;
    }
    g_autoptr(GArray) columns = columns_of(a, csv, "columns");
    g_autoptr(GArray) bars =
        json_object_get(a->item->spec, "bars") && columns ? columns_of(a, csv, "bars") : NULL;
    if (columns) {
        g_autofree char *setting = orch_answer_series(a->section->labels, label);
        orch_section_note(a->section, "%s, run %s", setting, orch_run_short_key(trial->run->key));
        orch_section_table(a->section, make_table(csv, columns));
    }
    const bool says_columns = json_object_get(a->item->spec, "answer") != NULL;
    if (bars) {
        draw(a, csv, bars);
        if (!*has_answer && !says_columns) /* else the same numbers twice */
            orch_answer_of_chart(a->section);
        *has_answer = true;
    }
    if (says_columns)
        append_answer(a, csv, words, answer);
    orch_csv_free(csv);
    return true;
}

static bool fill(struct orch_section_context *a, GError **error)
{
    const char *artifact = orch_json_text(a->item->spec, "artifact", "");
    g_autoptr(GPtrArray) axes = orch_texts_from_json(json_object_get(a->item->spec, "by"));
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    struct orch_trials *trials = orch_section_trials(a, "experiments", error);
    g_autoptr(GString) answer = g_string_new(NULL);
    bool has_answer = false;
    if (!trials)
        return false;
    for (guint i = 0; i < trials->all->len; i++) {
        struct orch_report_trial *trial = trials->all->pdata[i];
        if (!orch_manifest_artifact(trial->item->cell->experiment->manifest, artifact))
            continue;
        g_autofree char *label =
            axes->len ? orch_trial_label(trials, trial, axes) : g_strdup("all");
        g_autofree char *cell = orch_cell_label(trial->item->cell);
        g_autofree char *words = orch_answer_setting(trials, trial, axes);
        orch_section_trial(a->section, trials, trial);
        if (trial->run && label && !g_hash_table_contains(seen, label) &&
            show(a, trials, trial, artifact, cell, words, answer, &has_answer))
            g_hash_table_add(seen, g_steal_pointer(&label));
    }
    if (a->section->done && !g_hash_table_size(seen))
        orch_section_missing(a->section, NULL, "no run of this item has '%s' here", artifact);
    if (answer->len)
        orch_section_answer(a->section, "%s", answer->str);
    orch_section_add_missing_trials(a, trials);
    orch_trials_free(trials);
    return true;
}

static const struct orch_report_key KEYS[] = {
    {.name = "artifact", .shape = ORCH_SHAPE_ARTIFACT, .is_required = true},
    {.name = "columns", .shape = ORCH_SHAPE_TEXTS},
    {.name = "bars", .shape = ORCH_SHAPE_TEXTS},
    {.name = "answer", .shape = ORCH_SHAPE_TEXTS},
    {.name = "by", .shape = ORCH_SHAPE_AXES},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

const struct orch_report_kind ORCH_REPORT_LISTING = {
    .name = "listing",
    .keys = KEYS,
    .fill = fill,
};
