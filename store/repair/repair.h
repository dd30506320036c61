/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Repair: copies what can be read of a damaged store into a new one.
 *
 * The damaged file itself is never opened. A copy of it is read together with its journal or log,
 * and once more without them when something is missing. A run is copied only when its rows in the
 * new store give the recorded digest, so one bad page costs only the runs that are stored on it. A
 * file whose first pages were zeroed, or whose schema table is damaged, gets the schema pages of a
 * fresh store: its tables begin on the same pages because it is created by the same statements.
 */
#ifndef ORCH_STORE_REPAIR_H
#define ORCH_STORE_REPAIR_H

#include "store/store.h"

/** The result of a repair; accumulates over all files that are read. */
struct orch_salvage {
    int64_t runs, purged, notes, recipes, forecasts, datasets, predictors, conflicts, actives;
    int64_t nameless;  /* runs known only by their id, in the file that was read first */
    GHashTable *known; /* key of each run that was seen in any file -> why it could not be copied */
    GPtrArray *sources; /* char *: each file that was read, and what was copied from it */
    GPtrArray *lost;    /* char *: a line for each loss other than a run */
};
void orch_salvage_init(struct orch_salvage *salvage);
void orch_salvage_clear(struct orch_salvage *salvage);

/** Creates an empty store at `path`, which must not exist. It uses the objects and trials of the
 * store at `of`, which it is going to replace. */
struct orch_store *orch_salvage_open(const char *path, const char *of, GError **error);

/** Copies everything that `into` lacks from the file at `path`. Returns true even when little or
 * nothing could be read; false when `path` cannot be copied at all (ORCH_ERROR_IO) or `into` cannot
 * be written. With `is_first`, everything that is missing in this file counts as lost. */
bool orch_salvage_file(struct orch_store *into, const char *path, bool is_first,
                       struct orch_salvage *salvage, GError **error);

/** Restores the active row of a trial from the contents of its folder, so that the next run closes
 * the trial from its journal. Does nothing when the run or the row exists. */
bool orch_salvage_trial(struct orch_store *into, const char *key, const char *record,
                        int64_t started_ns, bool *out_added, GError **error);

/** Runs that were seen in the source but are not stored in `into`, one "KEY: reason" each. The
 * caller unrefs. */
GPtrArray *orch_salvage_missing(struct orch_store *into, const struct orch_salvage *salvage,
                                GError **error);

#endif
