/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The runner's own watch over time limits, and over requests to cancel a trial.
 *
 * A host ends its trial at the time limit: it asks the trial to stop, then sends SIGTERM, then
 * SIGKILL. A host that is stopped (SIGSTOP) or hangs does none of that. So once the host has had
 * time for all of it, the runner kills the host's process group and any processes that the trial
 * left, and records the run as timeout from its journal.
 */
#include "core/record/trial_processes.h"
#include "core/schedule/schedule_private.h"
#include "lib/wire/trial_request.h"

#include <signal.h>

/* Seconds that a host may take to end a trial: twice its grace period of at most 5 s, then up to 30
 * s of killing. A stopped host does nothing in that time, so its limit is short. */
static const double PATIENCE_S = 45, PATIENCE_STOPPED_S = 1;

void orch_schedule_watch_time(struct run *run)
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
        orch_kill_leftovers(host->running.key);
    }
}

void orch_schedule_watch_requests(struct run *run)
{
    for (guint i = 0; i < run->hosts->len; i++) {
        struct host *host = run->hosts->pdata[i];
        g_autofree char *who =
            host->cancelled ? NULL
                            : orch_trial_request_read(host->running.trial_dir, ORCH_REQUEST_CANCEL);
        if (!who)
            continue;
        g_autofree char *why = g_strdup_printf("'orch cancel'%s%s", *who ? " by " : "", who);
        orch_schedule_cancel_host(host, SIGINT, why);
    }
}
