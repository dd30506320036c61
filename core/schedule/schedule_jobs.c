/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The states of jobs, and the order in which they start. */
#include "core/schedule/schedule_private.h"

#include <string.h>

/* Which state may follow which. What is not here is a fault of the scheduler. */
static const bool FOLLOWS[JOB_STATES][JOB_STATES] = {
    [JOB_TODO] = {[JOB_RUNNING] = true,
                  [JOB_HELD] = true,
                  [JOB_AWAY] = true,
                  [JOB_PRUNED] = true, /* by another run, since the plan was made */
                  [JOB_ENDED] = true},
    [JOB_RUNNING] = {[JOB_TODO] = true, /* one more attempt */
                     [JOB_PRUNED] = true,
                     [JOB_ENDED] = true},
    [JOB_HELD] = {[JOB_TODO] = true, [JOB_ENDED] = true},
    [JOB_AWAY] = {[JOB_TODO] = true},
};

void orch_schedule_set_job(struct job *job, enum job_status status)
{
    g_assert(FOLLOWS[job->status][status]);
    job->status = status;
}

bool orch_schedule_is_over(const struct job *job)
{
    return job->status == JOB_ENDED || job->status == JOB_PRUNED;
}

void orch_schedule_order_jobs(struct run *run)
{
    const struct orch_plan *plan = run->plan;
    run->whole_order = run->order = g_new0(unsigned, plan->count + 1);
    for (unsigned i = 0; i < plan->count; i++)
        if (run->jobs[plan->order[i]].status != JOB_ENDED)
            run->order[run->order_count++] = plan->order[i];
}

void orch_schedule_skip_over(struct run *run)
{
    unsigned count = 0;
    while (count < run->order_count && orch_schedule_is_over(&run->jobs[run->order[count]]))
        count++;
    run->order += count;
    run->order_count -= count;
}
