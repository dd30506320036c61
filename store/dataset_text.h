/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Headings, rows and digests of data sets as text; for the files of store/. */
#ifndef ORCH_STORE_DATASET_TEXT_H
#define ORCH_STORE_DATASET_TEXT_H

#include "store/dataset.h"

/** The heading as kept in row 0 (canonical JSON; g_free). */
char *store_dataset_heading(const struct orch_dataset *set);
/** A set of that heading without rows; NULL: it is none. */
struct orch_dataset *store_dataset_read_heading(const char *name, const char *text, size_t length);
/** Makes room for the values of all rows, all missing. */
void store_dataset_allocate(struct orch_dataset *set);

/** Sets `out` to a row's values as a JSON array. */
void store_dataset_row(const struct orch_dataset *set, size_t row, GString *out);
/** Reads it back; false: it is no row of this set. */
bool store_dataset_read_row(struct orch_dataset *set, size_t row, const char *text, size_t length);
/** Fills the set's `sha256` from its rows. */
void store_dataset_digest(struct orch_dataset *set);

/** Reads the set of that number; with `most_cells` >= 0 one that tells of more values is refused
 * before room is made for them. */
struct orch_dataset *store_dataset_read(struct orch_store *store, int64_t id, int64_t most_cells,
                                        GError **error);
/** orch_store_put_dataset within a transaction. `renames`: where other rows have the name, the set
 * gets another (its `name` is changed). */
bool store_dataset_put(struct orch_store *store, struct orch_dataset *set, bool renames,
                       enum orch_dataset_put *out, char **out_name, GError **error);

#endif
