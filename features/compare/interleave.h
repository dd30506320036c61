/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interleaves the trials of two plans in time, A B B A A B B A ..., one trial at a time, so that
 * thermal throttling or load on the machine slows both sides alike. */
#ifndef ORCH_FEATURES_COMPARE_INTERLEAVE_H
#define ORCH_FEATURES_COMPARE_INTERLEAVE_H

#include "core/schedule/schedule.h"
#include "features/compare/same_code.h"

/** Pairs the requested trials of both sides that have the same label (experiment, swept values,
 * repeat), in the order in which they run: by repeat, then as declared. */
struct orch_interleave {
    struct orch_plan *plans[2];      /* borrowed: made with one slot */
    enum orch_plan_state *states[2]; /* of their items, between turns */
    GArray *pairs;                   /* struct orch_interleave_pair */
    unsigned alone[2];               /* number of trials without a counterpart on the other side */
    enum orch_same_code same_code;   /* of all pairs together */
};
struct orch_interleave_pair {
    unsigned index[2]; /* of the plans' items */
};
void orch_interleave_init(struct orch_interleave *interleave, struct orch_plan *a,
                          struct orch_plan *b);
void orch_interleave_clear(struct orch_interleave *interleave);

struct orch_interleave_end {
    bool interrupted, terminated;
    enum orch_limit limit; /* that prevented or stopped a trial */
    double device_s;       /* wall seconds x devices of all turns */
    char *failed; /* the trial that did not end well and stopped the comparison: "finetune #2 of B";
                     or NULL */
    int failed_side; /* 0: A, 1: B; of that trial */
};
/** Runs the pairs. `listeners`: one per side. Trials that a pair refers to run in its turn, unless
 * they are done. Afterwards the items of pairs that ended well hold their runs' keys. False when an
 * error (store, plugin) stopped it; runs that ended are kept. The caller frees `end->failed`. */
bool orch_interleave_run(struct orch_interleave *interleave, const struct orch_run_options *options,
                         const struct orch_listener listeners[2], struct orch_interleave_end *end,
                         GError **error);
/** Runs one turn of them: turns 2 i and 2 i + 1 are those of pair i, and nothing happens where the
 * trial is done. `end` begins zeroed, and adds up over turns. */
bool orch_interleave_turn(struct orch_interleave *interleave, unsigned turn,
                          const struct orch_run_options *options,
                          const struct orch_listener listeners[2], struct orch_interleave_end *end,
                          GError **error);
/** Makes both trials of a pair run again, although there are runs of them. */
void orch_interleave_renew(struct orch_interleave *interleave, unsigned pair);

#endif
