/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of how a trial of a Slurm job ended: its journal, its host's report, the output of
 * its job and Slurm's answer. */
#ifndef ORCH_FEATURES_SLURM_SLURM_EVIDENCE_H
#define ORCH_FEATURES_SLURM_SLURM_EVIDENCE_H

#include "features/slurm/slurm_jobs.h"

/** Reads the files of a trial whose job is known, and fills in `row->said`, `row->report` and
 * `row->output`. */
void orch_slurm_evidence_gather(struct orch_store *store, const struct orch_slurm_status *status,
                                struct orch_slurm_trial *row, struct orch_slurm_evidence *e);

#endif
