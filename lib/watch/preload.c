/* SPDX-License-Identifier: MIT */
/* Loaded into the processes of a trial (LD_PRELOAD), and linked into orch-host for the compiled
 * plugins that it loads (ORCH_WATCH_LINKED): stands before the C library's functions that open
 * files, and notes in shared memory (watch_map.h) which files below the watched folders were
 * opened. It never changes what these functions do, return or leave in errno.
 *
 * It is linked with no library and needs few symbols, so that programs of another C library or of
 * an older version can load it. Its functions neither allocate nor lock, use little stack, and may
 * run in signal handlers and between fork and exec. Repeated openings of a file cost one look-up.
 *
 * Of programs that build others (make, ninja) the files at whose times they look count, too: those
 * that are up to date are not opened. A process notes its own program, which the kernel opens.
 *
 * Not seen: static programs, programs that make system calls themselves, libraries loaded with
 * dlopen, folders that nftw and fts list or in which glob finds nothing, and processes whose
 * environment was cleared.
 *
 * Rejected: fanotify, which needs privileges; seccomp notifications and ptrace, which stop the
 * program at each call; a record written by a system call at each opening, which took 19 us. */
#include "lib/watch/watch_map.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* May be missing in programs of an old C library. */
#pragma weak dlsym
#pragma weak fileno

enum { PROBES = 16 };

static struct orch_watch_map *map; /* NULL: not watched */
static bool is_builder;            /* a tool that builds programs */

/* ---- the functions of the C library -----------------------------------------------------------
 */

typedef int open_function(const char *, int, ...);
typedef int openat_function(int, const char *, int, ...);
typedef int open_2_function(const char *, int);
typedef int openat_2_function(int, const char *, int);
typedef int creat_function(const char *, mode_t);
typedef FILE *fopen_function(const char *, const char *);
typedef FILE *freopen_function(const char *, const char *, FILE *);
typedef int rename_function(const char *, const char *);
typedef int renameat_function(int, const char *, int, const char *);
typedef int renameat2_function(int, const char *, int, const char *, unsigned);
typedef DIR *opendir_function(const char *);
typedef DIR *fdopendir_function(int);
typedef int glob_function(const char *, int, int (*)(const char *, int), void *);
typedef int scandir_function(const char *, void *, void *, void *);
typedef int stat_function(const char *, void *);
typedef int xstat_function(int, const char *, void *);

enum real {
    OPEN,
    OPEN64,
    OPENAT,
    OPENAT64,
    OPEN_2,
    OPEN64_2,
    OPENAT_2,
    OPENAT64_2,
    CREAT,
    CREAT64,
    FOPEN,
    FOPEN64,
    FREOPEN,
    FREOPEN64,
    RENAME,
    RENAMEAT,
    RENAMEAT2,
    OPENDIR,
    FDOPENDIR,
    GLOB,
    GLOB64,
    SCANDIR,
    SCANDIR64,
    STAT,
    STAT64,
    XSTAT,
    XSTAT64,
    REAL_COUNT
};

static const char *const NAMES[REAL_COUNT] = {
    "open",         "open64",    "openat",    "openat64", "__open_2",  "__open64_2", "__openat_2",
    "__openat64_2", "creat",     "creat64",   "fopen",    "fopen64",   "freopen",    "freopen64",
    "rename",       "renameat",  "renameat2", "opendir",  "fdopendir", "glob",       "glob64",
    "scandir",      "scandir64", "stat",      "stat64",   "__xstat",   "__xstat64"};

static void *reals[REAL_COUNT];

/* The next function of that name, which may belong to another preloaded library. */
static void *real(enum real which)
{
    void *found = __atomic_load_n(&reals[which], __ATOMIC_RELAXED);
    if (!found && dlsym) {
        found = dlsym(RTLD_NEXT, NAMES[which]);
        __atomic_store_n(&reals[which], found, __ATOMIC_RELAXED);
    }
    return found;
}

/* ---- paths ------------------------------------------------------------------------------------
 */

struct path {
    char text[ORCH_WATCH_PATH_BYTES];
    size_t length;
};

