/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/imports/tracker_db.h"

#include "lib/base/error.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* A short row may be many bytes: a name is joined to each, or a column has a long default. */
enum { STEPS_A_CALL = 1000000, BASE_CALLS = 100, STEPS_A_BYTE = 100 };
enum { BASE_BYTES = 64 << 20, BYTES_A_BYTE = 64 };

static int count_steps(void *ctx)
{
    struct orch_tracker_db *db = ctx;
    return --db->calls_left <= 0;
}

static bool fail(const struct orch_tracker_db *db, GError **error)
{
    if (db->calls_left <= 0 || db->bytes_left < 0)
        orch_error_set(error, ORCH_ERROR_IO, db->hint,
                       "cannot read '%s': it is not as %s writes it (reading it does not end)",
                       db->path, db->tool);
    else
        orch_error_set(error, ORCH_ERROR_IO, db->hint, "cannot read '%s': %s", db->path,
                       sqlite3_errmsg(db->db));
    return false;
}

bool orch_tracker_db_open(struct orch_tracker_db *db, const char *path, const char *tool,
                          const char *hint, GError **error)
{
    static const struct {
        int option, value;
    } settings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                    {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}};
    struct stat info;
    int64_t bytes = stat(path, &info) == 0 ? info.st_size : 0;
    *db = (struct orch_tracker_db){
        .path = path,
        .tool = tool,
        .hint = hint,
        .calls_left = (int)MIN(BASE_CALLS + bytes / STEPS_A_CALL * STEPS_A_BYTE, INT_MAX),
        .bytes_left = BASE_BYTES + bytes * BYTES_A_BYTE};
    if (sqlite3_open_v2(path, &db->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW, NULL) !=
        SQLITE_OK)
        return fail(db, error);
    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
        sqlite3_db_config(db->db, settings[i].option, settings[i].value, NULL);
    sqlite3_limit(db->db, SQLITE_LIMIT_LENGTH, 4 << 20);
    sqlite3_limit(db->db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_busy_timeout(db->db, 5000);
    sqlite3_progress_handler(db->db, STEPS_A_CALL, count_steps, db);
    return true;
}

void orch_tracker_db_close(struct orch_tracker_db *db)
{
    sqlite3_close(db->db);
    db->db = NULL;
}

static bool has_table(struct orch_tracker_db *db, const char *name)
{
    sqlite3_stmt *s = NULL;
    bool has = sqlite3_prepare_v2(db->db,
                                  "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
                                  " AND sql NOT LIKE 'create virtual%'",
                                  -1, &s, NULL) == SQLITE_OK &&
               sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
               sqlite3_step(s) == SQLITE_ROW;
    sqlite3_finalize(s);
    return has;
}

bool orch_tracker_db_has(struct orch_tracker_db *db, const char *const *tables)
{
    for (; *tables; tables++)
        if (!has_table(db, *tables))
            return false;
    return true;
}

bool orch_tracker_db_check(struct orch_tracker_db *db, const char *const *tables, GError **error)
{
    for (; *tables; tables++)
        if (!has_table(db, *tables)) {
            int code = sqlite3_errcode(db->db);
            if (code != SQLITE_OK && code != SQLITE_DONE)
                return fail(db, error);
            orch_error_set(error, ORCH_ERROR_USAGE, db->hint,
                           "'%s' is not a database of %s: it has no table '%s' that can be read",
                           db->path, db->tool, *tables);
            return false;
        }
    return true;
}

/* Counts the texts of a row. False when the file would give far more than it holds. */
static bool has_bytes_left(struct orch_tracker_db *db, sqlite3_stmt *row)
{
    for (int i = 0; i < sqlite3_column_count(row); i++)
        if (sqlite3_column_type(row, i) == SQLITE_TEXT ||
            sqlite3_column_type(row, i) == SQLITE_BLOB)
            db->bytes_left -= sqlite3_column_bytes(row, i);
    return db->bytes_left >= 0;
}

bool orch_tracker_db_each(struct orch_tracker_db *db, const char *sql,
                          void (*add)(void *ctx, sqlite3_stmt *row), void *ctx, GError **error)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(db->db, sql, -1, &s, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(s);
        if (code != SQLITE_ROW || !has_bytes_left(db, s))
            break;
        add(ctx, s);
    }
    bool ok = code == SQLITE_DONE || fail(db, error);
    sqlite3_finalize(s);
    return ok;
}

const char *orch_tracker_db_text(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text ? text : "";
}
