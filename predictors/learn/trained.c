/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/learn/trained.h"

#include "lib/base/error.h"
#include "lib/base/interval.h"
#include "lib/base/json.h"
#include "lib/base/reals.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNREPEATED_SPREAD 0.1 /* standard deviation of log times without repeats */

static void free_known(gpointer data)
{
    struct orch_trained_cell *k = data;
    g_strfreev(k->values);
    g_free(k->newest);
    g_free(k);
}

void orch_trained_free(struct orch_trained *t)
{
    if (!t)
        return;
    g_free(t->experiment);
    g_free(t->plugin_version);
    g_free(t->name);
    g_free(t->target);
    g_free(t->made);
    g_strfreev(t->columns);
    g_strfreev(t->sources);
    g_strfreev(t->readings);
    if (t->known)
        g_ptr_array_unref(t->known);
    orch_learned_free(t->learned);
    g_free(t);
}

/* ---- measured configurations -------------------------------------------------------------------
 */

/* Adds the sum of squares of log(value / mean) and its degrees of freedom. */
static void add_spread(const GArray *values, double *squares, double *freedom)
{
    double mean = 0;
    for (guint i = 0; i < values->len; i++)
        mean += log(g_array_index(values, double, i)) / values->len;
    for (guint i = 0; i < values->len; i++) {
        double off = log(g_array_index(values, double, i)) - mean;
        *squares += off * off;
    }
    *freedom += values->len - 1;
}

/* The columns that identify a configuration. */
static GArray *columns_of(const struct orch_csv *csv, const char *target, const char *const *but)
{
    GArray *columns = g_array_new(FALSE, FALSE, sizeof(int));
    for (int c = 0; c < orch_csv_columns(csv); c++) {
        const char *name = orch_csv_name(csv, c);
        if (strcmp(name, target) != 0 && !(but && g_strv_contains(but, name)))
            g_array_append_val(columns, c);
    }
    return columns;
}

static char **values_of(const struct orch_csv *csv, size_t row, const GArray *columns)
{
    char **values = g_new0(char *, columns->len + 1);
    for (guint i = 0; i < columns->len; i++)
        values[i] = g_strdup(orch_csv_text(csv, row, g_array_index(columns, int, i)));
    return values;
}

struct group {
    struct orch_trained_cell *known;
    GArray *targets;
};

static void free_group(gpointer data)
{
    struct group *g = data;
    g_array_unref(g->targets);
    g_free(g);
}

static struct group *group_of(GHashTable *groups, GPtrArray *known, char **values)
{
    g_autofree char *key = g_strjoinv("\x1f", values);
    struct group *g = g_hash_table_lookup(groups, key);
    if (!g) {
        g = g_new0(struct group, 1);
        g->known = g_new0(struct orch_trained_cell, 1);
        g->known->values = g_strdupv(values);
        g->targets = g_array_new(FALSE, FALSE, sizeof(double));
        g_ptr_array_add(known, g->known);
        g_hash_table_insert(groups, g_steal_pointer(&key), g);
    }
    return g;
}

double orch_trained_first_run_half(void)
{
    return ORCH_NORMAL_90 * UNREPEATED_SPREAD * sqrt(2);
}

