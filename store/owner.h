/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of store/ share about the folder beside a store (store/beside.h). */
#ifndef ORCH_STORE_OWNER_H
#define ORCH_STORE_OWNER_H

#include "store/internal.h"

#define STORE_MARK "orch-store"
#define STORE_IGNORE ".gitignore"

enum store_owner {
    STORE_OWNER_NOBODY,   /* there is no folder */
    STORE_OWNER_ME,       /* this user, on this machine or in this place */
    STORE_OWNER_OTHER,    /* another user, or another machine */
    STORE_OWNER_UNMARKED, /* the folder was not made by orch, or is a link or a file */
    STORE_OWNER_MISFIT,   /* the mark is of another store than the database */
};

/** Finds out whose the folder beside an open store is, and opens it (store->folder_fd). A store
 * that is opened for writing gets its folder when there is none, and is refused unless it is this
 * user's. A store opened for reading gets a warning. */
bool store_own(struct orch_store *store, enum orch_store_mode mode,
               const struct store_options *options, GError **error);

/** For a store of several hosts, whose files lie in the folder: makes it, or refuses it unless it
 * is marked and lies where it was made. */
bool store_own_shard_folder(struct orch_store *store, GError **error);
/** True when the folder of the store at `path` is there and is not this user's. */
bool store_folder_is_strange(const char *path, bool is_shard);

/** Makes the folder with its mark, by a rename: it is never seen without. Another process may be
 * quicker. */
bool store_folder_make(const struct orch_store *store, GError **error);

/** Gives the store an id unless it has one. */
bool store_give_id(struct orch_store *store, GError **error);

/* ---- beside.c ---------------------------------------------------------------------------------
 */

bool store_name_is_trial(const char *name);
bool store_name_is_checkpoint(const char *name);

/* ---- active.c ---------------------------------------------------------------------------------
 */

/** As orch_store_actives, whoever wrote the rows. */
GPtrArray *store_actives_all(struct orch_store *store, GError **error);

/* ---- older_layout.c ---------------------------------------------------------------------------
 */

/** Moves what an earlier version kept elsewhere into the store's folder, once. Entries are moved
 * only out of folders that were provably made by orch, and only when their names are of orch's
 * forms. What was done becomes a warning. */
bool store_older_move(struct orch_store *store, GError **error);

/** The folder in which the objects of the store at `path` lie: FILE.d, or that of an earlier
 * version. For reading only. The caller frees. */
char *store_folder_for_reading(const char *path);

#endif