static size_t length_of(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

/* Puts the folder that a descriptor stands for at the beginning. */
static bool start_at(struct path *path, int dirfd)
{
    long n;
    if (dirfd == AT_FDCWD) {
        n = syscall(SYS_getcwd, path->text, sizeof path->text);
        path->length = n > 0 ? (size_t)n - 1 : 0;
        return n > 1 && path->text[0] == '/';
    }
    char link[32] = "/proc/self/fd/", digits[12];
    size_t at = length_of(link), count = 0;
    for (unsigned rest = (unsigned)dirfd; count == 0 || rest; rest /= 10)
        digits[count++] = (char)('0' + rest % 10);
    while (count)
        link[at++] = digits[--count];
    link[at] = 0;
    n = syscall(SYS_readlinkat, AT_FDCWD, link, path->text, sizeof path->text);
    path->length = n > 0 ? (size_t)n : 0;
    return n > 0 && n < (long)sizeof path->text && path->text[0] == '/';
}

/* Appends the parts of `text` between slashes; "." and ".." are resolved. */
static bool append(struct path *path, const char *text)
{
    while (*text) {
        size_t n = 0;
        while (*text == '/')
            text++;
        while (text[n] && text[n] != '/')
            n++;
        if (n == 2 && text[0] == '.' && text[1] == '.') {
            while (path->length && path->text[--path->length] != '/')
                ;
        } else if (n && !(n == 1 && text[0] == '.')) {
            if (path->length + n + 2 > sizeof path->text)
                return false;
            path->text[path->length++] = '/';
            for (size_t i = 0; i < n; i++)
                path->text[path->length++] = text[i];
        }
        text += n;
    }
    path->text[path->length] = 0;
    return true;
}

static bool resolve(struct path *path, int dirfd, const char *name)
{
    path->length = 0;
    if (*name != '/' && !start_at(path, dirfd))
        return false;
    if (path->length == 1) /* the folder "/" */
        path->length = 0;
    return append(path, name);
}

/* True when `text` begins with the part "/NAME/" that stands at `part`. */
static bool has_part(const char *text, const char *part)
{
    while (*part && *text == *part) {
        text++;
        part++;
    }
    return !*part;
}

/* True for files that never count: of version control, of orch, and of an interpreter. */
static bool is_excluded(const char *below)
{
    static const char *const parts[] = {"/.git/", "/.orch/", "/site-packages/", "/dist-packages/",
                                        "/node_modules/"};
    for (; *below; below++)
        for (size_t i = 0; *below == '/' && i < sizeof parts / sizeof *parts; i++)
            if (has_part(below, parts[i]))
                return true;
    return false;
}

static bool is_watched(const char *path)
{
    for (const char *root = map->roots; *root; root += length_of(root) + 1) {
        size_t n = 0;
        while (root[n] && root[n] == path[n])
            n++;
        if (!root[n] && (path[n] == '/' || !path[n]))
            return !is_excluded(path + n);
    }
    return false;
}

/* ---- records ----------------------------------------------------------------------------------
 */

/* FNV-1a, never 0. */
static uint64_t hash_of(const struct path *path, enum orch_watch_kind kind)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ (uint64_t)kind;
    for (size_t i = 0; i < path->length; i++)
        hash = (hash ^ (unsigned char)path->text[i]) * UINT64_C(1099511628211);
    return hash ? hash : 1;
}

enum filtered { IS_NEW, IS_KNOWN, IS_FULL };

static enum filtered filter(uint64_t hash)
{
    for (unsigned i = 0; i < PROBES; i++) {
        uint64_t *slot = &map->filter[(hash + i) % ORCH_WATCH_SLOTS];
        uint64_t there = __atomic_load_n(slot, __ATOMIC_RELAXED);
        if (!there && __atomic_compare_exchange_n(slot, &there, hash, false, __ATOMIC_RELAXED,
                                                  __ATOMIC_RELAXED))
            return IS_NEW;
        if (there == hash)
            return IS_KNOWN;
    }
    return IS_FULL;
}

