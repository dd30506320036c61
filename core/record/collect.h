/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns a trial's journal into a run in the store. The same code handles trials that this process
 * started, trials of a dead runner and trials from a cluster. Collecting is idempotent. */
#ifndef ORCH_CORE_RECORD_COLLECT_H
#define ORCH_CORE_RECORD_COLLECT_H

#include "core/inputs/left_files.h"
#include "core/inputs/opened.h"
#include "lib/base/file_digests.h"
#include "lib/wire/verdict.h"
#include "store/store.h"

/** A file in a trial's folder that holds its record, in case the store loses the active row. */
#define ORCH_TRIAL_RECORD "record.json"

/** Member of a record: true when the trial's folder stays after it is recorded. */
#define ORCH_RECORD_KEEP "keep"

/** In a record: the metric of the trial's search, and "min" or "max". Runs keep the direction with
 * the metric where its plugin declares none. */
#define ORCH_RECORD_OBJECTIVE "objective"

/** How a collected trial ended. */
struct orch_collected {
    enum orch_verdict verdict;
    char *reason; /* or NULL */
    double wall_ms;
    int64_t point_count;
    GHashTable *results;   /* name -> double * */
    char *stderr_tail;     /* or NULL */
    json_t *facts;         /* object, as recorded */
    struct orch_left left; /* in folders of its own */
    char *kept;            /* path of the trial's folder when it was kept; NULL: removed */
};
void orch_collected_clear(struct orch_collected *collected);

/** How a trial ended according to whoever ran its host: the runner that killed it, or Slurm. */
struct orch_outside {
    enum orch_verdict verdict;
    const char *reason;
    bool overrules; /* also when the journal has an end */
    bool only_good; /* only when the run could be reused */
};

/** Records the trial `key` from its folder and removes the folder, or moves it to
 * ORCH_STORE_DIR_KEPT when the record asks for it. `record_json`: as made by orch_trialdir_prepare,
 * or NULL when it is lost. A journal without an end event becomes verdict `lost`, or that of
 * `outside`, which may be NULL. `opened`: what it opened; NULL: is read from the folder. `digests`:
 * of the files that it read. What the trial left in
 * folders of its own is kept (left_keep.h); when not all of it can be moved, the folder is. On
 * error the folder stays, so that the call can be repeated. */
bool orch_collect(struct orch_store *store, const char *key, const char *record_json,
                  int64_t started_ns, const struct orch_outside *outside,
                  const struct orch_opened *opened, struct orch_file_digests *digests,
                  struct orch_collected *out, GError **error);

/** Settles what is left of a trial that is recorded, whose runner died before it did. */
void orch_collect_rest(struct orch_store *store, const struct orch_run *run);

/** Closes the trials of dead runners: records them from their journals (or as lost) and ends stray
 * processes. `*out_closed`: number of trials recorded. `*out_pending`: number of trials whose
 * runner is dead but whose host is still ending them; call again shortly. */
bool orch_recover(struct orch_store *store, unsigned *out_closed, unsigned *out_pending,
                  GError **error);

/** For a repaired store: restores the active rows of trials whose folders exist but which are
 * missing from the store, so that the next run closes them. `out_lost` (char *) gets the trials
 * without a record. */
bool orch_recover_folders(struct orch_store *store, unsigned *out_added, GPtrArray *out_lost,
                          GError **error);

#endif
