/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The runner's own watch over time limits.
 *
 * A host ends its trial when the time limit is over: it asks, then sends SIGTERM, then SIGKILL. One
 * that was stopped (SIGSTOP) or hangs does none of that. So when the host has had the time for all
 * of it, the runner kills it with its process group and whatever the trial left, and the run is
 * recorded as timeout from what the journal has.
 */
#include "core/run/schedule_private.h"

#include <signal.h>

/* What a host may take to end a trial: twice its grace of at most 5 s, then up to 30 s of killing.
 * A host that is stopped does nothing in that time. */
static const double PATIENCE_S = 45, PATIENCE_STOPPED_S = 1;

void schedule_watch_time(struct run *run)
{
    for (guint i = 0; i < run->hosts->len; i++) {
        struct host *host = run->hosts->pdata[i];
        double limit_s = host->running.item->cell->experiment->timeout_s;
        double over_s = (double)(orch_mono_ns() - host->running.started_mono_ns) / 1e9 - limit_s;
        if (limit_s <= 0 || over_s < PATIENCE_STOPPED_S || host->overdue)
            continue;
        bool stopped = orch_process_is_stopped(host->pid);
        if (!stopped && over_s < PATIENCE_S)
            continue;
        host->overdue = g_strdup_printf("time limit of %g s; its host %s and was killed", limit_s,
                                        stopped ? "was stopped" : "did not end it");
        kill(-host->pid, SIGKILL);
        orch_kill_strays(host->running.key);
    }
}
