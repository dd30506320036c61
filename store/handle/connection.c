/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The handle of a store: SQLite's connection, the paths, the prepared statements. open.c (one file)
 * and shards_open.c (several hosts) build on it.
 *
 * The file is never opened except through SQLite, because closing another descriptor of it would
 * drop this process's POSIX locks.
 */
#include "store/handle/compare_values.h"
#include "store/handle/defence.h"
#include "store/handle/sql.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* SQLite's busy handler: sleeps for a short, varying time, so that many writers do not retry in
 * lockstep. Returns 0 to give up. */
static int on_busy(void *ctx, int count)
{
    struct orch_store *store = ctx;
    int64_t now = orch_mono_ns();
    if (count == 0)
        store->busy_until_ns = now + store->busy_ms * 1000000;
    if (now >= store->busy_until_ns)
        return 0;
    int64_t most_us = MIN(200 + 200 * (int64_t)count, 10000);
    g_usleep((gulong)(50 + (now / 1000 + getpid()) % most_us));
    return 1;
}

bool orch_store_check_journal(const char *path, GError **error)
{
    static const uint8_t several[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    g_autofree char *journal = g_strconcat(path, "-journal", NULL);
    uint8_t last[8] = {0};
    struct stat info;
    int fd = open(journal, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return true;
    bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    bool is_read =
        is_file && info.st_size >= (off_t)sizeof last &&
        pread(fd, last, sizeof last, info.st_size - (off_t)sizeof last) == (ssize_t)sizeof last;
    close(fd);
    if (is_file && !(is_read && memcmp(last, several, sizeof last) == 0))
        return true;
    orch_error_set(
        error, ORCH_ERROR_STORE, "ask the store's owner to run 'orch db check --db FILE' once",
        "cannot open store '%s': '%s' %s", path, journal,
        is_file ? "belongs to a transaction over several files" : "is not a regular file");
    return false;
}

bool orch_store_open_handle(struct orch_store *store, int flags, bool immutable, GError **error)
{
    g_autofree char *uri = NULL;
    if (!orch_store_check_journal(store->path, error))
        return false;
    if (immutable) {
        g_autofree char *plain = g_filename_to_uri(store->path, NULL, NULL);
        uri = g_strconcat(plain ? plain : store->path, "?immutable=1", NULL);
        flags |= SQLITE_OPEN_URI;
    }
    int code =
        sqlite3_open_v2(uri ? uri : store->path, &store->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK) {
        int system_errno = store->db ? sqlite3_system_errno(store->db) : 0;
        return orch_store_fail_code(store->path, code, system_errno, error, "open");
    }
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_handler(store->db, on_busy, store);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    orch_store_set_strict(store->db);
    if (orch_store_add_functions(store->db) != SQLITE_OK)
        return orch_store_fail(store, error, "open");
    return true;
}

void orch_store_close_handle(struct orch_store *store)
{
    g_hash_table_remove_all(store->statements);
    sqlite3_close(store->db);
    store->db = NULL;
    g_clear_pointer(&store->stream, g_free);
}

static void finalize_statement(gpointer statement)
{
    sqlite3_finalize(statement);
}

char *orch_store_folder_of(const char *path)
{
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    return g_strconcat(absolute, ".d", NULL);
}

static void store_shards_free(struct store_shards *shards)
{
    if (!shards)
        return;
    if (shards->scratch)
        orch_tree_remove(shards->scratch, NULL);
    g_free(shards->name);
    g_free(shards->local);
    g_free(shards->scratch);
    g_free(shards);
}

/* Turns off SQLite's memory statistics, which take a lock at each allocation and are not used
 * here. */
static void set_up_sqlite(void)
{
    static gsize done;
    if (g_once_init_enter(&done)) {
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
        g_once_init_leave(&done, 1);
    }
}

struct orch_store *orch_store_new_handle(const char *path)
{
    set_up_sqlite();
    struct orch_store *store = g_new0(struct orch_store, 1);
    store->busy_ms = STORE_BUSY_MS;
    store->path = orch_path_absolute(path, NULL);
    store->folder = orch_store_folder_of(path);
    store->folder_fd = -1;
    store->warnings = g_ptr_array_new_with_free_func(g_free);
    store->statements =
        g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, finalize_statement);
    return store;
}

void orch_store_free_handle(struct orch_store *store)
{
    orch_store_close_handle(store);
    g_hash_table_destroy(store->statements);
    g_ptr_array_unref(store->warnings);
    store_shards_free(store->shards);
    if (store->copy)
        orch_tree_remove(store->copy, NULL);
    g_free(store->copy);
    g_free(store->original);
    if (store->folder_fd >= 0)
        close(store->folder_fd);
    g_free(store->path);
    g_free(store->folder);
    g_free(store);
}

bool orch_store_sync(struct orch_store *store, GError **error)
{
    if (!store->wal || store->readonly)
        return true; /* with a rollback journal SQLite syncs every commit */
    sqlite3_file *log = NULL;
    if (sqlite3_file_control(store->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK ||
        !log || !log->pMethods)
        return true; /* nothing was written yet */
    int code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
    return code == SQLITE_OK || orch_store_fail_code(store->path, code, errno, error, "sync");
}

void orch_store_close(struct orch_store *store)
{
    if (!store)
        return;
    if (store->db && !store->readonly)
        orch_store_sync(store, NULL);
    orch_store_free_handle(store);
}

struct orch_store *orch_store_open_raw(const char *path, GError **error)
{
    struct orch_store *store = orch_store_new_handle(path);
    if (orch_store_open_handle(store, SQLITE_OPEN_READWRITE, false, error))
        return store;
    orch_store_close(store);
    return NULL;
}

const char *orch_store_path(const struct orch_store *store)
{
    if (store->original)
        return store->original;
    return store->shards ? store->shards->name : store->path;
}

bool orch_store_is_alone(const struct orch_store *store)
{
    return store->is_alone;
}

const char *orch_store_local_folder(const struct orch_store *store)
{
    return store->shards && store->shards->local ? store->shards->local : store->folder;
}

bool orch_store_is_shared(const struct orch_store *store)
{
    return store->shards != NULL;
}

const GPtrArray *orch_store_warnings(const struct orch_store *store)
{
    return store->warnings;
}

const char *orch_store_folder(const struct orch_store *store)
{
    return store->folder;
}
