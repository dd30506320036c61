/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A store that somebody else made: a SQLite file is a program's input like any other, and a hostile
 * one can do more harm than a hostile text.
 *
 * - It is a connection of its own, never ATTACHed, read-only, with SQLite's defensive settings:
 *   nothing of its schema is trusted, no extension, no view and no trigger runs, no memory map,
 *   lengths limited, cells checked. It is read by our own SQL, by column.
 * - A table that is read must have been made with the very text that made ours. So it cannot be a
 *   view, a virtual table or of other columns, and has no column that is computed. Other tables,
 *   triggers, views and indexes are nobody's business: triggers do not fire on reading, and an
 * index can but mislead, which the digests tell. (A schema that is led here by ALTER TABLE would
 * differ in its text: whoever writes the first migration compares with that.)
 * - Pages can refer to one another in circles: a small file can hold any number of rows. The steps
 *   that SQLite may take and the bytes of the texts are bounded by the size of the file.
 * - A journal that was left beside it is played back in a copy, for the file is not ours to change.
 *   One that belongs to a transaction over several files is refused: playing it back deletes a file
 *   that it names.
 */
#include "store/join_internal.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { SHARD_BUSY_MS = 3000 };
enum { STEPS_A_CALL = 100000, SPARE_STEPS = 20000000, STEPS_A_BYTE = 4 };
enum { PACKED_RATIO = 16, DISK_BLOCK_BYTES = 512 };

/* The tables that are read. */
static const char *const TABLES[] = {
    "run",    "source",      "machine", "recipe", "param",    "input",   "result", "artifact",
    "metric", "metric_name", "note",    "purged", "forecast", "dataset", "sample", "conflict"};

bool store_foreign_is_damage(const struct orch_store *store)
{
    int code = sqlite3_errcode(store->db) & 0xff;
    return code == SQLITE_CORRUPT || code == SQLITE_TOOBIG || code == SQLITE_NOTADB;
}

/* ---- settings ---------------------------------------------------------------------------------
 */

static void be_defensive(sqlite3 *db)
{
    static const struct {
        int option, value;
    } options[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},  {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 0},     {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
    };
    static const struct {
        int limit, value;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, STORE_TEXT_MAX},
        {SQLITE_LIMIT_SQL_LENGTH, 100000},
        {SQLITE_LIMIT_COLUMN, 100},
        {SQLITE_LIMIT_EXPR_DEPTH, 50},
        {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
        {SQLITE_LIMIT_COMPOUND_SELECT, 10},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
        sqlite3_db_config(db, options[i].option, options[i].value, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(limits); i++)
        sqlite3_limit(db, limits[i].limit, limits[i].value);
}

static int count_steps(void *ctx)
{
    struct store_foreign *foreign = ctx;
    foreign->steps_left -= STEPS_A_CALL;
    return foreign->steps_left < 0;
}

/* What a file may count as: its holes cost nothing, so they give nothing. A file system that packs
 * has fewer bytes on disk than the file holds, but not fewer than a sixteenth. */
static int64_t most_bytes(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || info.st_blocks <= 0)
        return INT64_MAX;
    return PACKED_RATIO * DISK_BLOCK_BYTES * (int64_t)info.st_blocks;
}

static bool limit_steps(struct store_foreign *foreign, GError **error)
{
    int64_t pages, page_bytes;
    if (!store_get_int(foreign->store, &pages, 0, error, "PRAGMA page_count", "") ||
        !store_get_int(foreign->store, &page_bytes, 0, error, "PRAGMA page_size", ""))
        return false;
    foreign->bytes = MIN(pages * page_bytes, most_bytes(foreign->store->path));
    foreign->steps_left = SPARE_STEPS + STEPS_A_BYTE * foreign->bytes;
    sqlite3_progress_handler(foreign->store->db, STEPS_A_CALL, count_steps, foreign);
    return true;
}

/* ---- tables -----------------------------------------------------------------------------------
 */

/* The text that made a table, to be freed; NULL without error: there is no such table. */
static char *text_of_table(struct orch_store *store, const char *table, GError **error)
{
    sqlite3_stmt *s = store_statement(
        store, "SELECT sql FROM sqlite_schema WHERE name = ? AND type = 'table'", error);
    if (!s)
        return NULL;
    store_bind(s, "t", table);
    char *text = store_step(store, s, error) > 0 ? store_column_text(s, 0) : NULL;
    sqlite3_reset(s);
    return text;
}

static bool compare_tables(struct orch_store *ours, struct orch_store *theirs, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(TABLES); i++) {
        GError *problem = NULL;
        g_autofree char *wanted = text_of_table(ours, TABLES[i], &problem);
        g_autofree char *found = problem ? NULL : text_of_table(theirs, TABLES[i], &problem);
        if (!problem && g_strcmp0(wanted, found) == 0)
            continue;
        if (problem)
            g_propagate_error(error, problem);
        else
            orch_error_set(error, ORCH_ERROR_STORE, "ask for one that orch made: 'orch db backup'",
                           "cannot read store '%s': its table '%s' is not as orch makes it",
                           theirs->path, TABLES[i]);
        return false;
    }
    return true;
}

/* ---- opening ----------------------------------------------------------------------------------
 */

