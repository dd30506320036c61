/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Headings, rows and digests of data sets as text; private to store/. */
#ifndef ORCH_STORE_DATASET_TEXT_H
#define ORCH_STORE_DATASET_TEXT_H

#include "store/write/dataset.h"

/** The heading as stored in row 0 (canonical JSON; g_free). */
char *orch_store_dataset_heading(const struct orch_dataset *set);
/** Returns a set with that heading and no rows, or NULL when the text is not a heading. */
struct orch_dataset *orch_store_dataset_read_heading(const char *name, const char *text,
                                                     size_t length);
/** Allocates the values of all rows, all missing. */
void orch_store_dataset_allocate(struct orch_dataset *set);

/** Sets `out` to the row's values as a JSON array. */
void orch_store_dataset_row(const struct orch_dataset *set, size_t row, GString *out);
/** Parses a row written by orch_store_dataset_row; false when it is not a row of this set. */
bool orch_store_dataset_read_row(struct orch_dataset *set, size_t row, const char *text,
                                 size_t length);
/** Fills the set's `sha256` from its rows. */
void orch_store_dataset_digest(struct orch_dataset *set);

/** Reads the set with that id. With `most_cells` >= 0, a set that declares more values is refused
 * before memory is allocated for them. */
struct orch_dataset *orch_store_dataset_read(struct orch_store *store, int64_t id,
                                             int64_t most_cells, GError **error);
/** Does the work of orch_store_put_dataset within the caller's transaction. With `renames`, the set
 * is renamed (its `name` changes) when other rows have its name. */
bool orch_store_dataset_put(struct orch_store *store, struct orch_dataset *set, bool renames,
                            enum orch_dataset_put *out, char **out_name, GError **error);

#endif
