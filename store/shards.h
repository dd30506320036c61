/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A store on a network file system: one file a host.
 *
 * SQLite's log in shared memory cannot work there, and a file that several hosts write depends on
 * locks that many mounts only pretend to give. So no two hosts ever write the same file: each has
 * FOLDER/shards/HOST.db, in which it keeps its own runs and, joined in when the store is opened,
 * those of all others. FOLDER/results.db, if there is one from before, is one more file to join.
 */
#ifndef ORCH_STORE_SHARDS_H
#define ORCH_STORE_SHARDS_H

#include "store/internal.h"

enum store_layout {
    STORE_ONE_FILE,
    STORE_SHARDED, /* several hosts can reach it */
    STORE_TO_FOLD, /* shards that came to a local disk: they go into the one file again */
};
/** How the store at `path` (absolute) lies. */
enum store_layout store_layout_of(const char *path);

struct orch_store *store_shards_open(const char *path, enum orch_store_mode mode, GError **error);
struct orch_store *store_shards_fold(const char *path, enum orch_store_mode mode, GError **error);

/** Joins what the other files have that this one has not; a file that cannot be read now is a
 * warning. Costs a look at each file when there is nothing new. */
void store_shards_refresh(struct orch_store *store);

/** The files of the other hosts, and the one from before: char *; the caller unrefs. */
GPtrArray *store_shards_others(const struct orch_store *store);

/** What a sharded store has besides. */
struct store_shards {
    char *name;    /* the path that people use */
    char *local;   /* folder for what this host alone may touch */
    char *scratch; /* folder of a joined copy that goes when it is closed, or NULL */

    int64_t looked_ns;   /* when the others were last looked at, monotonic */
    unsigned read_count; /* other files that were opened and read: nothing new costs none */
};
void store_shards_free(struct store_shards *shards);

#endif
