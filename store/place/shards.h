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

#include "store/handle/handle.h"
#include "store/join/join.h"

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

/** The files of the other hosts and the single file from before sharding: char *; the caller
 * unrefs. */
GPtrArray *orch_store_shards_others(const struct orch_store *store);

/* ---- shards_layout.c ---------------------------------------------------------------------------
 */

/** The folder of the hosts' files, whether it exists or not; the caller frees. */
char *orch_store_shards_folder(const char *path);
/** The valid names of hosts' files in it, sorted: char *; the caller unrefs. */
GPtrArray *orch_store_shards_list(const char *folder);
/** The path of this host's file. The user number is added to the name when the file of that host
 * belongs to another user and cannot be written. The caller frees. */
char *orch_store_shards_own_file(const char *folder);
/** Records the place of the folder, so that a copy of it can be recognised. */
void orch_store_shards_note_place(const char *folder);

/* ---- shards.c ----------------------------------------------------------------------------------
 */

/** What a store of several hosts has besides; freed with the store. */
struct store_shards *orch_store_shards_new(void);
/** Checks the other files and joins what is new. This works in any mode that the store was opened
 * in, because a host may always write its own file. Returns false when a file changed while it was
 * read. */
bool orch_store_shards_look(struct orch_store *store);
/** Adds a warning that new data in that file is left out this time; `problem` NULL means that the
 * file changed while it was read. */
void orch_store_shards_warn(struct orch_store *store, const char *path, const GError *problem);
/** Adds a warning for each of the first problems of a receipt. */
void orch_store_shards_warn_of(struct orch_store *store, const struct orch_receipt *receipt);

#endif
