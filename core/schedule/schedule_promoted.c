/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How trials that were let go on are counted: as promoted once they have started, and until then as
 * pruned, because a limit may keep them from it. */
#include "core/record/trialdir.h"
#include "core/schedule/schedule_private.h"

#include <math.h>

/* Whether the trial's program has left something to go on from. */
static bool has_checkpoint(const struct run *run, const struct orch_plan_item *item)
{
    g_autofree char *path = orch_checkpoint_path(run->plan->store, item->fingerprint);
    GDir *folder = path ? g_dir_open(path, 0, NULL) : NULL;
    bool has_file = folder && g_dir_read_name(folder);
    if (folder)
        g_dir_close(folder);
    return has_file;
}

void orch_schedule_let_go_on(struct run *run, struct job *job, const char *why)
{
    g_free(job->goes_on_why);
    job->goes_on_why = g_strdup(why);
    orch_plan_let_go_on(&run->plan->items[job->index], why);
    orch_schedule_take_back(run, job);
}

void orch_schedule_end_pruned(struct run *run, struct job *job)
{
    if (!job->goes_on_why)
        return;
    *(job->is_elsewhere ? &run->totals.pruned_before : &run->totals.ended[ORCH_VERDICT_PRUNED]) -=
        1;
    g_clear_pointer(&job->goes_on_why, g_free);
}

void orch_schedule_note_promoted(struct run *run, struct job *job)
{
    const struct orch_plan_item *item = &run->plan->items[job->index];
    if (!job->goes_on_why)
        return;
    g_autofree char *label = orch_cell_label(item->cell), *why = g_strdup(job->goes_on_why);
    orch_schedule_end_pruned(run, job);
    if (job->is_elsewhere)
        job->stopped_s = (double)NAN;
    run->totals.promoted++;
    orch_schedule_emit(run, "%s %s: %s", label,
                       has_checkpoint(run, item) ? "goes on from its checkpoint"
                                                 : "begins again, because there is no checkpoint",
                       why);
}

unsigned orch_schedule_keep_pruned(struct run *run)
{
    unsigned count = 0;
    for (unsigned i = 0; i < run->order_count; i++) {
        const struct job *job = &run->jobs[run->order[i]];
        struct orch_plan_item *item = &run->plan->items[job->index];
        if (!job->goes_on_why)
            continue;
        orch_plan_set_pruned(item, item->run_key, NULL);
        count++;
    }
    return count;
}