static void leave_out(void)
{
    __atomic_fetch_add(&map->left_out, 1, __ATOMIC_RELAXED);
}

static void add_record(const struct path *path, enum orch_watch_kind kind)
{
    uint64_t bytes = (sizeof(struct orch_watch_record) + path->length + 1 + 7) / 8 * 8;
    if (__atomic_load_n(&map->cursor, __ATOMIC_RELAXED) + bytes > ORCH_WATCH_BYTES) {
        leave_out();
        return;
    }
    uint64_t at = __atomic_fetch_add(&map->cursor, bytes, __ATOMIC_RELAXED);
    if (at + bytes > ORCH_WATCH_BYTES) {
        leave_out();
        return;
    }
    struct orch_watch_record *record = (void *)(map->records + at);
    record->units = (uint16_t)(bytes / 8);
    record->kind = (uint8_t)kind;
    for (size_t i = 0; i <= path->length; i++)
        record->path[i] = path->text[i];
    __atomic_store_n(&record->mark, (uint32_t)ORCH_WATCH_MARK, __ATOMIC_RELEASE);
}

/* Reads size and kind of a file; `fd` -1: of the file at `path`. */
static bool look_at(int fd, const char *path, struct stat *info)
{
#ifdef SYS_newfstatat
    return fd >= 0 ? syscall(SYS_fstat, fd, info) == 0
                   : syscall(SYS_newfstatat, AT_FDCWD, path, info, 0) == 0;
#else
    return fd >= 0 ? fstat(fd, info) == 0 : stat(path, info) == 0;
#endif
}

/* Notes an opened file; `fd` -1: one that was renamed. */
static void note(int dirfd, const char *name, enum orch_watch_kind kind, int fd)
{
    struct path path;
    struct stat info;
    if (!resolve(&path, dirfd, name)) {
        leave_out();
        return;
    }
    if (!is_watched(path.text))
        return;
    enum filtered filtered = filter(hash_of(&path, kind));
    if (filtered == IS_KNOWN || !look_at(fd, path.text, &info) ||
        !(kind == ORCH_WATCH_LIST ? S_ISDIR(info.st_mode) : S_ISREG(info.st_mode)))
        return;
    if (kind == ORCH_WATCH_UPDATE && info.st_size == 0)
        kind = ORCH_WATCH_WRITE;
    if (filtered == IS_FULL)
        leave_out();
    else
        add_record(&path, kind);
}

static enum orch_watch_kind kind_of(int flags)
{
    int way = flags & O_ACCMODE;
    if (way == O_RDONLY && !(flags & O_TRUNC))
        return ORCH_WATCH_READ;
    return way == O_RDWR && !(flags & (O_TRUNC | O_EXCL)) ? ORCH_WATCH_UPDATE : ORCH_WATCH_WRITE;
}

static int noted(int fd, int dirfd, const char *name, int flags)
{
    if (fd >= 0 && map && name && !(flags & (O_PATH | O_DIRECTORY))) {
        int saved = errno;
        note(dirfd, name, kind_of(flags), fd);
        errno = saved;
    }
    return fd;
}

static FILE *noted_stream(FILE *file, const char *name, const char *mode)
{
    if (!file || !map || !name || !mode || !fileno)
        return file;
    int saved = errno;
    bool is_both = false;
    for (const char *c = mode; *c && *c != ','; c++)
        is_both = is_both || *c == '+';
    enum orch_watch_kind kind = *mode == 'r' ? ORCH_WATCH_READ : ORCH_WATCH_WRITE;
    note(AT_FDCWD, name, is_both && *mode != 'w' ? ORCH_WATCH_UPDATE : kind, fileno(file));
    errno = saved;
    return file;
}

static int noted_rename(int result, int dirfd, const char *name)
{
    if (result == 0 && map && name) {
        int saved = errno;
        note(dirfd, name, ORCH_WATCH_WRITE, -1);
        errno = saved;
    }
    return result;
}

static DIR *listed(DIR *dir, int dirfd, const char *name)
{
    if (dir && map && name) {
        int saved = errno;
        note(dirfd, name, ORCH_WATCH_LIST, -1);
        errno = saved;
    }
    return dir;
}

