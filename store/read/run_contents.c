/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data of one run: parameters, results, inputs, artifacts, notes and series. */
#include "store/handle/sql.h"
#include "store/write/digest.h"
#include "store/write/note_rules.h"
#include "store/write/run_lists.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/wire/system_metrics.h"

#include <math.h>
#include <string.h>

/* ---- parameters and results -------------------------------------------------------------------
 */

json_t *orch_store_params(struct orch_store *store, int64_t run_id, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store, "SELECT name, value FROM param WHERE run = ? ORDER BY name", error);
    if (!s)
        return NULL;
    orch_store_bind(s, "i", run_id);
    g_autoptr(json_t) params = json_object();
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        const char *text = orch_store_text(s, 1);
        json_t *value = orch_json_parse(text, strlen(text), STORE_TEXT_MAX, NULL);
        if (!value)
            value = json_string(text); /* not JSON (edited by hand): shown as text */
        json_object_set_new(params, orch_store_text(s, 0), value);
    }
    return more == 0 ? g_steal_pointer(&params) : NULL;
}

json_t *orch_store_results(struct orch_store *store, int64_t run_id, GError **error)
{
    g_autoptr(GPtrArray) rows = orch_store_result_rows(store, run_id, error);
    if (!rows)
        return NULL;
    json_t *results = json_object();
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_stored_result *row = rows->pdata[i];
        json_object_set_new(results, row->name, orch_json_real(row->value));
    }
    return results;
}

/* ---- lists ------------------------------------------------------------------------------------
 */

#define MEMBER(type, member, kind)                                                                 \
    {                                                                                              \
#member, STORE_VALUE_##kind, offsetof(struct type, member)                                 \
    }

/* The columns in their order; a text is owned and NULL where the column is. */
static const struct store_member INPUT[] = {MEMBER(orch_stored_input, name, NAME),
                                            MEMBER(orch_stored_input, from_key, TEXT),
                                            MEMBER(orch_stored_input, sha256, TEXT),
                                            {0}};
static const struct store_member ARTIFACT[] = {MEMBER(orch_stored_artifact, name, NAME),
                                               MEMBER(orch_stored_artifact, sha256, NAME),
                                               MEMBER(orch_stored_artifact, bytes, INT64),
                                               {0}};
static const struct store_member NOTE[] = {MEMBER(orch_stored_note, kind, NAME),
                                           MEMBER(orch_stored_note, text, TEXT),
                                           MEMBER(orch_stored_note, is_public, BOOL),
                                           {0}};
static const struct store_member RESULT[] = {MEMBER(orch_stored_result, name, NAME),
                                             MEMBER(orch_stored_result, unit, NAME),
                                             MEMBER(orch_stored_result, better, NAME),
                                             MEMBER(orch_stored_result, value, REAL),
                                             {0}};

/* A struct of `bytes` bytes, with its texts behind it in the same allocation. */
static void *read_row(sqlite3_stmt *s, const struct store_member *members, size_t bytes)
{
    size_t room = bytes;
    for (int i = 0; members[i].kind <= STORE_VALUE_TEXT && members[i].kind; i++)
        room += strlen(orch_store_text(s, i)) + 1;
    char *row = g_malloc0(room), *text = row + bytes;
    for (int i = 0; members[i].kind; i++) {
        void *at = row + members[i].offset;
        if (members[i].kind == STORE_VALUE_INT64)
            *(int64_t *)at = sqlite3_column_int64(s, i);
        else if (members[i].kind == STORE_VALUE_BOOL)
            *(bool *)at = sqlite3_column_int(s, i);
        else if (members[i].kind == STORE_VALUE_REAL)
            *(double *)at = orch_store_column_real(s, i);
        else if (members[i].kind == STORE_VALUE_NAME || sqlite3_column_type(s, i) != SQLITE_NULL) {
            *(char **)at = text;
            text = g_stpcpy(text, orch_store_text(s, i)) + 1;
        }
    }
    return row;
}

static GPtrArray *read_rows(struct orch_store *store, sqlite3_stmt *s,
                            const struct store_member *members, size_t bytes, GError **error)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(g_free);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0)
        g_ptr_array_add(rows, read_row(s, members, bytes));
    if (more == 0)
        return rows;
    g_ptr_array_unref(rows);
    return NULL;
}

static GPtrArray *rows_of_run(struct orch_store *store, int64_t run_id, enum store_rows kind,
                              const struct store_member *members, size_t bytes, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(store, store_row_kinds[kind].of_run, error);
    if (!s)
        return NULL;
    orch_store_bind(s, "i", run_id);
    return read_rows(store, s, members, bytes, error);
}

