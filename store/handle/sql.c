/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SQLite's calls as the rest of the store uses them: statements are prepared once and bound, and
 * every failure becomes a GError with the file's name and a hint. */
#include "store/handle/sql.h"
#include "store/handle/space.h"

#include "lib/base/error.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

struct message_hint {
    int code; /* primary result code */
    const char *why;
    const char *hint;
};

static const struct message_hint MESSAGE_HINTS[] = {
    {SQLITE_NOTADB, "it is not a database",
     "choose another file with --db; if it was a store, 'orch db repair' recovers what it can"},
    {SQLITE_CORRUPT, "the file is damaged or truncated",
     "'orch db repair' recovers what it can into a new store"},
    {SQLITE_FULL, "the disk is full", "free some space"},
    {SQLITE_READONLY, "the file or its folder is read-only",
     "check the permissions of the file and of its folder"},
    {SQLITE_CANTOPEN, "the file cannot be opened",
     "check that its folder exists, and its permissions"},
    {SQLITE_PERM, "no permission", "check the permissions of the file and of its folder"},
    {SQLITE_IOERR, "reading or writing failed", "check the disk, then run 'orch db check'"},
    {SQLITE_BUSY, "it is locked by another process",
     "'fuser -v FILE' shows that process: end it if it hangs"},
    {SQLITE_INTERRUPT, "the query took too long", "narrow the condition"},
    {SQLITE_TOOBIG, "a value is larger than 64 MiB", "keep it as an artifact"},
    {SQLITE_NOMEM, "out of memory", "free some memory"},
};

bool orch_store_fail_code(const char *path, int code, int system_errno, GError **error,
                          const char *doing)
{
    for (size_t i = 0; i < G_N_ELEMENTS(MESSAGE_HINTS); i++) {
        if (MESSAGE_HINTS[i].code != (code & 0xff))
            continue;
        const char *detail = system_errno ? g_strerror(system_errno) : NULL;
        orch_error_set(error, ORCH_ERROR_STORE, MESSAGE_HINTS[i].hint,
                       "cannot %s store '%s': %s%s%s%s", doing, path, MESSAGE_HINTS[i].why,
                       detail ? " (" : "", detail ? detail : "", detail ? ")" : "");
        return false;
    }
    orch_error_set(error, ORCH_ERROR_STORE, "run 'orch db check'", "cannot %s store '%s': %s",
                   doing, path, sqlite3_errstr(code));
    return false;
}

bool orch_store_fail(struct orch_store *store, GError **error, const char *doing)
{
    int code = sqlite3_extended_errcode(store->db);
    int primary = code & 0xff;
    if (primary == SQLITE_CONSTRAINT || primary == SQLITE_ERROR) {
        /* an error of our own SQL or of a trigger: its message is more specific than the code's */
        orch_error_set(error, ORCH_ERROR_STORE, "run 'orch db check'", "cannot %s store '%s': %s",
                       doing, store->path, sqlite3_errmsg(store->db));
        return false;
    }
    int system_errno = 0;
    if (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)
        system_errno = sqlite3_system_errno(store->db);
    store->is_locked = primary == SQLITE_BUSY;
    store->lacks_space = orch_store_is_space_fault(code, system_errno);
    if (store->lacks_space)
        return orch_store_fail_space(store, error, doing);
    return orch_store_fail_code(store->path, code, system_errno, error, doing);
}

sqlite3_stmt *orch_store_statement(struct orch_store *store, const char *sql_literal,
                                   GError **error)
{
    sqlite3_stmt *statement = g_hash_table_lookup(store->statements, sql_literal);
    if (statement) {
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
        return statement;
    }
    if (sqlite3_prepare_v3(store->db, sql_literal, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                           NULL) != SQLITE_OK) {
        orch_store_fail(store, error, "read");
        return NULL;
    }
    g_hash_table_insert(store->statements, (char *)(uintptr_t)sql_literal, statement);
    return statement;
}

/* A text that is too long would leave NULL bound; binding a blob instead makes the step fail. */
int orch_store_bind_text(sqlite3_stmt *statement, int index, const char *text)
{
    if (!text)
        return sqlite3_bind_null(statement, index);
    bool is_valid = g_utf8_validate(text, -1, NULL);
    int code = is_valid
                   ? sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC)
                   : sqlite3_bind_text(statement, index, g_utf8_make_valid(text, -1), -1, g_free);
    if (code == SQLITE_TOOBIG)
        sqlite3_bind_zeroblob(statement, index, 1);
    return code;
}

