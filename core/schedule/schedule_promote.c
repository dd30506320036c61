/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials that their search's rule has stopped and lets go on after all. They come before all that
 * have not started: a trial that is known to be good is worth more than one of which nothing is
 * known (Li et al. 2020). */
#include "core/schedule/schedule_private.h"

/* Those that wait for a slot. */
static unsigned count_waiting(const struct run *run)
{
    unsigned count = 0;
    for (unsigned i = 0; i < run->order_count; i++) {
        const struct job *job = &run->jobs[run->order[i]];
        count += job->status == JOB_TODO && run->plan->items[job->index].goes_on_from;
    }
    return count;
}

/* A point's further repeats are known to be pruned as soon as it is taken, before their turn. */
static void end_pruned(struct run *run)
{
    for (unsigned i = 0; i < run->order_count; i++) {
        struct job *job = &run->jobs[run->order[i]];
        if (job->status == JOB_TODO && run->plan->items[job->index].state == ORCH_PLAN_PRUNED)
            orch_schedule_end_unrun(run, job);
    }
}

bool orch_schedule_promote(struct run *run, GError **error)
{
    const struct orch_chooser *chooser = run->options->chooser;
    if (chooser && chooser->promote)
        end_pruned(run);
    while (chooser && chooser->promote &&
           run->hosts->len + count_waiting(run) < run->options->slots) {
        g_autofree char *why = NULL;
        unsigned index;
        if (!chooser->promote(chooser->ctx, run->plan, &index, &why, error))
            return false;
        if (!why || run->jobs[index].status != JOB_PRUNED) /* it was given up otherwise */
            return true;
        orch_schedule_let_go_on(run, &run->jobs[index], why);
    }
    return true;
}