GPtrArray *orch_store_inputs(struct orch_store *store, int64_t run_id, GError **error)
{
    return rows_of_run(store, run_id, STORE_INPUTS, INPUT, sizeof(struct orch_stored_input), error);
}

static const char INPUTS_OF_EXPERIMENT[] =
    "SELECT i.name, i.from_key, i.sha256, max(r.ended) FROM"
    " (SELECT run.id, run.ended FROM run JOIN machine m ON m.id = run.machine"
    "  WHERE run.recipe = ?1 AND run.experiment = ?2 AND m.key = ?3"
    "  ORDER BY run.ended DESC LIMIT 200) r"
    " CROSS JOIN input i ON i.run = r.id WHERE i.from_key IS NULL GROUP BY i.name";

GPtrArray *orch_store_inputs_of_experiment(struct orch_store *store, const char *recipe,
                                           const char *experiment, const char *machine_key,
                                           GError **error)
{
    sqlite3_stmt *s = orch_store_statement(store, INPUTS_OF_EXPERIMENT, error);
    if (!s)
        return NULL;
    orch_store_bind(s, "ttt", recipe, experiment, machine_key);
    return read_rows(store, s, INPUT, sizeof(struct orch_stored_input), error);
}

GPtrArray *orch_store_artifacts(struct orch_store *store, int64_t run_id, GError **error)
{
    GPtrArray *rows = rows_of_run(store, run_id, STORE_ARTIFACTS, ARTIFACT,
                                  sizeof(struct orch_stored_artifact), error);
    for (guint i = 0; rows && i < rows->len; i++) {
        struct orch_stored_artifact *artifact = rows->pdata[i];
        artifact->here_bytes = orch_store_object_bytes(store, artifact->sha256);
        artifact->here = artifact->here_bytes == artifact->bytes;
    }
    return rows;
}

GPtrArray *orch_store_notes(struct orch_store *store, const char *run_key, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT kind, text, public FROM note WHERE target = ? ORDER BY " STORE_NOTE_TIME(
            "note") ", key",
        error);
    if (!s)
        return NULL;
    orch_store_bind(s, "t", run_key);
    return read_rows(store, s, NOTE, sizeof(struct orch_stored_note), error);
}

GPtrArray *orch_store_result_rows(struct orch_store *store, int64_t run_id, GError **error)
{
    return rows_of_run(store, run_id, STORE_RESULTS, RESULT, sizeof(struct orch_stored_result),
                       error);
}

/* ---- series -----------------------------------------------------------------------------------
 */

void orch_series_free(struct orch_series *series)
{
    if (!series)
        return;
    g_free(series->name);
    g_free(series->unit);
    g_free(series->better);
    g_free(series->step);
    g_free(series->t_ms);
    g_free(series->value);
    g_free(series);
}

/* Finds the metric_name row of a metric that the run has; `*out_id` is 0 when it has none. */
static bool find_name(struct orch_store *store, int64_t run_id, const char *name, int64_t *out_id,
                      struct orch_series *series, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT n.id, n.unit, n.better FROM metric_name n WHERE n.name = ?1"
        " AND EXISTS (SELECT 1 FROM metric m WHERE m.run = ?2 AND m.name_id = n.id) LIMIT 1",
        error);
    if (!s)
        return false;
    orch_store_bind(s, "ti", name, run_id);
    int more = orch_store_step(store, s, error);
    *out_id = more > 0 ? sqlite3_column_int64(s, 0) : 0;
    if (more > 0) {
        series->name = g_strdup(name);
        series->unit = orch_store_column_text(s, 1);
        series->better = orch_store_column_text(s, 2);
        sqlite3_reset(s);
    }
    return more >= 0;
}

static bool read_series(struct orch_store *store, int64_t run_id, int64_t name_id,
                        struct orch_series *series, GError **error)
{
    int64_t count;
    sqlite3_stmt *s = orch_store_statement(store, store_points_sql, error);
    if (!s || !orch_store_get_int(store, &count, 0, error,
                                  "SELECT count(*) FROM metric WHERE run = ? AND name_id = ?", "ii",
                                  run_id, name_id))
        return false;
    series->step = g_new(int64_t, count);
    series->t_ms = g_new(double, count);
    series->value = g_new(double, count);
    orch_store_bind(s, "ii", run_id, name_id);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0 && (int64_t)series->count < count) {
        size_t i = series->count++;
        series->step[i] = sqlite3_column_int64(s, 0);
        series->t_ms[i] = orch_store_column_real(s, 1);
        series->value[i] = orch_store_column_real(s, 2);
    }
    sqlite3_reset(s);
    return more >= 0;
}

