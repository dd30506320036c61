/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The folder beside a store's file, FILE.d: what lies in it, and whose it is.
 *
 * orch makes the folder, and marks it in the same step with the file "orch-store" in it: format,
 * the store's id (also in the database), the folder's place (inode and time of birth), and the
 * owners (user number and a digest of the machine's id). A folder without a mark is not orch's. A
 * folder of which this user on this machine is no owner came from elsewhere: its runs can be read
 * and merged, and nothing else in it is used.
 *
 * Entries are reached by their kind and name only. A name that orch does not give to entries of
 * that kind is not an entry: it is never listed, opened or removed. Symbolic links are not
 * followed (lib/base/below.h).
 */
#ifndef ORCH_STORE_BESIDE_H
#define ORCH_STORE_BESIDE_H

#include "store/store.h"

#include <sys/types.h>

enum orch_beside {
    ORCH_BESIDE_TRIAL,      /* trials/RUN_KEY; in a store of several hosts, of this host alone */
    ORCH_BESIDE_CHECKPOINT, /* checkpoints/FINGERPRINT or checkpoints/RUN_KEY */
    ORCH_BESIDE_WORK,       /* work/TREE: a tree written out of git; work/TREE.tmpPID meanwhile */
    ORCH_BESIDE_TRY,        /* try/DIGEST: the manifest of a command */
};

/** True when this user may use what lies in the folder: it was made by them, on this machine or in
 * this very place. */
bool orch_store_is_own(const struct orch_store *store);

/** A random id that the store keeps, also in copies; "" in a store that never was written to by a
 * version that gives ids. Borrowed. */
const char *orch_store_id(const struct orch_store *store);

/** The path of an entry, which need not exist. NULL when `name` is no name of that kind. The caller
 * frees. */
char *orch_beside_path(const struct orch_store *store, enum orch_beside kind, const char *name);

/** Opens an entry's folder; the caller closes it. -1 with errno where there is none, or it is no
 * folder. */
int orch_beside_open(const struct orch_store *store, enum orch_beside kind, const char *name);

/** Makes the folders above an entry, so that its path can be used: none of them is a link. */
bool orch_beside_make_parent(struct orch_store *store, enum orch_beside kind, GError **error);

/** Makes an entry, which must not be there, with the folders above it. */
bool orch_beside_make(struct orch_store *store, enum orch_beside kind, const char *name,
                      mode_t mode, GError **error);

/** Removes an entry with all in it. Nothing there is success. */
bool orch_beside_remove(struct orch_store *store, enum orch_beside kind, const char *name,
                        GError **error);

/** Names of the entries, sorted. The caller unrefs. */
GPtrArray *orch_beside_list(const struct orch_store *store, enum orch_beside kind);

/** Makes this user on this machine an owner of the store at `path`, whoever made it. What could be
 * run or loaded unseen (work copies, the private repository) is removed. */
bool orch_store_adopt_folder(const char *path, GError **error);

#endif