/* Returns SQLITE_OK, or SQLITE_TOOBIG when a text is too long. */
static int bind_list(sqlite3_stmt *statement, const char *types, va_list args)
{
    int worst = SQLITE_OK;
    for (int i = 0; types[i]; i++) {
        switch (types[i]) {
        case 't':
            if (orch_store_bind_text(statement, i + 1, va_arg(args, const char *)) == SQLITE_TOOBIG)
                worst = SQLITE_TOOBIG;
            break;
        case 'i':
            sqlite3_bind_int64(statement, i + 1, va_arg(args, int64_t));
            break;
        case 'r':
            sqlite3_bind_double(statement, i + 1, va_arg(args, double)); /* NaN becomes NULL */
            break;
        default:
            sqlite3_bind_null(statement, i + 1);
        }
    }
    return worst;
}

void orch_store_bind(sqlite3_stmt *statement, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    bind_list(statement, types, args);
    va_end(args);
}

int orch_store_step(struct orch_store *store, sqlite3_stmt *statement, GError **error)
{
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        return 1;
    if (code != SQLITE_DONE)
        orch_store_fail(store, error, sqlite3_stmt_readonly(statement) ? "read" : "write to");
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : -1;
}

bool orch_store_run_statement(struct orch_store *store, GError **error, const char *sql_literal,
                              const char *types, ...)
{
    sqlite3_stmt *statement = orch_store_statement(store, sql_literal, error);
    if (!statement)
        return false;
    va_list args;
    va_start(args, types);
    int code = bind_list(statement, types, args);
    va_end(args);
    if (code != SQLITE_OK)
        return orch_store_fail_code(store->path, code, 0, error, "write to");
    int more;
    while ((more = orch_store_step(store, statement, error)) > 0)
        ;
    return more == 0;
}

bool orch_store_get_int(struct orch_store *store, int64_t *out, int64_t fallback, GError **error,
                        const char *sql_literal, const char *types, ...)
{
    sqlite3_stmt *statement = orch_store_statement(store, sql_literal, error);
    if (!statement)
        return false;
    va_list args;
    va_start(args, types);
    bind_list(statement, types, args);
    va_end(args);
    int more = orch_store_step(store, statement, error);
    if (more < 0)
        return false;
    bool is_null = more == 0 || sqlite3_column_type(statement, 0) == SQLITE_NULL;
    *out = is_null ? fallback : sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return true;
}

bool orch_store_exec(struct orch_store *store, const char *sql, const char *doing, GError **error)
{
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    return orch_store_fail(store, error, doing);
}

const char *orch_store_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    if (!text)
        return "";
    return g_utf8_validate(text, -1, NULL) ? text : "(not UTF-8)";
}

char *orch_store_column_text(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL
               ? NULL
               : g_strdup(orch_store_text(statement, column));
}

double orch_store_column_real(sqlite3_stmt *statement, int column)
{
    const double value = sqlite3_column_double(statement, column); /* of NULL: 0 */
    const bool is_null = value == 0 && sqlite3_column_type(statement, column) == SQLITE_NULL;
    return is_null ? (double)NAN : value;
}

char *orch_store_ids_text(const int64_t *ids, size_t count)
{
    GString *text = g_string_new("[");
    for (size_t i = 0; i < count; i++)
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT, i ? "," : "", ids[i]);
    g_string_append_c(text, ']');
    return g_string_free(text, FALSE);
}

bool orch_store_visit_texts(struct orch_store *store, sqlite3_stmt *statement,
                            bool (*visit)(void *ctx, const char *text), void *ctx, GError **error)
{
    int more = 0;
    bool wanted = true;
    while (wanted && (more = orch_store_step(store, statement, error)) > 0) {
        g_autofree char *text = orch_store_column_text(statement, 0);
        wanted = !text || visit(ctx, text);
    }
    sqlite3_reset(statement);
    return !wanted || more == 0;
}

bool orch_store_is_writable(struct orch_store *store, GError **error)
{
    if (!store->readonly)
        return true;
    orch_error_set(error, ORCH_ERROR_STORE, NULL,
                   "cannot write to store '%s': it was opened for reading only", store->path);
    return false;
}

bool orch_store_transaction_begin(struct orch_store *store, GError **error)
{
    if (!store->depth && (!orch_store_is_writable(store, error) ||
                          !orch_store_run_statement(store, error, "BEGIN IMMEDIATE", "")))
        return false;
    store->depth++;
    return true;
}

bool orch_store_transaction_commit(struct orch_store *store, GError **error)
{
    if (store->depth > 1) {
        store->depth--;
        return true;
    }
    if (orch_store_run_statement(store, error, "COMMIT", "")) {
        store->depth = 0;
        return true;
    }
    orch_store_transaction_rollback(store);
    return false;
}

void orch_store_transaction_rollback(struct orch_store *store)
{
    store->depth = 0;
    if (!sqlite3_get_autocommit(store->db)) /* some failures roll back by themselves */
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}
