/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A store on a network file system: one file for each host.
 *
 * SQLite's write-ahead log needs shared memory, which does not work between hosts, and a file that
 * several hosts write depends on locks that many mounts implement only in name. So no two hosts
 * write the same file. Each host has its own FOLDER/shards/HOST.db with its own runs and, joined in
 * when the store is opened, the runs of all others. An older FOLDER/results.db, if there is one, is
 * joined like another host's file.
 */
#ifndef ORCH_STORE_SHARDS_H
#define ORCH_STORE_SHARDS_H

#include "store/handle/internal.h"

enum store_layout {
    STORE_ONE_FILE,
    STORE_SHARDED, /* several hosts can reach it */
    STORE_TO_FOLD, /* shards that were copied to a local disk, to be merged into one file again */
};
/** The layout of the store at `path` (absolute). */
enum store_layout orch_store_layout_of(const char *path);

struct orch_store *orch_store_shards_open(const char *path, enum orch_store_mode mode,
                                          GError **error);
struct orch_store *orch_store_shards_fold(const char *path, enum orch_store_mode mode,
                                          GError **error);

/** Joins what is new in the other files. A file that cannot be read now is a warning. When there is
 * nothing new, this only checks the signature of each file. */
void orch_store_shards_refresh(struct orch_store *store);

/** The files of the other hosts and the single file from before sharding: char *; the caller
 * unrefs. */
GPtrArray *orch_store_shards_others(const struct orch_store *store);

/** Additional state of a sharded store. */
struct store_shards {
    char *name;    /* the path that users type */
    char *local;   /* folder that only this host may use */
    char *scratch; /* folder of a temporary joined copy that is removed on close, or NULL */

    int64_t looked_ns;   /* when the other files were last checked, monotonic clock */
    unsigned read_count; /* number of times that another file was opened and read; 0 when nothing
                            was new */
};
void orch_store_shards_free(struct store_shards *shards);

#endif
