/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lets call number N fail among the calls that the code under test makes of SQLite, or of the
 * system's file functions. The linker puts these wrappers between them (--wrap, tests/fault/
 * tests.cmake); calls inside SQLite, GLib and the C library are not affected.
 *
 * A loop makes the same call from the same place again and again, which the same code answers when
 * it fails: of each place (the functions that lead to the call, and its SQL) only the first and the
 * last call need to fail. fault_calls_list finds them. */
#ifndef ORCH_TESTS_FAULT_CALLS_H
#define ORCH_TESTS_FAULT_CALLS_H

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <glib.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum fault_kind { FAULT_NONE, FAULT_SQLITE, FAULT_FILES };

static struct {
    enum fault_kind kind; /* the calls that are counted */
    enum fault_kind kind_of_hit;
    unsigned countdown; /* calls until the one that fails; 0: none will */
    bool lasting;       /* all later ones fail too */
    int sqlite_code;    /* what a failing call of SQLite returns */
    int system_errno;   /* errno of a failing call of the system */
    bool hit;
    char what[100];  /* name or SQL of the first call that failed */
    sqlite3 *failed; /* its error code is asked for; until the next call on it */
} fault_calls;

/** From now on call number `n` of `kind` fails. */
static inline void fault_calls_begin(enum fault_kind kind, unsigned n, bool lasting, int code)
{
    fault_calls.kind = kind;
    fault_calls.countdown = n;
    fault_calls.lasting = lasting;
    fault_calls.sqlite_code = code;
    fault_calls.system_errno = code;
    fault_calls.hit = false;
    fault_calls.what[0] = 0;
    fault_calls.failed = NULL;
}

/** No call fails any more. Returns whether one did. */
static inline bool fault_calls_end(void)
{
    bool hit = fault_calls.hit;
    fault_calls.kind = FAULT_NONE;
    fault_calls.failed = NULL;
    return hit;
}

/* The places of the calls that are listed: a hash for each call, or NULL. */
static GArray *fault_places;

/** From now on the calls of `kind` are listed, and none fails. */
static inline void fault_calls_list(enum fault_kind kind)
{
    fault_calls_begin(kind, 0, false, 0);
    fault_places = g_array_new(FALSE, FALSE, sizeof(guint64));
}

/** Ends the list. The numbers of each `step`th of the calls that are the first or the last of their
 * place, and one number that is larger than all: the caller frees them. */
static inline GArray *fault_calls_listed(unsigned step)
{
    g_autoptr(GHashTable) last = g_hash_table_new(g_int64_hash, g_int64_equal);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash, g_int64_equal);
    g_autoptr(GArray) places = fault_places;
    GArray *numbers = g_array_new(FALSE, FALSE, sizeof(guint));
    fault_places = NULL;
    fault_calls_end();
    for (guint i = 0; i < places->len; i++)
        g_hash_table_insert(last, &g_array_index(places, guint64, i), GUINT_TO_POINTER(i));
    guint n = 1, ends = 0;
    for (guint i = 0; i < places->len; i++, n++) {
        gint64 *place = &g_array_index(places, gint64, i);
        bool is_end = g_hash_table_add(seen, place);
        is_end = GPOINTER_TO_UINT(g_hash_table_lookup(last, place)) == i || is_end;
        if (is_end && ends++ % step == 0)
            g_array_append_val(numbers, n);
    }
    g_array_append_val(numbers, n);
    return numbers;
}

static inline void fault_calls_note(const char *what)
{
    void *frames[64];
    int count = backtrace(frames, G_N_ELEMENTS(frames));
    guint64 place = g_str_hash(what);
    for (int i = 0; i < count; i++)
        place = (place ^ (guint64)(guintptr)frames[i]) * G_GUINT64_CONSTANT(0x100000001b3);
    g_array_append_val(fault_places, place);
}

static inline bool fault_calls_now(enum fault_kind kind, const char *what)
{
    if (fault_places && fault_calls.kind == kind)
        fault_calls_note(what);
    if (fault_calls.kind != kind)
        return false;
    if (fault_calls.hit)
        return fault_calls.lasting;
    if (fault_calls.countdown == 0 || --fault_calls.countdown > 0)
        return false;
    fault_calls.hit = true;
    fault_calls.kind_of_hit = kind;
    snprintf(fault_calls.what, sizeof fault_calls.what, "%s", what);
    return true;
}

