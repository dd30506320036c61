/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder of one trial: made before its host starts, read when it has ended. */
#ifndef ORCH_CORE_RUN_TRIALDIR_H
#define ORCH_CORE_RUN_TRIALDIR_H

#include "core/run/plan.h"

/** What a running trial has for itself. */
struct orch_slot {
    unsigned index;
    unsigned gpus[64]; /* indices into the machine's GPUs */
    unsigned gpu_count;
    int threads;
    int cpus[1024];      /* CPU numbers to pin to */
    unsigned cpu_count;  /* 0: not pinned */
    unsigned co_runners; /* other trials of this runner when it started */
};

struct orch_trialdir {
    char key[ORCH_KEY_CHARS];
    char *path;     /* absolute; made by orch_trialdir_write */
    char *record;   /* JSON text: what the store needs besides the journal */
    json_t *params; /* as the trial gets them: references resolved, paths absolute */
};

/** Gathers all that a new run of `item` is, and writes nothing yet: its claim comes first, so that
 * a folder without an active row is always one that can go. `chosen` holds, for each reference of
 * the cell, the item that it means. */
bool orch_trialdir_prepare(struct orch_plan *plan, const struct orch_plan_item *item,
                           const unsigned *chosen, const struct orch_slot *slot,
                           const char *argv_json, struct orch_trialdir *out, GError **error);
/** Makes the folder: trial.json, and for wrapped programs the files of the captured tree as
 * symbolic links into .orch/results.db.d/work/<tree>, so that what the program makes lies in the
 * trial's own folder and an edit during a sweep changes nothing. False on error; nothing is left
 * behind. */
bool orch_trialdir_write(struct orch_plan *plan, const struct orch_plan_item *item,
                         const struct orch_slot *slot, const struct orch_trialdir *trialdir,
                         GError **error);
void orch_trialdir_clear(struct orch_trialdir *trialdir);

/** Where checkpoints of a fingerprint lie, or of a run by its key when several runs of one
 * fingerprint are under way. The caller frees. */
char *orch_checkpoint_path(struct orch_store *store, const char *name);

#endif
