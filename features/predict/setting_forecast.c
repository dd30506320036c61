/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The learned models already widen the interval of a number outside its range (docs/method.md).
 * They know nothing of a text that no run has, so its interval is widened here by half the
 * logarithm of the ratio of the longest to the shortest measured time: as if the text could decide
 * it. */
#include "features/predict/setting_forecast.h"

#include "core/rows/param_rows.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/hw/machine.h"

#include <math.h>
#include <string.h>

enum { NEAREST = 3, TEXTS_SHOWN = 8 };

/* The experiment stands in this many first bytes of a stored predictor (orch_trained_save). */
#define HEAD_BYTES 4096

/* ---- the predictor -----------------------------------------------------------------------------
 */

struct orch_trained *orch_setting_predictor_find(struct orch_store *store, const char *experiment,
                                                 GError **error)
{
    g_autoptr(GPtrArray) rows = orch_store_predictors(store, true, error);
    struct orch_trained *best = NULL;
    for (guint i = 0; rows && i < rows->len; i++) {
        const struct orch_predictor_row *row = rows->pdata[i];
        if (!g_strstr_len(row->model, HEAD_BYTES, "\"experiment\":")) /* cheap, before parsing */
            continue;
        g_autoptr(GError) broken = NULL;
        struct orch_trained *t = orch_kept_predictor_read(row, true, &broken);
        if (t && g_strcmp0(t->experiment, experiment) == 0 &&
            (!best || strcmp(t->made, best->made) > 0)) {
            orch_trained_free(best);
            best = g_steal_pointer(&t);
        }
        orch_trained_free(t);
    }
    return best;
}

static const struct orch_trained_cell *newest_of(const struct orch_trained *t)
{
    const struct orch_trained_cell *newest = NULL;
    for (guint i = 0; i < t->known->len; i++) { /* keys are ordered by time */
        const struct orch_trained_cell *known = t->known->pdata[i];
        if (!newest || strcmp(known->newest, newest->newest) > 0)
            newest = known;
    }
    return newest;
}

char *orch_setting_device(const struct orch_trained *t)
{
    const struct orch_trained_cell *newest = newest_of(t);
    const char *gpu = newest ? orch_trained_cell_value(t, newest, "gpu") : "";
    const char *workers = newest ? orch_trained_cell_value(t, newest, "workers") : "";
    const char *threads = newest ? orch_trained_cell_value(t, newest, "threads") : "";
    if (*workers)
        return g_strdup_printf("%sx %s", workers, gpu);
    return *threads ? g_strdup_printf("%s, %s thread%s", gpu, threads,
                                      strcmp(threads, "1") == 0 ? "" : "s")
                    : g_strdup(gpu);
}

bool orch_setting_newer_runs(struct orch_store *store, const struct orch_trained *t,
                             int64_t *out_count, GError **error)
{
    const struct orch_run_query query = {.experiment = t->experiment, .state = "ok"};
    g_autoptr(GPtrArray) runs = orch_store_runs(store, &query, NULL, error);
    *out_count = 0;
    for (guint i = 0; runs && i < runs->len; i++)
        *out_count += ((const struct orch_run *)runs->pdata[i])->id > t->last_run;
    return runs;
}

/* ---- parameters --------------------------------------------------------------------------------
 */

static void free_param(gpointer data)
{
    struct orch_setting_param *param = data;
    g_ptr_array_unref(param->texts);
    g_free(param);
}

static void add_value(struct orch_setting_param *param, const char *text)
{
    double number;
    if (!*text)
        return;
    if (!g_ptr_array_find_with_equal_func(param->texts, text, g_str_equal, NULL))
        g_ptr_array_add(param->texts, (gpointer)(uintptr_t)text);
    if (!orch_real_parse(text, &number)) {
        param->is_number = false;
        return;
    }
    param->least = fmin(param->least, number); /* fmin and fmax ignore NaN */
    param->most = fmax(param->most, number);
}

