/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan of a hundred trials queries its timings once for each plugin and experiment: runs by the
 * index on experiments, then the parameters of the matching runs. */
#include "store/write/forecast.h"

#include "store/handle/sql.h"
#include "store/write/note_rules.h"

#include "lib/base/json.h"
#include "lib/wire/foreign_cpu_fact.h"
#include "lib/wire/library_fact.h"

/* Number of runs that are searched, however few of them match. */
#define LOOKED_AT "2000"

/* The facts in another user's store need not be valid JSON. */
#define FACTS "CASE WHEN json_valid(r.facts) THEN r.facts ELSE '{}' END"

/* Between a microsecond and a century. Joined runs may contain any number. */
#define SANE_MS " BETWEEN 1e-3 AND 3.2e12"
#define SANE_S " BETWEEN 1e-6 AND 3.2e9"

#define TIMING_COLUMNS                                                                             \
    "SELECT r.id, r.experiment, r.plugin_version, r.fingerprint, r.wall_ms,"                       \
    " json_extract(" FACTS ", '$.co_runners'), json_extract(" FACTS ", '$.cost'), r.who, r.facts," \
    " r.ended, r.device_key FROM (SELECT id FROM (SELECT id, plugin, state, device_key, wall_ms, " \
    "ended"
#define TIMING_FILTER(device)                                                                      \
    " WHERE plugin = ?1 AND state = 'ok' AND " device " AND wall_ms" SANE_MS                       \
    " AND id NOT IN " STORE_HIDDEN " ORDER BY ended DESC LIMIT ?4) q"                              \
    " CROSS JOIN run r ON r.id = q.id"
#define BY_EXPERIMENT                                                                              \
    TIMING_COLUMNS " FROM run INDEXED BY run_by_experiment WHERE experiment = ?3"                  \
                   " ORDER BY ended DESC LIMIT " LOOKED_AT ") i"
#define BY_PLUGIN                                                                                  \
    TIMING_COLUMNS " FROM run INDEXED BY run_by_ended WHERE experiment IS NOT ?3"                  \
                   " ORDER BY ended DESC LIMIT " LOOKED_AT ") i"
#define ON_DEVICE TIMING_FILTER("device_key = ?2")
/* ?2 is "AMD EPYC," of "AMD EPYC, 2 threads" */
#define ON_PROCESSOR TIMING_FILTER("substr(device_key, 1, length(?2)) = ?2")
/* the device key of such a run is that of its node, which is not known before it runs */
#define AT_PLACE                                                                                   \
    TIMING_FILTER("(SELECT json_extract(" FACTS ", '$.' || ?5 || '.place') = ?2 FROM run r"        \
                  " WHERE r.id = i.id)")

static const char DEVICE_BY_EXPERIMENT[] = BY_EXPERIMENT ON_DEVICE;
static const char DEVICE_BY_PLUGIN[] = BY_PLUGIN ON_DEVICE;
static const char PROCESSOR_BY_EXPERIMENT[] = BY_EXPERIMENT ON_PROCESSOR;
static const char PROCESSOR_BY_PLUGIN[] = BY_PLUGIN ON_PROCESSOR;
static const char PLACE_BY_EXPERIMENT[] = BY_EXPERIMENT AT_PLACE;
static const char PLACE_BY_PLUGIN[] = BY_PLUGIN AT_PLACE;

static void timing_free(struct orch_timing *timing)
{
    if (!timing)
        return;
    g_free(timing->experiment);
    g_free(timing->plugin_version);
    g_free(timing->fingerprint);
    g_free(timing->device_key);
    g_free(timing->who);
    g_free(timing->library);
    json_decref(timing->cost);
    g_ptr_array_unref(timing->names);
    g_ptr_array_unref(timing->values);
    g_free(timing);
}

static struct orch_timing *timing_from_row(sqlite3_stmt *s)
{
    struct orch_timing *timing = g_new0(struct orch_timing, 1);
    timing->run_id = sqlite3_column_int64(s, 0);
    timing->experiment = g_strdup(orch_store_text(s, 1));
    timing->plugin_version = g_strdup(orch_store_text(s, 2));
    timing->fingerprint = g_strdup(orch_store_text(s, 3));
    timing->wall_s = sqlite3_column_double(s, 4) / 1e3;
    timing->co_runners = sqlite3_column_int64(s, 5);
    const char *cost = (const char *)sqlite3_column_text(s, 6);
    timing->cost = cost ? json_loads(cost, 0, NULL) : NULL;
    timing->who = orch_store_column_text(s, 7);
    const char *facts = (const char *)sqlite3_column_text(s, 8);
    timing->is_disturbed = orch_facts_are_disturbed(facts);
    timing->library = orch_facts_library(facts);
    timing->ended_ns = sqlite3_column_int64(s, 9);
    timing->device_key = orch_store_column_text(s, 10);
    timing->names = g_ptr_array_new();
    timing->values = g_ptr_array_new_with_free_func(g_free);
    return timing;
}

