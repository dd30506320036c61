/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slurm's answer about jobs: one squeue for all of them, and one sacct for those that squeue does
 * not know any more. The answer is kept in a file beside the store, so that any number of commands
 * ask at most once a minute, and terminal states stay known when Slurm has forgotten them. */
#ifndef ORCH_FEATURES_SLURM_SLURM_STATUS_H
#define ORCH_FEATURES_SLURM_SLURM_STATUS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define ORCH_SLURM_ASK_EVERY_S 60

/** An element of a job array. Texts are borrowed from the status. */
struct orch_slurm_job {
    const char *state;  /* Slurm's word; NULL: no answer */
    const char *reason; /* why it waits; "" */
    const char *nodes, *exit_status;
    double elapsed_s;      /* NaN: unknown */
    int64_t max_rss_bytes; /* 0: unknown */
    bool is_absent;        /* Slurm answered, and does not know it */
    bool is_unaccounted;   /* squeue says that it has ended, and sacct does not have its end yet */
    double absent_s; /* since the first such answer, or one that may tell of an earlier start */
};

struct orch_slurm_status {
    json_t *answer;      /* the kept file */
    bool has_accounting; /* sacct answers; true until it is known that it does not */
    char *problem;       /* why the last question had no answer, or NULL */
    int64_t asked_ns;    /* the last question; 0: never */
};

/** Reads the kept answer, and asks anew when it is older than a minute and `wanted` (a set of
 * "JOB_INDEX") is not empty. A Slurm that does not answer is no error: `problem` says why. */
bool orch_slurm_status_get(const char *folder, GHashTable *wanted, struct orch_slurm_status *out,
                           GError **error);
void orch_slurm_status_clear(struct orch_slurm_status *status);

/** What is known of an element. */
void orch_slurm_status_job(const struct orch_slurm_status *status, int64_t job, int64_t index,
                           struct orch_slurm_job *out);
/** The job of a submission by its comment, when a runner died before it knew the number; 0: squeue
 * shows none. */
int64_t orch_slurm_status_submission(const struct orch_slurm_status *status, const char *key);

/** "orch:KEY", the comment of a submission's job. Caller frees. */
char *orch_slurm_comment(const char *key);
/** "123_4". Caller frees. */
char *orch_slurm_element(int64_t job, int64_t index);

#endif
