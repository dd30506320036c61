/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the SQLite database of another tracker as untrusted input: on a read-only connection of its
 * own, with views and triggers off and trusted_schema off. The tables that are read must be
 * ordinary ones, and texts, rows, bytes and SQLite's steps are bounded by the size of the file. */
#ifndef ORCH_FEATURES_IMPORTS_TRACKER_DB_H
#define ORCH_FEATURES_IMPORTS_TRACKER_DB_H

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
void orch_tracker_db_close(struct orch_tracker_db *db);

/** Whether all tables of a NULL-terminated list exist, and are no virtual ones. */
bool orch_tracker_db_has(struct orch_tracker_db *db, const char *const *tables);
/** As orch_tracker_db_has, with an error for false. */
bool orch_tracker_db_check(struct orch_tracker_db *db, const char *const *tables, GError **error);

/** Calls `add` for each row of a query. */
bool orch_tracker_db_each(struct orch_tracker_db *db, const char *sql,
                          void (*add)(void *ctx, sqlite3_stmt *row), void *ctx, GError **error);
/** A column as text; "" for NULL. Borrowed until the next row. */
const char *orch_tracker_db_text(sqlite3_stmt *row, int column);

/* ---- the readers ------------------------------------------------------------------------------
 */

/** Reads the runs of an MLflow database as an untrusted file: read-only, without views, within
 * limits. Appends to `runs` (struct orch_imported_run *) and `warnings` (char *). */
bool orch_mlflow_db_read(const char *path, GPtrArray *runs, GPtrArray *warnings, GError **error);

/** Whether a file is the SQLite storage of Optuna's studies. */
bool orch_optuna_db_is(const char *path);
/** As orch_mlflow_db_read, for the trials of Optuna's studies that have ended. */
bool orch_optuna_db_read(const char *path, GPtrArray *runs, GPtrArray *warnings, GError **error);

#endif