static bool read_params(struct orch_store *store, struct orch_timing *timing, GError **error)
{
    sqlite3_stmt *s =
        orch_store_statement(store, "SELECT name, value FROM param WHERE run = ?", error);
    if (!s)
        return false;
    orch_store_bind(s, "i", timing->run_id);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        const char *name = g_intern_string(orch_store_text(s, 0));
        g_ptr_array_add(timing->names, (gpointer)(uintptr_t)name);
        g_ptr_array_add(timing->values, orch_store_column_text(s, 1));
    }
    return more == 0;
}

static bool add_timings(struct orch_store *store, const char *sql_literal, const char *device_key,
                        const struct orch_timing_query *query, GPtrArray *out, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(store, sql_literal, error);
    if (!s)
        return false;
    orch_store_bind(s, query->executor ? "tttit" : "ttti", query->plugin, device_key,
                    query->experiment, (int64_t)query->limit, query->executor);
    guint first = out->len;
    int more;
    while ((more = orch_store_step(store, s, error)) > 0)
        g_ptr_array_add(out, timing_from_row(s));
    for (guint i = first; more == 0 && i < out->len; i++)
        more = read_params(store, out->pdata[i], error) ? 0 : -1;
    return more == 0;
}

GPtrArray *orch_store_timings(struct orch_store *store, const struct orch_timing_query *query,
                              GError **error)
{
    GPtrArray *timings = g_ptr_array_new_with_free_func((GDestroyNotify)timing_free);
    const char *comma = query->any_threads ? strrchr(query->device_key, ',') : NULL;
    g_autofree char *processor =
        comma ? g_strndup(query->device_key, (gsize)(comma + 1 - query->device_key)) : NULL;
    const char *by_experiment = comma             ? PROCESSOR_BY_EXPERIMENT
                                : query->executor ? PLACE_BY_EXPERIMENT
                                                  : DEVICE_BY_EXPERIMENT;
    const char *by_plugin = comma             ? PROCESSOR_BY_PLUGIN
                            : query->executor ? PLACE_BY_PLUGIN
                                              : DEVICE_BY_PLUGIN;
    const char *device_key = comma ? processor : query->device_key;
    if (add_timings(store, by_experiment, device_key, query, timings, error) &&
        add_timings(store, by_plugin, device_key, query, timings, error))
        return timings;
    g_ptr_array_unref(timings);
    return NULL;
}

/* The name of a forecast's model. Development versions before the first release had another one for
 * the analytical model. It is replaced when rows are read, not in a migration, because the stores
 * of a group that are joined later may still contain it. */
#define MODEL "replace(model, 'white box', 'analytical model')"

/* Suffixes of the model's name, in this order: of a setting beyond what had been measured, and of a
 * forecast that was computed again during its run. */
#define BEYOND ", beyond"
#define RENEWED ", renewed"

/* Cuts a suffix off; returns whether it was there. */
static bool cut_suffix(char *text, const char *suffix)
{
    bool has_it = g_str_has_suffix(text, suffix);
    if (has_it)
        text[strlen(text) - strlen(suffix)] = 0;
    return has_it;
}

bool orch_store_put_forecast(struct orch_store *store, const struct orch_forecast_row *row,
                             GError **error)
{
    g_autofree char *model = g_strconcat(row->model, row->is_beyond ? BEYOND : "",
                                         row->is_renewed ? RENEWED : NULL, NULL);
    if (!orch_store_transaction_begin(store, error))
        return false;
    if (orch_store_run_statement(
            store, error,
            "INSERT OR REPLACE INTO forecast(fingerprint, machine, model, made, p5, p50, p95,"
            " tier, run) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
            "tttirrrtt", row->fingerprint, row->machine, model, row->made_ns, row->time_s.low,
            row->time_s.mid, row->time_s.high, row->tier, row->run_key))
        return orch_store_transaction_commit(store, error);
    orch_store_transaction_rollback(store);
    return false;
}

/* Tiers and models are few, so their names are interned. */
static const char *interned(sqlite3_stmt *s, int column)
{
    return g_intern_string(orch_store_text(s, column));
}

