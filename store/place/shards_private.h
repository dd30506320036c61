/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files that implement shards. */
#ifndef ORCH_STORE_SHARDS_PRIVATE_H
#define ORCH_STORE_SHARDS_PRIVATE_H

#include "store/join/join.h"
#include "store/place/shards.h"

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
