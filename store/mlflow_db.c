/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads MLflow's SQLite database as untrusted input: on a read-only connection of its own, with
 * views and triggers off and trusted_schema off. Its tables must be ordinary ones, and texts, rows
 * and SQLite's steps are bounded. */
#include "store/imported.h"

#include "lib/base/error.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

enum { STEPS_A_CALL = 1000000, BASE_CALLS = 100, STEPS_A_BYTE = 100, RUNS_MAX = 100000 };

static int count_steps(void *ctx)
{
    int *left = ctx;
    return --*left <= 0;
}

static bool fail(sqlite3 *db, const char *path, GError **error)
{
    int code = sqlite3_errcode(db);
    orch_error_set(
        error, ORCH_ERROR_IO, "give the mlflow.db of an MLflow server, or its 'mlruns' folder",
        "cannot read '%s': %s", path,
        code == SQLITE_INTERRUPT ? "it is not as MLflow writes it (reading it does not end)"
                                 : sqlite3_errmsg(db));
    return false;
}

static sqlite3 *open_untrusted(const char *path, GError **error)
{
    static const struct {
        int option, value;
    } settings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                    {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}};
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW, NULL) !=
        SQLITE_OK) {
        fail(db, path, error);
        sqlite3_close(db);
        return NULL;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
        sqlite3_db_config(db, settings[i].option, settings[i].value, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 4 << 20);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_busy_timeout(db, 5000);
    return db;
}

/* True when all five tables exist and none of them is virtual. */
static bool tables_are_plain(sqlite3 *db, const char *path, GError **error)
{
    sqlite3_stmt *s = NULL;
    int count = 0;
    if (sqlite3_prepare_v2(db,
                           "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN"
                           " ('runs', 'experiments', 'params', 'metrics', 'tags')"
                           " AND sql NOT LIKE 'create virtual%'",
                           -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW)
        count = sqlite3_column_int(s, 0);
    bool ok = sqlite3_finalize(s) == SQLITE_OK && count == 5;
    if (!ok)
        orch_error_set(error, ORCH_ERROR_USAGE, "give the mlflow.db of an MLflow server",
                       "'%s' is not an MLflow database: it lacks MLflow's tables", path);
    return ok;
}

static const char *text_of(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    return text ? text : "";
}

static int64_t ns_of_ms(struct orch_imported_run *run, enum orch_bounded which, sqlite3_stmt *s,
                        int column)
{
    return orch_imported_ns(run, which, sqlite3_column_double(s, column), 1e6);
}

static enum orch_verdict verdict_of(const char *status)
{
    static const struct {
        const char *status;
        enum orch_verdict verdict;
    } rows[] = {{"FINISHED", ORCH_VERDICT_OK},
                {"FAILED", ORCH_VERDICT_FAILED},
                {"KILLED", ORCH_VERDICT_CANCELLED}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (strcmp(rows[i].status, status) == 0)
            return rows[i].verdict;
    return ORCH_VERDICT_LOST;
}

static void add_run(GPtrArray *runs, GHashTable *by_id, sqlite3_stmt *s)
{
    struct orch_imported_run *run = orch_imported_run_new("mlflow", text_of(s, 0));
    orch_imported_set_text(&run->name, text_of(s, 1));
    orch_imported_set_text(&run->status, text_of(s, 2));
    run->verdict = verdict_of(run->status);
    run->started_ns = ns_of_ms(run, ORCH_BOUNDED_STARTED_NS, s, 3);
    run->ended_ns = ns_of_ms(run, ORCH_BOUNDED_ENDED_NS, s, 4);
    orch_imported_set_text(&run->user, text_of(s, 5));
    orch_imported_set_text(&run->experiment, text_of(s, 6));
    g_ptr_array_add(runs, run);
    g_hash_table_insert(by_id, run->id, run);
}

static void add_param(struct orch_imported_run *run, sqlite3_stmt *s)
{
    orch_imported_param(run, text_of(s, 1), text_of(s, 2));
}

static void add_tag(struct orch_imported_run *run, sqlite3_stmt *s)
{
    orch_imported_label(run, text_of(s, 1), text_of(s, 2));
}

/* MLflow stores a NaN as 0 with a mark, and an infinity as the largest double. */
static double value_of(sqlite3_stmt *s)
{
    double value = sqlite3_column_double(s, 2);
    if (sqlite3_column_int(s, 5))
        return (double)NAN;
    return fabs(value) == DBL_MAX ? copysign((double)INFINITY, value) : value;
}

static void add_metric(struct orch_imported_run *run, sqlite3_stmt *s)
{
    orch_imported_point(run, text_of(s, 1), sqlite3_column_int64(s, 4),
                        ns_of_ms(run, ORCH_BOUNDED_TIME_NS, s, 3), value_of(s));
}

static bool each_row(sqlite3 *db, const char *path, const char *sql, GHashTable *by_id,
                     void (*add)(struct orch_imported_run *, sqlite3_stmt *), GError **error)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(s);
        if (code != SQLITE_ROW)
            break;
        struct orch_imported_run *run = g_hash_table_lookup(by_id, text_of(s, 0));
        if (run)
            add(run, s);
    }
    bool ok = code == SQLITE_DONE || fail(db, path, error);
    sqlite3_finalize(s);
    return ok;
}

static bool read_runs(sqlite3 *db, const char *path, GPtrArray *runs, GHashTable *by_id,
                      GError **error)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(
        db,
        "SELECT r.run_uuid, r.name, r.status, r.start_time, r.end_time, r.user_id, e.name FROM "
        "runs r"
        " LEFT JOIN experiments e ON e.experiment_id = r.experiment_id"
        " WHERE coalesce(r.lifecycle_stage, 'active') = 'active' ORDER BY r.start_time, r.run_uuid"
        " LIMIT 100000",
        -1, &s, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(s);
        if (code == SQLITE_ROW)
            add_run(runs, by_id, s);
        else
            break;
    }
    bool ok = code == SQLITE_DONE || fail(db, path, error);
    sqlite3_finalize(s);
    return ok;
}

bool orch_mlflow_db_read(const char *path, GPtrArray *runs, GPtrArray *warnings, GError **error)
{
    struct stat info;
    int64_t bytes = stat(path, &info) == 0 ? info.st_size : 0;
    int left = (int)MIN(BASE_CALLS + bytes / STEPS_A_CALL * STEPS_A_BYTE, INT_MAX);
    sqlite3 *db = open_untrusted(path, error);
    if (!db)
        return false;
    sqlite3_progress_handler(db, STEPS_A_CALL, count_steps, &left);
    g_autoptr(GHashTable) by_id = g_hash_table_new(g_str_hash, g_str_equal);
    bool ok =
        tables_are_plain(db, path, error) && read_runs(db, path, runs, by_id, error) &&
        each_row(db, path, "SELECT run_uuid, key, value FROM params", by_id, add_param, error) &&
        each_row(db, path, "SELECT run_uuid, key, value FROM tags", by_id, add_tag, error) &&
        each_row(db, path,
                 "SELECT run_uuid, key, value, timestamp, step, is_nan FROM metrics"
                 " ORDER BY rowid",
                 by_id, add_metric, error);
    if (ok && runs->len >= RUNS_MAX)
        g_ptr_array_add(warnings, g_strdup_printf("'%s': only the first %d runs", path, RUNS_MAX));
    sqlite3_close(db);
    return ok;
}
