/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The handle of a store: SQLite's connection, the paths, and what the files of store/ keep with
 * them.
 */
#ifndef ORCH_STORE_HANDLE_H
#define ORCH_STORE_HANDLE_H

#include "lib/base/file.h"
#include "store/store.h"
#include <sqlite3.h>

#define STORE_APPLICATION_ID 0x4F524348 /* "ORCH" */
#define STORE_BUSY_MS 30000
#define STORE_TEXT_MAX (64 << 20) /* bytes of one value */

struct orch_store {
    sqlite3 *db;
    char *path;     /* absolute */
    char *copy;     /* folder of a temporary copy that is read instead of the file, or NULL */
    char *original; /* path of the file that was copied, or NULL */
    char *folder;   /* FILE.d, for objects and other entries (store/handle/store_dir.h) */
    int folder_fd;  /* file descriptor of the folder; -1: there is none */
    bool is_own;    /* this user may use the folder (orch_store_is_own) */
    char id[ORCH_KEY_CHARS]; /* the store's id, or "" */
    bool readonly;
    bool wal;
    bool lacks_space; /* the last failure was that of a full disk */
    bool is_locked;   /* the last failure was a lock that another process held for too long */
    bool is_alone;    /* read under a lock that keeps other processes out (open.c, open_alone) */
    unsigned depth;   /* transactions begun and not ended (orch_store_transaction_begin) */
    int64_t busy_ms;  /* how long to wait for another process's lock */
    int64_t busy_until_ns;       /* when the current wait for a lock gives up */
    int64_t deadline_ns;         /* when a query is aborted with an error (orch_store_limit_time) */
    GPtrArray *warnings;         /* char *: warnings from opening the store */
    struct store_shards *shards; /* on a network file system, else NULL */
    GHashTable *statements;      /* address of SQL literal -> sqlite3_stmt * */
    struct store_stream *stream; /* state of the bulk insertion of points (stream.c), or NULL */
};

/** What a store of several hosts has besides (store/place/shards.h). */
struct store_shards {
    char *name;    /* the path that users type */
    char *local;   /* folder that only this host may use */
    char *scratch; /* folder of a temporary joined copy that is removed on close, or NULL */
    /** Joins what is new in the other hosts' files. A file that cannot be read now is a warning. */
    void (*refresh)(struct orch_store *store);

    int64_t looked_ns;   /* when the other files were last checked, monotonic clock */
    unsigned read_count; /* number of times that another file was opened and read; 0 when nothing
                            was new */
};

/** Opens the file as it is, to read what can be read of it. Nothing is checked, created or
 * changed. */
struct orch_store *orch_store_open_raw(const char *path, GError **error);
/** Creates a handle that is not open. orch_store_open_handle opens it with SQLite's flags,
 * orch_store_close_handle closes it, and orch_store_free_handle closes and frees it. */
struct orch_store *orch_store_new_handle(const char *path);
bool orch_store_open_handle(struct orch_store *store, int flags, bool immutable, GError **error);
void orch_store_close_handle(struct orch_store *store);
void orch_store_free_handle(struct orch_store *store);

/* ---- backup.c ---------------------------------------------------------------------------------
 */

/** Copies the open file to `dest`, which must not exist. */
bool orch_store_backup_to(struct orch_store *store, const char *dest, GError **error);

#endif
