/* SPDX-License-Identifier: MIT */
/* The functions that open and close files. */
#include "lib/watch/preload_next.h"
#include "lib/watch/preload_note.h"
#include "lib/watch/preload_path.h"
#include "lib/watch/preload_raw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

#pragma weak fileno

static mode_t mode_of(int flags, va_list args)
{
    bool has_mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    return has_mode ? va_arg(args, mode_t) : 0;
}

/* A file without a name gets one later, if at all. */
static int noted(int fd, int dirfd, const char *name, int flags)
{
    bool has_name = (flags & O_TMPFILE) != O_TMPFILE;
    return has_name ? orch_watch_opened(fd, dirfd, name, flags) : fd;
}

/* `name` NULL: freopen opens the same file again. */
static FILE *noted_stream(FILE *file, const char *name, const char *mode)
{
    struct orch_watch_path path;
    if (!file || !mode || !fileno || !orch_watch_memory())
        return file;
    int saved = errno;
    if (!name && orch_watch_path_of(fileno(file), &path))
        name = path.text;
    bool is_both = false;
    for (const char *c = mode; *c && *c != ','; c++)
        is_both = is_both || *c == '+';
    int flags = is_both ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
    orch_watch_opened(fileno(file), AT_FDCWD, name, flags | (*mode == 'w' ? O_TRUNC : 0));
    orch_watch_reading(fileno(file)); /* by the C library itself */
    errno = saved;
    return file;
}

ORCH_WATCH_BEFORE(int, close, int fd)
{
    orch_watch_closing(fd);
    return ORCH_WATCH_CALL_NEXT(close, fd);
}

/* A shell writes to a file by another number, and closes it by giving the number to what was there
 * before. */
ORCH_WATCH_BEFORE(int, dup2, int from, int to)
{
    if (from != to)
        orch_watch_closing(to);
    return orch_watch_doubled(ORCH_WATCH_CALL_NEXT(dup2, from, to), from);
}

ORCH_WATCH_BEFORE(int, dup3, int from, int to, int flags)
{
    orch_watch_closing(to);
    return orch_watch_doubled(ORCH_WATCH_CALL_NEXT(dup3, from, to, flags), from);
}

/* A shell reads its script by another number. The third argument is passed on as it came. */
#define ORCH_WATCH_FCNTL(NAME)                                                                     \
    ORCH_WATCH_BEFORE(int, NAME, int fd, int command, void *argument)                              \
    {                                                                                              \
        bool doubles = command == F_DUPFD || command == F_DUPFD_CLOEXEC;                           \
        int result = ORCH_WATCH_CALL_NEXT(NAME, fd, command, argument);                            \
        return doubles ? orch_watch_doubled(result, fd) : result;                                  \
    }
ORCH_WATCH_FCNTL(fcntl)
ORCH_WATCH_FCNTL(fcntl64)

/* The stream's last bytes are written by fclose itself. */
ORCH_WATCH_BEFORE(int, fclose, FILE *file)
{
    uint32_t record = 0;
    if (orch_watch_memory() && file && fileno) {
        int saved = errno;
        record = orch_watch_written(fileno(file));
        errno = saved;
    }
    int result = ORCH_WATCH_CALL_NEXT(fclose, file);
    if (record)
        orch_watch_closed(record);
    return result;
}

#define OPEN(NAME)                                                                                 \
    ORCH_WATCH_BEFORE(int, NAME, const char *path, int flags, ...)                                 \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = mode_of(flags, args);                                                        \
        va_end(args);                                                                              \
        return noted(ORCH_WATCH_CALL_NEXT(NAME, path, flags, mode), AT_FDCWD, path, flags);        \
    }
#define OPENAT(NAME)                                                                               \
    ORCH_WATCH_BEFORE(int, NAME, int dirfd, const char *path, int flags, ...)                      \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = mode_of(flags, args);                                                        \
        va_end(args);                                                                              \
        return noted(ORCH_WATCH_CALL_NEXT(NAME, dirfd, path, flags, mode), dirfd, path, flags);    \
    }
#define OPEN_2(NAME)                                                                               \
    ORCH_WATCH_BEFORE(int, NAME, const char *path, int flags)                                      \
    {                                                                                              \
        return noted(ORCH_WATCH_CALL_NEXT(NAME, path, flags), AT_FDCWD, path, flags);              \
    }
#define OPENAT_2(NAME)                                                                             \
    ORCH_WATCH_BEFORE(int, NAME, int dirfd, const char *path, int flags)                           \
    {                                                                                              \
        return noted(ORCH_WATCH_CALL_NEXT(NAME, dirfd, path, flags), dirfd, path, flags);          \
    }
#define CREAT(NAME)                                                                                \
    ORCH_WATCH_BEFORE(int, NAME, const char *path, mode_t mode)                                    \
    {                                                                                              \
        return noted(ORCH_WATCH_CALL_NEXT(NAME, path, mode), AT_FDCWD, path,                       \
                     O_WRONLY | O_CREAT | O_TRUNC);                                                \
    }
#define FOPEN(NAME)                                                                                \
    ORCH_WATCH_BEFORE(FILE *, NAME, const char *path, const char *mode)                            \
    {                                                                                              \
        orch_watch_type_##NAME *next = ORCH_WATCH_NEXT(NAME);                                      \
        return noted_stream(next ? next(path, mode) : (orch_watch_missing(), NULL), path, mode);   \
    }
#define FREOPEN(NAME)                                                                              \
    ORCH_WATCH_BEFORE(FILE *, NAME, const char *path, const char *mode, FILE *file)                \
    {                                                                                              \
        orch_watch_type_##NAME *next = ORCH_WATCH_NEXT(NAME);                                      \
        return noted_stream(next ? next(path, mode, file) : (orch_watch_missing(), NULL), path,    \
                            mode);                                                                 \
    }
/* The template then has the file's name. */
#define MKSTEMP(NAME)                                                                              \
    ORCH_WATCH_BEFORE(int, NAME, char *path)                                                       \
    {                                                                                              \
        return noted(ORCH_WATCH_CALL_NEXT(NAME, path), AT_FDCWD, path, O_RDWR | O_EXCL);           \
    }
#define MKSTEMP_NUMBER(NAME)                                                                       \
    ORCH_WATCH_BEFORE(int, NAME, char *path, int number)                                           \
    {                                                                                              \
        return noted(ORCH_WATCH_CALL_NEXT(NAME, path, number), AT_FDCWD, path, O_RDWR | O_EXCL);   \
    }
#define MKOSTEMPS(NAME)                                                                            \
    ORCH_WATCH_BEFORE(int, NAME, char *path, int suffix, int flags)                                \
    {                                                                                              \
        return noted(ORCH_WATCH_CALL_NEXT(NAME, path, suffix, flags), AT_FDCWD, path,              \
                     O_RDWR | O_EXCL);                                                             \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
OPEN_2(__open_2)
OPEN_2(__open64_2)
OPENAT_2(__openat_2)
OPENAT_2(__openat64_2)
CREAT(creat)
CREAT(creat64)
FOPEN(fopen)
FOPEN(fopen64)
FREOPEN(freopen)
FREOPEN(freopen64)
MKSTEMP(mkstemp)
MKSTEMP(mkstemp64)
MKSTEMP_NUMBER(mkostemp)
MKSTEMP_NUMBER(mkostemp64)
MKSTEMP_NUMBER(mkstemps)
MKSTEMP_NUMBER(mkstemps64)
MKOSTEMPS(mkostemps)
MKOSTEMPS(mkostemps64)