/* Notes the first `length` bytes of a path as a folder that was listed. */
static void note_folder(const char *path, size_t length)
{
    char folder[ORCH_WATCH_PATH_BYTES];
    if (length >= sizeof folder)
        return leave_out();
    for (size_t i = 0; i < length; i++)
        folder[i] = path[i];
    folder[length] = 0;
    note(AT_FDCWD, length ? folder : ".", ORCH_WATCH_LIST, -1);
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
    if (!map || !pattern || !found || (result != 0 && result != GLOB_NOMATCH))
        return result;
    int saved = errno;
    size_t special = 0;
    while (pattern[special] && pattern[special] != '*' && pattern[special] != '?' &&
           pattern[special] != '[' && !(pattern[special] == '{' && (flags & GLOB_BRACE)))
        special++;
    if (pattern[special]) {
        if (*pattern != '~' || !(flags & GLOB_TILDE)) /* the folder of a user lies elsewhere */
            note_folder(pattern, folder_length(pattern, special));
        for (size_t i = 0; result == 0 && i < found->gl_pathc; i++) {
            const char *path = found->gl_pathv[found->gl_offs + i];
            note_folder(path, folder_length(path, length_of(path)));
        }
    }
    errno = saved;
    return result;
}

static int scanned(int result, const char *name)
{
    if (result >= 0 && map && name) {
        int saved = errno;
        note(AT_FDCWD, name, ORCH_WATCH_LIST, -1);
        errno = saved;
    }
    return result;
}

/* Notes a file at whose times a tool that builds programs looks. */
static int looked(int result, const char *name)
{
    if (result == 0 && is_builder && map && name) {
        int saved = errno;
        note(AT_FDCWD, name, ORCH_WATCH_LOOK, -1);
        errno = saved;
    }
    return result;
}

/* ---- the functions that programs call ---------------------------------------------------------
 */

