/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A store that somebody else made: a SQLite file is a program's input like any other, and a hostile
 * one can do more harm than a hostile text.
 *
 * - It is a connection of its own, never ATTACHed, read-only, with the strict settings of
 * defence.c. It is read by our own SQL, by column.
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

/* ---- bounds -----------------------------------------------------------------------------------
 */

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
    foreign->steps_left = SPARE_STEPS;
    sqlite3_progress_handler(foreign->store->db, STEPS_A_CALL, count_steps, foreign);
    if (!store_exec(foreign->store,
                    "PRAGMA query_only = ON;"
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
    if (store_open_to_read(out->store, &problem) && look(ours, out, &problem))
        return true;
    int code = out->store->db ? sqlite3_errcode(out->store->db) & 0xff : SQLITE_CANTOPEN;
    bool may_help = !out->store->copy &&
                    (code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_IOERR);
    if (!may_help) {
        g_propagate_error(error, problem);
        return false;
    }
    g_clear_error(&problem);
    if (!has_leftovers(path))
        return open_and_look(ours, out, SQLITE_OPEN_READONLY, true, error);
    return store_copy_aside(out->store, error) &&
           open_and_look(ours, out, SQLITE_OPEN_READWRITE, false, error);
}

bool store_foreign_open(struct orch_store *ours, const char *path, struct store_foreign *out,
                        GError **error)
{
    g_autofree char *real = realpath(path, NULL); /* that is where SQLite looks for its journal */
    *out = (struct store_foreign){0};
    if (!store_check_files(path, error))
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
    *foreign = (struct store_foreign){0};
}
