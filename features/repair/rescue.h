/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recovers the readable content of a damaged store into a new one, together with backups, shards
 * and the journals of trials next to it. */
#ifndef ORCH_FEATURES_REPAIR_RESCUE_H
#define ORCH_FEATURES_REPAIR_RESCUE_H

#include "store/repair.h"

struct orch_rescue {
    char *path; /* the damaged file, which is not changed */
    char *to;   /* the new store */
    struct orch_salvage salvage;
    GPtrArray *lost; /* char *: everything that is known to be lost */
    unsigned trials; /* trials found only by their folders */
};
/** Recovers the store at `path` into the new file `to` (NULL: `path` with ".repaired"). False with
 * an error when `to` exists, there is nothing to read, or `to` cannot be written. Clear with
 * orch_rescue_clear in both cases. */
bool orch_rescue_store(const char *path, const char *to, struct orch_rescue *out, GError **error);
void orch_rescue_clear(struct orch_rescue *rescue);

/** The files of the damaged store to move away before the new one takes its place: the database,
 * and its log and journal, which SQLite would replay into the new file. char *; the caller unrefs.
 */
GPtrArray *orch_rescue_old_files(const struct orch_rescue *rescue);

#endif
