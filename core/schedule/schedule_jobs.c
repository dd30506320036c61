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
    [JOB_PRUNED] = {[JOB_TODO] = true,   /* the rule lets it go on */
                    [JOB_ENDED] = true}, /* ... and cannot any more: its files have changed */
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

void orch_schedule_take_back(struct run *run, struct job *job)
{
    unsigned *order = run->whole_order;
    unsigned first = (unsigned)(run->order - order), at = 0;
    orch_schedule_set_job(job, JOB_TODO);
    while (order[at] != job->index)
        at++;
    if (at < first) { /* it was left out */
        first--;
        memmove(&order[at], &order[at + 1], (first - at) * sizeof *order);
        run->order--;
        run->order_count++;
    } else {
        memmove(&order[first + 1], &order[first], (at - first) * sizeof *order);
    }
    order[first] = job->index;
    run->moved = true;
}

void orch_schedule_skip_over(struct run *run)
{
    unsigned count = 0;
    while (count < run->order_count && orch_schedule_is_over(&run->jobs[run->order[count]]))
        count++;
    run->order += count;
    run->order_count -= count;
}
