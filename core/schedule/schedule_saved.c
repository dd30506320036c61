/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long trials took, and what stopping some of them early has saved. */
#include "core/schedule/schedule_private.h"

#include <math.h>

/* The times of trials that ended well and were never stopped, from which others are estimated. */
static void keep_whole(struct run *run, const struct orch_experiment *experiment, double seconds)
{
    gpointer key = (gpointer)(uintptr_t)experiment;
    GArray *walls = g_hash_table_lookup(run->wall_by_experiment, key);
    if (!walls) {
        walls = g_array_new(FALSE, FALSE, sizeof(double));
        g_hash_table_insert(run->wall_by_experiment, key, walls);
    }
    g_array_append_val(walls, seconds);
}

void orch_schedule_keep_wall(struct run *run, struct job *job, double wall_ms)
{
    double seconds = wall_ms / 1e3;
    bool was_stopped = job->stopped_s != 0;
    if (job->status == JOB_PRUNED)
        job->stopped_s += seconds;
    if (!job->well)
        return;
    job->whole_s = seconds;
    if (!was_stopped)
        keep_whole(run, run->plan->items[job->index].cell->experiment, seconds);
}

/* What the trials of an experiment took, in seconds. */
struct spent {
    double whole_s, stopped_s, back_s; /* never stopped; ever stopped; of these, ended well */
    unsigned whole, stopped, back;
};

static void add_job(const struct job *job, struct spent *inout)
{
    double all_s = job->stopped_s + job->whole_s;
    if (!orch_schedule_is_over(job) || !(all_s > 0)) /* also a part of which is of other runs */
        return;
    if (job->stopped_s > 0) {
        inout->stopped++;
        inout->stopped_s += all_s;
        inout->back += job->well;
        inout->back_s += job->well ? all_s : 0;
    } else {
        inout->whole++;
        inout->whole_s += all_s;
    }
}

double orch_schedule_saved_share(const struct run *run)
{
    double saved_s = 0, spent_s = 0;
    g_autoptr(GHashTable) by_experiment = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    for (unsigned i = 0; i < run->plan->count; i++) {
        gpointer key = (gpointer)(uintptr_t)run->plan->items[i].cell->experiment;
        struct spent *spent = g_hash_table_lookup(by_experiment, key);
        if (!spent)
            g_hash_table_insert(by_experiment, key, spent = g_new0(struct spent, 1));
        add_job(&run->jobs[i], spent);
    }
    GHashTableIter iter;
    void *value;
    g_hash_table_iter_init(&iter, by_experiment);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const struct spent *spent = value;
        if (!spent->stopped || !(spent->whole || spent->back))
            continue;
        double mean_s = spent->whole ? spent->whole_s / spent->whole : spent->back_s / spent->back;
        saved_s += fmax(mean_s * spent->stopped - spent->stopped_s, 0);
        spent_s += spent->whole_s + spent->stopped_s;
    }
    return spent_s > 0 ? saved_s / (saved_s + spent_s) : (double)NAN;
}
