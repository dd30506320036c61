/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The defence against files that others made: what is looked at before SQLite reads one, and what
 * SQLite may do with it.
 */
#ifndef ORCH_STORE_DEFENCE_H
#define ORCH_STORE_DEFENCE_H

#include "store/handle/handle.h"

/** True when SQLite can safely roll back the journal beside a store. A journal that belongs to a
 * transaction over several files, which orch never makes, names a file that SQLite would delete;
 * reading a pipe would block. */
bool orch_store_check_journal(const char *path, GError **error);

/** True when the file and the files that SQLite keeps beside it are regular files or do not
 * exist. */
bool orch_store_check_files(const char *path, GError **error);
/** Applies SQLite's defensive settings and narrow limits, for an untrusted file. */
void orch_store_set_strict(sqlite3 *db);
/** Enables our triggers and foreign keys, and relaxes the limits to what a user's own conditions
 * may need. To be called after orch_store_check_shape has passed. */
void orch_store_set_working(sqlite3 *db);
/** True when the file has each table that `create` makes, word for word, and has no trigger or
 * index besides those of `create`. */
bool orch_store_check_shape(struct orch_store *store, const char *create, GError **error);

/* ---- pages.c ----------------------------------------------------------------------------------
 */

/** True when each page of the file's tables is referenced once. Otherwise reading the file may
 * never end, so call this before anything else is read. Takes time in proportion to the number of
 * pages. */
bool orch_store_check_pages(struct orch_store *store, GError **error);

#endif
