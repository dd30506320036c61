/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a store is opened for reading without leaving files beside it.
 *
 * In WAL mode a reader needs FILE-wal and FILE-shm, and a read-only connection creates them without
 * removing them. In another user's folder they would then belong to the reader, and the owner could
 * no longer write. So there are three cases.
 *
 * When both exist, a writer is alive (or was killed), and the reader uses them; no file is created.
 * When neither exists, no process has the file open, and it is opened as immutable. When there is a
 * log without shared memory, as in a copy of a folder, the log contains rows, and reading it would
 * create FILE-shm; so the file and its log are read in a temporary copy.
 *
 * A store that the reader can write is opened for writing, but restricted to queries: its last
 * reader then removes the files, as SQLite does for each writer.
 */
#include "store/handle/open_to_read.h"
#include "store/handle/defence.h"
#include "store/handle/handle.h"

#include "lib/base/error.h"
#include "lib/base/temporary.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char *const COPIED[] = {"", "-journal", "-wal"};

/* ---- a copy -----------------------------------------------------------------------------------
 */

static int64_t bytes_of(const char *path, const char *ending)
{
    g_autofree char *name = g_strconcat(path, ending, NULL);
    struct stat info;
    return stat(name, &info) == 0 ? info.st_size : -1;
}

/* Limits a copy to half of the free disk space. */
static bool has_room(const char *path, const char *folder, GError **error)
{
    uint64_t bytes = 0;
    struct statvfs disk;
    for (size_t i = 0; i < G_N_ELEMENTS(COPIED); i++)
        bytes += (uint64_t)MAX(0, bytes_of(path, COPIED[i]));
    if (statvfs(folder, &disk) != 0 || bytes <= (uint64_t)disk.f_bavail * disk.f_frsize / 2)
        return true;
    g_autofree char *size = orch_bytes_format((int64_t)bytes);
    orch_error_set(error, ORCH_ERROR_STORE, "set TMPDIR to a larger disk",
                   "cannot read store '%s': there is no space for a temporary copy of %s", path,
                   size);
    return false;
}

bool orch_store_copy_aside(struct orch_store *store, GError **error)
{
    store->copy = orch_temporary_folder("copy", error);
    if (!store->copy || !has_room(store->path, store->copy, error))
        return false;
    for (size_t i = 0; i < G_N_ELEMENTS(COPIED); i++) {
        g_autofree char *from = g_strconcat(store->path, COPIED[i], NULL);
        g_autofree char *to = g_strconcat(store->copy, "/results.db", COPIED[i], NULL);
        if (access(from, F_OK) != 0)
            continue;
        if (!orch_file_copy(from, to, error) ||
            (i == 1 && !orch_store_check_journal(store->path, error)))
            return false;
    }
    store->original = store->path;
    store->path = g_strconcat(store->copy, "/results.db", NULL);
    return true;
}

/* ---- choosing how to open ---------------------------------------------------------------------
 */

/* Reads bytes 18 and 19 of the file (SQLite, file format, "file format version numbers") through
 * SQLite's own descriptor, because closing another one would drop this process's POSIX locks. */
static bool is_in_wal_mode(struct orch_store *store)
{
    sqlite3_file *file = NULL;
    uint8_t versions[2] = {0};
    return sqlite3_file_control(store->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK &&
           file && file->pMethods &&
           file->pMethods->xRead(file, versions, sizeof versions, 18) == SQLITE_OK &&
           versions[1] == 2;
}

/* Chooses how to read the file of a read-only handle that has not read anything yet. */
static enum store_read_mode store_read_mode_of(struct orch_store *store)
{
    if (sqlite3_db_readonly(store->db, "main") != 1 || !is_in_wal_mode(store))
        return STORE_READ_PLAIN;
    if (bytes_of(store->path, "-journal") > 0) /* left by an interrupted change of mode */
        return STORE_READ_COPY;
    if (bytes_of(store->path, "-shm") >= 0)
        return STORE_READ_PLAIN;
    return bytes_of(store->path, "-wal") > 0 ? STORE_READ_COPY : STORE_READ_IMMUTABLE;
}

bool orch_store_open_to_read(struct orch_store *store, GError **error)
{
    if (!orch_store_open_handle(store, SQLITE_OPEN_READONLY, false, error))
        return false;
    enum store_read_mode way = store_read_mode_of(store);
    if (way == STORE_READ_PLAIN)
        return true;
    orch_store_close_handle(store);
    if (way == STORE_READ_IMMUTABLE)
        return orch_store_open_handle(store, SQLITE_OPEN_READONLY, true, error);
    return orch_store_copy_aside(store, error) &&
           orch_store_open_handle(store, SQLITE_OPEN_READWRITE, false, error);
}
