/* SPDX-License-Identifier: MIT */
/* MLflow's SQLite database, which is its store where the user names none. */
#include "lib/loggers/log_values.h"

#include "lib/base/json.h"
#include "lib/loggers/run_db.h"

#include <float.h>
#include <math.h>

static const char *text_of(sqlite3_stmt *row, int column)
{
    return orch_tracker_db_text(row, column);
}

static void take_run(struct run_db *db, sqlite3_stmt *row)
{
    const struct orch_log_run run = {.id = text_of(row, 0),
                                     .name = text_of(row, 1),
                                     .status = text_of(row, 2),
                                     .started_ms = sqlite3_column_double(row, 3),
                                     .ended_ms = sqlite3_column_double(row, 4),
                                     .user = text_of(row, 5),
                                     .experiment = text_of(row, 6)};
    orch_run_db_begin(db, &run);
}

static void take_param(struct run_db *db, sqlite3_stmt *row)
{
    struct orch_log_sink sink;
    if (!orch_run_db_find(db, text_of(row, 0), &sink) || !sink.ctx || !sink.setting)
        return;
    g_autoptr(json_t) value = orch_log_text_value(text_of(row, 2));
    sink.setting(sink.ctx, text_of(row, 1), value);
}

static void take_tag(struct run_db *db, sqlite3_stmt *row)
{
    struct orch_log_sink sink;
    if (orch_run_db_find(db, text_of(row, 0), &sink) && sink.ctx && sink.label)
        sink.label(sink.ctx, text_of(row, 1), text_of(row, 2));
}

/* MLflow stores a NaN as 0 with a mark, and an infinity as the largest double. */
static double value_of(sqlite3_stmt *row)
{
    double value = sqlite3_column_double(row, 2);
    if (sqlite3_column_int(row, 5))
        return (double)NAN;
    return fabs(value) == DBL_MAX ? copysign((double)INFINITY, value) : value;
}

static void take_metric(struct run_db *db, sqlite3_stmt *row)
{
    struct orch_log_sink sink;
    if (orch_run_db_find(db, text_of(row, 0), &sink) && sink.ctx)
        sink.point(sink.ctx, text_of(row, 1), sqlite3_column_int64(row, 4),
                   sqlite3_column_double(row, 3) / 1e3, value_of(row));
}

#define OF_WANTED_RUNS                                                                             \
    " WHERE rowid > ?2 AND run_uuid IN (SELECT run_uuid FROM runs WHERE"                           \
    " coalesce(start_time, 0) >= ?1 AND coalesce(lifecycle_stage, 'active') = 'active')"           \
    " ORDER BY rowid LIMIT ?3"

static const struct run_db_query QUERIES[] = {
    {"SELECT r.run_uuid, r.name, r.status, r.start_time, r.end_time, r.user_id, e.name FROM runs r"
     " LEFT JOIN experiments e ON e.experiment_id = r.experiment_id"
     " WHERE coalesce(r.lifecycle_stage, 'active') = 'active' AND coalesce(r.start_time, 0) >= ?1"
     " ORDER BY r.start_time, r.run_uuid LIMIT 100000",
     -1, take_run},
    {"SELECT run_uuid, key, value, rowid FROM params" OF_WANTED_RUNS, 3, take_param},
    {"SELECT run_uuid, key, value, rowid FROM tags" OF_WANTED_RUNS, 3, take_tag},
    {"SELECT run_uuid, key, value, timestamp, step, is_nan, rowid FROM metrics" OF_WANTED_RUNS, 6,
     take_metric},
};

const struct run_db_format ORCH_MLFLOW_DB = {
    .tool = "MLflow",
    .hint = "give mlflow.db, a folder 'mlruns', a database of trackio, or an SQLite file of Optuna",
    .tables = (const char *const[]){"runs", "experiments", "params", "metrics", "tags", NULL},
    .queries = QUERIES,
    .count = G_N_ELEMENTS(QUERIES),
    .continued = "SELECT 1 FROM latest_metrics l JOIN runs r ON r.run_uuid = l.run_uuid"
                 " WHERE l.timestamp >= ?1 AND r.start_time < ?1 LIMIT 1",
};

static bool knows(const char *path, const char *head, size_t length)
{
    return orch_logger_is_unsure(head, length) && length && orch_run_db_has(path, &ORCH_MLFLOW_DB);
}

static void *open_reader(const struct orch_log_sink *sink, const char *path)
{
    return orch_run_db_new(sink, path, &ORCH_MLFLOW_DB);
}

const struct orch_logger ORCH_LOGGER_MLFLOW_DB = {
    .name = "mlflow",
    .ends = (const char *const[]){".db", ".sqlite", ".sqlite3", NULL},
    .knows = knows,
    .open = open_reader,
    .read = orch_run_db_read,
    .defaults_to_0 = true,
    .finish = orch_run_db_finish,
    .close = orch_run_db_close,
};