GPtrArray *orch_setting_params(const struct orch_trained *t)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(free_param);
    for (int c = 0; t->columns[c]; c++) {
        if (!g_str_has_prefix(t->columns[c], ORCH_PARAM_COLUMN))
            continue;
        struct orch_setting_param *param = g_new0(struct orch_setting_param, 1);
        *param = (struct orch_setting_param){t->columns[c] + strlen(ORCH_PARAM_COLUMN), true,
                                             (double)NAN, (double)NAN, g_ptr_array_new()};
        for (guint i = 0; i < t->known->len; i++)
            add_value(param, orch_trained_cell_value(t, t->known->pdata[i], t->columns[c]));
        g_ptr_array_sort(param->texts, orch_compare_texts);
        g_ptr_array_add(all, param);
    }
    return all;
}

const char *orch_setting_known_value(const struct orch_trained *t,
                                     const struct orch_trained_cell *known, const char *param)
{
    g_autofree char *column = g_strconcat(ORCH_PARAM_COLUMN, param, NULL);
    return orch_trained_cell_value(t, known, column);
}

char *orch_setting_param_range(const struct orch_setting_param *param)
{
    if (param->is_number && isfinite(param->least))
        return param->least < param->most ? g_strdup_printf("%g to %g", param->least, param->most)
                                          : g_strdup_printf("%g", param->least);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < param->texts->len && i < TEXTS_SHOWN; i++)
        g_string_append_printf(text, "%s%s", i ? ", " : "", (char *)param->texts->pdata[i]);
    if (param->texts->len > TEXTS_SHOWN)
        g_string_append(text, ", ...");
    return g_string_free(text, FALSE);
}

/* ---- the question as a row ---------------------------------------------------------------------
 */

static char *number_text(unsigned number)
{
    return number ? g_strdup_printf("%u", number) : g_strdup("");
}

/* The values of the predictor's columns, NULL-terminated. The caller frees. */
static char **values_of(const struct orch_trained *t, const char *device_key, GHashTable *params)
{
    struct orch_device_parts parts = orch_device_key_parse(device_key);
    const struct orch_trained_cell *newest = newest_of(t);
    GPtrArray *values = g_ptr_array_new();
    for (int c = 0; t->columns[c]; c++) {
        const char *column = t->columns[c];
        char *value;
        if (g_str_has_prefix(column, ORCH_PARAM_COLUMN))
            value = g_strdup(g_hash_table_lookup(params, column + strlen(ORCH_PARAM_COLUMN)));
        else if (!device_key)
            value = g_strdup(newest ? orch_trained_cell_value(t, newest, column) : "");
        else
            value = strcmp(column, "gpu") == 0       ? g_strdup(parts.device)
                    : strcmp(column, "workers") == 0 ? number_text(parts.gpus)
                    : strcmp(column, "threads") == 0 ? number_text((unsigned)parts.threads)
                                                     : NULL;
        g_ptr_array_add(values, value ? value : g_strdup(""));
    }
    g_ptr_array_add(values, NULL);
    g_free(parts.device);
    return (char **)g_ptr_array_free(values, FALSE);
}

static bool same_value(const char *a, const char *b)
{
    double x, y;
    return strcmp(a, b) == 0 || (orch_real_parse(a, &x) && orch_real_parse(b, &y) && x == y);
}

static const struct orch_trained_cell *find_same(const struct orch_trained *t, char *const *values)
{
    for (guint i = 0; i < t->known->len; i++) {
        const struct orch_trained_cell *known = t->known->pdata[i];
        bool same = true;
        for (int c = 0; same && values[c]; c++)
            same = same_value(known->values[c], values[c]);
        if (same)
            return known;
    }
    return NULL;
}

static void append_row(GString *out, char *const *values, double target)
{
    char number[ORCH_REAL_CHARS];
    for (int c = 0; values[c]; c++) {
        orch_csv_append(out, values[c]);
        g_string_append_c(out, ',');
    }
    g_string_append_printf(out, "%s\n", orch_real_format(target, number));
}

/* The measured settings and, last, the question as a table, so that each column has the type that
 * it had in training. */
