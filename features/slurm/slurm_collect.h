/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes in the trials of Slurm jobs that have ended. Nothing watches the jobs meanwhile: any later
 * command may call this, and calling it twice changes nothing. */
#ifndef ORCH_FEATURES_SLURM_SLURM_COLLECT_H
#define ORCH_FEATURES_SLURM_SLURM_COLLECT_H

#include "core/record/collect.h"

/** One trial that was taken in. */
struct orch_slurm_run {
    char key[ORCH_KEY_CHARS];
    char *recipe, *experiment;
    int64_t job, index;
    enum orch_verdict verdict;
    char *reason; /* or NULL */
    char *alerts; /* those that fired, a line each; "": none */
};

struct orch_slurm_collected {
    GPtrArray *runs;          /* struct orch_slurm_run * */
    unsigned queued, running; /* not ended, as far as is known */
    unsigned forgotten;       /* cancelled before they began: they have no run */
    unsigned kept;            /* ended, but trials that have not begun still need their artifacts */
    char *problem;            /* why Slurm gave no answer, or NULL */
    char *waits_for;          /* why the first queued trial waits, in Slurm's word; NULL: unknown */
};

/** True when the store has trials of Slurm jobs. */
bool orch_slurm_has_jobs(struct orch_store *store);

/** Collects. Asks Slurm at most once a minute. With `trusts_journals`, trials whose journals have
 * an end are taken in without Slurm's state, for a cluster that cannot be asked any more. The
 * caller clears. */
bool orch_slurm_collect(struct orch_store *store, bool trusts_journals,
                        struct orch_slurm_collected *out, GError **error);
void orch_slurm_collected_clear(struct orch_slurm_collected *collected);

#endif
