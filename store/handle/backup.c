/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A consistent copy of the file while others write, through SQLite's backup API. It is written to a
 * temporary file and then renamed, so a copy with the final name is always complete. */
#include "store/handle/sql.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Copies all pages in one step under one read transaction: writers go on (WAL) or wait (rollback
 * journal). In smaller steps the backup would restart with every commit of another process. */
static int copy_all(sqlite3 *from, sqlite3 *to)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    if (!backup)
        return sqlite3_errcode(to);
    int64_t until = orch_mono_ns() + (int64_t)STORE_BUSY_MS * 1000000;
    int code = sqlite3_backup_step(backup, -1);
    while ((code == SQLITE_BUSY || code == SQLITE_LOCKED) && orch_mono_ns() < until) {
        g_usleep(5000);
        code = sqlite3_backup_step(backup, -1);
    }
    int finished = sqlite3_backup_finish(backup);
    return code == SQLITE_DONE ? finished : code;
}

static bool copy_pages(struct orch_store *store, const char *temporary, GError **error)
{
    sqlite3 *to = NULL, *second = NULL, *from = store->db;
    int code = sqlite3_open_v2(
        temporary, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK && sqlite3_txn_state(from, "main") == SQLITE_TXN_WRITE) {
        /* a handle with an open write transaction cannot be the source; a second one sees the
         * previous commit */
        code =
            sqlite3_open_v2(store->path, &second, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
        if (code == SQLITE_OK)
            sqlite3_busy_timeout(second, STORE_BUSY_MS);
        from = second;
    }
    if (code == SQLITE_OK) {
        sqlite3_exec(to, "PRAGMA synchronous = OFF", NULL, NULL, NULL); /* synced by the caller */
        code = copy_all(from, to);
    }
    int system_errno = to && (code & 0xff) != SQLITE_FULL ? sqlite3_system_errno(to) : 0;
    sqlite3_close(second);
    sqlite3_close(to);
    return code == SQLITE_OK || orch_store_fail_code(temporary, code, system_errno, error, "write");
}

static bool sync_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = fsync(fd) == 0;
    int saved = errno;
    close(fd);
    errno = saved;
    return ok;
}

/* Never overwrites a file: link() fails if `dest` exists. Where links are not supported, existence
 * is checked first. */
static bool give_name(const char *temporary, const char *dest)
{
    if (link(temporary, dest) == 0)
        return unlink(temporary) == 0;
    if (errno == EEXIST)
        return false;
    if (access(dest, F_OK) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(temporary, dest) == 0;
}

bool orch_store_backup_to(struct orch_store *store, const char *dest, GError **error)
{
    if (access(dest, F_OK) == 0) {
        orch_error_set(error, ORCH_ERROR_IO, "choose another name",
                       "cannot back up to '%s': it already exists", dest);
        return false;
    }
    g_autofree char *temporary = orch_temporary_name(dest);
    bool ok = copy_pages(store, temporary, error);
    if (ok && !(sync_file(temporary) && give_name(temporary, dest))) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot back up to '%s'", dest);
        ok = false;
    }
    if (!ok)
        unlink(temporary);
    return ok;
}

bool orch_store_backup(struct orch_store *store, const char *dest, GError **error)
{
    g_autofree char *path = orch_path_absolute(dest, NULL);
    return orch_store_backup_to(store, path, error);
}