/* ---- SQLite -----------------------------------------------------------------------------------
 */

static inline bool fault_sqlite_now(sqlite3 *db, const char *what)
{
    fault_calls.failed = NULL;
    if (!fault_calls_now(FAULT_SQLITE, what))
        return false;
    fault_calls.failed = db;
    return true;
}

#define FAULT_SQLITE_CALL(name, db, params, args)                                                  \
    int __real_##name params;                                                                      \
    int __wrap_##name params;                                                                      \
    int __wrap_##name params                                                                       \
    {                                                                                              \
        return fault_sqlite_now(db, #name) ? fault_calls.sqlite_code : __real_##name args;         \
    }

int __real_sqlite3_step(sqlite3_stmt *);
int __wrap_sqlite3_step(sqlite3_stmt *);
int __wrap_sqlite3_step(sqlite3_stmt *s)
{
    return fault_sqlite_now(sqlite3_db_handle(s), sqlite3_sql(s)) ? fault_calls.sqlite_code
                                                                  : __real_sqlite3_step(s);
}

FAULT_SQLITE_CALL(sqlite3_create_function_v2, db,
                  (sqlite3 * db, const char *name, int count, int flags, void *ctx,
                   void (*call)(sqlite3_context *, int, sqlite3_value **),
                   void (*step)(sqlite3_context *, int, sqlite3_value **),
                   void (*final)(sqlite3_context *), void (*drop)(void *)),
                  (db, name, count, flags, ctx, call, step, final, drop))
FAULT_SQLITE_CALL(sqlite3_create_module_v2, db,
                  (sqlite3 * db, const char *name, const sqlite3_module *module, void *ctx,
                   void (*drop)(void *)),
                  (db, name, module, ctx, drop))
FAULT_SQLITE_CALL(sqlite3_wal_checkpoint_v2, db,
                  (sqlite3 * db, const char *name, int mode, int *frames, int *done),
                  (db, name, mode, frames, done))

int __real_sqlite3_exec(sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *,
                        char **);
int __wrap_sqlite3_exec(sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *,
                        char **);
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **),
                        void *ctx, char **problem)
{
    /* SQLite always ends a transaction when it is told to roll back */
    bool is_end = strcmp(sql, "ROLLBACK") == 0 || strncmp(sql, "RELEASE", strlen("RELEASE")) == 0;
    return !is_end && fault_sqlite_now(db, sql) ? fault_calls.sqlite_code
                                                : __real_sqlite3_exec(db, sql, row, ctx, problem);
}

