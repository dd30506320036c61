/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of repair share: one damaged file, read into a new store. */
#ifndef ORCH_STORE_REPAIR_PRIVATE_H
#define ORCH_STORE_REPAIR_PRIVATE_H

#include "store/internal.h"
#include "store/repair.h"

/** Reading one copy of a damaged file. */
struct store_reading {
    struct orch_store *from, *into;
    struct orch_salvage *salvage;
    GHashTable *keys;        /* number (int64_t *) -> key, as the index on keys has it */
    GHashTable *numbers;     /* number (int64_t *): every one that any index names */
    int64_t last;            /* the largest of them */
    int64_t gaps;            /* how often the walk of the table at hand met what it cannot read */
    int64_t failed, missing; /* runs of this file that could not be taken; of them without a key */
};

/* ---- repair_walk.c: rows by key, over damaged pages --------------------------------------------
 */

/** Takes a row; false ends everything with an error of the new store. */
typedef bool (*store_take_row)(struct store_reading *r, sqlite3_stmt *row, GError **error);

/** A statement of the damaged file, to be finalized; NULL: its tables cannot be read. */
sqlite3_stmt *store_reading_prepare(struct orch_store *store, const char *sql);
/** `sql`: rows by rising text key in column 0, from ?1 on. */
bool store_walk_texts(struct store_reading *r, const char *sql, store_take_row take,
                      GError **error);
/** `sql`: rows by rising number in column 0, greater than ?1. */
bool store_walk_numbers(struct store_reading *r, const char *sql, int64_t last, store_take_row take,
                        GError **error);

/** How a step of copying went. */
enum store_outcome {
    FINE,
    UNREADABLE, /* the damaged file's fault */
    WRONG,      /* what was read is no run */
    FAILED,     /* the new store's */
};
/** What the new store refuses because of what the row is, and what it cannot do at all. */
enum store_outcome store_reading_outcome(struct orch_store *into, int code, GError **error);
/** The columns of a row from `first` on become the values of `insert` from `to` on. */
void store_bind_columns(sqlite3_stmt *insert, int to, sqlite3_stmt *row, int first);

/* ---- repair_runs.c, repair_tables.c -------------------------------------------------------------
 */

/** Every number and key of a run that any index or the table itself knows. */
bool store_find_runs(struct store_reading *r, GError **error);
/** Takes them, in the order of their numbers, which is that of writing. */
bool store_take_runs(struct store_reading *r, GError **error);
/** Takes the rows of the other tables; `lost` gets a line (char *) for each that has gaps. */
bool store_take_tables(struct store_reading *r, GPtrArray *lost, GError **error);
/** Takes the data sets: they have digests of their own; each is written by itself. */
bool store_take_datasets(struct store_reading *r, GPtrArray *lost, GError **error);
/** A trial under way, or one whose runner was killed: the next run closes it from its journal. */
bool store_put_active(struct orch_store *into, sqlite3_stmt *row, bool *out_added, GError **error);

#endif
