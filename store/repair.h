/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Salvage: what can be read of a damaged store, into a new one.
 *
 * The damaged file is never opened: a copy of it is read, with its journal or log, and once more
 * without them when something is missing. A run is taken only when its rows, as they stand in the
 * new store, give the digest that was recorded; so one bad page costs the runs that lie on it and
 * nothing else. A file that was emptied at its begin, or whose table of contents is damaged, gets
 * the first pages of a fresh store, where these are the same.
 */
#ifndef ORCH_STORE_REPAIR_H
#define ORCH_STORE_REPAIR_H

#include "store/store.h"

/** What became of what was there; grows from file to file. */
struct orch_salvage {
    int64_t runs, purged, notes, recipes, forecasts, datasets, predictors, conflicts, actives;
    int64_t nameless; /* runs that must have been there, by numbers alone, in the file read first */
    GHashTable *known;  /* key of each run that was seen anywhere -> why it could not be taken */
    GPtrArray *sources; /* char *: each file that was read, and what came from it */
    GPtrArray *lost;    /* char *: what was lost besides runs, a line each */
};
void orch_salvage_init(struct orch_salvage *salvage);
void orch_salvage_clear(struct orch_salvage *salvage);

/** An empty store at `path`, which must not exist, whose objects and trials lie where those of the
 * store at `of` do: it is to take its place. */
struct orch_store *orch_salvage_open(const char *path, const char *of, GError **error);

/** Takes what `into` lacks from the file at `path`. True when it could look, whatever it found;
 * false when `into` cannot be written. `is_first`: what this file lacks counts as lost. */
bool orch_salvage_file(struct orch_store *into, const char *path, bool is_first,
                       struct orch_salvage *salvage, GError **error);

/** A trial whose active row was lost, from what its folder says: the next run closes it from its
 * journal. Nothing when the run, or the row, is there. */
bool orch_salvage_trial(struct orch_store *into, const char *key, const char *trial_dir,
                        const char *record, int64_t started_ns, bool *out_added, GError **error);

/** Of the runs that were seen, those that `into` lacks: "KEY: why"; the caller unrefs. */
GPtrArray *orch_salvage_missing(struct orch_store *into, const struct orch_salvage *salvage,
                                GError **error);

#endif
