/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A SQLite VFS over the default one that lets write number N fail. Writes are xWrite, xTruncate,
 * xSync and the making of a file, of any file of any handle. */
#ifndef ORCH_TESTS_FAULT_VFS_H
#define ORCH_TESTS_FAULT_VFS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>

static struct {
    int countdown; /* writes until the one that fails; 0: none will */
    int code;      /* SQLITE_FULL, SQLITE_IOERR_WRITE, ... */
    bool lasting;  /* all after it fail too, as on a full disk */
    bool hit;
    bool no_sync; /* nothing is lost when no machine stops, and tests are quick */
    void (*on_read)(sqlite3_int64 at, int n); /* told of every read, or NULL */
} fault;

struct fault_file {
    sqlite3_file base;
    sqlite3_file *real; /* behind this struct */
};

static sqlite3_vfs *fault_default;

static inline bool fault_now(void)
{
    if (fault.hit && fault.lasting)
        return true;
    if (fault.countdown == 0 || --fault.countdown > 0)
        return false;
    fault.hit = true;
    return true;
}

#define FAULT_REAL(file) (((struct fault_file *)(file))->real)

static int fault_close(sqlite3_file *f)
{
    return FAULT_REAL(f)->pMethods ? FAULT_REAL(f)->pMethods->xClose(FAULT_REAL(f)) : SQLITE_OK;
}

static int fault_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    if (fault.on_read)
        fault.on_read(at, n);
    return FAULT_REAL(f)->pMethods->xRead(FAULT_REAL(f), to, n, at);
}

/* Half of the bytes get there first: the worst of both. */
static int fault_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
    bool fails = fault_now();
    int code = FAULT_REAL(f)->pMethods->xWrite(FAULT_REAL(f), from, fails ? n / 2 : n, at);
    return fails ? fault.code : code;
}

static int fault_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return fault_now() ? SQLITE_IOERR_TRUNCATE
                       : FAULT_REAL(f)->pMethods->xTruncate(FAULT_REAL(f), size);
}

static int fault_sync(sqlite3_file *f, int flags)
{
    if (fault_now())
        return SQLITE_IOERR_FSYNC;
    return fault.no_sync ? SQLITE_OK : FAULT_REAL(f)->pMethods->xSync(FAULT_REAL(f), flags);
}

static int fault_size(sqlite3_file *f, sqlite3_int64 *out)
{
    return FAULT_REAL(f)->pMethods->xFileSize(FAULT_REAL(f), out);
}

static int fault_lock(sqlite3_file *f, int level)
{
    return FAULT_REAL(f)->pMethods->xLock(FAULT_REAL(f), level);
}

static int fault_unlock(sqlite3_file *f, int level)
{
    return FAULT_REAL(f)->pMethods->xUnlock(FAULT_REAL(f), level);
}

static int fault_reserved(sqlite3_file *f, int *out)
{
    return FAULT_REAL(f)->pMethods->xCheckReservedLock(FAULT_REAL(f), out);
}

static int fault_control(sqlite3_file *f, int op, void *arg)
{
    return FAULT_REAL(f)->pMethods->xFileControl(FAULT_REAL(f), op, arg);
}

static int fault_sector(sqlite3_file *f)
{
    return FAULT_REAL(f)->pMethods->xSectorSize(FAULT_REAL(f));
}

static int fault_traits(sqlite3_file *f)
{
    return FAULT_REAL(f)->pMethods->xDeviceCharacteristics(FAULT_REAL(f));
}

static int fault_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
    return FAULT_REAL(f)->pMethods->xShmMap(FAULT_REAL(f), page, size, extend, out);
}

static int fault_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return FAULT_REAL(f)->pMethods->xShmLock(FAULT_REAL(f), offset, n, flags);
}

static void fault_shm_barrier(sqlite3_file *f)
{
    FAULT_REAL(f)->pMethods->xShmBarrier(FAULT_REAL(f));
}

static int fault_shm_unmap(sqlite3_file *f, int remove)
{
    return FAULT_REAL(f)->pMethods->xShmUnmap(FAULT_REAL(f), remove);
}

static const sqlite3_io_methods FAULT_METHODS = {
    .iVersion = 2, /* no memory mapping: every write is seen */
    .xClose = fault_close,
    .xRead = fault_read,
    .xWrite = fault_write,
    .xTruncate = fault_truncate,
    .xSync = fault_sync,
    .xFileSize = fault_size,
    .xLock = fault_lock,
    .xUnlock = fault_unlock,
    .xCheckReservedLock = fault_reserved,
    .xFileControl = fault_control,
    .xSectorSize = fault_sector,
    .xDeviceCharacteristics = fault_traits,
    .xShmMap = fault_shm_map,
    .xShmLock = fault_shm_lock,
    .xShmBarrier = fault_shm_barrier,
    .xShmUnmap = fault_shm_unmap,
};

static int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                      int *out_flags)
{
    (void)vfs;
    struct fault_file *f = (struct fault_file *)file;
    f->base.pMethods = NULL;
    f->real = (sqlite3_file *)(f + 1);
    if ((flags & SQLITE_OPEN_CREATE) && fault_now())
        return SQLITE_CANTOPEN;
    int code = fault_default->xOpen(fault_default, name, f->real, flags, out_flags);
    if (f->real->pMethods)
        f->base.pMethods = &FAULT_METHODS;
    return code;
}

/** Makes it the default VFS of this process. */
static inline void fault_vfs_register(void)
{
    static sqlite3_vfs vfs;
    fault_default = sqlite3_vfs_find(NULL);
    vfs = *fault_default;
    vfs.zName = "fault";
    vfs.szOsFile = (int)sizeof(struct fault_file) + fault_default->szOsFile;
    vfs.xOpen = fault_open;
    sqlite3_vfs_register(&vfs, 1);
}

#endif
