/* SPDX-License-Identifier: MIT */
/* The functions that change, rename and remove files by their names. */
#include "lib/watch/preload_next.h"
#include "lib/watch/preload_note.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wnonnull-compare"

typedef int name_function(const char *);
typedef int names_function(const char *, const char *);
typedef int renameat_function(int, const char *, int, const char *);
typedef int renameat2_function(int, const char *, int, const char *, unsigned);
typedef int linkat_function(int, const char *, int, const char *, int);
typedef int unlinkat_function(int, const char *, int);
typedef int truncate_function(const char *, off_t);
typedef int truncate64_function(const char *, int64_t);
typedef int chmod_function(const char *, mode_t);
typedef int fchmodat_function(int, const char *, mode_t, int);
typedef int chown_function(const char *, uid_t, gid_t);
typedef int fchownat_function(int, const char *, uid_t, gid_t, int);
typedef int utime_function(const char *, const void *);
typedef int utimensat_function(int, const char *, const struct timespec *, int);
typedef int fchmod_function(int, mode_t);
typedef int fchown_function(int, uid_t, gid_t);
typedef int futimens_function(int, const struct timespec *);
typedef int setxattr_function(const char *, const char *, const void *, size_t, int);

/* Calls the next function, or fails. */
#define CALL(TYPE, NAME, ...)                                                                      \
    (ORCH_WATCH_NEXT(TYPE, NAME) ? ORCH_WATCH_NEXT(TYPE, NAME)(__VA_ARGS__) : orch_watch_missing())

ORCH_WATCH_EXPORTED int rename(const char *from, const char *to)
{
    int result = CALL(names_function, rename, from, to);
    if (result == 0)
        orch_watch_renamed(AT_FDCWD, from, AT_FDCWD, to);
    return result;
}

ORCH_WATCH_EXPORTED int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    int result = CALL(renameat_function, renameat, from_fd, from, to_fd, to);
    if (result == 0)
        orch_watch_renamed(from_fd, from, to_fd, to);
    return result;
}

ORCH_WATCH_EXPORTED int renameat2(int from_fd, const char *from, int to_fd, const char *to,
                                  unsigned flags)
{
    int result = CALL(renameat2_function, renameat2, from_fd, from, to_fd, to, flags);
    if (result == 0)
        orch_watch_renamed(from_fd, from, to_fd, to);
    return result;
}

ORCH_WATCH_EXPORTED int link(const char *from, const char *to)
{
    int result = CALL(names_function, link, from, to);
    if (result == 0)
        orch_watch_linked(AT_FDCWD, from, AT_FDCWD, to);
    return result;
}

ORCH_WATCH_EXPORTED int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    int result = CALL(linkat_function, linkat, from_fd, from, to_fd, to, flags);
    if (result == 0)
        orch_watch_linked(from_fd, from, to_fd, to);
    return result;
}

ORCH_WATCH_EXPORTED int unlink(const char *path)
{
    int result = CALL(name_function, unlink, path);
    if (result == 0)
        orch_watch_removed(AT_FDCWD, path);
    return result;
}

ORCH_WATCH_EXPORTED int unlinkat(int dirfd, const char *path, int flags)
{
    int result = CALL(unlinkat_function, unlinkat, dirfd, path, flags);
    if (result == 0 && !(flags & AT_REMOVEDIR))
        orch_watch_removed(dirfd, path);
    return result;
}

ORCH_WATCH_EXPORTED int remove(const char *path)
{
    bool is_file = path && orch_watch_is_file(path);
    int result = CALL(name_function, remove, path);
    if (result == 0 && is_file)
        orch_watch_removed(AT_FDCWD, path);
    return result;
}

#define DEFINE_TRUNCATE(NAME, LENGTH)                                                              \
    ORCH_WATCH_EXPORTED int NAME(const char *path, LENGTH length)                                  \
    {                                                                                              \
        int result = CALL(NAME##_function, NAME, path, length);                                    \
        if (result == 0)                                                                           \
            orch_watch_wrote(AT_FDCWD, path);                                                      \
        return result;                                                                             \
    }
DEFINE_TRUNCATE(truncate, off_t)
DEFINE_TRUNCATE(truncate64, int64_t)

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

ORCH_WATCH_EXPORTED int chmod(const char *path, mode_t mode)
{
    return touched(CALL(chmod_function, chmod, path, mode), AT_FDCWD, path, 0);
}

ORCH_WATCH_EXPORTED int fchmodat(int dirfd, const char *path, mode_t mode, int flags)
{
    return touched(CALL(fchmodat_function, fchmodat, dirfd, path, mode, flags), dirfd, path, flags);
}

ORCH_WATCH_EXPORTED int chown(const char *path, uid_t uid, gid_t gid)
{
    return touched(CALL(chown_function, chown, path, uid, gid), AT_FDCWD, path, 0);
}

ORCH_WATCH_EXPORTED int fchownat(int dirfd, const char *path, uid_t uid, gid_t gid, int flags)
{
    return touched(CALL(fchownat_function, fchownat, dirfd, path, uid, gid, flags), dirfd, path,
                   flags);
}

/* The C library's headers declare these with arguments of their own types. */
#define DEFINE_UTIME(NAME, SYMBOL)                                                                 \
    ORCH_WATCH_EXPORTED int watched_##NAME(const char *path, const void *times) __asm__(SYMBOL);   \
    ORCH_WATCH_EXPORTED int watched_##NAME(const char *path, const void *times)                    \
    {                                                                                              \
        return touched(CALL(utime_function, NAME, path, times), AT_FDCWD, path, 0);                \
    }
DEFINE_UTIME(utime, "utime")
DEFINE_UTIME(utimes, "utimes")

/* Without a name it is futimens. */
ORCH_WATCH_EXPORTED int utimensat(int dirfd, const char *path, const struct timespec times[2],
                                  int flags)
{
    int result = CALL(utimensat_function, utimensat, dirfd, path, times, flags);
    return path ? touched(result, dirfd, path, flags) : touched_fd(result, dirfd);
}

ORCH_WATCH_EXPORTED int fchmod(int fd, mode_t mode)
{
    return touched_fd(CALL(fchmod_function, fchmod, fd, mode), fd);
}

ORCH_WATCH_EXPORTED int fchown(int fd, uid_t uid, gid_t gid)
{
    return touched_fd(CALL(fchown_function, fchown, fd, uid, gid), fd);
}

ORCH_WATCH_EXPORTED int futimens(int fd, const struct timespec times[2])
{
    return touched_fd(CALL(futimens_function, futimens, fd, times), fd);
}

ORCH_WATCH_EXPORTED int setxattr(const char *path, const char *name, const void *value, size_t size,
                                 int flags)
{
    return touched(CALL(setxattr_function, setxattr, path, name, value, size, flags), AT_FDCWD,
                   path, 0);
}

ORCH_WATCH_EXPORTED int removexattr(const char *path, const char *name)
{
    return touched(CALL(names_function, removexattr, path, name), AT_FDCWD, path, 0);
}
