/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict of a trial that ran in a Slurm job: its journal's end and Slurm's terminal state
 * together. Neither alone is enough. Slurm says COMPLETED of a job whose host died, and a trial
 * whose data loader was killed for want of memory can exit with status 0. What neither says stays
 * open. */
#ifndef ORCH_FEATURES_SLURM_SLURM_STATES_H
#define ORCH_FEATURES_SLURM_SLURM_STATES_H

#include "lib/wire/verdict.h"

#include <stdbool.h>

/** When a state of Slurm counts although the journal has an end. */
enum orch_slurm_overrules {
    ORCH_SLURM_OVERRULES_NOTHING,
    ORCH_SLURM_OVERRULES_SUCCESS, /* an end that says the trial went well */
    ORCH_SLURM_OVERRULES_ANY,
};

struct orch_slurm_state {
    const char *name;
    bool is_ended;
    enum orch_verdict cut;     /* the journal has no end */
    enum orch_verdict stopped; /* the journal says that the host received SIGTERM */
    enum orch_slurm_overrules overrules;
    const char *text; /* completes "its Slurm job ..."; NULL before the end */
};

/** The state that squeue or sacct names ("CANCELLED by 1000" is CANCELLED); NULL: unknown. */
const struct orch_slurm_state *orch_slurm_state_find(const char *name);
/** The n-th state; NULL behind the last. */
const struct orch_slurm_state *orch_slurm_state_at(unsigned n);
/** The state that the last of Slurm's own lines in a job's output tells ("DUE TO TIME LIMIT").
 * NULL: none. */
const struct orch_slurm_state *orch_slurm_state_in_output(const char *output);

/** True for a state after which Slurm may start the job again: until the accounts have the later
 * start, sacct tells how the earlier one ended. */
bool orch_slurm_state_is_restarted(const struct orch_slurm_state *state);

/** What is known of a trial. */
struct orch_slurm_evidence {
    const struct orch_slurm_state *state;  /* Slurm's answer; NULL: none */
    const struct orch_slurm_state *output; /* orch_slurm_state_in_output */
    bool is_absent;                        /* Slurm answered, and does not know the job */
    bool is_unaccounted;                   /* squeue says that it has ended, sacct does not yet */
    double absent_s;     /* since the first such answer, or one that may tell of an earlier start */
    bool has_accounting; /* sacct answers, so that an ended job may still appear there */
    bool has_journal, has_end;
    enum orch_verdict end;
    /* the journal says that SIGTERM or SIGKILL ended the trial: Slurm signals all processes of a
     * job at once, so the trial may end before its host has seen the signal */
    bool is_killed;
    bool is_near_limit; /* the trial ran until the margin before --time */
};

enum orch_slurm_action {
    ORCH_SLURM_WAIT,    /* it runs, or nothing certain is known yet */
    ORCH_SLURM_COLLECT, /* it has ended */
    ORCH_SLURM_FORGET,  /* it was cancelled before it began: there is no run */
};

struct orch_slurm_judgement {
    enum orch_slurm_action action;
    bool has_verdict; /* else the journal's counts */
    enum orch_verdict verdict;
    bool overrules;                         /* the verdict counts although the journal has an end */
    const struct orch_slurm_state *decided; /* the state that was used; NULL: Slurm's is unknown */
    const char *why;                        /* completes "its Slurm job ..."; static */
};

struct orch_slurm_judgement orch_slurm_judge(const struct orch_slurm_evidence *evidence);

/** Seconds for which Slurm may not know an ended job before its state counts as unknown: until
 * slurmdbd has written it, or, without accounting, until a second answer. */
#define ORCH_SLURM_ABSENT_WITH_ACCOUNTING_S 600.0
#define ORCH_SLURM_ABSENT_WITHOUT_S 55.0
/** Seconds for which the accounts may lack an ended job that squeue still shows. squeue does not
 * tell that a step ran out of memory, nor what the job used. */
#define ORCH_SLURM_UNACCOUNTED_S 55.0

#endif
