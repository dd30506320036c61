/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens a store of one file.
 *
 * WAL allows readers and one writer at the same time, but its index is shared memory: on a network
 * file system the store would be corrupted silently. So the file system is checked first, and every
 * one that is not known to be local gets a rollback journal with full syncs.
 *
 * Until the schema is known to be ours, closing does not checkpoint, so a newer schema or another
 * program's database keeps every byte.
 */
#include "store/handle/open.h"
#include "store/handle/defence.h"
#include "store/handle/filesystem.h"
#include "store/handle/open_to_read.h"
#include "store/handle/owner.h"
#include "store/handle/sql.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long to try to switch to the preferred journal mode before continuing with the present
 * one. */
enum { SWITCH_MS = 2000 };

/* Creates the folder for a new store's file. '.orch' gets a .gitignore that ignores the whole
 * folder. */
static bool make_parent(const struct orch_store *store, GError **error)
{
    g_autofree char *parent = g_path_get_dirname(store->path);
    g_autofree char *name = g_path_get_basename(parent);
    g_autofree char *ignore = g_build_filename(parent, ".gitignore", NULL);
    struct stat info;
    g_autoptr(GError) problem = NULL;
    if (!orch_dir_make(parent, &problem)) {
        bool is_closed = errno == EACCES || errno == EPERM || errno == EROFS;
        g_autofree char *what = orch_error_what(problem);
        orch_error_set(error, ORCH_ERROR_IO,
                       is_closed ? "keep the store elsewhere: --db FILE or ORCH_DB"
                                 : orch_error_hint(problem),
                       "%s", what);
        return false;
    }
    return strcmp(name, ".orch") != 0 || lstat(ignore, &info) == 0 ||
           orch_file_write(ignore, "*\n", 2, false, error);
}

static bool check_file(const char *path, GError **error)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        orch_error_set(error, ORCH_ERROR_STORE,
                       "check --db and $ORCH_DB; 'orch init' and 'orch run' make a store",
                       "cannot open store '%s': %s", path, g_strerror(errno));
        return false;
    }
    if (!S_ISREG(info.st_mode)) {
        orch_error_set(error, ORCH_ERROR_STORE,
                       "name the file in this folder: --db FOLDER/results.db",
                       "cannot open store '%s': not a regular file", path);
        return false;
    }
    return orch_store_check_files(path, error);
}

/* Reads the current journal mode. This is the first read of the file. */
static bool read_journal_mode(struct orch_store *store, bool *out_wal, GError **error)
{
    sqlite3_stmt *statement = orch_store_statement(store, "PRAGMA journal_mode", error);
    /* in rollback mode the pragma alone reads no page of the file, so the version is read as
     * well */
    int64_t version;
    if (!statement || !orch_store_get_int(store, &version, 0, error, "PRAGMA user_version", ""))
        return false;
    int more = orch_store_step(store, statement, error);
    if (more < 0)
        return false;
    const char *mode = more ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    *out_wal = mode && strcmp(mode, "wal") == 0;
    sqlite3_reset(statement);
    return true;
}

/* Switches the journal mode, with retries: while another process uses the file the switch fails at
 * once, regardless of the busy handler. Keeping a rollback journal for a while longer is also
 * safe. */
static bool switch_journal(struct orch_store *store, bool wal, GError **error)
{
    const char *sql = wal ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = TRUNCATE";
    int64_t until = orch_mono_ns() + SWITCH_MS * INT64_C(1000000);
    int code;
    while ((code = sqlite3_exec(store->db, sql, NULL, NULL, NULL)) != SQLITE_OK) {
        if ((code & 0xff) != SQLITE_BUSY)
            return orch_store_fail(store, error, "open");
        if (orch_mono_ns() > until)
            break;
        g_usleep(2000);
    }
    return read_journal_mode(store, &store->wal, error);
}

/* Switches a file that was copied to a network file system in WAL mode. With an exclusive lock
 * SQLite needs no shared memory, so this works there. */
static bool leave_wal(struct orch_store *store, GError **error)
{
    bool wal;
    if (!orch_store_exec(store, "PRAGMA locking_mode = EXCLUSIVE", "open", error) ||
        !orch_store_check_pages(store, error) || !read_journal_mode(store, &wal, error))
        return false;
    if (wal && !store->readonly &&
        !orch_store_exec(store, "PRAGMA journal_mode = TRUNCATE", "open", error))
        return false;
    int64_t version; /* the lock is released by the first access after the change */
    return orch_store_exec(store, "PRAGMA locking_mode = NORMAL", "open", error) &&
           orch_store_get_int(store, &version, 0, error, "PRAGMA user_version", "");
}

