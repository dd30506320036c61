/* SPDX-License-Identifier: MIT */
/* Evaluates how the ranks of an MPI trial and their launcher ended. */
#ifndef ORCH_HOST_RANKS_ENDING_H
#define ORCH_HOST_RANKS_ENDING_H

#include "core/host/rank_links.h"
#include "core/host/stopping.h"

struct ranks_ending {
    const struct rank_links *links;
    unsigned count; /* of ranks */
    const struct intake *intake;
    struct stopping *stopping;
    int *wait_status; /* in: of the launcher; out: of the rank that ended the trial */
    bool *done_first; /* out: false if `done` of rank 0 does not decide */
};

/** Replaces what the launcher's exit status tells by what its ranks reported: sets the reason in
 * `stopping` unless the trial was being stopped for another one. */
void orch_ranks_judge(const struct ranks_ending *ending);

#endif
