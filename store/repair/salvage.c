/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes a readable copy of a damaged file.
 *
 * Opening a damaged file can change it, because SQLite rolls back its journal or writes its log
 * into it. So a copy in a folder of its own is opened.
 *
 * Page 1 contains the size of the file and the root of the schema table. The size is corrected to
 * that of the file (a truncated file claims more). When the schema table cannot be read, its pages
 * are taken from a fresh store. That store is created by the same statements, so its tables begin
 * on the same pages, and the digests show whether that was right.
 */
#include "store/repair/salvage.h"
#include "store/handle/open.h"
#include "store/handle/sql.h"

#include "lib/base/error.h"
#include "lib/base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE_BYTES = 4096,
    HEADER_BYTES = 100,
    TREES_MAX = 200, /* maximum number of tables and indexes of a file; a store has about 50 */
};

static const char MAGIC[16] = "SQLite format 3";

/* ---- bytes ------------------------------------------------------------------------------------
 */

static uint32_t get_32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put_32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Returns the page size, or 0 when the header does not contain a valid one. */
static uint32_t page_bytes(const uint8_t *header)
{
    uint32_t bytes = (uint32_t)header[16] << 8 | header[17];
    bytes = bytes == 1 ? 65536 : bytes;
    return bytes >= 512 && bytes <= 65536 && !(bytes & (bytes - 1)) ? bytes : 0;
}

/* ---- the header -------------------------------------------------------------------------------
 */

/* Corrects the size in the header. With a log the size is stored there; without one it is the size
 * of the file. */