/* The migrations of tests have no schema text to compare with. */
static bool has_our_shape(struct orch_store *store, const struct store_migrations *migrations,
                          GError **error)
{
    GError *problem = NULL;
    if (!migrations->create || !*migrations->create ||
        orch_store_check_shape(store, migrations->create, &problem))
        return true;
    if (migrations->before && orch_store_check_shape(store, migrations->before, NULL)) {
        g_clear_error(&problem);
        return orch_store_rename(store, migrations, error) &&
               orch_store_check_shape(store, migrations->create, error);
    }
    /* between the two looks another process may have renamed */
    if (migrations->before && orch_store_check_shape(store, migrations->create, NULL)) {
        g_clear_error(&problem);
        return true;
    }
    g_propagate_error(error, problem);
    return false;
}

static bool settle(struct orch_store *store, const struct store_options *options, bool may_create,
                   GError **error)
{
    bool local;
    g_free(orch_store_filesystem_name(orch_store_filesystem_magic(store->path), &local));
    bool wal_wanted = local && !options->never_wal;
    if (!(wal_wanted ? orch_store_check_pages(store, error) : leave_wal(store, error)))
        return false;
    if (!read_journal_mode(store, &store->wal, error) ||
        !orch_store_exec(store,
                         "PRAGMA temp_store = MEMORY;"
                         "PRAGMA cache_size = -65536; PRAGMA journal_size_limit = 67108864",
                         "open", error) ||
        !orch_store_migrate(store, options->migrations, may_create, error) ||
        !has_our_shape(store, options->migrations, error))
        return false;
    orch_store_set_working(store->db);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    if (store->readonly)
        return orch_store_exec(store, "PRAGMA query_only = ON", "open", error);
    if ((!store->wal || !wal_wanted) && !switch_journal(store, wal_wanted, error))
        return false;
    if (options->is_scratch)
        return orch_store_exec(store, "PRAGMA synchronous = OFF", "open", error);
    return orch_store_exec(store,
                           store->wal ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL",
                           "open", error);
}

static bool is_empty(const struct orch_store *store, const char *ending)
{
    g_autofree char *path = g_strconcat(store->path, ending, NULL);
    struct stat info;
    return stat(path, &info) != 0 || info.st_size == 0;
}

/* A file without a log or journal in a folder that this user cannot write may be opened as
 * immutable, because this user cannot change it. */
static bool may_be_immutable(const struct orch_store *store, const GError *problem)
{
    g_autofree char *folder = g_path_get_dirname(store->path);
    return is_empty(store, "-wal") && is_empty(store, "-journal") && access(folder, W_OK) != 0 &&
           problem->code == ORCH_ERROR_STORE;
}

/* Rolls back the journal that a process left when it was killed during a write. SQLite does this
 * only on a connection that can write, so the file is briefly opened for writing. */
static bool play_back(struct orch_store *store)
{
    int64_t version;
    orch_store_close_handle(store);
    bool ok = access(store->path, W_OK) == 0 &&
              orch_store_open_handle(store, SQLITE_OPEN_READWRITE, false, NULL) &&
              orch_store_get_int(store, &version, 0, NULL, "PRAGMA user_version", "");
    orch_store_close_handle(store);
    return ok;
}

/* True when a reader may open the file for writing in order to remove the files that it creates.
 * False where shared memory does not work. */
static bool may_tidy(const struct orch_store *store, const struct store_options *options)
{
    bool local;
    g_autofree char *folder = g_path_get_dirname(store->path);
    g_free(orch_store_filesystem_name(orch_store_filesystem_magic(store->path), &local));
    return local && !options->never_wal && access(store->path, W_OK) == 0 &&
           access(folder, W_OK) == 0;
}

static bool open_first(struct orch_store *store, enum orch_store_mode mode,
                       const struct store_options *options, GError **error)
{
    if (mode == ORCH_STORE_READ && !may_tidy(store, options))
        return orch_store_open_to_read(store, error);
    int create = mode == ORCH_STORE_CREATE ? SQLITE_OPEN_CREATE : 0;
    return orch_store_open_handle(store, SQLITE_OPEN_READWRITE | create, false, error);
}

/* Opens the file for reading on a full disk, where SQLite cannot create the shared memory of WAL
 * mode. Under an exclusive lock the index of the log is in this process's memory instead, so that
 * rows in the log are read as well, and no other process can change the file. Two readers of this
 * kind can each have the lock that the other one waits for: both give up after times of their own,
 * and begin again. What fails for another reason is not tried again. */