/* The C library declares some with attributes that do not matter here. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wnonnull-compare"

static int missing(void)
{
    errno = ENOSYS;
    return -1;
}

static mode_t mode_of(int flags, va_list args)
{
    bool has_mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    return has_mode ? va_arg(args, mode_t) : 0;
}

#define DEFINE_OPEN(NAME, WHICH)                                                                   \
    EXPORTED int NAME(const char *path, int flags, ...)                                            \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = mode_of(flags, args);                                                        \
        va_end(args);                                                                              \
        open_function *next = (open_function *)real(WHICH);                                        \
        int fd = next ? next(path, flags, mode)                                                    \
                      : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);                     \
        return noted(fd, AT_FDCWD, path, flags);                                                   \
    }
#define DEFINE_OPENAT(NAME, WHICH)                                                                 \
    EXPORTED int NAME(int dirfd, const char *path, int flags, ...)                                 \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = mode_of(flags, args);                                                        \
        va_end(args);                                                                              \
        openat_function *next = (openat_function *)real(WHICH);                                    \
        int fd = next ? next(dirfd, path, flags, mode)                                             \
                      : (int)syscall(SYS_openat, dirfd, path, flags, mode);                        \
        return noted(fd, dirfd, path, flags);                                                      \
    }
#define DEFINE_OPEN_2(NAME, WHICH)                                                                 \
    EXPORTED int NAME(const char *path, int flags)                                                 \
    {                                                                                              \
        open_2_function *next = (open_2_function *)real(WHICH);                                    \
        return noted(next ? next(path, flags) : missing(), AT_FDCWD, path, flags);                 \
    }
#define DEFINE_OPENAT_2(NAME, WHICH)                                                               \
    EXPORTED int NAME(int dirfd, const char *path, int flags)                                      \
    {                                                                                              \
        openat_2_function *next = (openat_2_function *)real(WHICH);                                \
        return noted(next ? next(dirfd, path, flags) : missing(), dirfd, path, flags);             \
    }
#define DEFINE_CREAT(NAME, WHICH)                                                                  \
    EXPORTED int NAME(const char *path, mode_t mode)                                               \
    {                                                                                              \
        creat_function *next = (creat_function *)real(WHICH);                                      \
        return noted(next ? next(path, mode) : missing(), AT_FDCWD, path,                          \
                     O_WRONLY | O_CREAT | O_TRUNC);                                                \
    }
#define DEFINE_FOPEN(NAME, WHICH)                                                                  \
    EXPORTED FILE *NAME(const char *path, const char *mode)                                        \
    {                                                                                              \
        fopen_function *next = (fopen_function *)real(WHICH);                                      \
        return noted_stream(next ? next(path, mode) : (missing(), NULL), path, mode);              \
    }
#define DEFINE_FREOPEN(NAME, WHICH)                                                                \
    EXPORTED FILE *NAME(const char *path, const char *mode, FILE *file)                            \
    {                                                                                              \
        freopen_function *next = (freopen_function *)real(WHICH);                                  \
        return noted_stream(next ? next(path, mode, file) : (missing(), NULL), path, mode);        \
    }

DEFINE_OPEN(open, OPEN)
DEFINE_OPEN(open64, OPEN64)
DEFINE_OPENAT(openat, OPENAT)
DEFINE_OPENAT(openat64, OPENAT64)
DEFINE_OPEN_2(__open_2, OPEN_2)
DEFINE_OPEN_2(__open64_2, OPEN64_2)
DEFINE_OPENAT_2(__openat_2, OPENAT_2)
DEFINE_OPENAT_2(__openat64_2, OPENAT64_2)
DEFINE_CREAT(creat, CREAT)
DEFINE_CREAT(creat64, CREAT64)
DEFINE_FOPEN(fopen, FOPEN)
DEFINE_FOPEN(fopen64, FOPEN64)
DEFINE_FREOPEN(freopen, FREOPEN)
DEFINE_FREOPEN(freopen64, FREOPEN64)

EXPORTED int rename(const char *from, const char *to)
{
    rename_function *next = (rename_function *)real(RENAME);
    return noted_rename(next ? next(from, to) : missing(), AT_FDCWD, to);
}

EXPORTED int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    renameat_function *next = (renameat_function *)real(RENAMEAT);
    return noted_rename(next ? next(from_fd, from, to_fd, to) : missing(), to_fd, to);
}

EXPORTED int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    renameat2_function *next = (renameat2_function *)real(RENAMEAT2);
    return noted_rename(next ? next(from_fd, from, to_fd, to, flags) : missing(), to_fd, to);
}

EXPORTED DIR *opendir(const char *name)
{
    opendir_function *next = (opendir_function *)real(OPENDIR);
    return listed(next ? next(name) : (missing(), NULL), AT_FDCWD, name);
}

EXPORTED DIR *fdopendir(int fd)
{
    fdopendir_function *next = (fdopendir_function *)real(FDOPENDIR);
    return listed(next ? next(fd) : (missing(), NULL), fd, ".");
}

/* The C library's headers declare these with arguments of their own types. */
#define DEFINE_GLOB(NAME, SYMBOL, WHICH)                                                           \
    EXPORTED int NAME(const char *pattern, int flags, int (*failed)(const char *, int),            \
                      void *found) __asm__(SYMBOL);                                                \
    EXPORTED int NAME(const char *pattern, int flags, int (*failed)(const char *, int),            \
                      void *found)                                                                 \
    {                                                                                              \
        glob_function *next = (glob_function *)real(WHICH);                                        \
        return globbed(next ? next(pattern, flags, failed, found) : GLOB_ABORTED, pattern, flags,  \
                       found);                                                                     \
    }
#define DEFINE_SCANDIR(NAME, SYMBOL, WHICH)                                                        \
    EXPORTED int NAME(const char *dir, void *names, void *selects,                                 \
                      void *compares) __asm__(SYMBOL);                                             \
    EXPORTED int NAME(const char *dir, void *names, void *selects, void *compares)                 \
    {                                                                                              \
        scandir_function *next = (scandir_function *)real(WHICH);                                  \
        return scanned(next ? next(dir, names, selects, compares) : missing(), dir);               \
    }