struct orch_series *orch_store_series(struct orch_store *store, int64_t run_id, const char *name,
                                      GError **error)
{
    struct orch_series *series = g_new0(struct orch_series, 1);
    int64_t name_id;
    if (find_name(store, run_id, name, &name_id, series, error) && name_id &&
        read_series(store, run_id, name_id, series, error))
        return series;
    orch_series_free(series);
    return NULL;
}

/* ---- summaries --------------------------------------------------------------------------------
 */

static void free_summary(gpointer data)
{
    struct orch_metric_summary *summary = data;
    g_free(summary->name);
    g_free(summary->unit);
    g_free(summary->better);
    g_free(summary);
}

/* A NaN is counted and can be the first or last value, but is left out of the minimum, maximum and
 * mean. */
static void summarise(struct orch_metric_summary *summary, int64_t step, double value)
{
    if (summary->count++ == 0)
        summary->first = value;
    summary->last = value;
    summary->last_step = step;
    if (isnan(value))
        return;
    if (isnan(summary->min) || value < summary->min) {
        summary->min = value;
        summary->min_step = step;
    }
    if (isnan(summary->max) || value > summary->max) {
        summary->max = value;
        summary->max_step = step;
    }
}

static struct orch_metric_summary *new_summary(sqlite3_stmt *s)
{
    struct orch_metric_summary *summary = g_new0(struct orch_metric_summary, 1);
    summary->name = g_strdup(orch_store_text(s, 1));
    summary->unit = g_strdup(orch_store_text(s, 2));
    summary->better = g_strdup(orch_store_text(s, 3));
    summary->min = summary->max = summary->mean = (double)NAN;
    return summary;
}

/** A running mean of the finite values of a summary. */
struct mean {
    double sum, weight;
    int64_t last_step;
};

static void close_mean(GPtrArray *summaries, struct mean *mean)
{
    if (summaries->len && mean->weight > 0) {
        struct orch_metric_summary *last = summaries->pdata[summaries->len - 1];
        last->mean = mean->sum / mean->weight;
    }
    *mean = (struct mean){0};
}

/* Adds a point. Points of system metrics weigh as many seconds as they cover, because those of a
 * long trial cover more and more. */
static void add_to_mean(struct mean *mean, const char *name, int64_t step, double value)
{
    int64_t covered = orch_metric_is_system(name) ? MAX(step - mean->last_step, 1) : 1;
    mean->last_step = step;
    if (isnan(value))
        return;
    mean->sum += value * (double)covered;
    mean->weight += (double)covered;
}

GPtrArray *orch_store_summaries(struct orch_store *store, int64_t run_id, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT n.id, n.name, n.unit, n.better, m.step, m.value FROM metric_name n"
        " CROSS JOIN metric m WHERE m.run = ?1 AND m.name_id = n.id"
        " ORDER BY n.name, n.unit, n.better, m.step",
        error);
    if (!s)
        return NULL;
    orch_store_bind(s, "i", run_id);
    GPtrArray *summaries = g_ptr_array_new_with_free_func(free_summary);
    struct mean mean = {0};
    int64_t name_id = 0;
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        if (sqlite3_column_int64(s, 0) != name_id) {
            close_mean(summaries, &mean);
            name_id = sqlite3_column_int64(s, 0);
            g_ptr_array_add(summaries, new_summary(s));
        }
        double value = orch_store_column_real(s, 5);
        struct orch_metric_summary *summary = summaries->pdata[summaries->len - 1];
        summarise(summary, sqlite3_column_int64(s, 4), value);
        add_to_mean(&mean, summary->name, sqlite3_column_int64(s, 4), value);
    }
    close_mean(summaries, &mean);
    if (more == 0)
        return summaries;
    g_ptr_array_unref(summaries);
    return NULL;
}

/* Keeps the system metrics, or the others. */
static GPtrArray *some_summaries(struct orch_store *store, int64_t run_id, bool are_system,
                                 GError **error)
{
    GPtrArray *all = orch_store_summaries(store, run_id, error);
    for (guint i = all ? all->len : 0; i-- > 0;)
        if (orch_metric_is_system(((struct orch_metric_summary *)all->pdata[i])->name) !=
            are_system)
            g_ptr_array_remove_index(all, i);
    return all;
}

GPtrArray *orch_store_own_summaries(struct orch_store *store, int64_t run_id, GError **error)
{
    return some_summaries(store, run_id, false, error);
}

GPtrArray *orch_store_system_summaries(struct orch_store *store, int64_t run_id, GError **error)
{
    return some_summaries(store, run_id, true, error);
}
