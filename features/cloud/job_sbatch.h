/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ORCH_FEATURES_CLOUD_JOB_SBATCH_H
#define ORCH_FEATURES_CLOUD_JOB_SBATCH_H

#include <jansson.h>

/** The script for sbatch: a line "#SBATCH --NAME=VALUE" for each member of "sbatch", the exported
 * "environment", and the "command". Caller frees. */
char *orch_job_sbatch_text(const json_t *document);

#endif
