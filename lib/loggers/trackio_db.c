/* SPDX-License-Identifier: MIT */
/* trackio's SQLite database of a project: a row of metrics is an object of JSON. A run begins with
 * the first row of it. Before trackio had ids of runs a name was one. */
#include "lib/loggers/log_values.h"

#include "lib/base/json.h"
#include "lib/loggers/run_db.h"

#include <math.h>
#include <string.h>

enum { OBJECT_BYTES_MAX = 4 << 20 };

/* A time of Python's isoformat, local unless it says its zone, in ms since 1970; 0: none. */
static double ms_of(const char *text)
{
    g_autoptr(GTimeZone) local = g_time_zone_new_local();
    g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(text, local);
    return time ? (double)g_date_time_to_unix(time) * 1e3 +
                      (double)g_date_time_get_microsecond(time) / 1e3
                : 0;
}

/* The sink for a row's run, which begins with it. Columns: id, name, time. NULL ctx: not wanted. */
static struct orch_log_sink sink_of(struct run_db *db, sqlite3_stmt *row, double *out_ms)
{
    struct orch_log_sink sink;
    const char *id = orch_tracker_db_text(row, 0);
    *out_ms = ms_of(orch_tracker_db_text(row, 2));
    if (!orch_run_db_find(db, id, &sink)) {
        const struct orch_log_run run = {.id = id,
                                         .name = orch_tracker_db_text(row, 1),
                                         .experiment = "",
                                         .user = "",
                                         .status = "",
                                         .started_ms = *out_ms};
        orch_run_db_begin(db, &run);
        orch_run_db_find(db, id, &sink);
    }
    return sink;
}

static json_t *object_of(sqlite3_stmt *row)
{
    const char *text = orch_tracker_db_text(row, 3);
    return orch_log_json(text, strlen(text), OBJECT_BYTES_MAX);
}

static void take_metrics(struct run_db *db, sqlite3_stmt *row)
{
    double ms;
    struct orch_log_sink sink = sink_of(db, row, &ms);
    if (!sink.ctx) {
        orch_run_db_pass_by(db, ms);
        return;
    }
    g_autoptr(json_t) object = object_of(row);
    int64_t step = sqlite3_column_int64(row, 4);
    const struct orch_log_row values = {&sink, &step, ms ? ms / 1e3 : (double)NAN, true};
    if (json_is_object(object))
        orch_log_take_numbers(&values, object, NULL);
}

static void take_config(struct run_db *db, sqlite3_stmt *row)
{
    double ms;
    struct orch_log_sink sink = sink_of(db, row, &ms);
    g_autoptr(json_t) object = sink.ctx ? object_of(row) : NULL;
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) if (*name != '_')
        orch_log_take_setting(&sink, name, value);
}

static const struct run_db_query QUERIES[] = {
    {"SELECT run_id, run_name, timestamp, metrics, step, id FROM metrics WHERE id > ?2"
     " ORDER BY id LIMIT ?3",
     5, take_metrics},
    {"SELECT run_id, run_name, created_at, config, id FROM configs WHERE id > ?2"
     " ORDER BY id LIMIT ?3",
     4, take_config},
};

static const struct run_db_query OLD_QUERIES[] = {
    {"SELECT run_name, run_name, timestamp, metrics, step, id FROM metrics WHERE id > ?2"
     " ORDER BY id LIMIT ?3",
     5, take_metrics},
};

const struct run_db_format ORCH_TRACKIO_DB = {
    .tool = "trackio",
    .tables = (const char *const[]){"metrics", "configs", NULL},
    .queries = QUERIES,
    .count = G_N_ELEMENTS(QUERIES),
};

const struct run_db_format ORCH_TRACKIO_OLD_DB = {
    .tool = "trackio",
    .tables = (const char *const[]){"metrics", NULL},
    .queries = OLD_QUERIES,
    .count = G_N_ELEMENTS(OLD_QUERIES),
};

static const struct run_db_format *format_of(const char *path)
{
    return orch_run_db_has(path, &ORCH_TRACKIO_DB)       ? &ORCH_TRACKIO_DB
           : orch_run_db_has(path, &ORCH_TRACKIO_OLD_DB) ? &ORCH_TRACKIO_OLD_DB
                                                         : NULL;
}

static bool knows(const char *path, const char *head, size_t length)
{
    return orch_logger_is_unsure(head, length) && length && format_of(path);
}

static void *open_reader(const struct orch_log_sink *sink, const char *path)
{
    const struct run_db_format *format = format_of(path);
    return orch_run_db_new(sink, path, format ? format : &ORCH_TRACKIO_DB);
}

const struct orch_logger ORCH_LOGGER_TRACKIO = {
    .name = "trackio",
    .ends = (const char *const[]){".db", NULL},
    .knows = knows,
    .open = open_reader,
    .read = orch_run_db_read,
    .finish = orch_run_db_finish,
    .close = orch_run_db_close,
};
