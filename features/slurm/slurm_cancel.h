/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cancels the jobs of trials. */
#ifndef ORCH_FEATURES_SLURM_SLURM_CANCEL_H
#define ORCH_FEATURES_SLURM_SLURM_CANCEL_H

#include "store/store.h"

/** Returns the elements ("JOB_INDEX") of the trials whose key `is_wanted` accepts. The caller
 * unrefs; NULL with an error. */
GPtrArray *orch_slurm_cancel_find(struct orch_store *store,
                                  bool (*is_wanted)(void *ctx, const char *key), void *ctx,
                                  GError **error);
/** Cancels elements. Their trials are taken in later, as any other trial that has ended. */
bool orch_slurm_cancel(const GPtrArray *elements, GError **error);

#endif
