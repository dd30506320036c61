/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trial's slot, its CPUs and GPUs, means for its record and for its environment. */
#ifndef ORCH_CORE_RECORD_TRIAL_SLOT_H
#define ORCH_CORE_RECORD_TRIAL_SLOT_H

#include "core/record/trialdir.h"

/** Returns what the trial got of this machine: its GPUs by UUID, and the CPUs that it was pinned
 * to. NULL when it was neither pinned nor given a GPU. The caller releases it. */
json_t *orch_slot_facts(const struct orch_plan *plan, const struct orch_run_slot *slot);

/** Returns the variables that the trial gets besides the user's. The caller frees. */
char **orch_slot_environment(struct orch_plan *plan, const struct orch_cell *cell,
                             const struct orch_run_slot *slot);

/** Returns the seconds that a trial has to save before its end. A submitted trial may use nearly
 * all of the margin before its time limit: half of it after the message, half after SIGTERM. 0: the
 * host's own default. */
double orch_slot_grace_s(const struct orch_run_slot *slot);

#endif
