/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/export/export_columns.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "store/read/bulk.h"
#include "store/read/run_json.h"

#include <math.h>
#include <string.h>

/* Fields of the run itself that are exported when no columns are chosen, in this order. */
static const char *const OWN[] = {
    "key",    "state",  "reason",      "recipe", "experiment", "plugin",     "plugin_version",
    "repeat", "seed",   "attempt",     "who",    "machine",    "device_key", "gpu",
    "cpu",    "host",   "commit",      "branch", "tree",       "dirty",      "started",
    "ended",  "wall_s", "fingerprint",
};

/* ---- columns ----------------------------------------------------------------------------------
 */

enum source { FROM_RUN, FROM_PARAM, FROM_RESULT, FROM_METRIC, FROM_ANY };

struct column {
    char *header, *name;
    enum source source;
    enum orch_aggregate aggregate; /* FROM_METRIC */
};

struct orch_export_columns {
    GPtrArray *all; /* struct column * */
    bool needs_params, needs_results, needs_metrics;
};

static void free_column(gpointer pointer)
{
    struct column *column = pointer;
    g_free(column->header);
    g_free(column->name);
    g_free(column);
}

void orch_export_columns_free(struct orch_export_columns *columns)
{
    if (!columns)
        return;
    g_ptr_array_unref(columns->all);
    g_free(columns);
}

guint orch_export_columns_count(const struct orch_export_columns *columns)
{
    return columns->all->len;
}

const char *orch_export_columns_header(const struct orch_export_columns *columns, guint column)
{
    return ((const struct column *)columns->all->pdata[column])->header;
}

static void add(struct orch_export_columns *columns, char *header, const char *name,
                enum source source, enum orch_aggregate aggregate)
{
    struct column *column = g_new0(struct column, 1);
    *column = (struct column){header, g_strdup(name), source, aggregate};
    g_ptr_array_add(columns->all, column);
    columns->needs_params |= source == FROM_PARAM || source == FROM_ANY;
    columns->needs_results |= source == FROM_RESULT || source == FROM_ANY;
    columns->needs_metrics |= source == FROM_METRIC || source == FROM_ANY;
}

/* The names that exist in the runs, by enum orch_name_kind. */
struct known {
    GPtrArray *names[4];
};

static bool read_known(struct orch_store *store, const struct orch_run_query *query,
                       struct known *out, GError **error)
{
    for (int i = 0; i < 4; i++)
        if (!(out->names[i] = orch_store_names(store, query, (enum orch_name_kind)i, error)))
            return false;
    return true;
}

static void clear_known(struct known *known)
{
    for (int i = 0; i < 4; i++)
        if (known->names[i])
            g_ptr_array_unref(known->names[i]);
}

static bool is_known(const struct known *known, enum orch_name_kind kind, const char *name)
{
    return g_ptr_array_find_with_equal_func(known->names[kind], name, g_str_equal, NULL);
}

static void add_all(struct orch_export_columns *columns, const struct known *known)
{
    static const struct {
        const char *prefix;
        enum source source;
        enum orch_aggregate aggregate;
    } kinds[] = {{"param", FROM_PARAM, ORCH_AGGREGATE_LAST},
                 {"result", FROM_RESULT, ORCH_AGGREGATE_LAST},
                 {"metric", FROM_METRIC, ORCH_AGGREGATE_LAST},
                 {"best", FROM_METRIC, ORCH_AGGREGATE_BEST}};
    for (unsigned i = 0; i < G_N_ELEMENTS(OWN); i++)
        add(columns, g_strdup(OWN[i]), OWN[i], FROM_RUN, ORCH_AGGREGATE_LAST);
    for (unsigned kind = 0; kind < G_N_ELEMENTS(kinds); kind++)
        for (guint i = 0; i < known->names[kind]->len; i++) {
            const char *name = known->names[kind]->pdata[i];
            add(columns, g_strdup_printf("%s.%s", kinds[kind].prefix, name), name,
                kinds[kind].source, kinds[kind].aggregate);
        }
}

static bool unknown_column_error(const struct known *known, const char *typed, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const char *field;
    for (size_t i = 0; (field = orch_run_json_field(i)) != NULL; i++)
        g_ptr_array_add(names, (gpointer)(uintptr_t)field);
    for (int kind = 0; kind < 3; kind++)
        for (guint i = 0; i < known->names[kind]->len; i++)
            g_ptr_array_add(names, known->names[kind]->pdata[i]);
    g_ptr_array_add(names, NULL);
    g_autofree char *hint = orch_suggest_hint(typed, (const char *const *)names->pdata);
    orch_error_set(error, ORCH_ERROR_USAGE, hint ? hint : "'orch help run-fields' lists the names",
                   "option '--columns': none of the runs has a '%s'", typed);
    return false;
}

