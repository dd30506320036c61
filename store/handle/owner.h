/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of store/ that handle the folder beside a store (store/handle/store_dir.h).
 */
#ifndef ORCH_STORE_OWNER_H
#define ORCH_STORE_OWNER_H

#include "store/handle/open.h"

#define STORE_MARK "orch-store"
#define STORE_IGNORE ".gitignore"

enum store_owner {
    STORE_OWNER_NONE,        /* there is no folder */
    STORE_OWNER_ME,          /* this user, on this machine or in the original place */
    STORE_OWNER_OTHER,       /* another user, or another machine */
    STORE_OWNER_UNMARKED,    /* orch did not create the folder, or it is a link or a file */
    STORE_OWNER_OTHER_STORE, /* the mark names a different store than the database */
};

/** Determines the owner of the folder beside an open store and opens it (store->folder_fd). For
 * writing, a missing folder is created, and a folder that does not belong to this user is an error.
 * For reading, that is a warning. */
bool orch_store_own(struct orch_store *store, enum orch_store_mode mode,
                    const struct store_options *options, GError **error);

/** For a store of several hosts, whose files are in the folder: creates the folder, or fails unless
 * it has a mark and is in its original place. */
bool orch_store_own_shard_folder(struct orch_store *store, GError **error);
/** True when the folder of the store at `path` exists and does not belong to this user. */
bool orch_store_folder_is_foreign(const char *path, bool is_shard);

/** Creates the folder with its mark by a rename, so that it never exists without one. Another
 * process may create it first. */
bool orch_store_folder_make(const struct orch_store *store, GError **error);

/** Determines the owner of the folder and opens it (store->folder_fd). `*out_mark` receives its
 * mark or NULL. */
enum store_owner orch_store_owner_look(struct orch_store *store, bool is_shard, json_t **out_mark);
/** Sets an error that says why the folder is not written to. Returns false. */
bool orch_store_owner_refuse(const struct orch_store *store, enum store_owner owner,
                             GError **error);

#endif
