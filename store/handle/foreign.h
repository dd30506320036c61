/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens a file that another user made, for reading.
 */
#ifndef ORCH_STORE_FOREIGN_H
#define ORCH_STORE_FOREIGN_H

#include "store/handle/handle.h"

/** A file made by another user, open for reading in one transaction. */
struct store_foreign {
    struct orch_store *store;
    int64_t bytes;      /* its size */
    int64_t steps_left; /* number of steps that SQLite may still take */
};
/** Opens the file with defensive settings and compares its tables with those of `ours`. SQLite
 * keeps a pointer to `out`, which must not move until it is closed. */
bool orch_store_foreign_open(struct orch_store *ours, const char *path, struct store_foreign *out,
                             GError **error);
void orch_store_foreign_close(struct store_foreign *foreign);
/** True when the last failure concerns only the row that was read, and not the whole file. */
bool orch_store_foreign_is_damage(const struct orch_store *store);

#endif