static bool mend_header(const char *path, bool has_log, GError **error)
{
    uint8_t header[HEADER_BYTES] = {0};
    struct stat info;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    bool ok = fd >= 0 && fstat(fd, &info) == 0 && pread(fd, header, sizeof header, 0) >= 0;
    uint32_t bytes = page_bytes(header);
    if (ok && !has_log && bytes && memcmp(header, MAGIC, sizeof MAGIC) == 0) {
        memcpy(header + 92, header + 24, 4); /* "version-valid-for": the size is valid */
        put_32(header + 28, (uint32_t)MAX(1, info.st_size / bytes));
        memset(header + 32, 0, 8); /* no free pages, because nothing is written */
        header[18] = header[19] = 1;
        ok = pwrite(fd, header, sizeof header, 0) == sizeof header;
    }
    if (!ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot repair the copy '%s'", path);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Copies page `number` of a fresh store into the file. */
static bool graft_page(int fd, const char *fresh, size_t length, uint32_t number)
{
    off_t at = (off_t)(number - 1) * PAGE_BYTES;
    return number && at + PAGE_BYTES <= (off_t)length &&
           pwrite(fd, fresh + at, PAGE_BYTES, at) == PAGE_BYTES;
}

/* Copies page 1 and, when it is an interior page, the other pages of the schema table. */
static bool graft_pages(const char *path, const char *fresh, size_t length, bool has_log,
                        GError **error)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    const uint8_t *root = (const uint8_t *)fresh + HEADER_BYTES;
    bool ok = fd >= 0 && length >= PAGE_BYTES && graft_page(fd, fresh, length, 1);
    if (ok && root[0] == 5) { /* an interior page: its cells, and the last child */
        unsigned cells = (unsigned)root[3] << 8 | root[4];
        ok = cells < PAGE_BYTES / 4 && graft_page(fd, fresh, length, get_32(root + 8));
        for (unsigned i = 0; ok && i < cells; i++) {
            unsigned at = (unsigned)root[12 + 2 * i] << 8 | root[13 + 2 * i];
            ok = at + 4 <= PAGE_BYTES &&
                 graft_page(fd, fresh, length, get_32((const uint8_t *)fresh + at));
        }
    }
    const uint8_t wal[2] = {2, 2};
    ok = ok && (!has_log || pwrite(fd, wal, 2, 18) == 2);
    if (fd >= 0)
        close(fd);
    if (!ok)
        orch_error_set(error, ORCH_ERROR_STORE, NULL, "cannot repair the first pages of '%s'",
                       path);
    return ok;
}

static bool graft(const char *path, const char *folder, bool has_log, GError **error)
{
    g_autofree char *name = g_build_filename(folder, "fresh.db", NULL);
    const struct store_options options = {.migrations = &store_migrations, .never_wal = true};
    struct orch_store *store = orch_store_open_with(name, ORCH_STORE_CREATE, &options, error);
    g_autofree char *bytes = NULL;
    size_t length;
    orch_store_close(store);
    return store && orch_file_read(name, 64 << 20, &bytes, &length, error) &&
           graft_pages(path, bytes, length, has_log, error);
}

/* ---- the copy ---------------------------------------------------------------------------------
 */

static bool has_bytes(const char *path, const char *ending)
{
    g_autofree char *name = g_strconcat(path, ending, NULL);
    struct stat info;
    return stat(name, &info) == 0 && info.st_size > 0;
}

bool orch_store_salvage_has_journal(const char *path)
{
    return has_bytes(path, "-wal") || has_bytes(path, "-journal");
}

static bool copy_with(const char *path, const char *copy, const char *ending, GError **error)
{
    g_autofree char *from = g_strconcat(path, ending, NULL);
    g_autofree char *to = g_strconcat(copy, ending, NULL);
    return !has_bytes(path, ending) || orch_file_copy(from, to, error);
}

static bool make_copy(const char *path, const char *copy, const char *folder,
                      enum store_salvage_way way, GError **error)
{
    struct stat before, after;
    bool alone = way == STORE_SALVAGE_ALONE;
    bool is_there = stat(path, &before) == 0;
    if (!is_there || !S_ISREG(before.st_mode)) {
        orch_error_set(error, ORCH_ERROR_IO, "name the file of a store with --db",
                       "cannot read '%s': %s", path,
                       is_there ? "not a regular file" : g_strerror(errno));
        return false;
    }
    if (!copy_with(path, copy, "", error) || (!alone && !copy_with(path, copy, "-wal", error)) ||
        (!alone && !copy_with(path, copy, "-journal", error)))
        return false;
    if (stat(path, &after) != 0 || after.st_size != before.st_size ||
        after.st_mtim.tv_sec != before.st_mtim.tv_sec ||
        after.st_mtim.tv_nsec != before.st_mtim.tv_nsec) {
        orch_error_set(error, ORCH_ERROR_IO,
                       "stop the program that writes to the store, and try again",
                       "'%s' changed while it was copied", path);
        return false;
    }
    bool has_log = !alone && has_bytes(path, "-wal");
    bool has_journal = !alone && has_bytes(path, "-journal");
    if (!has_bytes(path, "")) {
        orch_error_set(error, ORCH_ERROR_STORE, NULL, "'%s' is empty", path);
        return false;
    }
    if (way == STORE_SALVAGE_GRAFTED && !graft(copy, folder, has_log, error))
        return false;
    /* a journal contains the original size, and rolling it back needs the header unchanged */
    return has_journal || mend_header(copy, has_log, error);
}

/* Merges the log or journal into the copy, which then is a single file. */
static bool take_log(const char *file, GError **error)
{
    int64_t version;
    struct orch_store *copy = orch_store_open_raw(file, error);
    if (!copy)
        return false;
    if (orch_store_get_int(copy, &version, 0, NULL, "PRAGMA user_version", ""))
        sqlite3_wal_checkpoint_v2(copy->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    orch_store_close(copy);
    if (!orch_store_salvage_has_journal(file))
        return true;
    orch_error_set(error, ORCH_ERROR_STORE, NULL, "the journal cannot be read");
    return false;
}

/* Appends the root pages of the trees that the schema lists. */
static bool read_roots(const char *file, GArray *roots, GError **error)
{
    struct orch_store *copy = orch_store_open_raw(file, error);
    if (!copy)
        return false;
    sqlite3_stmt *s = orch_store_statement(
        copy, "SELECT DISTINCT rootpage FROM sqlite_schema WHERE rootpage > 1", error);
    int more = s ? 1 : -1;
    while (s && roots->len <= TREES_MAX && (more = orch_store_step(copy, s, error)) > 0) {
        uint32_t root = (uint32_t)MIN(sqlite3_column_int64(s, 0), G_MAXUINT32);
        g_array_append_val(roots, root);
    }
    if (more > 0) {
        sqlite3_reset(s);
        orch_error_set(error, ORCH_ERROR_STORE, NULL,
                       "the store has more than %d tables and indexes", TREES_MAX);
    }
    orch_store_close(copy);
    return more == 0;
}

/* Makes sure that reading the copy ends (salvage_pages.c): first for the schema's tree, then for
 * the trees that it lists. */
static bool cut_circles(const char *file, GError **error)
{
    g_autoptr(GArray) roots = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    const uint32_t schema = 1;
    g_array_append_val(roots, schema);
    return (!orch_store_salvage_has_journal(file) || take_log(file, error)) &&
           orch_store_salvage_cut(file, roots, error) && read_roots(file, roots, error) &&
           orch_store_salvage_cut(file, roots, error);
}

/* True when it is an orch store whose tables can be found. */
static bool is_ours(struct orch_store *copy, GError **error)
{
    int64_t application, schema, tables;
    if (!orch_store_exec(copy, "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY", "read",
                         error) ||
        !orch_store_get_int(copy, &application, 0, error, "PRAGMA application_id", "") ||
        !orch_store_get_int(copy, &schema, 0, error, "PRAGMA user_version", "") ||
        !orch_store_get_int(copy, &tables, 0, error,
                            "SELECT count(*) FROM sqlite_schema WHERE name IN ('run', 'source',"
                            " 'machine', 'recipe', 'param', 'input', 'result', 'artifact',"
                            " 'metric_name', 'metric', 'note', 'forecast', 'dataset', 'sample',"
                            " 'active', 'purged') AND type = 'table' AND rootpage > 0",
                            ""))
        return false;
    if (application != STORE_APPLICATION_ID || tables != 16) {
        orch_error_set(error, ORCH_ERROR_STORE, NULL, "the tables cannot be found");
        return false;
    }
    if (schema > ORCH_STORE_SCHEMA) {
        orch_error_set(error, ORCH_ERROR_STORE, "update orch", "schema version %d is newer than %d",
                       (int)schema, ORCH_STORE_SCHEMA);
        return false;
    }
    return true;
}

struct orch_store *orch_store_salvage_open(const char *path, const char *near,
                                           enum store_salvage_way way, GError **error)
{
    g_autofree char *folder = orch_temporary_name(near);
    if (mkdir(folder, 0700) != 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make a scratch folder '%s'",
                             folder);
        return NULL;
    }
    g_autofree char *file = g_build_filename(folder, "copy.db", NULL);
    struct orch_store *copy = make_copy(path, file, folder, way, error) && cut_circles(file, error)
                                  ? orch_store_open_raw(file, error)
                                  : NULL;
    if (copy && is_ours(copy, error)) {
        /* renames columns of a development version; fails without an effect on any other store */
        orch_store_exec(copy, store_migrations.renames, "read", NULL);
        g_free(copy->folder);
        copy->folder = g_steal_pointer(&folder); /* removed together with the copy */
        return copy;
    }
    orch_store_close(copy);
    orch_tree_remove(folder, NULL);
    return NULL;
}

void orch_store_salvage_close(struct orch_store *copy)
{
    if (!copy)
        return;
    g_autofree char *folder = g_strdup(copy->folder);
    orch_store_close(copy);
    orch_tree_remove(folder, NULL);
}
