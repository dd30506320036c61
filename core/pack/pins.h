/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which run spared each trial of a plan: kept in a pack, so that whoever verifies it looks at the
 * same trials on any machine. A pin is believed only where its run is of the trial. */
#ifndef ORCH_PACK_PINS_H
#define ORCH_PACK_PINS_H

#include "core/run/plan.h"

/** What each asked trial stands at: [{index, trial, state, reason, fingerprint, run}]. New
 * reference. */
json_t *orch_pins_of(const struct orch_plan *plan);

/** How the pins of a pack fitted. */
struct orch_pinned {
    unsigned trials, done; /* of the plan, and with a run */
    unsigned by_params; /* whose run was recognised by its parameters: code, data or plugin here are
                           not what they were there */
    GPtrArray *problems; /* char *: a run that is not there, or not of its trial */
};
void orch_pinned_clear(struct orch_pinned *pinned);

/** Gives the plan's trials the states and runs that pins say, where they are true. */
void orch_pins_apply(struct orch_plan *plan, const json_t *pins, struct orch_pinned *out);

#endif
