/* SPDX-License-Identifier: MIT */
/* The functions that open and close files. */
#include "lib/watch/preload_next.h"
#include "lib/watch/preload_note.h"
#include "lib/watch/preload_raw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

/* The C library declares some with attributes that do not matter here. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wnonnull-compare"
#pragma weak fileno

typedef int open_function(const char *, int, ...);
typedef int openat_function(int, const char *, int, ...);
typedef int open_2_function(const char *, int);
typedef int openat_2_function(int, const char *, int);
typedef int creat_function(const char *, mode_t);
typedef FILE *fopen_function(const char *, const char *);
typedef FILE *freopen_function(const char *, const char *, FILE *);
typedef int mkstemp_function(char *);
typedef int mkstemp_number_function(char *, int);
typedef int mkostemps_function(char *, int, int);
typedef int close_function(int);
typedef int fclose_function(FILE *);

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

static FILE *noted_stream(FILE *file, const char *name, const char *mode)
{
    if (!file || !name || !mode || !fileno || !orch_watch_memory())
        return file;
    int saved = errno;
    bool is_both = false;
    for (const char *c = mode; *c && *c != ','; c++)
        is_both = is_both || *c == '+';
    int flags = is_both ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
    orch_watch_opened(fileno(file), AT_FDCWD, name, flags | (*mode == 'w' ? O_TRUNC : 0));
    errno = saved;
    return file;
}

#define DEFINE_OPEN(NAME)                                                                          \
    ORCH_WATCH_EXPORTED int NAME(const char *path, int flags, ...)                                 \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = mode_of(flags, args);                                                        \
        va_end(args);                                                                              \
        open_function *next = ORCH_WATCH_NEXT(open_function, NAME);                                \
        return noted(next ? next(path, flags, mode) : orch_watch_missing(), AT_FDCWD, path,        \
                     flags);                                                                       \
    }
#define DEFINE_OPENAT(NAME)                                                                        \
    ORCH_WATCH_EXPORTED int NAME(int dirfd, const char *path, int flags, ...)                      \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = mode_of(flags, args);                                                        \
        va_end(args);                                                                              \
        openat_function *next = ORCH_WATCH_NEXT(openat_function, NAME);                            \
        return noted(next ? next(dirfd, path, flags, mode) : orch_watch_missing(), dirfd, path,    \
                     flags);                                                                       \
    }
#define DEFINE_OPEN_2(NAME)                                                                        \
    ORCH_WATCH_EXPORTED int NAME(const char *path, int flags)                                      \
    {                                                                                              \
        open_2_function *next = ORCH_WATCH_NEXT(open_2_function, NAME);                            \
        return noted(next ? next(path, flags) : orch_watch_missing(), AT_FDCWD, path, flags);      \
    }
#define DEFINE_OPENAT_2(NAME)                                                                      \
    ORCH_WATCH_EXPORTED int NAME(int dirfd, const char *path, int flags)                           \
    {                                                                                              \
        openat_2_function *next = ORCH_WATCH_NEXT(openat_2_function, NAME);                        \
        return noted(next ? next(dirfd, path, flags) : orch_watch_missing(), dirfd, path, flags);  \
    }
#define DEFINE_CREAT(NAME)                                                                         \
    ORCH_WATCH_EXPORTED int NAME(const char *path, mode_t mode)                                    \
    {                                                                                              \
        creat_function *next = ORCH_WATCH_NEXT(creat_function, NAME);                              \
        return noted(next ? next(path, mode) : orch_watch_missing(), AT_FDCWD, path,               \
                     O_WRONLY | O_CREAT | O_TRUNC);                                                \
    }
#define DEFINE_FOPEN(NAME)                                                                         \
    ORCH_WATCH_EXPORTED FILE *NAME(const char *path, const char *mode)                             \
    {                                                                                              \
        fopen_function *next = ORCH_WATCH_NEXT(fopen_function, NAME);                              \
        return noted_stream(next ? next(path, mode) : (orch_watch_missing(), NULL), path, mode);   \
    }
#define DEFINE_FREOPEN(NAME)                                                                       \
    ORCH_WATCH_EXPORTED FILE *NAME(const char *path, const char *mode, FILE *file)                 \
    {                                                                                              \
        freopen_function *next = ORCH_WATCH_NEXT(freopen_function, NAME);                          \
        return noted_stream(next ? next(path, mode, file) : (orch_watch_missing(), NULL), path,    \
                            mode);                                                                 \
    }
/* The template then has the file's name. */
#define DEFINE_MKSTEMP(NAME)                                                                       \
    ORCH_WATCH_EXPORTED int NAME(char *path)                                                       \
    {                                                                                              \
        mkstemp_function *next = ORCH_WATCH_NEXT(mkstemp_function, NAME);                          \
        return noted(next ? next(path) : orch_watch_missing(), AT_FDCWD, path, O_RDWR | O_EXCL);   \
    }
#define DEFINE_MKSTEMP_NUMBER(NAME)                                                                \
    ORCH_WATCH_EXPORTED int NAME(char *path, int number)                                           \
    {                                                                                              \
        mkstemp_number_function *next = ORCH_WATCH_NEXT(mkstemp_number_function, NAME);            \
        return noted(next ? next(path, number) : orch_watch_missing(), AT_FDCWD, path,             \
                     O_RDWR | O_EXCL);                                                             \
    }
#define DEFINE_MKOSTEMPS(NAME)                                                                     \
    ORCH_WATCH_EXPORTED int NAME(char *path, int suffix, int flags)                                \
    {                                                                                              \
        mkostemps_function *next = ORCH_WATCH_NEXT(mkostemps_function, NAME);                      \
        return noted(next ? next(path, suffix, flags) : orch_watch_missing(), AT_FDCWD, path,      \
                     O_RDWR | O_EXCL);                                                             \
    }

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)
DEFINE_OPEN_2(__open_2)
DEFINE_OPEN_2(__open64_2)
DEFINE_OPENAT_2(__openat_2)
DEFINE_OPENAT_2(__openat64_2)
DEFINE_CREAT(creat)
DEFINE_CREAT(creat64)
DEFINE_FOPEN(fopen)
DEFINE_FOPEN(fopen64)
DEFINE_FREOPEN(freopen)
DEFINE_FREOPEN(freopen64)
DEFINE_MKSTEMP(mkstemp)
DEFINE_MKSTEMP(mkstemp64)
DEFINE_MKSTEMP_NUMBER(mkostemp)
DEFINE_MKSTEMP_NUMBER(mkostemp64)
DEFINE_MKSTEMP_NUMBER(mkstemps)
DEFINE_MKSTEMP_NUMBER(mkstemps64)
DEFINE_MKOSTEMPS(mkostemps)
DEFINE_MKOSTEMPS(mkostemps64)

ORCH_WATCH_EXPORTED int close(int fd)
{
    close_function *next = ORCH_WATCH_NEXT(close_function, close);
    orch_watch_closing(fd);
    return next ? next(fd) : orch_watch_missing();
}

/* The stream's last bytes are written by fclose itself. */
ORCH_WATCH_EXPORTED int fclose(FILE *file)
{
    fclose_function *next = ORCH_WATCH_NEXT(fclose_function, fclose);
    uint32_t record = 0;
    if (orch_watch_memory() && file && fileno) {
        int saved = errno;
        record = orch_watch_written(fileno(file));
        errno = saved;
    }
    int result = next ? next(file) : orch_watch_missing();
    if (record)
        orch_watch_closed(record);
    return result;
}