static bool open_alone(struct orch_store *store, const struct store_options *options)
{
    enum { WAIT_MS = 10000, LEAST_MS = 20, MOST_MS = 300 };
    store->readonly = store->is_alone = true;
    for (int64_t end_ns = orch_mono_ns() + WAIT_MS * INT64_C(1000000);;) {
        orch_store_close_handle(store);
        store->busy_ms = g_random_int_range(LEAST_MS, MOST_MS);
        store->is_locked = false;
        if (orch_store_open_handle(store, SQLITE_OPEN_READWRITE, false, NULL) &&
            orch_store_exec(store, "PRAGMA locking_mode = EXCLUSIVE", "open", NULL) &&
            settle(store, options, false, NULL))
            return true;
        if (!store->is_locked || orch_mono_ns() > end_ns)
            return false;
    }
}

static bool open_store(struct orch_store *store, enum orch_store_mode mode,
                       const struct store_options *options, GError **error)
{
    store->readonly = mode == ORCH_STORE_READ;
    if (!open_first(store, mode, options, error))
        return false;
    if (!store->readonly && sqlite3_db_readonly(store->db, "main") == 1)
        return orch_store_fail_code(store->path, SQLITE_READONLY, 0, error, "write to");
    GError *problem = NULL;
    if (settle(store, options, mode == ORCH_STORE_CREATE, &problem))
        return true;
    if (store->readonly && !is_empty(store, "-journal") && play_back(store)) {
        g_clear_error(&problem);
        return check_file(store->path, error) && open_first(store, mode, options, error) &&
               settle(store, options, false, error);
    }
    if (store->readonly && may_be_immutable(store, problem)) {
        g_clear_error(&problem);
        orch_store_close_handle(store);
        return orch_store_open_handle(store, SQLITE_OPEN_READONLY, true, error) &&
               settle(store, options, false, error);
    }
    if (store->lacks_space && mode <= ORCH_STORE_COLLECT && open_alone(store, options)) {
        g_clear_error(&problem);
        return true;
    }
    g_propagate_error(error, problem);
    return false;
}

/* Creating a store takes milliseconds; a loaded machine may need a second. */
#define FRESH_NS (INT64_C(2) * 1000000000)

/* True when the file is empty, and made so recently that another process may be about to create the
 * store in it. */
static bool is_being_made(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || info.st_size > 0)
        return false;
    int64_t made_ns = orch_timespec_ns(info.st_mtim);
    int64_t age_ns = orch_now_ns() - made_ns;
    return age_ns >= 0 && age_ns < FRESH_NS;
}

/* Looks at the file without SQLite, whose locks would keep the other process from writing. */
static void wait_for_maker(const char *path)
{
    enum { POLL_US = 20000 };
    while (is_being_made(path))
        g_usleep(POLL_US);
}

#define YEAR_2000_S INT64_C(946684800)
#define YEAR_2200_S INT64_C(7258118400)

/* Checks that the wall clock says a year from 2000 to 2199. Nothing should be recorded with
 * another one: stores refuse such times from elsewhere, and what is kept by age would be removed.
 */
static bool check_clock(GError **error)
{
    const int64_t now_ns = orch_now_ns(), now_s = now_ns / INT64_C(1000000000);
    if (now_s >= YEAR_2000_S && now_s < YEAR_2200_S)
        return true;
    g_autofree char *now = orch_time_format(now_ns, false);
    orch_error_set(error, ORCH_ERROR_IO, "set the clock ('timedatectl' shows it)",
                   "the clock of this machine is wrong: it shows %s UTC", now);
    return false;
}

struct orch_store *orch_store_open_with(const char *path, enum orch_store_mode mode,
                                        const struct store_options *options, GError **error)
{
    struct orch_store *store = orch_store_new_handle(path);
    if (options->stands_for) {
        g_free(store->folder);
        store->folder = orch_store_folder_of(options->stands_for);
    }
    bool exists = access(store->path, F_OK) == 0;
    bool creates = mode == ORCH_STORE_CREATE;
    if (!creates)
        wait_for_maker(store->path);
    bool ok =
        (mode == ORCH_STORE_READ || check_clock(error)) &&
        (!options->is_shard || options->is_scratch || orch_store_own_shard_folder(store, error));
    if (ok)
        ok = exists || !creates ? check_file(store->path, error) : make_parent(store, error);
    ok = ok && open_store(store, mode, options, error) && (!creates || make_parent(store, error)) &&
         orch_store_own(store, store->readonly ? ORCH_STORE_READ : mode, options, error);
    if (ok)
        return store;
    orch_store_close(store);
    return NULL;
}
