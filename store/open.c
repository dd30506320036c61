/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opening and closing.
 *
 * WAL lets readers and one writer work side by side, but its index is shared memory: on a network
 * file system it corrupts in silence. So the file system is asked first, and anything that is not
 * known to be local gets a rollback journal with a full sync. The file is never opened except
 * through SQLite: closing another descriptor of it would drop this process's locks.
 *
 * Until the schema is known to be ours, closing does not checkpoint: a newer schema, or another
 * program's database, keeps every byte.
 */
#include "store/internal.h"
#include "store/owner.h"
#include "store/shards.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* How long to try for the better journal mode before going on with the other. */
enum { SWITCH_MS = 2000 };

static const struct {
    int64_t magic;
    const char *name;
    bool local;
} FILESYSTEMS[] = {
    {0xEF53, "ext", true},       {0x58465342, "xfs", true},     {0x9123683E, "btrfs", true},
    {0x01021994, "tmpfs", true}, {0x858458F6, "ramfs", true},   {0x794C7630, "overlay", true},
    {0x2FC12FC1, "zfs", true},   {0xF2F52010, "f2fs", true},    {0xCA451A4E, "bcachefs", true},
    {0x6969, "nfs", false},      {0x517B, "smb", false},        {0xFF534D42, "cifs", false},
    {0xFE534D42, "smb2", false}, {0x0BD00BD0, "lustre", false}, {0x65735546, "fuse", false},
    {0x01021997, "9p", false},   {0x47504653, "gpfs", false},   {0x19830326, "beegfs", false},
    {0x00C36400, "ceph", false}, {0x5346414F, "afs", false},    {0x786F4256, "vboxsf", false},
};

char *store_filesystem_name(int64_t magic, bool *out_local)
{
    for (size_t i = 0; i < G_N_ELEMENTS(FILESYSTEMS); i++) {
        if (FILESYSTEMS[i].magic == magic) {
            *out_local = FILESYSTEMS[i].local;
            return g_strdup(FILESYSTEMS[i].name);
        }
    }
    *out_local = false;
    return g_strdup_printf("0x%" G_GINT64_MODIFIER "x", magic);
}

bool store_filesystem_is_shared(int64_t magic)
{
    for (size_t i = 0; i < G_N_ELEMENTS(FILESYSTEMS); i++)
        if (FILESYSTEMS[i].magic == magic)
            return !FILESYSTEMS[i].local;
    return false;
}

int64_t store_filesystem_magic(const char *path)
{
    struct statfs info;
    if (statfs(path, &info) == 0)
        return (int64_t)info.f_type & 0xFFFFFFFF;
    g_autofree char *folder = g_path_get_dirname(path);
    return statfs(folder, &info) == 0 ? (int64_t)info.f_type & 0xFFFFFFFF : 0;
}

/* Waits a little, a random time so that many writers do not march in step; 0 gives up. */
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

/* The folder that a new store's file lies in. '.orch' is a folder of our own: it ignores itself. */
static bool make_parent(const struct orch_store *store, GError **error)
{
    g_autofree char *parent = g_path_get_dirname(store->path);
    g_autofree char *name = g_path_get_basename(parent);
    g_autofree char *ignore = g_build_filename(parent, ".gitignore", NULL);
    struct stat info;
    if (!orch_dir_make(parent, error))
        return false;
    return strcmp(name, ".orch") != 0 || lstat(ignore, &info) == 0 ||
           orch_file_write(ignore, "*\n", 2, false, error);
}

static bool check_file(const char *path, GError **error)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        orch_error_set(error, ORCH_ERROR_STORE,
                       "a store is made by 'orch init' or 'orch run'; check --db and $ORCH_DB",
                       "cannot open store '%s': %s", path, g_strerror(errno));
        return false;
    }
    if (!S_ISREG(info.st_mode)) {
        orch_error_set(error, ORCH_ERROR_STORE, "name the file in it: --db FOLDER/results.db",
                       "cannot open store '%s': not a regular file", path);
        return false;
    }
    return store_check_files(path, error);
}

bool store_check_journal(const char *path, GError **error)
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
    orch_error_set(error, ORCH_ERROR_STORE, "whoever made it opens it once there: 'orch db check'",
                   "cannot open store '%s': '%s' %s", path, journal,
                   is_file ? "is of a transaction over several files" : "is no regular file");
    return false;
}

bool store_open_handle(struct orch_store *store, int flags, bool immutable, GError **error)
{
    g_autofree char *uri = NULL;
    if (!store_check_journal(store->path, error))
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
        return store_fail_code(store->path, code, system_errno, error, "open");
    }
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_handler(store->db, on_busy, store);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    store_be_strict(store->db);
    if (store_where_register(store->db) != SQLITE_OK)
        return store_fail(store, error, "open");
    return true;
}

