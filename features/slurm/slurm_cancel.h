/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ORCH_FEATURES_SLURM_SLURM_CANCEL_H
#define ORCH_FEATURES_SLURM_SLURM_CANCEL_H

#include "store/store.h"

/** Cancels the trials with these keys (char *) that wait or run in Slurm jobs
 * (core/plan/executor.h).
 */
bool orch_slurm_cancel(struct orch_store *store, const GPtrArray *keys, unsigned *out_count,
                       GError **error);

#endif
