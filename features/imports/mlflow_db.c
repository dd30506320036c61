/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads MLflow's SQLite database. */
#include "features/imports/tracker_db.h"

#include "store/write/imported.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const char *text_of(sqlite3_stmt *s, int column)
{
    return orch_tracker_db_text(s, column);
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

struct reading {
    GPtrArray *runs;
    GHashTable *by_id; /* id -> struct orch_imported_run *: borrowed */
};

static void add_run(void *ctx, sqlite3_stmt *s)
{
    struct reading *reading = ctx;
    struct orch_imported_run *run = orch_imported_run_new("mlflow", text_of(s, 0));
    orch_imported_set_text(&run->name, text_of(s, 1));
    orch_imported_set_text(&run->status, text_of(s, 2));
    run->verdict = verdict_of(run->status);
    run->started_ns = ns_of_ms(run, ORCH_BOUNDED_STARTED_NS, s, 3);
    run->ended_ns = ns_of_ms(run, ORCH_BOUNDED_ENDED_NS, s, 4);
    orch_imported_set_text(&run->user, text_of(s, 5));
    orch_imported_set_text(&run->experiment, text_of(s, 6));
    g_ptr_array_add(reading->runs, run);
    g_hash_table_insert(reading->by_id, run->id, run);
}

/* The run whose id is a row's first column; NULL: it is not read. */
static struct orch_imported_run *run_of(void *ctx, sqlite3_stmt *s)
{
    return g_hash_table_lookup(((struct reading *)ctx)->by_id, text_of(s, 0));
}

static void add_param(void *ctx, sqlite3_stmt *s)
{
    struct orch_imported_run *run = run_of(ctx, s);
    if (run)
        orch_imported_param(run, text_of(s, 1), text_of(s, 2));
}

static void add_tag(void *ctx, sqlite3_stmt *s)
{
    struct orch_imported_run *run = run_of(ctx, s);
    if (run)
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

static void add_metric(void *ctx, sqlite3_stmt *s)
{
    struct orch_imported_run *run = run_of(ctx, s);
    if (run)
        orch_imported_point(run, text_of(s, 1), sqlite3_column_int64(s, 4),
                            ns_of_ms(run, ORCH_BOUNDED_TIME_NS, s, 3), value_of(s));
}

static const struct {
    const char *sql;
    void (*add)(void *ctx, sqlite3_stmt *row);
} QUERIES[] = {
    {"SELECT r.run_uuid, r.name, r.status, r.start_time, r.end_time, r.user_id, e.name FROM runs r"
     " LEFT JOIN experiments e ON e.experiment_id = r.experiment_id"
     " WHERE coalesce(r.lifecycle_stage, 'active') = 'active' ORDER BY r.start_time, r.run_uuid"
     " LIMIT 100000",
     add_run},
    {"SELECT run_uuid, key, value FROM params", add_param},
    {"SELECT run_uuid, key, value FROM tags", add_tag},
    {"SELECT run_uuid, key, value, timestamp, step, is_nan FROM metrics ORDER BY rowid",
     add_metric},
};

bool orch_mlflow_db_read(const char *path, GPtrArray *runs, GPtrArray *warnings, GError **error)
{
    static const char *const tables[] = {"runs", "experiments", "params", "metrics", "tags", NULL};
    struct orch_tracker_db db;
    g_autoptr(GHashTable) by_id = g_hash_table_new(g_str_hash, g_str_equal);
    struct reading reading = {runs, by_id};
    bool ok = orch_tracker_db_open(&db, path, "MLflow",
                                   "give the mlflow.db of an MLflow server, its 'mlruns' folder, "
                                   "or the SQLite file of Optuna's studies",
                                   error) &&
              orch_tracker_db_check(&db, tables, error);
    for (size_t i = 0; ok && i < G_N_ELEMENTS(QUERIES); i++)
        ok = orch_tracker_db_each(&db, QUERIES[i].sql, QUERIES[i].add, &reading, error);
    if (ok && runs->len >= ORCH_TRACKER_RUNS_MAX)
        g_ptr_array_add(
            warnings, g_strdup_printf("'%s': only the first %d runs", path, ORCH_TRACKER_RUNS_MAX));
    orch_tracker_db_close(&db);
    return ok;
}
