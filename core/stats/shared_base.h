/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Detects repeats that start from the same trained model. Their spread is smaller than that of the
 * whole procedure, which would train the model anew for each repeat. */
#ifndef ORCH_CORE_STATS_SHARED_BASE_H
#define ORCH_CORE_STATS_SHARED_BASE_H

#include "store/store.h"

/** Returns a sentence when runs with 2 or more seeds read the results of fewer runs, or one file of
 * weights: "the 3 repeats share one run of 'pretrain' (parameter 'weights'): their spread does not
 * hold how much the result varies with that run". NULL when each seed has its own, nothing is read,
 * or the store cannot be read. `runs`: struct orch_run *. The caller frees. */
char *orch_shared_base_text(struct orch_store *store, const GPtrArray *runs);

#endif