int __real_sqlite3_prepare_v2(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
int __wrap_sqlite3_prepare_v2(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
int __wrap_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int bytes, sqlite3_stmt **out,
                              const char **tail)
{
    *out = NULL;
    return fault_sqlite_now(db, sql) ? fault_calls.sqlite_code
                                     : __real_sqlite3_prepare_v2(db, sql, bytes, out, tail);
}

int __real_sqlite3_prepare_v3(sqlite3 *, const char *, int, unsigned, sqlite3_stmt **,
                              const char **);
int __wrap_sqlite3_prepare_v3(sqlite3 *, const char *, int, unsigned, sqlite3_stmt **,
                              const char **);
int __wrap_sqlite3_prepare_v3(sqlite3 *db, const char *sql, int bytes, unsigned flags,
                              sqlite3_stmt **out, const char **tail)
{
    *out = NULL;
    return fault_sqlite_now(db, sql) ? fault_calls.sqlite_code
                                     : __real_sqlite3_prepare_v3(db, sql, bytes, flags, out, tail);
}

int __real_sqlite3_open_v2(const char *, sqlite3 **, int, const char *);
int __wrap_sqlite3_open_v2(const char *, sqlite3 **, int, const char *);
int __wrap_sqlite3_open_v2(const char *path, sqlite3 **out, int flags, const char *vfs)
{
    *out = NULL;
    return fault_sqlite_now(NULL, "sqlite3_open_v2")
               ? fault_calls.sqlite_code
               : __real_sqlite3_open_v2(path, out, flags, vfs);
}

sqlite3_backup *__real_sqlite3_backup_init(sqlite3 *, const char *, sqlite3 *, const char *);
sqlite3_backup *__wrap_sqlite3_backup_init(sqlite3 *, const char *, sqlite3 *, const char *);
sqlite3_backup *__wrap_sqlite3_backup_init(sqlite3 *to, const char *to_name, sqlite3 *from,
                                           const char *from_name)
{
    return fault_sqlite_now(to, "sqlite3_backup_init")
               ? NULL
               : __real_sqlite3_backup_init(to, to_name, from, from_name);
}

FAULT_SQLITE_CALL(sqlite3_backup_step, NULL, (sqlite3_backup * backup, int pages), (backup, pages))

#define FAULT_SQLITE_CODE(name)                                                                    \
    int __real_##name(sqlite3 *);                                                                  \
    int __wrap_##name(sqlite3 *);                                                                  \
    int __wrap_##name(sqlite3 *db)                                                                 \
    {                                                                                              \
        return db && db == fault_calls.failed ? fault_calls.sqlite_code : __real_##name(db);       \
    }

FAULT_SQLITE_CODE(sqlite3_errcode)
FAULT_SQLITE_CODE(sqlite3_extended_errcode)

/* ---- files ------------------------------------------------------------------------------------
 */

#define FAULT_FILE_CALL(type, name, failure, params, args)                                         \
    type __real_##name params;                                                                     \
    type __wrap_##name params;                                                                     \
    type __wrap_##name params                                                                      \
    {                                                                                              \
        if (!fault_calls_now(FAULT_FILES, #name))                                                  \
            return __real_##name args;                                                             \
        errno = fault_calls.system_errno;                                                          \
        return failure;                                                                            \
    }

FAULT_FILE_CALL(ssize_t, read, -1, (int fd, void *to, size_t n), (fd, to, n))
FAULT_FILE_CALL(ssize_t, pread, -1, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
FAULT_FILE_CALL(ssize_t, write, -1, (int fd, const void *from, size_t n), (fd, from, n))
FAULT_FILE_CALL(ssize_t, pwrite, -1, (int fd, const void *from, size_t n, off_t at),
                (fd, from, n, at))
FAULT_FILE_CALL(int, ftruncate, -1, (int fd, off_t size), (fd, size))
FAULT_FILE_CALL(int, fchmod, -1, (int fd, mode_t mode), (fd, mode))
FAULT_FILE_CALL(int, mkdir, -1, (const char *path, mode_t mode), (path, mode))
FAULT_FILE_CALL(int, mkdirat, -1, (int fd, const char *path, mode_t mode), (fd, path, mode))
FAULT_FILE_CALL(int, rename, -1, (const char *from, const char *to), (from, to))
FAULT_FILE_CALL(int, renameat, -1, (int a, const char *from, int b, const char *to),
                (a, from, b, to))
FAULT_FILE_CALL(int, link, -1, (const char *from, const char *to), (from, to))
FAULT_FILE_CALL(int, unlink, -1, (const char *path), (path))
FAULT_FILE_CALL(int, unlinkat, -1, (int fd, const char *path, int flags), (fd, path, flags))
FAULT_FILE_CALL(int, rmdir, -1, (const char *path), (path))
FAULT_FILE_CALL(int, stat, -1, (const char *path, struct stat *out), (path, out))
FAULT_FILE_CALL(int, lstat, -1, (const char *path, struct stat *out), (path, out))
FAULT_FILE_CALL(int, fstat, -1, (int fd, struct stat *out), (fd, out))
FAULT_FILE_CALL(int, fstatat, -1, (int fd, const char *path, struct stat *out, int flags),
                (fd, path, out, flags))
FAULT_FILE_CALL(DIR *, fdopendir, NULL, (int fd), (fd))

/* Nothing is synced, so that a sweep is quick. */
int __wrap_fsync(int);
int __wrap_fsync(int fd)
{
    (void)fd;
    errno = fault_calls.system_errno;
    return fault_calls_now(FAULT_FILES, "fsync") ? -1 : 0;
}

int __real_open(const char *, int, ...);
int __wrap_open(const char *, int, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (!fault_calls_now(FAULT_FILES, "open"))
        return __real_open(path, flags, mode);
    errno = fault_calls.system_errno;
    return -1;
}

int __real_openat(int, const char *, int, ...);
int __wrap_openat(int, const char *, int, ...);
int __wrap_openat(int folder, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (!fault_calls_now(FAULT_FILES, "openat"))
        return __real_openat(folder, path, flags, mode);
    errno = fault_calls.system_errno;
    return -1;
}

#endif
