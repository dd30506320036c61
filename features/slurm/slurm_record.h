/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The record of a trial that ran in a Slurm job: made on the machine that submitted it, it gets the
 * node's machine and what Slurm says of the job. */
#ifndef ORCH_FEATURES_SLURM_SLURM_RECORD_H
#define ORCH_FEATURES_SLURM_SLURM_RECORD_H

#include "features/slurm/slurm_states.h"
#include "features/slurm/slurm_status.h"

#include <glib.h>

/** Facts of the submission in a record, borrowed; NULL: the trial was not submitted to Slurm. */
const json_t *orch_slurm_record_facts(const json_t *record);

/** Reads ORCH_JOB_REPORT of a trial's folder; NULL when its host has not started. New reference. */
json_t *orch_slurm_report_read(const char *trial_dir);

/** Completes the record. `report` may be NULL. */
void orch_slurm_record_complete(json_t *record, const json_t *report, int64_t job,
                                const struct orch_slurm_job *said,
                                const struct orch_slurm_state *state);

#endif
