/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sharing a run with other machines: a trial is claimed just before it starts; trials that others
 * run are set aside and checked again later. */
#include "core/schedule/schedule_private.h"

#include "lib/base/ident.h"

#define TICK_NS 1000000000

bool orch_schedule_claim(struct run *run, struct job *job)
{
    const struct orch_sharing *sharing = run->options->sharing;
    struct orch_plan_item *item = &run->plan->items[job->index];
    char *why = NULL;
    if (!sharing || sharing->claim(sharing->ctx, item, &why)) {
        if (item->state == ORCH_PLAN_HELD)
            item->state = ORCH_PLAN_MISSING;
        return true;
    }
    orch_schedule_set_job(job, JOB_AWAY);
    item->state = ORCH_PLAN_HELD;
    g_free(item->reason);
    item->reason = why;
    return false;
}

void orch_schedule_unclaim(struct run *run, const struct job *job)
{
    const struct orch_sharing *sharing = run->options->sharing;
    const struct orch_plan_item *item = &run->plan->items[job->index];
    if (sharing && orch_schedule_is_over(job) && job->ran)
        sharing->ended(sharing->ctx, item, job->well || job->status == JOB_PRUNED);
    else if (sharing)
        sharing->dropped(sharing->ctx, item);
}

static bool timing_runs(const struct run *run)
{
    for (guint i = 0; i < run->hosts->len; i++) {
        const struct host *host = run->hosts->pdata[i];
        if (orch_experiment_runs_alone(host->running.item->cell->experiment))
            return true;
    }
    return false;
}

void orch_schedule_tick_sharing(struct run *run)
{
    const struct orch_sharing *sharing = run->options->sharing;
    int64_t now = orch_mono_ns();
    if (!sharing || now - run->last_sharing_ns < TICK_NS)
        return;
    run->last_sharing_ns = now;
    sharing->tick(sharing->ctx, timing_runs(run));
}

unsigned orch_schedule_away(const struct run *run)
{
    unsigned count = 0;
    for (unsigned i = 0; i < run->order_count; i++)
        count += run->jobs[run->order[i]].status == JOB_AWAY;
    return count;
}

bool orch_schedule_look_away(struct run *run, bool idle)
{
    const struct orch_sharing *sharing = run->options->sharing;
    if (!sharing) /* they were submitted to an executor */
        return !idle;
    enum orch_retry again = sharing->again(sharing->ctx, idle);
    for (unsigned i = 0; again == ORCH_RETRY_NOW && i < run->order_count; i++) {
        struct job *job = &run->jobs[run->order[i]];
        if (job->status == JOB_AWAY)
            orch_schedule_set_job(job, JOB_TODO);
    }
    return again != ORCH_RETRY_NEVER || !idle;
}
