/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a file is opened by who only reads it, so that nothing is left beside it.
 *
 * In WAL mode a reader needs FILE-wal and FILE-shm, and a connection that may not write makes them
 * without removing them: in a colleague's folder they then belong to the reader, and the owner
 * cannot write any more. So:
 *
 * - Where both are there, a writer is alive (or was killed): the reader takes part. Nothing new is
 *   made.
 * - Where neither is there, nobody has the file open, and it is read as a file that does not
 * change.
 * - A log without shared memory, as in a copy of a folder: rows are in the log, and reading it
 *   makes FILE-shm; the file and its log are read in a copy of our own.
 *
 * A store that the reader may write is opened for writing, with queries alone allowed: its last
 * reader then removes what it made, as SQLite does for each writer.
 */
#include "store/internal.h"

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

/* A copy may take half of what is free. */
static bool has_room(const char *path, const char *folder, GError **error)
{
    uint64_t bytes = 0;
    struct statvfs disk;
    for (size_t i = 0; i < G_N_ELEMENTS(COPIED); i++)
        bytes += (uint64_t)MAX(0, bytes_of(path, COPIED[i]));
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

bool store_copy_aside(struct orch_store *store, GError **error)
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
            (i == 1 && !store_check_journal(store->path, error)))
            return false;
    }
    store->original = store->path;
    store->path = g_strconcat(store->copy, "/results.db", NULL);
    return true;
}

/* ---- which way --------------------------------------------------------------------------------
 */

/* Bytes 18 and 19 of the file (SQLite, file format, "file format version numbers"), read through
 * SQLite's own descriptor: closing another one would drop this process's locks. */
static bool is_in_wal_mode(struct orch_store *store)
{
    sqlite3_file *file = NULL;
    uint8_t versions[2] = {0};
    return sqlite3_file_control(store->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK &&
           file && file->pMethods &&
           file->pMethods->xRead(file, versions, sizeof versions, 18) == SQLITE_OK &&
           versions[1] == 2;
}

enum store_way store_way_of_reading(struct orch_store *store)
{
    if (sqlite3_db_readonly(store->db, "main") != 1 || !is_in_wal_mode(store))
        return STORE_WAY_PLAIN;
    if (bytes_of(store->path, "-journal") > 0) /* of a change of mode that was killed */
        return STORE_WAY_COPY;
    if (bytes_of(store->path, "-shm") >= 0)
        return STORE_WAY_PLAIN;
    return bytes_of(store->path, "-wal") > 0 ? STORE_WAY_COPY : STORE_WAY_IMMUTABLE;
}

bool store_open_to_read(struct orch_store *store, GError **error)
{
    if (!store_open_handle(store, SQLITE_OPEN_READONLY, false, error))
        return false;
    enum store_way way = store_way_of_reading(store);
    if (way == STORE_WAY_PLAIN)
        return true;
    store_close_handle(store);
    if (way == STORE_WAY_IMMUTABLE)
        return store_open_handle(store, SQLITE_OPEN_READONLY, true, error);
    return store_copy_aside(store, error) &&
           store_open_handle(store, SQLITE_OPEN_READWRITE, false, error);
}
