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
#include <stddef.h>
#include <sys/types.h>

static bool is_builder; /* a tool that builds programs */

void orch_watch_folder_begin(const char *program)
{
    static const char *const builders[] = {"make", "gmake", "bmake", "ninja", "samu"};
    for (size_t i = 0; i < sizeof builders / sizeof *builders; i++)
        is_builder = is_builder || orch_watch_same(program, builders[i]);
}

/* ---- the current folder -----------------------------------------------------------------------
 */

/* Threads may have a folder each, and these change it inside of the C library. */
ORCH_WATCH_BEFORE(int, unshare, int flags)
{
    orch_watch_never_keep_folder();
    return ORCH_WATCH_CALL_NEXT(unshare, flags);
}

#define CHANGE(NAME, ARGUMENT)                                                                     \
    ORCH_WATCH_BEFORE(int, NAME, ARGUMENT to)                                                      \
    {                                                                                              \
        int result = ORCH_WATCH_CALL_NEXT(NAME, to);                                               \
        orch_watch_forget_folder();                                                                \
        return result;                                                                             \
    }

CHANGE(chdir, const char *)
CHANGE(fchdir, int)
CHANGE(chroot, const char *)

#define NFTW(NAME)                                                                                 \
    ORCH_WATCH_BEFORE(int, NAME, const char *path, void *call, int fds, int flags)                 \
    {                                                                                              \
        orch_watch_never_keep_folder();                                                            \
        orch_watch_used(ORCH_WATCH_LIST, AT_FDCWD, path);                                          \
        return ORCH_WATCH_CALL_NEXT(NAME, path, call, fds, flags);                                 \
    }
#define FTS_OPEN(NAME)                                                                             \
    ORCH_WATCH_BEFORE(void *, NAME, char *const *paths, int options, void *compare)                \
    {                                                                                              \
        orch_watch_type_##NAME *next = ORCH_WATCH_NEXT(NAME);                                      \
        orch_watch_never_keep_folder();                                                            \
        for (char *const *path = paths; path && *path; path++)                                     \
            orch_watch_used(ORCH_WATCH_LIST, AT_FDCWD, *path);                                     \
        return next ? next(paths, options, compare) : (orch_watch_missing(), NULL);                \
    }

NFTW(nftw)
NFTW(nftw64)
FTS_OPEN(fts_open)
FTS_OPEN(fts64_open)

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

ORCH_WATCH_BEFORE(DIR *, opendir, const char *name)
{
    orch_watch_type_opendir *next = ORCH_WATCH_NEXT(opendir);
    return listed(next ? next(name) : (orch_watch_missing(), NULL), AT_FDCWD, name);
}

ORCH_WATCH_BEFORE(DIR *, fdopendir, int fd)
{
    orch_watch_type_fdopendir *next = ORCH_WATCH_NEXT(fdopendir);
    return listed(next ? next(fd) : (orch_watch_missing(), NULL), fd, ".");
}

ORCH_WATCH_BEFORE(ssize_t, getdents64, int fd, void *entries, size_t bytes)
{
    ssize_t result = ORCH_WATCH_CALL_NEXT(getdents64, fd, entries, bytes);
    if (result > 0)
        orch_watch_used(ORCH_WATCH_LIST, fd, ".");
    return result;
}

#define GLOB(NAME)                                                                                 \
    ORCH_WATCH_BEFORE(int, NAME, const char *pattern, int flags, void *failed, void *found)        \
    {                                                                                              \
        orch_watch_type_##NAME *next = ORCH_WATCH_NEXT(NAME);                                      \
        return globbed(next ? next(pattern, flags, failed, found) : GLOB_ABORTED, pattern, flags,  \
                       found);                                                                     \
    }
#define SCANDIR(NAME)                                                                              \
    ORCH_WATCH_BEFORE(int, NAME, const char *dir, void *names, void *selects, void *compares)      \
    {                                                                                              \
        return scanned(ORCH_WATCH_CALL_NEXT(NAME, dir, names, selects, compares), dir);            \
    }

GLOB(glob)
GLOB(glob64)
SCANDIR(scandir)
SCANDIR(scandir64)

/* ---- looks ------------------------------------------------------------------------------------
 */

static int looked(int result, const char *name)
{
    if (result == 0 && is_builder && name)
        orch_watch_used(ORCH_WATCH_LOOK, AT_FDCWD, name);
    return result;
}

#define STAT(NAME)                                                                                 \
    ORCH_WATCH_BEFORE(int, NAME, const char *path, void *info)                                     \
    {                                                                                              \
        return looked(ORCH_WATCH_CALL_NEXT(NAME, path, info), path);                               \
    }
#define XSTAT(NAME)                                                                                \
    ORCH_WATCH_BEFORE(int, NAME, int version, const char *path, void *info)                        \
    {                                                                                              \
        return looked(ORCH_WATCH_CALL_NEXT(NAME, version, path, info), path);                      \
    }

STAT(stat)
STAT(stat64)
XSTAT(__xstat)
XSTAT(__xstat64)