/* A first look: is it a store, of a schema that we know? `steps_left` guards what follows. */
static bool look(struct orch_store *ours, struct store_foreign *foreign, GError **error)
{
    int64_t schema;
    be_defensive(foreign->store->db);
    foreign->steps_left = SPARE_STEPS;
    sqlite3_progress_handler(foreign->store->db, STEPS_A_CALL, count_steps, foreign);
    if (!store_exec(foreign->store,
                    "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA query_only = ON;"
                    "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4096; BEGIN",
                    "read", error))
        return false;
    int found = store_recognise(foreign->store, ORCH_STORE_SCHEMA, &schema, error);
    if (found == 0)
        orch_error_set(error, ORCH_ERROR_STORE, NULL, "cannot read store '%s': the file is empty",
                       foreign->store->path);
    return found > 0 && limit_steps(foreign, error) && compare_tables(ours, foreign->store, error);
}

static bool open_and_look(struct orch_store *ours, struct store_foreign *foreign, int flags,
                          bool immutable, GError **error)
{
    if (foreign->store->db)
        store_close_handle(foreign->store);
    return store_open_handle(foreign->store, flags, immutable, error) && look(ours, foreign, error);
}

static const char *const COPIED[] = {"", "-journal", "-wal"};

/* A copy may take half of what is free. */
static bool has_room(const char *path, const char *folder, GError **error)
{
    uint64_t bytes = 0;
    struct statvfs disk;
    for (size_t i = 0; i < G_N_ELEMENTS(COPIED); i++) {
        g_autofree char *name = g_strconcat(path, COPIED[i], NULL);
        struct stat info;
        bytes += stat(name, &info) == 0 ? (uint64_t)info.st_size : 0;
    }
    if (statvfs(folder, &disk) != 0 || bytes <= (uint64_t)disk.f_bavail * disk.f_frsize / 2)
        return true;
    g_autofree char *size = orch_bytes_format((int64_t)bytes);
    orch_error_set(error, ORCH_ERROR_STORE,
                   "open it once where it was made ('orch db check' there), or set TMPDIR",
                   "cannot read store '%s': what was left beside it is played back in a copy, and "
                   "there is no room for one of %s",
                   path, size);
    return false;
}

/* The file and what was left beside it, in a folder of our own. */
static bool copy_aside(struct store_foreign *foreign, const char *path, GError **error)
{
    foreign->copy = g_dir_make_tmp("orch-merge-XXXXXX", error);
    if (!foreign->copy || !has_room(path, foreign->copy, error))
        return false;
    for (size_t i = 0; i < G_N_ELEMENTS(COPIED); i++) {
        g_autofree char *from = g_strconcat(path, COPIED[i], NULL);
        g_autofree char *to = g_strconcat(foreign->copy, "/results.db", COPIED[i], NULL);
        if (access(from, F_OK) != 0)
            continue;
        if (!orch_file_copy(from, to, error))
            return false;
        if (i == 1 && !store_check_journal(path, error))
            return false;
    }
    g_free(foreign->store->path);
    foreign->store->path = g_strconcat(foreign->copy, "/results.db", NULL);
    return true;
}

static bool has_leftovers(const char *path)
{
    g_autofree char *journal = g_strconcat(path, "-journal", NULL);
    g_autofree char *log = g_strconcat(path, "-wal", NULL);
    struct stat info;
    return (stat(journal, &info) == 0 && info.st_size > 0) ||
           (stat(log, &info) == 0 && info.st_size > 0);
}

/* As it is; else, where nothing can be written beside it, as a file that nobody changes; else with
 * its journal or log in a copy. */
static bool open_somehow(struct orch_store *ours, const char *path, struct store_foreign *out,
                         GError **error)
{
    GError *problem = NULL;
    if (open_and_look(ours, out, SQLITE_OPEN_READONLY, false, &problem))
        return true;
    int code = out->store->db ? sqlite3_errcode(out->store->db) & 0xff : SQLITE_CANTOPEN;
    bool may_help = code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_IOERR;
    if (!may_help) {
        g_propagate_error(error, problem);
        return false;
    }
    g_clear_error(&problem);
    if (!has_leftovers(path))
        return open_and_look(ours, out, SQLITE_OPEN_READONLY, true, error);
    return copy_aside(out, path, error) &&
           open_and_look(ours, out, SQLITE_OPEN_READWRITE, false, error);
}

/* A pipe or a device in the place of a file, or of one that SQLite opens beside it, would be waited
 * for, or worse. */
static bool are_files(const char *path, GError **error)
{
    static const char *const endings[] = {"", "-journal", "-wal", "-shm"};
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        g_autofree char *name = g_strconcat(path, endings[i], NULL);
        struct stat info;
        if (stat(name, &info) != 0 && (i == 0 || errno != ENOENT))
            orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read store '%s'", name);
        else if ((i == 0 || lstat(name, &info) == 0) && !S_ISREG(info.st_mode))
            orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot read store '%s': no regular file",
                           name);
        else
            continue;
        return false;
    }
    return true;
}

bool store_foreign_open(struct orch_store *ours, const char *path, struct store_foreign *out,
                        GError **error)
{
    g_autofree char *real = realpath(path, NULL); /* that is where SQLite looks for its journal */
    *out = (struct store_foreign){0};
    if (!are_files(real ? real : path, error))
        return false;
    out->store = store_new_handle(path);
    out->store->readonly = true;
    if (ours->shards) /* another host's file of the same store: it can wait until next time */
        out->store->busy_ms = SHARD_BUSY_MS;
    if (open_somehow(ours, real, out, error))
        return true;
    store_foreign_close(out);
    return false;
}

void store_foreign_close(struct store_foreign *foreign)
{
    if (foreign->store)
        store_free_handle(foreign->store);
    if (foreign->copy)
        orch_tree_remove(foreign->copy, NULL);
    g_free(foreign->copy);
    *foreign = (struct store_foreign){0};
}
