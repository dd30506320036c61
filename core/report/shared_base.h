/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Repeats that begin with one and the same trained model: their spread is smaller than that of the
 * whole procedure, in which the model would be trained anew for each repeat. */
#ifndef ORCH_CORE_REPORT_SHARED_BASE_H
#define ORCH_CORE_REPORT_SHARED_BASE_H

#include "store/store.h"

/** A sentence when runs of `seeds` seeds (2 or more) read the results of fewer runs, or one file of
 * weights: "the 3 repeats share one run of 'pretrain' (weights): their spread does not hold how
 * much the result varies with that run". NULL when each has its own, or nothing is read, or the
 * store cannot be read. `runs`: struct orch_run *. The caller frees. */
char *orch_shared_base_text(struct orch_store *store, const GPtrArray *runs);

#endif
