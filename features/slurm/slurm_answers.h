/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks squeue and sacct, and reads what they print. */
#ifndef ORCH_FEATURES_SLURM_SLURM_ANSWERS_H
#define ORCH_FEATURES_SLURM_SLURM_ANSWERS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/** The comment of a submission's job is this and the submission's key. */
#define ORCH_SLURM_COMMENT "orch:"

/** Adds the jobs that squeue shows to the objects "jobs" (by element) and "submissions" (by key) of
 * an answer. Returns NULL, or why there is no answer; caller frees. */
char *orch_slurm_queue_ask(json_t *answer);
/** Asks squeue for the job whose working folder this is, for sites that replace comments. 0: it
 * shows none, or gives no answer. */
int64_t orch_slurm_queue_find_folder(const char *folder);
/** Asks sacct for elements (char *). Returns their states by element, or NULL when there is no
 * answer.
 * `*out_has_accounting` is false when the cluster keeps no accounts. */
json_t *orch_slurm_accounts_ask(const GPtrArray *elements, bool *out_has_accounting);

#endif
