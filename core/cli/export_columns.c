/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/export_columns.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "store/bulk.h"

#include <math.h>
#include <string.h>

/* ---- what a run says of itself ----------------------------------------------------------------
 */

#define TEXT(name)                                                                                 \
    static json_t *get_##name(const struct orch_run *run)                                          \
    {                                                                                              \
        return run->name ? json_string(run->name) : json_null();                                   \
    }
TEXT(key)
TEXT(state)
TEXT(reason)
TEXT(recipe)
TEXT(experiment)
TEXT(plugin)
TEXT(plugin_version)
TEXT(who)
TEXT(source_commit)
TEXT(source_branch)
TEXT(source_tree)
TEXT(machine_key)
TEXT(where_key)
TEXT(fingerprint)
#undef TEXT

static json_t *get_repeat(const struct orch_run *run)
{
    return json_integer(run->repeat);
}

static json_t *get_attempt(const struct orch_run *run)
{
    return json_integer(run->attempt);
}

/* 64 bits do not survive as a JSON number. */
static json_t *get_seed(const struct orch_run *run)
{
    return orch_json_u64(run->seed);
}

static json_t *get_dirty(const struct orch_run *run)
{
    return run->source_tree ? json_boolean(run->source_dirty) : json_null();
}

static json_t *time_json(int64_t utc_ns)
{
    g_autofree char *text = orch_time_format(utc_ns, true);
    return json_string(text);
}

static json_t *get_started(const struct orch_run *run)
{
    return time_json(run->started_ns);
}

static json_t *get_ended(const struct orch_run *run)
{
    return time_json(run->ended_ns);
}

static json_t *get_wall_s(const struct orch_run *run)
{
    return orch_json_finite(run->wall_ms / 1e3);
}

static json_t *fact(const struct orch_run *run, const char *name)
{
    g_autoptr(json_t) facts = run->machine_facts ? json_loads(run->machine_facts, 0, NULL) : NULL;
    const char *text = orch_json_text(facts, name, NULL);
    return text ? json_string(text) : json_null();
}

static json_t *get_cpu(const struct orch_run *run)
{
    return fact(run, "cpu_model");
}

static json_t *get_host(const struct orch_run *run)
{
    return fact(run, "hostname");
}

static json_t *get_gpu(const struct orch_run *run)
{
    g_autoptr(json_t) facts = run->machine_facts ? json_loads(run->machine_facts, 0, NULL) : NULL;
    const json_t *gpus = json_object_get(facts, "gpus");
    g_autoptr(GString) text = g_string_new(NULL);
    for (size_t i = 0; i < json_array_size(gpus); i++)
        g_string_append_printf(text, "%s%s", i ? ", " : "",
                               orch_json_text(json_array_get(gpus, i), "model", "?"));
    return text->len ? json_string(text->str) : json_null();
}

/* The names of filters (docs/where.md), and a few more. */
static const struct own {
    const char *name;
    json_t *(*get)(const struct orch_run *run);
} OWN[] = {
    {"run", get_key},
    {"state", get_state},
    {"reason", get_reason},
    {"recipe", get_recipe},
    {"experiment", get_experiment},
    {"plugin", get_plugin},
    {"plugin_version", get_plugin_version},
    {"repeat", get_repeat},
    {"seed", get_seed},
    {"attempt", get_attempt},
    {"who", get_who},
    {"machine", get_machine_key},
    {"where", get_where_key},
    {"gpu", get_gpu},
    {"cpu", get_cpu},
    {"host", get_host},
    {"commit", get_source_commit},
    {"branch", get_source_branch},
    {"tree", get_source_tree},
    {"dirty", get_dirty},
    {"started", get_started},
    {"ended", get_ended},
    {"wall_s", get_wall_s},
    {"fingerprint", get_fingerprint},
    {"key", get_key}, /* the last: what filters call 'run' */
};

/* ---- columns ----------------------------------------------------------------------------------
 */

enum source { FROM_RUN, FROM_PARAM, FROM_RESULT, FROM_METRIC, FROM_ANY };

struct column {
    char *header, *name;
    enum source source;
    const struct own *own;         /* FROM_RUN */
    enum orch_aggregate aggregate; /* FROM_METRIC */
};