static struct orch_csv *table_of(const struct orch_trained *t, char *const *values, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (int c = 0; t->columns[c]; c++) {
        orch_csv_append(text, t->columns[c]);
        g_string_append_c(text, ',');
    }
    orch_csv_append(text, t->target);
    g_string_append_c(text, '\n');
    for (guint i = 0; i < t->known->len; i++) {
        const struct orch_trained_cell *known = t->known->pdata[i];
        append_row(text, known->values, known->time.mid);
    }
    append_row(text, values, 1);
    return orch_csv_parse("(settings)", text->str, text->len, error);
}

/* ---- the answer --------------------------------------------------------------------------------
 */

static bool predict(const struct orch_trained *t, char *const *values, struct orch_answer *out,
                    GError **error)
{
    struct orch_csv *csv = table_of(t, values, error);
    struct orch_rows_options options = {.target = t->target, .keep_all = true};
    struct orch_rows *rows = csv ? orch_rows_of_table(csv, &options, error) : NULL;
    orch_csv_free(csv);
    if (!rows)
        return false;
    g_autofree struct orch_answer *answers = g_new(struct orch_answer, rows->rows);
    orch_learned_predict(t->learned, rows, answers);
    *out = answers[rows->rows - 1];
    orch_rows_free(rows);
    if (out->value.low > 0 && out->value.low <= out->value.mid &&
        out->value.mid <= out->value.high && isfinite(out->value.high))
        return true;
    orch_error_set(error, ORCH_ERROR_STORE, "train it again with 'orch predictor train'",
                   "the forecast of predictor '%s' is not finite", t->name);
    return false;
}

/* Half the logarithm of the ratio of the longest to the shortest measured time. */
static double half_range(const struct orch_trained *t)
{
    double least = INFINITY, most = 0;
    for (guint i = 0; i < t->known->len; i++) {
        const struct orch_trained_cell *known = t->known->pdata[i];
        least = fmin(least, known->time.mid);
        most = fmax(most, known->time.mid);
    }
    return most > least ? log(most / least) / 2 : 0;
}

/* Widens the interval by `half`, a half width of logarithms, as an independent error. */
static void widen(struct orch_answer *a, double half)
{
    a->value.low = a->value.mid * exp(-hypot(log(a->value.mid / a->value.low), half));
    a->value.high = a->value.mid * exp(hypot(log(a->value.high / a->value.mid), half));
}

/* Notes each parameter outside of what was measured. Returns the number of new texts. */
static unsigned note_new(const struct orch_trained *t, GHashTable *values, GPtrArray *notes)
{
    g_autoptr(GPtrArray) params = orch_setting_params(t);
    unsigned texts = 0;
    for (guint i = 0; i < params->len; i++) {
        const struct orch_setting_param *param = params->pdata[i];
        const char *value = g_hash_table_lookup(values, param->name);
        double number = NAN;
        if (!value || !*value)
            continue;
        bool is_number = param->is_number && orch_real_parse(value, &number);
        bool is_seen =
            is_number ? number >= param->least && number <= param->most
                      : g_ptr_array_find_with_equal_func(param->texts, value, g_str_equal, NULL);
        if (is_seen)
            continue;
        g_autofree char *range = orch_setting_param_range(param);
        texts += !is_number;
        g_ptr_array_add(notes, g_strdup_printf("%s = %s was not measured (measured: %s), so the "
                                               "interval is wider",
                                               param->name, value, *range ? range : "nothing"));
    }
    return texts;
}

static void note_device(const struct orch_trained *t, char *const *values, GPtrArray *notes)
{
    for (int c = 0; t->columns[c]; c++) {
        bool is_seen = strcmp(t->columns[c], "gpu") != 0;
        for (guint i = 0; i < t->known->len && !is_seen; i++) {
            const struct orch_trained_cell *known = t->known->pdata[i];
            is_seen = strcmp(known->values[c], values[c]) == 0;
        }
        if (!is_seen)
            g_ptr_array_add(notes,
                            g_strdup_printf("no run was made on %s, so the interval is wider",
                                            *values[c] ? values[c] : "this device"));
    }
}

struct near {
    const struct orch_trained_cell *known;
    double distance;
};

