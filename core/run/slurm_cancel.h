/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cancels the jobs of trials. */
#ifndef ORCH_CORE_RUN_SLURM_CANCEL_H
#define ORCH_CORE_RUN_SLURM_CANCEL_H

#include "store/store.h"

/** Cancels the jobs of trials whose key `is_wanted` accepts. `*out_count`: the number of elements
 * that scancel was given. They are taken in later, as any other trial that has ended. */
bool orch_slurm_cancel(struct orch_store *store, bool (*is_wanted)(void *ctx, const char *key),
                       void *ctx, unsigned *out_count, GError **error);

#endif
