/* SPDX-License-Identifier: MIT */
/* The functions that list folders, look at files' times and change the current folder. */
#include "lib/watch/preload_folder.h"

#include "lib/watch/preload_next.h"
#include "lib/watch/preload_note.h"
#include "lib/watch/preload_path.h"
#include "lib/watch/preload_raw.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <sys/types.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wnonnull-compare"

typedef DIR *opendir_function(const char *);
typedef DIR *fdopendir_function(int);
typedef ssize_t getdents_function(int, void *, size_t);
typedef int glob_function(const char *, int, int (*)(const char *, int), void *);
typedef int scandir_function(const char *, void *, void *, void *);
typedef int stat_function(const char *, void *);
typedef int xstat_function(int, const char *, void *);
typedef int name_function(const char *);
typedef int number_function(int);
typedef int nftw_function(const char *, void *, int, int);
typedef void *fts_open_function(char *const *, int, void *);

static bool is_builder; /* a tool that builds programs */

void orch_watch_folder_begin(const char *program)
{
    static const char *const builders[] = {"make", "gmake", "bmake", "ninja", "samu"};
    for (size_t i = 0; i < sizeof builders / sizeof *builders; i++)
        is_builder = is_builder || orch_watch_same(program, builders[i]);
}

/* ---- lists ------------------------------------------------------------------------------------
 */

static DIR *listed(DIR *dir, int dirfd, const char *name)
{
    if (dir && name)
        orch_watch_used(ORCH_WATCH_LIST, dirfd, name);
    return dir;
}

/* Notes the first `length` bytes of a path as a folder that was listed. */
static void note_folder(const char *path, size_t length)
{
    char folder[ORCH_WATCH_PATH_BYTES];
    if (length >= sizeof folder)
        return; /* so is the path of any file in it */
    for (size_t i = 0; i < length; i++)
        folder[i] = path[i];
    folder[length] = 0;
    orch_watch_used(ORCH_WATCH_LIST, AT_FDCWD, length ? folder : ".");
}

/* The length of the folder of a path that ends before `end`, with its slash. */
static size_t folder_length(const char *path, size_t end)
{
    while (end && path[end - 1] != '/')
        end--;
    return end;
}

/* Notes the folder that holds the first wildcard, and the folder of each path found. */
static int globbed(int result, const char *pattern, int flags, const glob_t *found)
{
    if (!orch_watch_memory() || !pattern || !found || (result != 0 && result != GLOB_NOMATCH))
        return result;
    size_t special = 0;
    while (pattern[special] && pattern[special] != '*' && pattern[special] != '?' &&
           pattern[special] != '[' && !(pattern[special] == '{' && (flags & GLOB_BRACE)))
        special++;
    if (!pattern[special])
        return result;
    if (*pattern != '~' || !(flags & GLOB_TILDE)) /* the folder of a user lies elsewhere */
        note_folder(pattern, folder_length(pattern, special));
    for (size_t i = 0; result == 0 && i < found->gl_pathc; i++) {
        const char *path = found->gl_pathv[found->gl_offs + i];
        note_folder(path, folder_length(path, orch_watch_length(path)));
    }
    return result;
}

static int scanned(int result, const char *name)
{
    if (result >= 0 && name)
        orch_watch_used(ORCH_WATCH_LIST, AT_FDCWD, name);
    return result;
}

ORCH_WATCH_EXPORTED DIR *opendir(const char *name)
{
    opendir_function *next = ORCH_WATCH_NEXT(opendir_function, opendir);
    return listed(next ? next(name) : (orch_watch_missing(), NULL), AT_FDCWD, name);
}

ORCH_WATCH_EXPORTED DIR *fdopendir(int fd)
{
    fdopendir_function *next = ORCH_WATCH_NEXT(fdopendir_function, fdopendir);
    return listed(next ? next(fd) : (orch_watch_missing(), NULL), fd, ".");
}

ORCH_WATCH_EXPORTED ssize_t getdents64(int fd, void *entries, size_t bytes)
{
    getdents_function *next = ORCH_WATCH_NEXT(getdents_function, getdents64);
    ssize_t result = next ? next(fd, entries, bytes) : orch_watch_missing();
    if (result > 0)
        orch_watch_used(ORCH_WATCH_LIST, fd, ".");
    return result;
}

/* The C library's headers declare these with arguments of their own types. */
#define DEFINE_GLOB(NAME, SYMBOL)                                                                  \
    ORCH_WATCH_EXPORTED int watched_##NAME(const char *pattern, int flags,                         \
                                           int (*failed)(const char *, int),                       \
                                           void *found) __asm__(SYMBOL);                           \
    ORCH_WATCH_EXPORTED int watched_##NAME(const char *pattern, int flags,                         \
                                           int (*failed)(const char *, int), void *found)          \
    {                                                                                              \
        glob_function *next = ORCH_WATCH_NEXT(glob_function, NAME);                                \
        return globbed(next ? next(pattern, flags, failed, found) : GLOB_ABORTED, pattern, flags,  \
                       found);                                                                     \
    }