GPtrArray *orch_trained_cells_of_table(const struct orch_csv *csv, const char *target,
                                       const char *const *but, const GPtrArray *names,
                                       char ***columns, double *repeat_spread)
{
    GPtrArray *known = g_ptr_array_new_with_free_func(free_known);
    g_autoptr(GHashTable) groups =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_group);
    g_autoptr(GArray) which = columns_of(csv, target, but);
    int at = orch_csv_find(csv, target);
    *columns = g_new0(char *, which->len + 1);
    for (guint i = 0; i < which->len; i++)
        (*columns)[i] = g_strdup(orch_csv_name(csv, g_array_index(which, int, i)));
    for (size_t row = 0; row < orch_csv_rows(csv); row++) {
        g_auto(GStrv) values = values_of(csv, row, which);
        double value = g_ascii_strtod(orch_csv_text(csv, row, at), NULL);
        if (!(value > 0))
            continue;
        struct group *g = group_of(groups, known, values);
        g_array_append_val(g->targets, value);
        g_free(g->known->newest);
        g->known->newest = g_strdup(names ? names->pdata[row] : "");
        g->known->runs += g_uuid_string_is_valid(g->known->newest);
    }
    double squares = 0, freedom = 0;
    GHashTableIter iter;
    gpointer group;
    g_hash_table_iter_init(&iter, groups);
    while (g_hash_table_iter_next(&iter, NULL, &group))
        add_spread(((struct group *)group)->targets, &squares, &freedom);
    *repeat_spread = freedom > 0 ? MAX(sqrt(squares / freedom), 1e-3) : UNREPEATED_SPREAD;
    g_hash_table_iter_init(&iter, groups);
    while (g_hash_table_iter_next(&iter, NULL, &group)) {
        struct group *g = group;
        double n = g->targets->len, half = ORCH_NORMAL_90 * *repeat_spread * sqrt(1 + 1 / n);
        g->known->count = (int)g->targets->len;
        g->known->time.mid = orch_reals_median((double *)(void *)g->targets->data, g->targets->len);
        /* kept finite, so that it can be saved */
        g->known->time.low = MAX(g->known->time.mid * exp(-half), DBL_MIN);
        g->known->time.high = MIN(g->known->time.mid * exp(half), DBL_MAX);
    }
    return known;
}

static int column_at(const struct orch_trained *t, const char *name)
{
    for (int c = 0; t->columns[c]; c++)
        if (strcmp(t->columns[c], name) == 0)
            return c;
    return -1;
}

const char *orch_trained_cell_value(const struct orch_trained *t,
                                    const struct orch_trained_cell *known, const char *column)
{
    int c = column_at(t, column);
    return c < 0 ? "" : known->values[c];
}

const struct orch_trained_cell *
orch_trained_find(const struct orch_trained *t, const char *const *names, const char *const *values)
{
    const struct orch_trained_cell *best = NULL;
    guint count = g_strv_length((char **)(uintptr_t)names);
    g_autofree int *at = g_new(int, count + 1);
    for (guint k = 0; k < count; k++)
        at[k] = column_at(t, names[k]);
    for (guint i = 0; i < t->known->len; i++) {
        const struct orch_trained_cell *known = t->known->pdata[i];
        bool agrees = true;
        for (guint k = 0; agrees && k < count; k++) {
            const char *is = at[k] < 0 ? "" : known->values[at[k]];
            agrees = !*is || !*values[k] || g_ascii_strcasecmp(is, values[k]) == 0;
        }
        if (agrees && (!best || known->count > best->count))
            best = known;
    }
    return best;
}

/* ---- saving ------------------------------------------------------------------------------------
 */

static json_t *save_texts(char **texts)
{
    json_t *list = json_array();
    for (int i = 0; texts && texts[i]; i++)
        json_array_append_new(list, json_string(texts[i]));
    return list;
}

static char **load_texts(const json_t *list)
{
    char **texts = g_new0(char *, json_array_size(list) + 1);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        texts[i] = g_strdup(text ? text : "");
    }
    return texts;
}

static json_t *save_known(const struct orch_trained_cell *k)
{
    return json_pack("{s:o, s:i, s:i, s:f, s:f, s:f, s:s}", "values", save_texts(k->values),
                     "count", k->count, "runs", k->runs, "median", k->time.mid, "low", k->time.low,
                     "high", k->time.high, "newest", k->newest ? k->newest : "");
}

