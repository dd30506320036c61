/* SPDX-License-Identifier: MIT */
/* Reads the SQLite database of another tracker as untrusted input: on a read-only connection of its
 * own, with views and triggers off and trusted_schema off. The tables that are read must be
 * ordinary ones, and texts, rows, bytes and SQLite's steps are bounded by the size of the file.
 * Another process may write the database: nothing is changed, made or kept beside it. */
#ifndef ORCH_LOGGERS_TRACKER_DB_H
#define ORCH_LOGGERS_TRACKER_DB_H

#include <glib.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#define ORCH_TRACKER_RUNS_MAX 100000

struct orch_tracker_db {
    sqlite3 *db;
    const char *path; /* borrowed */
    const char *tool; /* as in messages: "MLflow" */
    const char *hint; /* which file to give */
    int calls_left;   /* of the progress handler */
    int64_t bytes_left;
};

/** Opens a database. The caller closes it, after an error, too. */
bool orch_tracker_db_open(struct orch_tracker_db *db, const char *path, const char *tool,
                          const char *hint, GError **error);
/** How long a query waits for a lock of another process; 5,000 ms at first. */
void orch_tracker_db_set_patience(struct orch_tracker_db *db, int wait_ms);
void orch_tracker_db_close(struct orch_tracker_db *db);

/** Whether all tables of a NULL-terminated list exist, and are no virtual ones. */
bool orch_tracker_db_has(struct orch_tracker_db *db, const char *const *tables);
/** As orch_tracker_db_has, with an error for false. */
bool orch_tracker_db_check(struct orch_tracker_db *db, const char *const *tables, GError **error);

typedef void orch_tracker_db_row(void *ctx, sqlite3_stmt *row);
/** Calls `add` for each row of a query, whose parameters ?1, ?2, ... are `values` as far as it has
 * any. */
bool orch_tracker_db_each(struct orch_tracker_db *db, const char *sql, const int64_t *values,
                          int count, orch_tracker_db_row *add, void *ctx, GError **error);
/** As orch_tracker_db_each, for all rows of several calls at one state of the database. */
bool orch_tracker_db_begin(struct orch_tracker_db *db, GError **error);
/** A column as text; "" for NULL. Borrowed until the next row. */
const char *orch_tracker_db_text(sqlite3_stmt *row, int column);

#endif