#define DEFINE_SCANDIR(NAME, SYMBOL)                                                               \
    ORCH_WATCH_EXPORTED int watched_##NAME(const char *dir, void *names, void *selects,            \
                                           void *compares) __asm__(SYMBOL);                        \
    ORCH_WATCH_EXPORTED int watched_##NAME(const char *dir, void *names, void *selects,            \
                                           void *compares)                                         \
    {                                                                                              \
        scandir_function *next = ORCH_WATCH_NEXT(scandir_function, NAME);                          \
        return scanned(next ? next(dir, names, selects, compares) : orch_watch_missing(), dir);    \
    }

DEFINE_GLOB(glob, "glob")
DEFINE_GLOB(glob64, "glob64")
DEFINE_SCANDIR(scandir, "scandir")
DEFINE_SCANDIR(scandir64, "scandir64")

/* ---- looks ------------------------------------------------------------------------------------
 */

static int looked(int result, const char *name)
{
    if (result == 0 && is_builder && name)
        orch_watch_used(ORCH_WATCH_LOOK, AT_FDCWD, name);
    return result;
}

#define DEFINE_STAT(NAME, SYMBOL)                                                                  \
    ORCH_WATCH_EXPORTED int watched_##NAME(const char *path, void *info) __asm__(SYMBOL);          \
    ORCH_WATCH_EXPORTED int watched_##NAME(const char *path, void *info)                           \
    {                                                                                              \
        stat_function *next = ORCH_WATCH_NEXT(stat_function, NAME);                                \
        return looked(next ? next(path, info) : orch_watch_missing(), path);                       \
    }
#define DEFINE_XSTAT(NAME, SYMBOL)                                                                 \
    ORCH_WATCH_EXPORTED int watched_##NAME(int version, const char *path,                          \
                                           void *info) __asm__(SYMBOL);                            \
    ORCH_WATCH_EXPORTED int watched_##NAME(int version, const char *path, void *info)              \
    {                                                                                              \
        xstat_function *next = ORCH_WATCH_NEXT(xstat_function, NAME);                              \
        return looked(next ? next(version, path, info) : orch_watch_missing(), path);              \
    }

DEFINE_STAT(stat, "stat")
DEFINE_STAT(stat64, "stat64")
DEFINE_XSTAT(__xstat, "__xstat")
DEFINE_XSTAT(__xstat64, "__xstat64")

/* ---- the current folder -----------------------------------------------------------------------
 */

#define DEFINE_CHANGE(NAME, TYPE, ARGUMENT)                                                        \
    ORCH_WATCH_EXPORTED int NAME(ARGUMENT to)                                                      \
    {                                                                                              \
        TYPE *next = ORCH_WATCH_NEXT(TYPE, NAME);                                                  \
        int result = next ? next(to) : orch_watch_missing();                                       \
        orch_watch_forget_folder();                                                                \
        return result;                                                                             \
    }

DEFINE_CHANGE(chdir, name_function, const char *)
DEFINE_CHANGE(fchdir, number_function, int)
DEFINE_CHANGE(chroot, name_function, const char *)

/* Threads may have a folder each, and these change it inside of the C library. */
ORCH_WATCH_EXPORTED int unshare(int flags)
{
    number_function *next = ORCH_WATCH_NEXT(number_function, unshare);
    orch_watch_never_keep_folder();
    return next ? next(flags) : orch_watch_missing();
}

#define DEFINE_NFTW(NAME, SYMBOL)                                                                  \
    ORCH_WATCH_EXPORTED int watched_##NAME(const char *path, void *call, int fds,                  \
                                           int flags) __asm__(SYMBOL);                             \
    ORCH_WATCH_EXPORTED int watched_##NAME(const char *path, void *call, int fds, int flags)       \
    {                                                                                              \
        nftw_function *next = ORCH_WATCH_NEXT(nftw_function, NAME);                                \
        orch_watch_never_keep_folder();                                                            \
        orch_watch_used(ORCH_WATCH_LIST, AT_FDCWD, path);                                          \
        return next ? next(path, call, fds, flags) : orch_watch_missing();                         \
    }
#define DEFINE_FTS(NAME, SYMBOL)                                                                   \
    ORCH_WATCH_EXPORTED void *watched_##NAME(char *const *paths, int options,                      \
                                             void *compare) __asm__(SYMBOL);                       \
    ORCH_WATCH_EXPORTED void *watched_##NAME(char *const *paths, int options, void *compare)       \
    {                                                                                              \
        fts_open_function *next = ORCH_WATCH_NEXT(fts_open_function, NAME);                        \
        orch_watch_never_keep_folder();                                                            \
        for (char *const *path = paths; path && *path; path++)                                     \
            orch_watch_used(ORCH_WATCH_LIST, AT_FDCWD, *path);                                     \
        return next ? next(paths, options, compare) : (orch_watch_missing(), NULL);                \
    }

DEFINE_NFTW(nftw, "nftw")
DEFINE_NFTW(nftw64, "nftw64")
DEFINE_FTS(fts_open, "fts_open")
DEFINE_FTS(fts64_open, "fts64_open")
