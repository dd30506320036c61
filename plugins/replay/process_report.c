/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/process_report.h"

#include <math.h>

void orch_process_report(const struct orch_process_report *r, const struct orch_host *host)
{
    const double frames = (double)MAX(r->frames, 1), moved = (double)MAX(r->moved_frames, 1);
    host->result(host, "learners", (double)r->learners);
    host->result(host, "updates_per_s", (double)r->updates / r->time_s);
    host->result(host, "draws_per_step", (double)r->samples / frames);
    host->result(host, "step_bytes", (double)r->step_bytes / moved);
    host->result(host, "batch_bytes", (double)r->batch_bytes / moved);
    host->result(host, "gradient_bytes", (double)r->gradient_bytes / moved);
    host->result(host, "parameter_bytes", (double)r->parameter_bytes / moved);
    host->result(host, "moved_bytes",
                 (double)(r->step_bytes + r->batch_bytes + r->gradient_bytes + r->parameter_bytes) /
                     moved);
    host->result(host, "epsilon_range", fabs(r->epsilons.first - r->epsilons.last));
    if (r->stale_steps > 0) {
        host->result(host, "mean_staleness", r->stale_sum / (double)r->stale_steps);
        host->result(host, "max_staleness", r->stale_most);
    }
    if (r->gradients > 0) {
        host->result(host, "mean_gradient_staleness", r->gradient_stale_sum / (double)r->gradients);
        host->result(host, "max_gradient_staleness", r->gradient_stale_most);
    }
}
