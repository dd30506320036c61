/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pins record which run was reused for each trial of a plan. A pack stores them, so that
 * verification uses the same runs on any machine. A pin is accepted only if its run belongs to the
 * trial. */
#ifndef ORCH_FEATURES_PACK_PINS_H
#define ORCH_FEATURES_PACK_PINS_H

#include "core/plan/plan.h"

/** The state of each requested trial: [{index, trial, state, reason, fingerprint, run}]. New
 * reference. */
json_t *orch_pins_of(const struct orch_plan *plan);

/** The result of applying a pack's pins. */
struct orch_pinned {
    unsigned trials, done; /* trials of the plan, and those with a run */
    unsigned by_params;  /* trials whose run was matched by its parameters only, because code, data
                            or plugin differ here */
    GPtrArray *problems; /* char *: runs that are missing or do not belong to their trial */
};
void orch_pinned_clear(struct orch_pinned *pinned);

/** Sets the states and runs of the plan's trials from the pins that are valid. `by_label`: the plan
 * lacks experiments, or has more than where it was packed, so that numbers of trials differ. */
void orch_pins_apply(struct orch_plan *plan, const json_t *pins, bool by_label,
                     struct orch_pinned *out);

#endif
