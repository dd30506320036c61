/* SPDX-License-Identifier: MIT */
#include "lib/loggers/tracker_db.h"

#include "lib/base/error.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
                       "cannot read '%s': reading this file of %s takes too long", db->path,
                       db->tool);
    else
        orch_error_set(error, ORCH_ERROR_IO, db->hint, "cannot read '%s': %s", db->path,
                       sqlite3_errmsg(db->db));
    return false;
}

/* A database with a log of writes (WAL) that nobody has open has no such log. SQLite would make
 * one, and leave it, even for reading. Without a log the file is whole, and read as it is. */
static bool is_at_rest(const char *path)
{
    enum { VERSION_AT = 18, WITH_LOG = 2 };
    g_autofree char *log = g_strconcat(path, "-wal", NULL);
    char version = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool has_log = fd >= 0 && pread(fd, &version, 1, VERSION_AT) == 1 && version == WITH_LOG;
    if (fd >= 0)
        close(fd);
    return has_log && access(log, F_OK) != 0;
}

/* A text of SQLite's form "file:", in which only this has a meaning. The caller frees. */
static char *uri_of(const char *path)
{
    g_autofree char *escaped = g_uri_escape_string(path, "/", FALSE);
    return g_strconcat("file:", escaped, "?mode=ro", is_at_rest(path) ? "&immutable=1" : "", NULL);
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
    g_autofree char *uri = uri_of(path);
    if (sqlite3_open_v2(uri, &db->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_URI,
                        NULL) != SQLITE_OK)
        return fail(db, error);
    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
        sqlite3_db_config(db->db, settings[i].option, settings[i].value, NULL);
    sqlite3_limit(db->db, SQLITE_LIMIT_LENGTH, 4 << 20);
    sqlite3_limit(db->db, SQLITE_LIMIT_ATTACHED, 0);
    orch_tracker_db_set_patience(db, 5000);
    sqlite3_progress_handler(db->db, STEPS_A_CALL, count_steps, db);
    return true;
}

void orch_tracker_db_set_patience(struct orch_tracker_db *db, int wait_ms)
{
    sqlite3_busy_timeout(db->db, wait_ms);
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

bool orch_tracker_db_begin(struct orch_tracker_db *db, GError **error)
{
    return sqlite3_exec(db->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK || fail(db, error);
}

bool orch_tracker_db_each(struct orch_tracker_db *db, const char *sql, const int64_t *values,
                          int count, orch_tracker_db_row *add, void *ctx, GError **error)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(db->db, sql, -1, &s, NULL);
    for (int i = 0; code == SQLITE_OK && i < MIN(count, sqlite3_bind_parameter_count(s)); i++)
        code = sqlite3_bind_int64(s, i + 1, values[i]);
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