void store_close_handle(struct orch_store *store)
{
    g_hash_table_remove_all(store->statements);
    sqlite3_close(store->db);
    store->db = NULL;
    g_clear_pointer(&store->stream, g_free);
    store->has_scan = false;
}

/* The journal mode as it is; reading it is the first look into the file. */
static bool read_journal_mode(struct orch_store *store, bool *out_wal, GError **error)
{
    sqlite3_stmt *statement = store_statement(store, "PRAGMA journal_mode", error);
    /* the pragma alone reads no page of a file in rollback mode: ask for the version as well */
    int64_t version;
    if (!statement || !store_get_int(store, &version, 0, error, "PRAGMA user_version", ""))
        return false;
    int more = store_step(store, statement, error);
    if (more < 0)
        return false;
    const char *mode = more ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    *out_wal = mode && strcmp(mode, "wal") == 0;
    sqlite3_reset(statement);
    return true;
}

/* Asks for a journal mode until it is there: others who hold the file for a moment refuse at once,
 * whatever the busy handler says. A rollback journal for a while longer would be safe too. */
static bool switch_journal(struct orch_store *store, bool wal, GError **error)
{
    const char *sql = wal ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = TRUNCATE";
    int64_t until = orch_mono_ns() + SWITCH_MS * INT64_C(1000000);
    int code;
    while ((code = sqlite3_exec(store->db, sql, NULL, NULL, NULL)) != SQLITE_OK) {
        if ((code & 0xff) != SQLITE_BUSY)
            return store_fail(store, error, "open");
        if (orch_mono_ns() > until)
            break;
        g_usleep(2000);
    }
    return read_journal_mode(store, &store->wal, error);
}

/* A file in WAL mode that was copied to a network file system: an exclusive lock needs no shared
 * memory, so it can be turned there. */
static bool leave_wal(struct orch_store *store, GError **error)
{
    bool wal;
    if (!store_exec(store, "PRAGMA locking_mode = EXCLUSIVE", "open", error) ||
        !read_journal_mode(store, &wal, error))
        return false;
    if (wal && !store->readonly &&
        !store_exec(store, "PRAGMA journal_mode = TRUNCATE", "open", error))
        return false;
    int64_t version; /* the lock goes with the first access after the change */
    return store_exec(store, "PRAGMA locking_mode = NORMAL", "open", error) &&
           store_get_int(store, &version, 0, error, "PRAGMA user_version", "");
}

/* A migration of a test has no text of its own to compare with. */
static bool has_our_shape(struct orch_store *store, const struct store_migrations *migrations,
                          GError **error)
{
    return !migrations->create || !*migrations->create ||
           store_check_shape(store, migrations->create, error);
}

static bool settle(struct orch_store *store, const struct store_options *options, bool may_create,
                   GError **error)
{
    bool local;
    g_free(store_filesystem_name(store_filesystem_magic(store->path), &local));
    bool wal_wanted = local && !options->never_wal;
    if (!wal_wanted && !leave_wal(store, error))
        return false;
    if (!read_journal_mode(store, &store->wal, error) ||
        !store_exec(store,
                    "PRAGMA temp_store = MEMORY;"
                    "PRAGMA cache_size = -65536; PRAGMA journal_size_limit = 67108864",
                    "open", error) ||
        !store_migrate(store, options->migrations, may_create, error) ||
        !has_our_shape(store, options->migrations, error))
        return false;
    store_be_working(store->db);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    if (store->readonly)
        return store_exec(store, "PRAGMA query_only = ON", "open", error);
    if ((!store->wal || !wal_wanted) && !switch_journal(store, wal_wanted, error))
        return false;
    if (options->is_scratch)
        return store_exec(store, "PRAGMA synchronous = OFF", "open", error);
    return store_exec(store,
                      store->wal ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL",
                      "open", error);
}

static bool is_empty(const struct orch_store *store, const char *ending)
{
    g_autofree char *path = g_strconcat(store->path, ending, NULL);
    struct stat info;
    return stat(path, &info) != 0 || info.st_size == 0;
}

/* In a folder that cannot be written, a file without a log or journal can be read as it is: nobody
 * here changes it. */
static bool may_be_immutable(const struct orch_store *store, const GError *problem)
{
    g_autofree char *folder = g_path_get_dirname(store->path);
    return is_empty(store, "-wal") && is_empty(store, "-journal") && access(folder, W_OK) != 0 &&
           problem->code == ORCH_ERROR_STORE;
}

