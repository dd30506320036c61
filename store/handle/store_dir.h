/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The folder beside a store's file (FILE.d): its entries and its owners.
 *
 * orch creates the folder and, in the same step, marks it with a file "orch-store". The mark holds
 * the format, the store's id (also kept in the database), the place of the folder (inode and time
 * of birth) and the owners (user number and a digest of the machine's id). A folder without a mark
 * was not made by orch. A folder whose mark does not list this user on this machine was copied from
 * elsewhere: its runs can be read and merged, but nothing else in it is used.
 *
 * Entries are addressed by kind and name. A name that does not have the form of its kind is not an
 * entry and is never listed, opened or removed. Symbolic links are not followed
 * (lib/base/files_below.h).
 */
#ifndef ORCH_STORE_STORE_DIR_H
#define ORCH_STORE_STORE_DIR_H

#include "store/store.h"

#include <sys/types.h>

enum orch_store_dir {
    ORCH_STORE_DIR_TRIAL,      /* trials/RUN_KEY; separate for each host of a shared store */
    ORCH_STORE_DIR_CHECKPOINT, /* checkpoints/FINGERPRINT or checkpoints/RUN_KEY */
    ORCH_STORE_DIR_WORK, /* work/TREE: a tree written out of git (work/TREE.tmpPID meanwhile) */
    ORCH_STORE_DIR_TRY,  /* try/DIGEST: a manifest that earlier versions wrote */
    ORCH_STORE_DIR_KEPT, /* kept/RUN_KEY: an ended trial's folder, kept for debugging */
    ORCH_STORE_DIR_LEFT, /* left/RUN_KEY: files that a trial wrote in its folder apart */
    ORCH_STORE_DIR_JOBS, /* slurm/KEY: what was submitted to an executor, and its output (the name
                            is that of the first executor, in stores that exist) */
};

/** True when this user may use the contents of the folder: the mark lists them as an owner, for
 * this machine or because the folder is still in its recorded place. */
bool orch_store_is_own(const struct orch_store *store);

/** The random id of the store, which copies of the store share. "" when no version that assigns ids
 * has written to the store. Borrowed. */
const char *orch_store_id(const struct orch_store *store);

/** The path of an entry, which need not exist. NULL when `name` is not a valid name of that kind.
 * The caller frees. */
char *orch_store_dir_path(const struct orch_store *store, enum orch_store_dir kind,
                          const char *name);

/** Opens an entry's folder; the caller closes it. Returns -1 with errno when the entry does not
 * exist or is not a folder. */
int orch_store_dir_open(const struct orch_store *store, enum orch_store_dir kind, const char *name);

/** Creates the parent folders of an entry, so that its path can be used. None of them is a symbolic
 * link. */
bool orch_store_dir_make_parent(struct orch_store *store, enum orch_store_dir kind, GError **error);

/** Creates an entry, which must not exist, and its parent folders. */
bool orch_store_dir_make(struct orch_store *store, enum orch_store_dir kind, const char *name,
                         mode_t mode, GError **error);

/** Removes an entry with all its contents. Succeeds when the entry does not exist. */
bool orch_store_dir_remove(struct orch_store *store, enum orch_store_dir kind, const char *name,
                           GError **error);

/** Moves the folder of an ended trial from ORCH_STORE_DIR_TRIAL to ORCH_STORE_DIR_KEPT. Returns its
 * new path, which the caller frees, or NULL when it cannot be moved. */
char *orch_store_dir_keep(struct orch_store *store, const char *key);

/** Names of the entries, sorted. The caller unrefs. */
GPtrArray *orch_store_dir_list(const struct orch_store *store, enum orch_store_dir kind);

/** Makes this user on this machine an owner of the store at `path`, whoever created it. Contents
 * that could be executed or loaded without being noticed (work copies, the private repository) are
 * removed. */
bool orch_store_adopt_folder(const char *path, GError **error);

#endif
