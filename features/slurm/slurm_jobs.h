/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials of Slurm jobs among the active rows of a store, shared by the files that judge, collect
 * and cancel them. */
#ifndef ORCH_FEATURES_SLURM_SLURM_JOBS_H
#define ORCH_FEATURES_SLURM_SLURM_JOBS_H

#include "features/slurm/slurm_states.h"
#include "features/slurm/slurm_status.h"
#include "store/store.h"

/** `boot_id` of a runner that is an element of a job array: `pid` is the number of the job, `start`
 * the index of the element. Such a trial is neither alive nor dead by itself; whoever collects it
 * asks Slurm (features/slurm/slurm_collect.h). */
#define ORCH_SLURM_RUNNER "slurm"
bool orch_slurm_is_runner(const struct orch_process *runner);

/** A trial of a job, with the record of its active row read. */
struct orch_slurm_trial {
    const struct orch_active_row *row;
    json_t *record;
    const char *submission; /* borrowed from the record */
    int64_t job, index;     /* job 0: not known yet */
    bool is_needed;         /* by a trial that has not begun */
    bool is_gone;           /* collected or forgotten by this call */
    struct orch_slurm_judgement judgement;
    struct orch_slurm_job said; /* texts borrowed from the status */
    json_t *report;             /* of its host, or NULL */
    char *output;
};

/** Returns the trials of jobs (struct orch_slurm_trial *) among active rows, which must outlive
 * them. The caller unrefs. */
GPtrArray *orch_slurm_trials(struct orch_store *store, const GPtrArray *actives);

#endif
