/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The results that Ape-X and GORILA have in common: what moved between their processes, and how old
 * it was. */
#ifndef ORCH_PLUGINS_REPLAY_PROCESS_REPORT_H
#define ORCH_PLUGINS_REPLAY_PROCESS_REPORT_H

#include "plugins/replay/actor_setup.h"

struct orch_process_report {
    int64_t frames, updates, learners;
    int64_t samples; /* that gradients were computed from */
    double time_s;
    int64_t moved_frames; /* of this attempt, in which the bytes moved */
    int64_t step_bytes, batch_bytes, gradient_bytes, parameter_bytes; /* between processes */
    int64_t stale_steps; /* that reached a replay memory with the version of their parameters */
    double stale_sum, stale_most;
    int64_t gradients; /* that reached the parameters' owner */
    double gradient_stale_sum, gradient_stale_most;
    struct orch_epsilons epsilons; /* at the end */
};

void orch_process_report(const struct orch_process_report *all, const struct orch_host *host);

#endif
