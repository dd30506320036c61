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
#include "lib/base/file.h"
#include "lib/wire/trial.h"
#include "lib/wire/trial_request.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { ALERTS_BYTES_MAX = 1 << 20 };

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
        host->overdue =
            g_strdup_printf("time limit of %g s; its 'orch-host' process %s and was killed",
                            limit_s, stopped ? "was stopped" : "did not end it");
        kill(-host->pid, SIGKILL);
        orch_kill_leftovers(host->running.key);
    }
}

/* Tells of the alerts of a trial that have fired since. */
static void watch_alerts(struct run *run, struct host *host)
{
    g_autofree char *path = g_build_filename(host->running.trial_dir, ORCH_TRIAL_ALERTS, NULL);
    g_autofree char *text = NULL;
    size_t length = 0;
    if (access(path, F_OK) != 0 || !orch_file_read(path, ALERTS_BYTES_MAX, &text, &length, NULL))
        return;
    for (char *end; host->alerts_read < length && (end = strchr(text + host->alerts_read, '\n'));) {
        *end = '\0';
        const char *line = text + host->alerts_read;
        host->alerts_read = (size_t)(end - text) + 1;
        orch_schedule_emit(run, "alert of trial %s (%s): %s", orch_run_short_key(host->running.key),
                           host->running.item->cell->experiment->name, line);
        if (run->options->alert)
            run->options->alert(run->options->alert_ctx, &host->running, line);
    }
}

void orch_schedule_watch_alerts(struct run *run)
{
    if (!json_array_size(run->plan->expansion->alerts))
        return;
    for (guint i = 0; i < run->hosts->len; i++)
        watch_alerts(run, run->hosts->pdata[i]);
    for (guint i = 0; i < run->ended->len; i++)
        watch_alerts(run, run->ended->pdata[i]);
}

void orch_schedule_watch_requests(struct run *run)
{
    for (guint i = 0; i < run->hosts->len; i++) {
        struct host *host = run->hosts->pdata[i];
        g_autofree char *why =
            host->cancelled ? NULL
                            : orch_trial_request_read(host->running.trial_dir, ORCH_REQUEST_CANCEL);
        if (why)
            orch_schedule_cancel_host(host, SIGINT, *why ? why : "another command");
    }
}
