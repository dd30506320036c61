/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of shards share. */
#ifndef ORCH_STORE_SHARDS_PRIVATE_H
#define ORCH_STORE_SHARDS_PRIVATE_H

#include "store/join.h"
#include "store/shards.h"

/* ---- shards_layout.c ---------------------------------------------------------------------------
 */

/** The folder of the hosts' files, there or not; the caller frees. */
char *store_shards_folder(const char *path);
/** Names of the files in it that count, sorted: char *; the caller unrefs. */
GPtrArray *store_shards_list(const char *folder);
/** The file of this host; with the user's number where another user's cannot be written. The caller
 * frees. */
char *store_shards_own_file(const char *folder);
/** Notes that the files were made in this very folder: it is not a copy. */
void store_shards_note_place(const char *folder);

/* ---- shards.c ----------------------------------------------------------------------------------
 */

/** Looks at the other files and joins what is new, whatever the mode that the store was opened in:
 * its own file is this host's to write. False: one changed while it was read. */
bool store_shards_look(struct orch_store *store);
/** Adds a warning: what is new in that file is left out this time (NULL: it changed meanwhile). */
void store_shards_warn(struct orch_store *store, const char *path, const GError *problem);
/** Adds a warning for each of the first problems of a receipt. */
void store_shards_warn_of(struct orch_store *store, const struct orch_receipt *receipt);

#endif
