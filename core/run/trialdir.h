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
    char *path;   /* absolute */
    char *record; /* JSON text: what the store needs besides the journal */
};

/** Makes the folder of a new run of `item`: trial.json, work/, and for wrapped programs the files
 * of the captured tree as symbolic links into .orch/work/<tree>, so that what the program makes
 * lies in the trial's own folder and an edit during a sweep changes nothing. `chosen` holds, for
 * each reference of the cell, the item that it means. False on error; nothing is left behind. */
bool orch_trialdir_make(struct orch_plan *plan, const struct orch_plan_item *item,
                        const unsigned *chosen, const struct orch_slot *slot, const char *argv_json,
                        struct orch_trialdir *out, GError **error);
void orch_trialdir_clear(struct orch_trialdir *trialdir);

/** Where checkpoints of a fingerprint lie. The caller frees. */
char *orch_checkpoint_path(struct orch_store *store, const char *fingerprint);

#endif
