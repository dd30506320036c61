/* SPDX-License-Identifier: MIT */
/* SQLite databases in which trackers keep many runs. A format lists its queries, which are asked
 * for the rows that are new since the last time. The database is open only while it is read, so
 * that it does not matter to the program that writes it. */
#ifndef ORCH_LOGGERS_RUN_DB_H
#define ORCH_LOGGERS_RUN_DB_H

#include "lib/loggers/loggers.h"
#include "lib/loggers/tracker_db.h"

struct run_db;

/** A query. Parameters: ?1 the time since which runs are wanted (ms, UTC), ?2 the last rowid that
 * was read, ?3 the most rows. */
struct run_db_query {
    const char *sql;
    int rowid_column; /* -1: all rows are asked for each time */
    void (*take)(struct run_db *db, sqlite3_stmt *row);
};

struct run_db_format {
    const char *tool, *hint;   /* as of struct orch_tracker_db */
    const char *const *tables; /* NULL-terminated */
    const struct run_db_query *queries;
    size_t count;          /* at most 4 */
    const char *continued; /* a row when a run that is not wanted was written since ?1; NULL: take
                              calls orch_run_db_pass_by */
};

/** True when a file is a database that has the tables of a format, in which its queries work. */
bool orch_run_db_has(const char *path, const struct run_db_format *format);

struct run_db *orch_run_db_new(const struct orch_log_sink *sink, const char *path,
                               const struct run_db_format *format);
/** Members of struct orch_logger. */
bool orch_run_db_read(void *db, int64_t since_ns, bool *out_has_more, GError **error);
const char *orch_run_db_finish(void *db);
void orch_run_db_close(void *db);

/* ---- for the formats --------------------------------------------------------------------------
 */

/** True when the run of that id has been seen; `*out_sink` is then that for its values, in which
 * `ctx` is NULL when it is not wanted. */
bool orch_run_db_find(struct run_db *db, const char *id, struct orch_log_sink *out_sink);
/** Begins a run. One that began before the time of the query is not wanted. */
void orch_run_db_begin(struct run_db *db, const struct orch_log_run *run);
/** Notes that a run which is not wanted was written at that time; one since the time of the query
 * counts. */
void orch_run_db_pass_by(struct run_db *db, double time_ms);

#endif
