/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much memory a trial is expected to need, from earlier runs of its experiment. */
#ifndef ORCH_FEATURES_SLURM_SLURM_MEMORY_H
#define ORCH_FEATURES_SLURM_SLURM_MEMORY_H

#include "core/plan/plan.h"

/** Returns the 95 % quantile of the memory in bytes that the newest runs of an experiment used; 0
 * where none is known, or the experiment itself sets it. `cache`: from experiments to int64_t *,
 * freed with g_free. */
int64_t orch_slurm_memory_forecast(struct orch_plan *plan, GHashTable *cache,
                                   const struct orch_experiment *experiment);

#endif