static bool load_known(const json_t *saved, guint columns, GPtrArray *out, GError **error)
{
    struct orch_trained_cell *k = g_new0(struct orch_trained_cell, 1);
    int64_t count;
    g_ptr_array_add(out, k);
    k->values = load_texts(json_object_get(saved, "values"));
    const char *newest = json_string_value(json_object_get(saved, "newest"));
    k->newest = g_strdup(newest ? newest : "");
    bool ok = orch_load_int(saved, "count", 1, INT32_MAX, &count, error) &&
              orch_load_real(saved, "median", &k->time.mid, error) &&
              orch_load_real(saved, "low", &k->time.low, error) &&
              orch_load_real(saved, "high", &k->time.high, error);
    k->count = ok ? (int)count : 0;
    json_int_t runs = json_integer_value(json_object_get(saved, "runs"));
    k->runs = (int)CLAMP(runs, 0, k->count);
    if (ok && !(k->time.low > 0 && k->time.low <= k->time.mid && k->time.mid <= k->time.high))
        return orch_load_fail("known", "contains an invalid time", error);
    return ok && (g_strv_length(k->values) == columns ||
                  orch_load_fail("known", "has the wrong number of columns", error));
}

static double real_or_nan(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

json_t *orch_trained_save(const struct orch_trained *t, enum orch_save_style style)
{
    json_t *o = json_object(), *known = json_array();
    for (guint i = 0; i < t->known->len; i++)
        json_array_append_new(known, save_known(t->known->pdata[i]));
    json_object_set_new(o, "format", json_integer(ORCH_TRAINED_FORMAT));
    json_object_set_new(o, "method", json_integer(ORCH_TRAINED_METHOD));
    json_object_set_new(o, "name", json_string(t->name));
    json_object_set_new(o, "target", json_string(t->target));
    json_object_set_new(o, "made", json_string(t->made));
    if (t->experiment) {
        json_object_set_new(o, "experiment", json_string(t->experiment));
        json_object_set_new(o, "plugin_version", orch_json_text_or_null(t->plugin_version));
    }
    json_object_set_new(o, "rows", json_integer((json_int_t)t->rows));
    json_object_set_new(o, "run_rows", json_integer((json_int_t)t->run_rows));
    json_object_set_new(o, "last_run", json_integer(t->last_run));
    json_object_set_new(o, "columns", save_texts(t->columns));
    json_object_set_new(o, "sources", save_texts(t->sources));
    json_object_set_new(o, "readings", save_texts(t->readings));
    json_object_set_new(o, "automatic", json_boolean(t->is_automatic));
    json_object_set_new(o, "last_known_time", orch_json_finite(t->last_known));
    json_object_set_new(o, "ratio_of_specifications", orch_json_finite(t->ratio));
    json_object_set_new(o, "used", json_boolean(t->is_used));
    json_object_set_new(o, "repeat_spread", json_real(t->repeat_spread));
    json_object_set_new(o, "known", known);
    json_object_set_new(o, "learned",
                        t->learned ? orch_learned_save(t->learned, style) : json_null());
    return o;
}

static bool check_format(const json_t *saved, GError **error)
{
    int64_t format = 0;
    if (!orch_load_int(saved, "format", 1, INT32_MAX, &format, error))
        return false;
    if (format <= ORCH_TRAINED_FORMAT)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "update orch",
                   "the saved predictor has format %d; this orch reads up to %d", (int)format,
                   ORCH_TRAINED_FORMAT);
    return false;
}

/* A predictor that nobody asked for is read as one that knows nothing, and so is trained again; any
 * other is refused. Before methods had numbers there was the first. */
static bool check_method(struct orch_trained *t, const json_t *saved, GError **error)
{
    const json_t *method = json_object_get(saved, "method");
    json_int_t is = method ? json_integer_value(method) : 1;
    t->is_outdated = is != ORCH_TRAINED_METHOD;
    if (!t->is_outdated || t->is_automatic)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "train it again with 'orch predictor train'",
                   "the predictor was trained by method %d, but this orch uses method %d", (int)is,
                   ORCH_TRAINED_METHOD);
    return false;
}

