/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the repair: one damaged file that is read into a new store. */
#ifndef ORCH_STORE_REPAIR_PRIVATE_H
#define ORCH_STORE_REPAIR_PRIVATE_H

#include "store/handle/handle.h"
#include "store/repair/repair.h"

/** The state of reading one copy of a damaged file. */
struct store_reading {
    struct orch_store *from, *into;
    struct orch_salvage *salvage;
    GHashTable *keys;    /* id (int64_t *) -> key, from the index on keys */
    GHashTable *numbers; /* set of ids (int64_t *) that occur in any index */
    int64_t last;        /* the largest id */
    int64_t gaps; /* number of unreadable places that the walk of the current table has met */
    int64_t failed, missing; /* runs of this file that could not be copied; and those of them whose
                                key is unknown */
};

/* ---- repair_walk.c: rows by key, over damaged pages --------------------------------------------
 */

/** Copies a row; false ends the walk with an error of the new store. */
typedef bool (*store_take_row)(struct store_reading *r, sqlite3_stmt *row, GError **error);

/** Prepares a statement of the damaged file, which the caller finalizes. NULL when its tables
 * cannot be read. */
sqlite3_stmt *orch_store_reading_prepare(struct orch_store *store, const char *sql);
/** Walks the rows of `sql`, which are ordered by a text key in column 0, from ?1 on. */
bool orch_store_walk_texts(struct store_reading *r, const char *sql, store_take_row take,
                           GError **error);
/** Walks the rows of `sql`, which are ordered by an id in column 0, greater than ?1. */
bool orch_store_walk_numbers(struct store_reading *r, const char *sql, int64_t last,
                             store_take_row take, GError **error);

/** The outcome of a step of copying. */
enum store_copy_result {
    COPY_OK,
    COPY_UNREADABLE, /* the damaged file cannot be read */
    COPY_INVALID,    /* what was read is not a valid row */
    COPY_FAILED,     /* the new store cannot be written */
};
/** Classifies the error of an INSERT: a row that the new store rejects because of its content, or a
 * failure of the new store. */
enum store_copy_result orch_store_reading_outcome(struct orch_store *into, int code,
                                                  GError **error);
/** Binds the columns of `row` from `first` on to the parameters of `insert` from `to` on. */
void orch_store_bind_columns(sqlite3_stmt *insert, int to, sqlite3_stmt *row, int first);

/* ---- repair_runs.c, repair_tables.c -------------------------------------------------------------
 */

/** Collects the id and key of every run that is found in any index or in the table itself. */
bool orch_store_salvage_runs(struct store_reading *r, GError **error);
/** Copies the runs in the order of their ids, which is the order of writing. */
bool orch_store_take_runs(struct store_reading *r, GError **error);
/** Copies the rows of the other tables; `lost` gets a line (char *) for each that has gaps.
 */
bool orch_store_take_tables(struct store_reading *r, GPtrArray *lost, GError **error);
/** Copies the data sets one by one; each is verified by its own digest. */
bool orch_store_take_datasets(struct store_reading *r, GPtrArray *lost, GError **error);
/** Adds an active row, of a running trial or of one whose runner was killed. The next run closes it
 * from its journal. */
bool orch_store_put_active(struct orch_store *into, sqlite3_stmt *row, bool *out_added,
                           GError **error);

#endif