static gint compare_near(gconstpointer a, gconstpointer b)
{
    const struct near *x = a, *y = b;
    return (x->distance > y->distance) - (x->distance < y->distance);
}

/* Distance between two settings: 1 for each different text, and the share of the range for each
 * number. */
static double distance_of(const struct orch_trained *t, const GPtrArray *params,
                          const struct orch_trained_cell *known, GHashTable *values)
{
    double distance = 0;
    for (guint i = 0; i < params->len; i++) {
        const struct orch_setting_param *param = params->pdata[i];
        const char *a = orch_setting_known_value(t, known, param->name);
        const char *b = g_hash_table_lookup(values, param->name);
        double x, y, range = param->most - param->least;
        if (param->is_number && b && orch_real_parse(a, &x) && orch_real_parse(b, &y))
            distance += x == y ? 0 : range > 0 ? fabs(x - y) / range : 1;
        else
            distance += g_strcmp0(a, b ? b : "") != 0;
    }
    return distance;
}

static GPtrArray *nearest_of(const struct orch_trained *t, GHashTable *values)
{
    g_autoptr(GPtrArray) params = orch_setting_params(t);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct near));
    GPtrArray *nearest = g_ptr_array_new();
    for (guint i = 0; i < t->known->len; i++) {
        struct near near = {t->known->pdata[i], distance_of(t, params, t->known->pdata[i], values)};
        g_array_append_val(all, near);
    }
    g_array_sort(all, compare_near);
    for (guint i = 0; i < all->len && i < NEAREST; i++)
        g_ptr_array_add(nearest, (gpointer)(uintptr_t)g_array_index(all, struct near, i).known);
    return nearest;
}

static void answer_measured(const struct orch_trained_cell *known,
                            struct orch_setting_forecast *out)
{
    out->tier = ORCH_TIER_MEASURED;
    out->time_s.mid = known->time.mid;
    out->time_s.low = known->time.low;
    out->time_s.high = known->time.high;
    out->why = g_strdup_printf("%d run%s of this setting", known->count, orch_plural(known->count));
}

static bool answer_fitted(const struct orch_trained *t, GHashTable *params, char *const *values,
                          struct orch_setting_forecast *out, GError **error)
{
    struct orch_answer answer;
    if (!predict(t, values, &answer, error))
        return false;
    unsigned texts = note_new(t, params, out->notes);
    note_device(t, values, out->notes);
    if (texts)
        widen(&answer, half_range(t) * sqrt(texts));
    out->tier = ORCH_TIER_FITTED;
    out->time_s.mid = answer.value.mid;
    out->time_s.low = answer.value.low;
    out->time_s.high = answer.value.high;
    out->extrapolates = answer.extrapolates || out->notes->len;
    if (answer.extrapolates && !out->notes->len)
        g_ptr_array_add(out->notes, g_strdup("no similar setting was measured"));
    out->why = g_strdup_printf("predictor '%s', trained on %zu runs of %u settings (%.1f %% mean "
                               "relative error on %s left out)",
                               t->name, t->rows, t->known->len,
                               100 * orch_learned_question(t->learned, answer.question).error,
                               answer.question ? "devices" : "runs");
    return true;
}

bool orch_setting_forecast(const struct orch_trained *t, const char *device_key, GHashTable *params,
                           struct orch_setting_forecast *out, GError **error)
{
    g_auto(GStrv) values = values_of(t, device_key, params);
    const struct orch_trained_cell *same = find_same(t, values);
    *out = (struct orch_setting_forecast){.notes = g_ptr_array_new_with_free_func(g_free),
                                          .nearest = nearest_of(t, params)};
    if (same)
        answer_measured(same, out);
    else if (!answer_fitted(t, params, values, out, error)) {
        orch_setting_forecast_clear(out);
        return false;
    }
    return true;
}

void orch_setting_forecast_clear(struct orch_setting_forecast *f)
{
    g_free(f->why);
    if (f->notes)
        g_ptr_array_unref(f->notes);
    if (f->nearest)
        g_ptr_array_unref(f->nearest);
    *f = (struct orch_setting_forecast){0};
}