DEFINE_GLOB(watched_glob, "glob", GLOB)
DEFINE_GLOB(watched_glob64, "glob64", GLOB64)
DEFINE_SCANDIR(watched_scandir, "scandir", SCANDIR)
DEFINE_SCANDIR(watched_scandir64, "scandir64", SCANDIR64)

#define DEFINE_STAT(NAME, SYMBOL, WHICH)                                                           \
    EXPORTED int NAME(const char *path, void *info) __asm__(SYMBOL);                               \
    EXPORTED int NAME(const char *path, void *info)                                                \
    {                                                                                              \
        stat_function *next = (stat_function *)real(WHICH);                                        \
        return looked(next ? next(path, info) : missing(), path);                                  \
    }
#define DEFINE_XSTAT(NAME, SYMBOL, WHICH)                                                          \
    EXPORTED int NAME(int version, const char *path, void *info) __asm__(SYMBOL);                  \
    EXPORTED int NAME(int version, const char *path, void *info)                                   \
    {                                                                                              \
        xstat_function *next = (xstat_function *)real(WHICH);                                      \
        return looked(next ? next(version, path, info) : missing(), path);                         \
    }

DEFINE_STAT(watched_stat, "stat", STAT)
DEFINE_STAT(watched_stat64, "stat64", STAT64)
DEFINE_XSTAT(watched_xstat, "__xstat", XSTAT)
DEFINE_XSTAT(watched_xstat64, "__xstat64", XSTAT64)

/* ---- the beginning ----------------------------------------------------------------------------
 */

extern char **environ;
#pragma weak environ

static const char *variable(const char *name)
{
    size_t n = length_of(name);
    for (char **entry = &environ ? environ : NULL; entry && *entry; entry++) {
        size_t i = 0;
        while (i < n && (*entry)[i] == name[i])
            i++;
        if (i == n && (*entry)[n] == '=')
            return *entry + n + 1;
    }
    return NULL;
}

#ifndef ORCH_WATCH_LINKED
static bool is_same_text(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* Notes the program that this process runs, and whether it builds others. */
static void note_program(void)
{
    static const char *const builders[] = {"make", "gmake", "bmake", "ninja", "samu"};
    char path[ORCH_WATCH_PATH_BYTES];
    long n = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof path - 1);
    if (n <= 0)
        return;
    path[n] = 0;
    const char *name = path;
    for (const char *c = path; *c; c++)
        name = *c == '/' ? c + 1 : name;
    for (size_t i = 0; i < sizeof builders / sizeof *builders; i++)
        is_builder = is_builder || is_same_text(name, builders[i]);
    note(AT_FDCWD, path, ORCH_WATCH_READ, -1);
}
#endif

/* The memory that the environment names; NULL: none. */
static struct orch_watch_map *find_map(void)
{
    const char *path = variable(ORCH_WATCH_ENV);
    long fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
    struct stat info;
    void *there = MAP_FAILED;
    if (fd >= 0 && look_at((int)fd, NULL, &info) &&
        info.st_size == (off_t)sizeof(struct orch_watch_map))
        there = (void *)syscall(SYS_mmap, NULL, sizeof(struct orch_watch_map),
                                PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0L);
    if (fd >= 0)
        syscall(SYS_close, (int)fd);
    return there == MAP_FAILED ? NULL : there;
}

/* Notes from now on. */
static void begin(struct orch_watch_map *there)
{
    if (!there || there->magic != ORCH_WATCH_MAGIC)
        return;
    for (unsigned i = 0; i < REAL_COUNT; i++)
        real((enum real)i);
    map = there;
    __atomic_fetch_add(&map->attached, 1, __ATOMIC_RELAXED);
}

#ifdef ORCH_WATCH_LINKED
void orch_watch_attach(struct orch_watch_map *inherited)
{
    begin(inherited ? inherited : find_map());
}
#else
__attribute__((constructor)) static void attach(void)
{
    int saved = errno;
    begin(find_map());
    if (map)
        note_program();
    errno = saved;
}
#endif