bool orch_store_forecast_of(struct orch_store *store, const char *run_key,
                            struct orch_forecast_row *out, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT p5, p50, p95, made, tier, " MODEL " FROM forecast WHERE run = ?"
        " AND p5" SANE_S " AND p50" SANE_S " AND p95" SANE_S " ORDER BY made DESC LIMIT 1",
        error);
    if (!s)
        return false;
    orch_store_bind(s, "t", run_key);
    if (orch_store_step(store, s, error) <= 0)
        return false;
    *out = (struct orch_forecast_row){.time_s.low = sqlite3_column_double(s, 0),
                                      .time_s.mid = sqlite3_column_double(s, 1),
                                      .time_s.high = sqlite3_column_double(s, 2),
                                      .made_ns = sqlite3_column_int64(s, 3),
                                      .tier = interned(s, 4)};
    g_autofree char *model = g_strdup(orch_store_text(s, 5));
    out->is_renewed = cut_suffix(model, RENEWED);
    out->is_beyond = cut_suffix(model, BEYOND);
    out->model = g_intern_string(model);
    sqlite3_reset(s);
    return true;
}

void orch_ended_forecast_free(struct orch_ended_forecast *grade)
{
    if (!grade)
        return;
    char *const texts[] = {grade->run_key,    grade->tier,       grade->model,
                           grade->experiment, grade->device_key, grade->network};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    g_free(grade);
}

GPtrArray *orch_store_grades(struct orch_store *store, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT r.key, f.tier, " MODEL ", r.experiment, r.device_key,"
        " json_extract(" FACTS ", '$.cost.network'), f.p5, f.p50, f.p95, r.wall_ms, f.made, r.facts"
        " FROM forecast f JOIN run r ON r.key = f.run WHERE r.state = 'ok' AND r.wall_ms" SANE_MS
        " AND f.p5" SANE_S " AND f.p50" SANE_S " AND f.p95" SANE_S " AND r.id NOT IN " STORE_HIDDEN
        " ORDER BY f.made",
        error);
    if (!s)
        return NULL;
    GPtrArray *grades = g_ptr_array_new_with_free_func((GDestroyNotify)orch_ended_forecast_free);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        struct orch_ended_forecast *grade = g_new0(struct orch_ended_forecast, 1);
        char **const texts[] = {&grade->run_key,    &grade->tier,       &grade->model,
                                &grade->experiment, &grade->device_key, &grade->network};
        for (int i = 0; i < (int)G_N_ELEMENTS(texts); i++)
            *texts[i] = i == 5 ? orch_store_column_text(s, i) : g_strdup(orch_store_text(s, i));
        grade->is_renewed = cut_suffix(grade->model, RENEWED);
        grade->is_beyond = cut_suffix(grade->model, BEYOND);
        grade->time_s.low = sqlite3_column_double(s, 6);
        grade->time_s.mid = sqlite3_column_double(s, 7);
        grade->time_s.high = sqlite3_column_double(s, 8);
        grade->wall_s = sqlite3_column_double(s, 9) / 1e3;
        grade->made_ns = sqlite3_column_int64(s, 10);
        grade->is_disturbed = orch_facts_are_disturbed((const char *)sqlite3_column_text(s, 11));
        g_ptr_array_add(grades, grade);
    }
    if (more == 0)
        return grades;
    g_ptr_array_unref(grades);
    return NULL;
}

bool orch_store_put_promise(struct orch_store *store, const char *recipe, unsigned promised,
                            unsigned ended, GError **error)
{
    char key[ORCH_KEY_CHARS];
    orch_key_make(key);
    g_autofree char *target = g_strconcat(STORE_PROMISE, recipe, NULL),
                    *text = g_strdup_printf("%u %u", ended, promised);
    if (!orch_store_transaction_begin(store, error))
        return false;
    if (orch_store_run_statement(store, error,
                                 "INSERT INTO note(key, target, kind, public, text, who, made)"
                                 " VALUES(?, ?, 'promise', 0, ?, ?, ?)",
                                 "tttti", key, target, text, orch_user_name(), orch_now_ns()))
        return orch_store_transaction_commit(store, error);
    orch_store_transaction_rollback(store);
    return false;
}

bool orch_store_promises(struct orch_store *store, unsigned *out_count, unsigned *out_held,
                         GError **error)
{
    /* a text is "ENDED PROMISED"; SQLite reads the number before the space */
#define PROMISES " FROM note WHERE kind = 'promise' AND public = 0"
    int64_t count = 0, held = 0;
    if (!orch_store_get_int(store, &count, 0, error, "SELECT count(*)" PROMISES, "") ||
        !orch_store_get_int(store, &held, 0, error,
                            "SELECT count(*)" PROMISES " AND CAST(text AS INTEGER) >="
                            " CAST(substr(text, instr(text, ' ')) AS INTEGER)",
                            ""))
        return false;
    *out_count = (unsigned)count;
    *out_held = (unsigned)held;
    return true;
}