void orch_trained_refuse(const struct orch_trained *t, GError **error)
{
    if (t->is_outdated)
        orch_error_set(error, ORCH_ERROR_RECIPE, "train it again with 'orch predictor train'",
                       "the predictor was trained by a method that this orch does not use");
    else
        orch_load_fail("learned", "is missing", error);
}

static bool load_all(struct orch_trained *t, const json_t *saved, GError **error)
{
    int64_t rows = 0;
    const char *name = orch_load_text(saved, "name", error);
    const char *target = name ? orch_load_text(saved, "target", error) : NULL;
    const char *made = target ? orch_load_text(saved, "made", error) : NULL;
    const json_t *known = made ? orch_load_list(saved, "known", error) : NULL;
    if (!known || !orch_load_int(saved, "rows", 0, INT64_MAX, &rows, error) ||
        !orch_load_int(saved, "last_run", 0, INT64_MAX, &t->last_run, error) ||
        !orch_load_real(saved, "repeat_spread", &t->repeat_spread, error))
        return false;
    t->name = g_strdup(name);
    t->target = g_strdup(target);
    t->made = g_strdup(made);
    t->experiment = g_strdup(json_string_value(json_object_get(saved, "experiment")));
    t->plugin_version = g_strdup(json_string_value(json_object_get(saved, "plugin_version")));
    t->rows = (size_t)rows;
    t->is_automatic = json_is_true(json_object_get(saved, "automatic"));
    t->last_known = real_or_nan(json_object_get(saved, "last_known_time"));
    t->ratio = real_or_nan(json_object_get(saved, "ratio_of_specifications"));
    t->is_used = json_is_true(json_object_get(saved, "used"));
    if (!check_method(t, saved, error))
        return false;
    if (t->is_outdated) {
        t->last_run = 0;
        return true;
    }
    for (size_t i = 0; i < json_array_size(known); i++)
        if (!load_known(json_array_get(known, i), g_strv_length(t->columns), t->known, error))
            return false;
    const json_t *run_rows = json_object_get(saved, "run_rows");
    for (guint i = 0; !run_rows && i < t->known->len; i++)
        t->run_rows += (size_t)((const struct orch_trained_cell *)t->known->pdata[i])->runs;
    if (run_rows)
        t->run_rows = (size_t)CLAMP(json_integer_value(run_rows), 0, rows);
    if (json_is_null(json_object_get(saved, "learned")))
        return true;
    t->learned = orch_learned_load(json_object_get(saved, "learned"), error);
    return t->learned;
}

struct orch_trained *orch_trained_load(const json_t *saved, GError **error)
{
    if (!json_is_object(saved)) {
        orch_load_fail("predictor", "is not an object", error);
        return NULL;
    }
    if (!check_format(saved, error))
        return NULL;
    struct orch_trained *t = g_new0(struct orch_trained, 1);
    t->columns = load_texts(json_object_get(saved, "columns"));
    t->sources = load_texts(json_object_get(saved, "sources"));
    t->readings = load_texts(json_object_get(saved, "readings"));
    t->known = g_ptr_array_new_with_free_func(free_known);
    if (load_all(t, saved, error))
        return t;
    orch_trained_free(t);
    return NULL;
}

char *orch_trained_text(const struct orch_trained *t)
{
    json_t *saved = orch_trained_save(t, ORCH_SAVE_PACKED);
    g_autofree char *behind =
        t->learned ? orch_learned_save_deferred(json_object_get(saved, "learned")) : g_strdup("");
    char *head = json_dumps(saved, JSON_COMPACT);
    char *text = g_strconcat(head, behind, NULL);
    json_decref(saved);
    free(head);
    return text;
}

struct orch_trained *orch_trained_of_text(const char *text, GError **error)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    json_t *saved = *lines ? json_loads(*lines, 0, NULL) : NULL;
    struct orch_trained *t = orch_trained_load(saved, error);
    json_decref(saved);
    if (!t || !t->learned || orch_learned_load_deferred(t->learned, lines + 1, error))
        return t;
    orch_trained_free(t);
    return NULL;
}
