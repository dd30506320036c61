/* SPDX-License-Identifier: MIT */
#include "lib/loggers/run_db.h"

#include "lib/base/error.h"

#include <math.h>
#include <string.h>

enum { QUERIES_MAX = 4, ROWS_AT_ONCE = 20000, RUNS_MAX = 100000, WAIT_MS = 50 };

struct run_db {
    const struct orch_log_sink *sink;
    const struct run_db_format *format;
    char *path;
    GHashTable *runs; /* id -> the run's ctx in the sink; NULL: not wanted */
    int64_t since_ms, after[QUERIES_MAX];
    const struct run_db_query *query; /* whose rows are taken */
    int64_t rows;
    bool is_passed_by;
};

bool orch_run_db_has(const char *path, const struct run_db_format *format)
{
    struct orch_tracker_db db;
    bool has = orch_tracker_db_open(&db, path, format->tool, NULL, NULL);
    orch_tracker_db_set_patience(&db, WAIT_MS);
    has = has && orch_tracker_db_has(&db, format->tables);
    for (size_t i = 0; has && i < format->count; i++) {
        sqlite3_stmt *s = NULL;
        has = sqlite3_prepare_v2(db.db, format->queries[i].sql, -1, &s, NULL) == SQLITE_OK;
        sqlite3_finalize(s);
    }
    orch_tracker_db_close(&db);
    return has;
}

struct run_db *orch_run_db_new(const struct orch_log_sink *sink, const char *path,
                               const struct run_db_format *format)
{
    struct run_db *db = g_new0(struct run_db, 1);
    db->sink = sink;
    db->format = format;
    db->path = g_strdup(path);
    db->runs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return db;
}

void orch_run_db_close(void *pointer)
{
    struct run_db *db = pointer;
    g_hash_table_unref(db->runs);
    g_free(db->path);
    g_free(db);
}

bool orch_run_db_find(struct run_db *db, const char *id, struct orch_log_sink *out_sink)
{
    gpointer ctx = NULL;
    bool has = g_hash_table_lookup_extended(db->runs, id, NULL, &ctx);
    *out_sink = *db->sink;
    out_sink->ctx = ctx;
    return has;
}

void orch_run_db_begin(struct run_db *db, const struct orch_log_run *run)
{
    if (g_hash_table_size(db->runs) >= RUNS_MAX || g_hash_table_contains(db->runs, run->id))
        return;
    bool is_wanted = run->started_ms >= (double)db->since_ms;
    void *ctx = is_wanted ? db->sink->run(db->sink->ctx, run) : NULL;
    g_hash_table_insert(db->runs, g_strdup(run->id), ctx);
}

void orch_run_db_pass_by(struct run_db *db, double time_ms)
{
    db->is_passed_by = db->is_passed_by || time_ms >= (double)db->since_ms;
}

static void take_row(void *ctx, sqlite3_stmt *row)
{
    struct run_db *db = ctx;
    size_t index = (size_t)(db->query - db->format->queries);
    if (db->query->rowid_column >= 0)
        db->after[index] = sqlite3_column_int64(row, db->query->rowid_column);
    db->rows++;
    db->query->take(db, row);
}

static void note_continued(void *ctx, sqlite3_stmt *row)
{
    (void)row;
    orch_run_db_pass_by(ctx, INFINITY);
}

static bool read_rows(struct run_db *db, struct orch_tracker_db *file, bool *out_has_more,
                      GError **error)
{
    const struct run_db_format *format = db->format;
    bool ok = orch_tracker_db_begin(file, error);
    for (size_t i = 0; ok && i < format->count; i++) {
        const int64_t values[] = {db->since_ms, db->after[i], ROWS_AT_ONCE};
        db->query = &format->queries[i];
        db->rows = 0;
        ok = orch_tracker_db_each(file, db->query->sql, values, G_N_ELEMENTS(values), take_row, db,
                                  error);
        *out_has_more = *out_has_more || (db->query->rowid_column >= 0 && db->rows == ROWS_AT_ONCE);
    }
    if (ok && format->continued && !*out_has_more && db->since_ms > 0)
        ok = orch_tracker_db_each(file, format->continued, &db->since_ms, 1, note_continued, db,
                                  error);
    return ok;
}

bool orch_run_db_read(void *pointer, int64_t since_ns, bool *out_has_more, GError **error)
{
    struct run_db *db = pointer;
    struct orch_tracker_db file;
    *out_has_more = false;
    db->since_ms = since_ns / 1000000;
    bool ok = orch_tracker_db_open(&file, db->path, db->format->tool, db->format->hint, error);
    if (since_ns > 0) /* it is asked again */
        orch_tracker_db_set_patience(&file, WAIT_MS);
    ok = ok && orch_tracker_db_check(&file, db->format->tables, error) &&
         read_rows(db, &file, out_has_more, error);
    orch_tracker_db_close(&file);
    return ok;
}

const char *orch_run_db_finish(void *pointer)
{
    const struct run_db *db = pointer;
    return db->is_passed_by ? "it continues a run that was there before, so it is not recorded"
                            : NULL;
}
