/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A store that another user made. A SQLite file is untrusted input like any other, and a hostile
 * one can do more harm than a hostile text.
 *
 * It is opened on a connection of its own, never ATTACHed, read-only, with the strict settings of
 * defence.c, and is read by our own SQL, by column.
 *
 * A table that is read must have been created with exactly the text that created ours. So it cannot
 * be a view or a virtual table, and has no other or computed columns. Other tables, triggers, views
 * and indexes are ignored: triggers do not fire on reading, and an index can only give wrong rows,
 * which the digests reveal. (A schema that was migrated by ALTER TABLE would have a different text;
 * the first migration must adapt this comparison.)
 *
 * Pages can reference one another in circles, so a small file can contain any number of rows. Each
 * page must be referenced once (pages.c), and SQLite's steps and the bytes of texts are bounded by
 * the size of the file as well.
 *
 * A journal beside the file is rolled back in a copy, because the file must not be changed. A
 * journal that belongs to a transaction over several files is refused: rolling it back deletes a
 * file that it names.
 */
#include "store/handle/foreign.h"
#include "store/handle/defence.h"
#include "store/handle/open_to_read.h"
#include "store/handle/schema.h"
#include "store/handle/sql.h"

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
enum { STEPS_A_CALL = 100000, BASE_STEPS = 20000000, STEPS_A_BYTE = 4 };
enum { PACKED_RATIO = 16, DISK_BLOCK_BYTES = 512 };

/* The tables that are read. */
static const char *const TABLES[] = {
    "run",    "source",      "machine", "recipe", "param",    "input",   "result", "artifact",
    "metric", "metric_name", "note",    "purged", "forecast", "dataset", "sample", "conflict"};

bool orch_store_foreign_is_damage(const struct orch_store *store)
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

/* The size that limits are computed from. Holes of a sparse file do not count, because they cost
 * its author nothing. On a file system that compresses, the blocks on disk can be fewer than the
 * bytes; the factor allows for a ratio of 16. */
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
    if (!orch_store_get_int(foreign->store, &pages, 0, error, "PRAGMA page_count", "") ||
        !orch_store_get_int(foreign->store, &page_bytes, 0, error, "PRAGMA page_size", ""))
        return false;
    foreign->bytes = MIN(pages * page_bytes, most_bytes(foreign->store->path));
    foreign->steps_left = BASE_STEPS + STEPS_A_BYTE * foreign->bytes;
    sqlite3_progress_handler(foreign->store->db, STEPS_A_CALL, count_steps, foreign);
    return true;
}

/* ---- tables -----------------------------------------------------------------------------------
 */

/* The SQL text that created a table; the caller frees. NULL without error when there is no such
 * table. */
static char *text_of_table(struct orch_store *store, const char *table, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store, "SELECT sql FROM sqlite_schema WHERE name = ? AND type = 'table'", error);
    if (!s)
        return NULL;
    orch_store_bind(s, "t", table);
    char *text = orch_store_step(store, s, error) > 0 ? orch_store_column_text(s, 0) : NULL;
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
            orch_error_set(
                error, ORCH_ERROR_STORE,
                orch_store_check_shape(theirs, store_migrations.before, NULL)
                    ? "on the store's machine, run 'orch ls --db FILE' with this version of orch"
                    : "ask for a copy made by 'orch db backup'",
                "cannot read store '%s': its table '%s' differs from orch's schema", theirs->path,
                TABLES[i]);
        return false;
    }
    return true;
}

/* ---- opening ----------------------------------------------------------------------------------
 */

/* Checks that the file is a store of a known schema. `steps_left` bounds the queries that
 * follow. */
static bool look(struct orch_store *ours, struct store_foreign *foreign, GError **error)
{
    int64_t schema;
    foreign->steps_left = BASE_STEPS;
    sqlite3_progress_handler(foreign->store->db, STEPS_A_CALL, count_steps, foreign);
    if (!orch_store_check_pages(foreign->store, error) ||
        !orch_store_exec(foreign->store,
                         "PRAGMA query_only = ON;"
                         "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4096; BEGIN",
                         "read", error))
        return false;
    int found = orch_store_recognise(foreign->store, ORCH_STORE_SCHEMA, &schema, error);
    if (found == 0)
        orch_error_set(error, ORCH_ERROR_STORE, NULL, "cannot read store '%s': the file is empty",
                       foreign->store->path);
    return found > 0 && limit_steps(foreign, error) && compare_tables(ours, foreign->store, error);
}

static bool open_and_look(struct orch_store *ours, struct store_foreign *foreign, int flags,
                          bool immutable, GError **error)
{
    if (foreign->store->db)
        orch_store_close_handle(foreign->store);
    return orch_store_open_handle(foreign->store, flags, immutable, error) &&
           look(ours, foreign, error);
}

static bool has_leftovers(const char *path)
{
    g_autofree char *journal = g_strconcat(path, "-journal", NULL);
    g_autofree char *log = g_strconcat(path, "-wal", NULL);
    struct stat info;
    return (stat(journal, &info) == 0 && info.st_size > 0) ||
           (stat(log, &info) == 0 && info.st_size > 0);
}

/* Opens the file as it is. When nothing can be written beside it, opens it as immutable, or, if it
 * has a journal or log, opens a copy with them. */
static bool open_somehow(struct orch_store *ours, const char *path, struct store_foreign *out,
                         GError **error)
{
    GError *problem = NULL;
    if (orch_store_open_to_read(out->store, &problem) && look(ours, out, &problem))
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
    return orch_store_copy_aside(out->store, error) &&
           open_and_look(ours, out, SQLITE_OPEN_READWRITE, false, error);
}

bool orch_store_foreign_open(struct orch_store *ours, const char *path, struct store_foreign *out,
                             GError **error)
{
    g_autofree char *real = realpath(path, NULL); /* SQLite looks for the journal there */
    *out = (struct store_foreign){0};
    if (!orch_store_check_files(path, error))
        return false;
    out->store = orch_store_new_handle(path);
    out->store->readonly = true;
    if (ours->shards) /* another host's file of the same store: it can wait until the next refresh
                       */
        out->store->busy_ms = SHARD_BUSY_MS;
    if (open_somehow(ours, real, out, error))
        return true;
    orch_store_foreign_close(out);
    return false;
}

void orch_store_foreign_close(struct store_foreign *foreign)
{
    if (foreign->store)
        orch_store_free_handle(foreign->store);
    *foreign = (struct store_foreign){0};
}