/* Adds the columns for one name as the user typed it. */
static bool add_typed(struct orch_export_columns *columns, const struct known *known,
                      const char *typed, GError **error)
{
    const char *dot = strchr(typed, '.');
    g_autofree char *prefix = dot ? g_strndup(typed, (gsize)(dot - typed)) : NULL;
    const char *name = dot ? dot + 1 : typed;
    enum orch_aggregate aggregate = ORCH_AGGREGATE_LAST;
    const char *field;
    for (size_t i = 0; !dot && (field = orch_run_json_field(i)) != NULL; i++)
        if (strcmp(field, typed) == 0) {
            add(columns, g_strdup(typed), typed, FROM_RUN, aggregate);
            return true;
        }
    enum source source = !dot                                       ? FROM_ANY
                         : strcmp(prefix, "param") == 0             ? FROM_PARAM
                         : strcmp(prefix, "result") == 0            ? FROM_RESULT
                         : strcmp(prefix, "metric") == 0            ? FROM_METRIC
                         : orch_aggregate_parse(prefix, &aggregate) ? FROM_METRIC
                                                                    : FROM_RUN;
    bool found =
        ((source == FROM_PARAM || source == FROM_ANY) && is_known(known, ORCH_NAME_PARAM, name)) ||
        ((source == FROM_RESULT || source == FROM_ANY) &&
         is_known(known, ORCH_NAME_RESULT, name)) ||
        ((source == FROM_METRIC || source == FROM_ANY) && is_known(known, ORCH_NAME_METRIC, name));
    if (!found)
        return unknown_column_error(known, typed, error);
    add(columns, g_strdup(typed), name, source, aggregate);
    return true;
}

struct orch_export_columns *orch_export_columns_new(struct orch_store *store,
                                                    const struct orch_run_query *query,
                                                    const char *names, GError **error)
{
    struct orch_export_columns *columns = g_new0(struct orch_export_columns, 1);
    columns->all = g_ptr_array_new_with_free_func(free_column);
    struct known known = {0};
    bool ok = read_known(store, query, &known, error);
    g_auto(GStrv) words = names ? g_strsplit(names, ",", -1) : NULL;
    if (ok && !names)
        add_all(columns, &known);
    for (int i = 0; ok && words && words[i]; i++)
        ok = add_typed(columns, &known, g_strstrip(words[i]), error);
    clear_known(&known);
    if (ok)
        return columns;
    orch_export_columns_free(columns);
    return NULL;
}

/* ---- values -----------------------------------------------------------------------------------
 */

/* The values of one run. */
struct record {
    json_t *params;
    GPtrArray *results, *summaries;
};

static bool read_record(const struct orch_export_columns *columns, struct orch_store *store,
                        const struct orch_run *run, struct record *out, GError **error)
{
    *out = (struct record){0};
    if (columns->needs_params && !(out->params = orch_store_params(store, run->id, error)))
        return false;
    if (columns->needs_results && !(out->results = orch_store_result_rows(store, run->id, error)))
        return false;
    return !columns->needs_metrics ||
           (out->summaries = orch_store_summaries(store, run->id, error)) != NULL;
}

static void clear_record(struct record *record)
{
    json_decref(record->params);
    if (record->results)
        g_ptr_array_unref(record->results);
    if (record->summaries)
        g_ptr_array_unref(record->summaries);
}

/* NULL: the run has no such result. */
static json_t *result_value(const struct record *record, const char *name)
{
    for (guint i = 0; i < record->results->len; i++) {
        const struct orch_stored_result *result = record->results->pdata[i];
        if (strcmp(result->name, name) == 0)
            return orch_json_real_or_null(result->value);
    }
    return NULL;
}

static json_t *metric_value(const struct record *record, const struct column *column)
{
    for (guint i = 0; i < record->summaries->len; i++) {
        const struct orch_metric_summary *summary = record->summaries->pdata[i];
        if (strcmp(summary->name, column->name) == 0)
            return orch_json_real_or_null(orch_summary_number(summary, column->aggregate));
    }
    return NULL;
}

static json_t *value_of(const struct column *column, const struct orch_run *run,
                        const struct record *record)
{
    enum source from = column->source;
    json_t *value = from == FROM_RUN ? orch_run_json_value(run, column->name) : NULL;
    if (!value && (from == FROM_PARAM || from == FROM_ANY))
        value = json_incref(json_object_get(record->params, column->name));
    if (!value && (from == FROM_RESULT || from == FROM_ANY))
        value = result_value(record, column->name);
    if (!value && (from == FROM_METRIC || from == FROM_ANY))
        value = metric_value(record, column);
    return value ? value : json_null();
}

GPtrArray *orch_export_columns_values(const struct orch_export_columns *columns,
                                      struct orch_store *store, const struct orch_run *run,
                                      GError **error)
{
    struct record record;
    GPtrArray *values = NULL;
    if (read_record(columns, store, run, &record, error)) {
        values = g_ptr_array_new_with_free_func((GDestroyNotify)json_decref);
        for (guint i = 0; i < columns->all->len; i++)
            g_ptr_array_add(values, value_of(columns->all->pdata[i], run, &record));
    }
    clear_record(&record);
    return values;
}
