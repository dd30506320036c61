/* SPDX-License-Identifier: MIT */
/* The functions that ask for the state of an open file, or read it. */
#include "lib/watch/preload_next.h"
#include "lib/watch/preload_note.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __LP64__ /* else the structures differ, and the file is looked at when it is read */
static int seen(int result, int fd, const struct stat *info)
{
    if (result == 0 && orch_watch_is_latest(fd))
        orch_watch_seen(fd, info);
    return result;
}

ORCH_WATCH_BEFORE(int, fstat, int fd, struct stat *info)
{
    return seen(ORCH_WATCH_CALL_NEXT(fstat, fd, info), fd, info);
}

ORCH_WATCH_BEFORE(int, fstat64, int fd, struct stat *info)
{
    return seen(ORCH_WATCH_CALL_NEXT(fstat64, fd, info), fd, info);
}

ORCH_WATCH_BEFORE(int, __fxstat, int version, int fd, struct stat *info)
{
    return seen(ORCH_WATCH_CALL_NEXT(__fxstat, version, fd, info), fd, info);
}

ORCH_WATCH_BEFORE(int, __fxstat64, int version, int fd, struct stat *info)
{
    return seen(ORCH_WATCH_CALL_NEXT(__fxstat64, version, fd, info), fd, info);
}
#endif

/* Before a call that reads `fd`, or gives it to something that does. */
#define ORCH_WATCH_READS(type, NAME, PARAMETERS, ...)                                              \
    ORCH_WATCH_BEFORE(type, NAME, PARAMETERS)                                                      \
    {                                                                                              \
        orch_watch_type_##NAME *next = ORCH_WATCH_NEXT(NAME);                                      \
        orch_watch_reading(fd);                                                                    \
        return next ? next(__VA_ARGS__) : orch_watch_missing();                                    \
    }
#define LIST(...) __VA_ARGS__
ORCH_WATCH_READS(ssize_t, read, LIST(int fd, void *to, size_t bytes), fd, to, bytes)
ORCH_WATCH_READS(ssize_t, __read_chk, LIST(int fd, void *to, size_t bytes, size_t room), fd, to,
                 bytes, room)
ORCH_WATCH_READS(ssize_t, pread, LIST(int fd, void *to, size_t bytes, off_t at), fd, to, bytes, at)
ORCH_WATCH_READS(ssize_t, pread64, LIST(int fd, void *to, size_t bytes, int64_t at), fd, to, bytes,
                 at)
ORCH_WATCH_READS(ssize_t, __pread_chk, LIST(int fd, void *to, size_t bytes, off_t at, size_t room),
                 fd, to, bytes, at, room)
ORCH_WATCH_READS(ssize_t, __pread64_chk,
                 LIST(int fd, void *to, size_t bytes, int64_t at, size_t room), fd, to, bytes, at,
                 room)
ORCH_WATCH_READS(ssize_t, readv, LIST(int fd, const struct iovec *to, int count), fd, to, count)
ORCH_WATCH_READS(int, statx, LIST(int fd, const char *name, int flags, unsigned mask, void *info),
                 fd, name, flags, mask, info)
ORCH_WATCH_READS(int, dup, int fd, fd)
ORCH_WATCH_READS(ssize_t, sendfile, LIST(int to, int fd, off_t *at, size_t bytes), to, fd, at,
                 bytes)
ORCH_WATCH_READS(ssize_t, sendfile64, LIST(int to, int fd, int64_t *at, size_t bytes), to, fd, at,
                 bytes)
ORCH_WATCH_READS(ssize_t, copy_file_range,
                 LIST(int fd, int64_t *at, int to, int64_t *to_at, size_t bytes, unsigned flags),
                 fd, at, to, to_at, bytes, flags)

ORCH_WATCH_BEFORE(FILE *, fdopen, int fd, const char *mode)
{
    orch_watch_type_fdopen *next = ORCH_WATCH_NEXT(fdopen);
    orch_watch_reading(fd);
    return next ? next(fd, mode) : (orch_watch_missing(), NULL);
}
