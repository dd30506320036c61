/* SPDX-License-Identifier: MIT */
/* The functions that change, rename and remove files by their names. */
#include "lib/watch/preload_next.h"
#include "lib/watch/preload_note.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

ORCH_WATCH_BEFORE(int, rename, const char *from, const char *to)
{
    int result = ORCH_WATCH_CALL_NEXT(rename, from, to);
    if (result == 0)
        orch_watch_renamed(AT_FDCWD, from, AT_FDCWD, to);
    return result;
}

ORCH_WATCH_BEFORE(int, renameat, int from_fd, const char *from, int to_fd, const char *to)
{
    int result = ORCH_WATCH_CALL_NEXT(renameat, from_fd, from, to_fd, to);
    if (result == 0)
        orch_watch_renamed(from_fd, from, to_fd, to);
    return result;
}

ORCH_WATCH_BEFORE(int, renameat2, int from_fd, const char *from, int to_fd, const char *to,
                  unsigned flags)
{
    int result = ORCH_WATCH_CALL_NEXT(renameat2, from_fd, from, to_fd, to, flags);
    if (result == 0)
        orch_watch_renamed(from_fd, from, to_fd, to);
    return result;
}

ORCH_WATCH_BEFORE(int, link, const char *from, const char *to)
{
    int result = ORCH_WATCH_CALL_NEXT(link, from, to);
    if (result == 0)
        orch_watch_linked(AT_FDCWD, from, AT_FDCWD, to);
    return result;
}

ORCH_WATCH_BEFORE(int, linkat, int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    int result = ORCH_WATCH_CALL_NEXT(linkat, from_fd, from, to_fd, to, flags);
    if (result == 0)
        orch_watch_linked(from_fd, from, to_fd, to);
    return result;
}

ORCH_WATCH_BEFORE(int, unlink, const char *path)
{
    int result = ORCH_WATCH_CALL_NEXT(unlink, path);
    if (result == 0)
        orch_watch_removed(AT_FDCWD, path);
    return result;
}

ORCH_WATCH_BEFORE(int, unlinkat, int dirfd, const char *path, int flags)
{
    int result = ORCH_WATCH_CALL_NEXT(unlinkat, dirfd, path, flags);
    if (result == 0 && !(flags & AT_REMOVEDIR))
        orch_watch_removed(dirfd, path);
    return result;
}

ORCH_WATCH_BEFORE(int, remove, const char *path)
{
    bool is_file = path && orch_watch_is_file(path);
    int result = ORCH_WATCH_CALL_NEXT(remove, path);
    if (result == 0 && is_file)
        orch_watch_removed(AT_FDCWD, path);
    return result;
}

#define TRUNCATE(NAME, LENGTH)                                                                     \
    ORCH_WATCH_BEFORE(int, NAME, const char *path, LENGTH length)                                  \
    {                                                                                              \
        int result = ORCH_WATCH_CALL_NEXT(NAME, path, length);                                     \
        if (result == 0)                                                                           \
            orch_watch_wrote(AT_FDCWD, path);                                                      \
        return result;                                                                             \
    }
TRUNCATE(truncate, off_t)
TRUNCATE(truncate64, int64_t)

/* ---- attributes -------------------------------------------------------------------------------
 */

static int touched(int result, int dirfd, const char *name, int flags)
{
    if (result == 0 && name && !(flags & AT_SYMLINK_NOFOLLOW))
        orch_watch_touched(dirfd, name);
    return result;
}

static int touched_fd(int result, int fd)
{
    if (result == 0)
        orch_watch_touched(fd, NULL);
    return result;
}

ORCH_WATCH_BEFORE(int, chmod, const char *path, mode_t mode)
{
    return touched(ORCH_WATCH_CALL_NEXT(chmod, path, mode), AT_FDCWD, path, 0);
}

ORCH_WATCH_BEFORE(int, fchmodat, int dirfd, const char *path, mode_t mode, int flags)
{
    return touched(ORCH_WATCH_CALL_NEXT(fchmodat, dirfd, path, mode, flags), dirfd, path, flags);
}

ORCH_WATCH_BEFORE(int, chown, const char *path, uid_t uid, gid_t gid)
{
    return touched(ORCH_WATCH_CALL_NEXT(chown, path, uid, gid), AT_FDCWD, path, 0);
}

ORCH_WATCH_BEFORE(int, fchownat, int dirfd, const char *path, uid_t uid, gid_t gid, int flags)
{
    return touched(ORCH_WATCH_CALL_NEXT(fchownat, dirfd, path, uid, gid, flags), dirfd, path,
                   flags);
}

ORCH_WATCH_BEFORE(int, utime, const char *path, const void *times)
{
    return touched(ORCH_WATCH_CALL_NEXT(utime, path, times), AT_FDCWD, path, 0);
}

ORCH_WATCH_BEFORE(int, utimes, const char *path, const void *times)
{
    return touched(ORCH_WATCH_CALL_NEXT(utimes, path, times), AT_FDCWD, path, 0);
}

/* Without a name it is futimens. */
ORCH_WATCH_BEFORE(int, utimensat, int dirfd, const char *path, const void *times, int flags)
{
    int result = ORCH_WATCH_CALL_NEXT(utimensat, dirfd, path, times, flags);
    return path ? touched(result, dirfd, path, flags) : touched_fd(result, dirfd);
}

ORCH_WATCH_BEFORE(int, fchmod, int fd, mode_t mode)
{
    return touched_fd(ORCH_WATCH_CALL_NEXT(fchmod, fd, mode), fd);
}

ORCH_WATCH_BEFORE(int, fchown, int fd, uid_t uid, gid_t gid)
{
    return touched_fd(ORCH_WATCH_CALL_NEXT(fchown, fd, uid, gid), fd);
}

ORCH_WATCH_BEFORE(int, futimens, int fd, const void *times)
{
    return touched_fd(ORCH_WATCH_CALL_NEXT(futimens, fd, times), fd);
}

ORCH_WATCH_BEFORE(int, setxattr, const char *path, const char *name, const void *value, size_t size,
                  int flags)
{
    return touched(ORCH_WATCH_CALL_NEXT(setxattr, path, name, value, size, flags), AT_FDCWD, path,
                   0);
}

ORCH_WATCH_BEFORE(int, removexattr, const char *path, const char *name)
{
    return touched(ORCH_WATCH_CALL_NEXT(removexattr, path, name), AT_FDCWD, path, 0);
}
