/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Submits the trials of a plan to Slurm, all at once: an array of jobs for trials with equal
 * options, cut at the cluster's MaxArraySize. A trial that refers to another depends on its element
 * (aftercorr, afterok), so that nothing has to stay alive to start it. Only a reference to the best
 * of several trials is open until these have ended: such trials stay for a later command. */
#ifndef ORCH_FEATURES_SLURM_SLURM_SUBMIT_H
#define ORCH_FEATURES_SLURM_SLURM_SUBMIT_H

#include "core/plan/plan.h"
#include "core/plan/plan_forecast.h"
#include "core/schedule/run_limits.h"
#include "features/slurm/slurm_options.h"

/** A submitted array. */
struct orch_slurm_array {
    char submission[ORCH_KEY_CHARS];
    int64_t job;
    unsigned trials;
    char *options;    /* of sbatch, as typed in a shell */
    char *dependency; /* or NULL */
    struct orch_slurm_request request;
};

struct orch_slurm_submission {
    GPtrArray *arrays; /* struct orch_slurm_array * */
    unsigned submitted, reused, held, skipped;
    unsigned promoted;   /* of these, trials that a rule had stopped and that go on */
    unsigned waiting;    /* they refer to the best of trials that have not ended */
    unsigned unchosen;   /* of searches: chosen by a later command, from the results of these */
    unsigned unneeded;   /* of searches that try nothing more */
    unsigned not_run;    /* they refer to a trial that cannot be submitted */
    GPtrArray *problems; /* char *, one for each trial that refers to a missing result */
    enum orch_limit limit;
    unsigned held_back; /* by the limit */
};

struct orch_slurm_submit_options {
    unsigned at_once; /* of each array; 0: no limit */
    const char *argv_json;
    const struct orch_forecaster *forecaster; /* NULL: none */
    const struct orch_limits *limits;         /* NULL: none */
    const struct orch_chooser *chooser;       /* of the plan's searches; NULL: it has none */
};

/** Submits. On error, what was submitted before stays and is in `*out`, which the caller clears. */
bool orch_slurm_submit(struct orch_plan *plan, const struct orch_slurm_submit_options *options,
                       struct orch_slurm_submission *out, GError **error);
void orch_slurm_submission_clear(struct orch_slurm_submission *submission);

#endif
