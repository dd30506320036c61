/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a trial's journal to a run in the store. The same for a trial that this process started, one
 * of a dead runner, and one that came back from a cluster. Collecting twice changes nothing. */
#ifndef ORCH_CORE_RUN_COLLECT_H
#define ORCH_CORE_RUN_COLLECT_H

#include "lib/wire/verdict.h"
#include "store/store.h"

/** File of a trial's folder: its record, for when the store loses the active row. */
#define ORCH_TRIAL_RECORD "record.json"

/** How a collected trial ended. */
struct orch_collected {
    enum orch_verdict verdict;
    char *reason; /* or NULL */
    double wall_ms;
    int64_t point_count;
    GHashTable *results; /* name -> double * */
    char *stderr_tail;   /* or NULL */
    json_t *facts;       /* object, as recorded */
};
void orch_collected_clear(struct orch_collected *collected);

/** Records the trial `key` from its folder (record as of orch_trialdir_make; NULL: none is left)
 * and removes the folder. A journal without an end becomes `lost`, or `timeout` with `overdue` as
 * its reason when that is not NULL: the trial was killed because its time was over. On error the
 * folder stays, for the next try. */
bool orch_collect(struct orch_store *store, const char *key, const char *record_json,
                  int64_t started_ns, const char *overdue, struct orch_collected *out,
                  GError **error);

/** Closes the trials of dead runners: records them from their journals (or as lost), ends stray
 * processes. `*out_pending`: trials whose runner is dead but whose host still ends them: look again
 * in a moment. `*out_closed`: trials recorded. */
bool orch_recover(struct orch_store *store, unsigned *out_closed, unsigned *out_pending,
                  GError **error);

/** For a store that was repaired: trials whose folders are there and of which it knows nothing get
 * their active rows back, so that the next run closes them. `out_lost` (char *) gets those of which
 * no record is left. */
bool orch_recover_folders(struct orch_store *store, unsigned *out_added, GPtrArray *out_lost,
                          GError **error);

/** Kills (SIGKILL) every process of this user that carries ORCH_RUN=key in its environment. Returns
 * how many. */
unsigned orch_kill_strays(const char *key);

#endif