struct export_columns {
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

void export_columns_free(struct export_columns *columns)
{
    if (!columns)
        return;
    g_ptr_array_unref(columns->all);
    g_free(columns);
}

guint export_columns_count(const struct export_columns *columns)
{
    return columns->all->len;
}

const char *export_columns_header(const struct export_columns *columns, guint column)
{
    return ((const struct column *)columns->all->pdata[column])->header;
}

static void add(struct export_columns *columns, char *header, const char *name, enum source source,
                const struct own *own, enum orch_aggregate aggregate)
{
    struct column *column = g_new0(struct column, 1);
    *column = (struct column){header, g_strdup(name), source, own, aggregate};
    g_ptr_array_add(columns->all, column);
    columns->needs_params |= source == FROM_PARAM || source == FROM_ANY;
    columns->needs_results |= source == FROM_RESULT || source == FROM_ANY;
    columns->needs_metrics |= source == FROM_METRIC || source == FROM_ANY;
}

/* The names that the runs have, by enum orch_name_kind. */
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

static void add_all(struct export_columns *columns, const struct known *known)
{
    static const struct {
        const char *prefix;
        enum source source;
        enum orch_aggregate aggregate;
    } kinds[] = {{"param", FROM_PARAM, ORCH_AGGREGATE_LAST},
                 {"result", FROM_RESULT, ORCH_AGGREGATE_LAST},
                 {"metric", FROM_METRIC, ORCH_AGGREGATE_LAST},
                 {"best", FROM_METRIC, ORCH_AGGREGATE_BEST}};
    for (unsigned i = 0; i + 1 < G_N_ELEMENTS(OWN); i++)
        add(columns, g_strdup(OWN[i].name), OWN[i].name, FROM_RUN, &OWN[i], ORCH_AGGREGATE_LAST);
    for (unsigned kind = 0; kind < G_N_ELEMENTS(kinds); kind++)
        for (guint i = 0; i < known->names[kind]->len; i++) {
            const char *name = known->names[kind]->pdata[i];
            add(columns, g_strdup_printf("%s.%s", kinds[kind].prefix, name), name,
                kinds[kind].source, NULL, kinds[kind].aggregate);
        }
}

static bool say_unknown(const struct known *known, const char *typed, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (unsigned i = 0; i < G_N_ELEMENTS(OWN); i++)
        g_ptr_array_add(names, (gpointer)(uintptr_t)OWN[i].name);
    for (int kind = 0; kind < 3; kind++)
        for (guint i = 0; i < known->names[kind]->len; i++)
            g_ptr_array_add(names, known->names[kind]->pdata[i]);
    g_ptr_array_add(names, NULL);
    g_autofree char *hint = orch_suggest_hint(typed, (const char *const *)names->pdata);
    orch_error_set(error, ORCH_ERROR_USAGE,
                   hint ? hint : "without --columns all are written; see docs/where.md for names",
                   "option '--columns': none of the runs has a '%s'", typed);
    return false;
}

/* One name as typed. */
static bool add_typed(struct export_columns *columns, const struct known *known, const char *typed,
                      GError **error)
{
    const char *dot = strchr(typed, '.');
    g_autofree char *prefix = dot ? g_strndup(typed, (gsize)(dot - typed)) : NULL;
    const char *name = dot ? dot + 1 : typed;
    enum orch_aggregate aggregate = ORCH_AGGREGATE_LAST;
    for (unsigned i = 0; !dot && i < G_N_ELEMENTS(OWN); i++)
        if (strcmp(OWN[i].name, typed) == 0) {
            add(columns, g_strdup(typed), typed, FROM_RUN, &OWN[i], aggregate);
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
        return say_unknown(known, typed, error);
    add(columns, g_strdup(typed), name, source, NULL, aggregate);
    return true;
}

struct export_columns *export_columns_new(struct orch_store *store,
                                          const struct orch_run_query *query, const char *names,
                                          GError **error)
{
    struct export_columns *columns = g_new0(struct export_columns, 1);
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
    export_columns_free(columns);
    return NULL;
}

/* ---- values -----------------------------------------------------------------------------------
 */

/* What one run has. */
struct record {
    json_t *params;
    GPtrArray *results, *summaries;
};

static bool read_record(const struct export_columns *columns, struct orch_store *store,
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

static json_t *number(double value)
{
    return isnan(value) ? json_null() : orch_json_real(value);
}

/* NULL: the run has none. */
static json_t *result_value(const struct record *record, const char *name)
{
    for (guint i = 0; i < record->results->len; i++) {
        const struct orch_stored_result *result = record->results->pdata[i];
        if (strcmp(result->name, name) == 0)
            return number(result->value);
    }
    return NULL;
}

static json_t *metric_value(const struct record *record, const struct column *column)
{
    for (guint i = 0; i < record->summaries->len; i++) {
        const struct orch_metric_summary *summary = record->summaries->pdata[i];
        if (strcmp(summary->name, column->name) == 0)
            return number(orch_summary_number(summary, column->aggregate));
    }
    return NULL;
}

static json_t *value_of(const struct column *column, const struct orch_run *run,
                        const struct record *record)
{
    enum source from = column->source;
    json_t *value = from == FROM_RUN ? column->own->get(run) : NULL;
    if (!value && (from == FROM_PARAM || from == FROM_ANY))
        value = json_incref(json_object_get(record->params, column->name));
    if (!value && (from == FROM_RESULT || from == FROM_ANY))
        value = result_value(record, column->name);
    if (!value && (from == FROM_METRIC || from == FROM_ANY))
        value = metric_value(record, column);
    return value ? value : json_null();
}

GPtrArray *export_columns_values(const struct export_columns *columns, struct orch_store *store,
                                 const struct orch_run *run, GError **error)
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
