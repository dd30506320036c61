/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a readable copy of a damaged file, for repair.c. */
#ifndef ORCH_STORE_SALVAGE_H
#define ORCH_STORE_SALVAGE_H

#include "store/handle/handle.h"

/** The ways to make the copy. */
enum store_salvage_way {
    STORE_SALVAGE_WHOLE,   /* with its journal or log, which SQLite then rolls back or replays */
    STORE_SALVAGE_ALONE,   /* the file without its journal or log */
    STORE_SALVAGE_GRAFTED, /* with its first pages replaced by those of a fresh store */
};

/** Copies the file at `path` into a scratch folder beside `near` and opens the copy. Returns NULL
 * when it cannot be read in this way (ORCH_ERROR_STORE) or not at all (ORCH_ERROR_IO). */
struct orch_store *orch_store_salvage_open(const char *path, const char *near,
                                           enum store_salvage_way way, GError **error);
/** Closes the store and removes the copy. */
void orch_store_salvage_close(struct orch_store *copy);

/** Bounds the pages that SQLite can read from the trees with these root pages (uint32_t) by the
 * size of the file at `path`, whose log must have been merged into it. Where a tree references
 * pages in circles or repeatedly, references to pages that it has already visited are made
 * unreadable. Fails with ORCH_ERROR_IO. */
bool orch_store_salvage_cut(const char *path, const GArray *roots, GError **error);

/** True when there is a journal or log that is not empty. */
bool orch_store_salvage_has_journal(const char *path);

#endif
