/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The checks of every file before its rows are read, whoever created it: the user's own store, one
 * from a ZIP archive, or one that is joined.
 *
 * The file and its journal, log and shared memory must be regular files: opening a pipe would
 * block, and SQLite would write through a link.
 *
 * The schema is not trusted. Extensions, views, functions of virtual tables and triggers are off
 * until the shape has been compared; lengths are limited and cells are checked.
 *
 * Each table must have been created by the same text as ours, so it cannot be a view (a recursive
 * one never ends) or a virtual table, and has no computed column. There must be no other triggers
 * and indexes than ours: a trigger would act on our writes, and an index can contain an expression
 * that never ends.
 *
 * Comparing the texts in sqlite_schema takes microseconds, whatever the number of runs. SQLite
 * parses only the text of a table, so the other columns of sqlite_schema need no check. Rejected:
 * PRAGMA integrity_check, which reads all pages ('orch db check' does that).
 */
#include "store/handle/defence.h"
#include "store/handle/sql.h"

#include "lib/base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- files ------------------------------------------------------------------------------------
 */

bool orch_store_check_files(const char *path, GError **error)
{
    static const char *const endings[] = {"", "-journal", "-wal", "-shm"};
    g_autofree char *real = realpath(path, NULL); /* SQLite looks for the journal there */
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        g_autofree char *name = g_strconcat(real ? real : path, endings[i], NULL);
        struct stat info;
        if (stat(name, &info) != 0 && (i == 0 || errno != ENOENT))
            orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read store '%s'", name);
        else if ((i == 0 || lstat(name, &info) == 0) && !S_ISREG(info.st_mode))
            orch_error_set(error, ORCH_ERROR_IO, "remove this file if you did not make it",
                           "cannot read store '%s': not a regular file", name);
        else
            continue;
        return false;
    }
    return true;
}

/* ---- settings ---------------------------------------------------------------------------------
 */

struct limit {
    int limit, strict, working;
};

/* The first value applies until the shape is known and to other users' files, the second
 * afterwards. Most second values are SQLite's defaults, because a user's own condition may need
 * them. */
static const struct limit LIMITS[] = {
    {SQLITE_LIMIT_LENGTH, STORE_TEXT_MAX, STORE_TEXT_MAX},
    {SQLITE_LIMIT_SQL_LENGTH, 100000, 1000000},
    {SQLITE_LIMIT_COLUMN, 100, 2000},
    {SQLITE_LIMIT_EXPR_DEPTH, 50, 1000},
    {SQLITE_LIMIT_COMPOUND_SELECT, 10, 500},
    {SQLITE_LIMIT_ATTACHED, 0, 0},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 1, 10},
    {SQLITE_LIMIT_WORKER_THREADS, 0, 0},
};

void orch_store_set_strict(sqlite3 *db)
{
    static const struct {
        int option, value;
    } options[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},  {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 0},     {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
        sqlite3_db_config(db, options[i].option, options[i].value, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(LIMITS); i++)
        sqlite3_limit(db, LIMITS[i].limit, LIMITS[i].strict);
    sqlite3_exec(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", NULL, NULL, NULL);
}

void orch_store_set_working(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(LIMITS); i++)
        sqlite3_limit(db, LIMITS[i].limit, LIMITS[i].working);
}

/* ---- the shape --------------------------------------------------------------------------------
 */

static const char TABLE[] = "CREATE TABLE ";

/* Position of this statement in `create`, or NULL. */
static const char *statement_in(const char *create, const char *sql)
{
    size_t length = strlen(sql);
    for (const char *at = create; (at = strstr(at, sql)) != NULL; at++)
        if ((at == create || at[-1] == ';') && at[length] == ';')
            return at;
    return NULL;
}

/* Other tables and views beside ours are allowed, because they are never read. */
static bool is_harmless(const char *sql)
{
    static const char *const begins[] = {TABLE, "CREATE VIEW ", "CREATE VIRTUAL TABLE "};
    for (size_t i = 0; i < G_N_ELEMENTS(begins); i++)
        if (g_str_has_prefix(sql, begins[i]))
            return true;
    return false;
}

static bool refuse(const struct orch_store *store, const char *what, const char *name,
                   GError **error)
{
    orch_error_set(error, ORCH_ERROR_STORE, "'orch db repair' recovers the runs into a new store",
                   "cannot open store '%s': its %s '%.100s' differs from orch's schema",
                   store->path, what, name);
    return false;
}

/** The result of comparing a file's schema. */
struct shape {
    GHashTable *found;        /* positions in `create` of the statements that the file has */
    char *stray_type, *stray; /* the first trigger or index that is not ours, or NULL */
};

static bool read_shape(struct orch_store *store, const char *create, struct shape *out,
                       GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store, "SELECT sql, type, name FROM sqlite_schema WHERE sql IS NOT NULL", error);
    int more = s ? 1 : -1;
    while (s && (more = orch_store_step(store, s, error)) > 0) {
        const char *sql = orch_store_text(s, 0), *at = statement_in(create, sql);
        if (at) {
            g_hash_table_add(out->found, (gpointer)(uintptr_t)at);
        } else if (!out->stray && !is_harmless(sql)) {
            out->stray_type = g_strdup(orch_store_text(s, 1));
            out->stray = g_strdup(orch_store_text(s, 2));
        }
    }
    return more == 0;
}

/* The first table that `create` makes and the file lacks, or NULL; the caller frees. */
static char *missing_table(const char *create, GHashTable *found)
{
    for (const char *at = create; (at = strstr(at, TABLE)) != NULL; at++) {
        const char *name = at + strlen(TABLE);
        if ((at == create || at[-1] == ';') && !g_hash_table_contains(found, at))
            return g_strndup(name, strcspn(name, "("));
    }
    return NULL;
}

bool orch_store_check_shape(struct orch_store *store, const char *create, GError **error)
{
    struct shape shape = {.found = g_hash_table_new(NULL, NULL)};
    bool ok = read_shape(store, create, &shape, error);
    g_autofree char *missing = ok ? missing_table(create, shape.found) : NULL;
    if (missing)
        ok = refuse(store, "table", missing, error);
    else if (ok && shape.stray)
        ok = refuse(store, shape.stray_type, shape.stray, error);
    g_hash_table_unref(shape.found);
    g_free(shape.stray_type);
    g_free(shape.stray);
    return ok;
}
