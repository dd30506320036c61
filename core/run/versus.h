/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs two plans of the same trials beside each other in time: A B B A A B B A ..., one trial at a
 * time, so that a machine that grows warm or busy slows both sides alike. */
#ifndef ORCH_CORE_RUN_VERSUS_H
#define ORCH_CORE_RUN_VERSUS_H

#include "core/run/schedule.h"

/** The wanted trials of both sides that carry the same label (experiment, swept values, repeat), in
 * the order of running: by repeat, then as declared. */
struct orch_versus {
    struct orch_plan *plans[2]; /* borrowed: made with `force` and one slot */
    GArray *pairs;              /* struct orch_versus_pair */
    unsigned alone[2];          /* trials of one side that the other does not have */
    bool is_same_code;          /* no trial reads anything that differs between the sides */
};
struct orch_versus_pair {
    unsigned index[2]; /* of the plans' items */
};
void orch_versus_init(struct orch_versus *versus, struct orch_plan *a, struct orch_plan *b);
void orch_versus_clear(struct orch_versus *versus);

struct orch_versus_end {
    bool interrupted, terminated;
    char *failed; /* the trial that did not end well, and ended all: "finetune #2 of B"; or NULL */
};
/** Runs them. `listeners`: one for each side. Trials that they refer to are run when their turn
 * comes, unless they are done. After it, the item of each pair that ended well holds its run's key.
 * False on an error that stopped it (store, plugin); what ended is kept. `end->failed` is the
 * caller's to free. */
bool orch_versus_run(struct orch_versus *versus, const struct orch_run_options *options,
                     const struct orch_listener listeners[2], struct orch_versus_end *end,
                     GError **error);

#endif