/* A process that was killed in the middle of a write leaves a journal. Whoever writes plays it back
 * by itself; SQLite lets no reader do it, so the file is opened for writing for a moment. */
static bool play_back(struct orch_store *store)
{
    int64_t version;
    store_close_handle(store);
    bool ok = access(store->path, W_OK) == 0 &&
              store_open_handle(store, SQLITE_OPEN_READWRITE, false, NULL) &&
              store_get_int(store, &version, 0, NULL, "PRAGMA user_version", "");
    store_close_handle(store);
    return ok;
}

/* May its reader clean up behind itself? Not where shared memory does not work. */
static bool may_tidy(const struct orch_store *store, const struct store_options *options)
{
    bool local;
    g_autofree char *folder = g_path_get_dirname(store->path);
    g_free(store_filesystem_name(store_filesystem_magic(store->path), &local));
    return local && !options->never_wal && access(store->path, W_OK) == 0 &&
           access(folder, W_OK) == 0;
}

static bool open_first(struct orch_store *store, enum orch_store_mode mode,
                       const struct store_options *options, GError **error)
{
    if (mode == ORCH_STORE_READ && !may_tidy(store, options))
        return store_open_to_read(store, error);
    int create = mode == ORCH_STORE_CREATE ? SQLITE_OPEN_CREATE : 0;
    return store_open_handle(store, SQLITE_OPEN_READWRITE | create, false, error);
}

static bool open_store(struct orch_store *store, enum orch_store_mode mode,
                       const struct store_options *options, GError **error)
{
    store->readonly = mode == ORCH_STORE_READ;
    if (!open_first(store, mode, options, error))
        return false;
    if (!store->readonly && sqlite3_db_readonly(store->db, "main") == 1)
        return store_fail_code(store->path, SQLITE_READONLY, 0, error, "write to");
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
        store_close_handle(store);
        return store_open_handle(store, SQLITE_OPEN_READONLY, true, error) &&
               settle(store, options, false, error);
    }
    g_propagate_error(error, problem);
    return false;
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

/* SQLite counts its memory under a lock, at each allocation, for nobody. */
static void set_up_sqlite(void)
{
    static gsize done;
    if (g_once_init_enter(&done)) {
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
        g_once_init_leave(&done, 1);
    }
}

struct orch_store *store_new_handle(const char *path)
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

void store_free_handle(struct orch_store *store)
{
    store_close_handle(store);
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

struct orch_store *store_open_raw(const char *path, GError **error)
{
    struct orch_store *store = store_new_handle(path);
    if (store_open_handle(store, SQLITE_OPEN_READWRITE, false, error))
        return store;
    orch_store_close(store);
    return NULL;
}

struct orch_store *store_open_with(const char *path, enum orch_store_mode mode,
                                   const struct store_options *options, GError **error)
{
    struct orch_store *store = store_new_handle(path);
    if (options->stands_for) {
        g_free(store->folder);
        store->folder = orch_store_folder_of(options->stands_for);
    }
    bool exists = access(store->path, F_OK) == 0;
    bool creates = mode == ORCH_STORE_CREATE;
    bool ok = !options->is_shard || options->is_scratch || store_own_shard_folder(store, error);
    if (ok)
        ok = exists || !creates ? check_file(store->path, error) : make_parent(store, error);
    ok = ok && open_store(store, mode, options, error) && (!creates || make_parent(store, error)) &&
         store_own(store, mode, options, error);
    if (ok)
        return store;
    orch_store_close(store);
    return NULL;
}

struct orch_store *orch_store_open(const char *path, enum orch_store_mode mode, GError **error)
{
    const struct store_options options = {.migrations = &store_migrations};
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    switch (store_layout_of(absolute)) {
    case STORE_SHARDED:
        return store_shards_open(absolute, mode, error);
    case STORE_TO_FOLD:
        return store_shards_fold(absolute, mode, error);
    default:
        return store_open_with(path, mode, &options, error);
    }
}

void orch_store_close(struct orch_store *store)
{
    if (!store)
        return;
    if (store->db && !store->readonly)
        orch_store_sync(store, NULL);
    store_free_handle(store);
}

const char *orch_store_path(const struct orch_store *store)
{
    if (store->original)
        return store->original;
    return store->shards ? store->shards->name : store->path;
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

bool orch_store_sync(struct orch_store *store, GError **error)
{
    if (!store->wal || store->readonly)
        return true; /* with a rollback journal every commit is synced */
    sqlite3_file *log = NULL;
    if (sqlite3_file_control(store->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK ||
        !log || !log->pMethods)
        return true; /* nothing was written yet */
    int code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
    return code == SQLITE_OK || store_fail_code(store->path, code, errno, error, "sync");
}
