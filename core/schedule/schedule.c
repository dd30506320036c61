/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread with one poll loop: a pidfd reports the end of a host, a signalfd reports signals.
 * Trials start in the plan's order. A timing or exclusive trial runs alone, so the slots drain
 * before it starts.
 */
#include "core/schedule/schedule_private.h"

#include "core/inputs/inputs.h"
#include "core/plan/cell_runs.h"
#include "lib/base/program_path.h"
#include "lib/base/text.h"
#include "lib/vcs/share.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static void take_signals(struct run *run)
{
    struct signalfd_siginfo info;
    while (read(run->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP) {
            run->stop_level = 2;
            run->totals.terminated = true;
            orch_schedule_cancel(run, SIGTERM, "the run was terminated");
            continue;
        }
        run->totals.interrupted = true;
        run->stop_level++;
        if (run->stop_level == 1 && run->hosts->len)
            orch_schedule_emit(
                run,
                "no further trial starts; %u running trial%s may finish. Ctrl-C again stops %s now",
                run->hosts->len, orch_plural(run->hosts->len),
                run->hosts->len == 1 ? "it" : "them");
        else if (run->stop_level >= 2)
            orch_schedule_cancel(run, SIGINT, "Ctrl-C was pressed twice");
    }
}

static bool sync_store(struct run *run, GError **error)
{
    int64_t now = orch_mono_ns();
    if (!run->unsynced || now - run->last_sync_ns < 1000000000)
        return true;
    run->last_sync_ns = now;
    run->unsynced = false;
    return orch_store_sync(run->plan->store, error);
}

/* Checks trials that another process has claimed: closes those whose process died, and retries the
 * others. */
static bool look_at_held(struct run *run, bool *out_held, GError **error)
{
    *out_held = false;
    for (unsigned i = 0; i < run->order_count; i++)
        *out_held = *out_held || run->jobs[run->order[i]].status == JOB_HELD;
    int64_t now = orch_mono_ns();
    if (!*out_held || now - run->last_held_ns < 200000000)
        return true;
    run->last_held_ns = now;
    unsigned closed, pending;
    if (!orch_recover(run->plan->store, &closed, &pending, error))
        return false;
    for (unsigned i = 0; i < run->order_count; i++)
        if (run->jobs[run->order[i]].status == JOB_HELD)
            orch_schedule_set_job(&run->jobs[run->order[i]], JOB_TODO);
    return true;
}

/* ---- the loop ---------------------------------------------------------------------------------
 */

static void wait_for_something(struct run *run, bool held)
{
    guint count = run->hosts->len;
    g_autofree struct pollfd *fds = g_new0(struct pollfd, count + 2);
    int timeout = held ? 200 : run->options->live || run->options->limits ? 100 : 1000;
    if (run->moved && !count && run->options->sharing)
        timeout = 0; /* trials that ended in the meantime may have made others ready */
    if (run->has_more_values)
        timeout = 0;
    else if (run->asked->len || (timeout > 100 && orch_schedule_watches_values(run)))
        timeout = 100;
    for (guint i = 0; i < count; i++) {
        const struct host *host = run->hosts->pdata[i];
        fds[i] = (struct pollfd){.fd = host->pidfd, .events = POLLIN};
        if (host->pidfd < 0)
            timeout = 10;
    }
    fds[count] = (struct pollfd){.fd = run->signal_fd, .events = POLLIN};
    fds[count + 1] = (struct pollfd){.fd = run->slots_fd, .events = POLLIN}; /* -1 is ignored */
    poll(fds, count + 2, timeout);
    if (fds[count].revents)
        take_signals(run);
}

static bool has_todo(const struct run *run)
{
    for (unsigned i = 0; i < run->order_count; i++)
        if (run->jobs[run->order[i]].status == JOB_TODO ||
            run->jobs[run->order[i]].status == JOB_HELD)
            return true;
    return false;
}

/* True when a trial with GPUs has exited, whose journal says whether they can be used again, or one
 * of the first of its experiment, which may be stopped. */
static bool must_collect_first(const struct run *run)
{
    for (guint i = 0; i < run->ended->len; i++) {
        const struct host *host = run->ended->pdata[i];
        if (host->running.slot.gpu_count || orch_schedule_may_stop(run, host->job))
            return true;
    }
    return run->collects_first;
}

static bool loop(struct run *run, GError **error)
{
    bool held = false;
    for (;;) {
        if (must_collect_first(run) && !orch_schedule_collect(run, error))
            return false;
        bool stopping = run->stop_level || run->failed_fast;
        orch_schedule_ask(run);
        bool pausing = stopping || run->asked->len;
        if (pausing)
            orch_schedule_leave_queue(run);
        if (!pausing && (!orch_schedule_promote(run, error) || !orch_schedule_start(run, error) ||
                         !look_at_held(run, &held, error)))
            return false;
        bool collected = run->ended->len > 0; /* other trials may have waited for these */
        if (!orch_schedule_collect(run, error) || !sync_store(run, error))
            return false;
        if (run->collects_now) {
            run->collects_now = false;
            continue;
        }
        pausing = stopping || run->asked->len;
        bool away = !pausing && orch_schedule_away(run);
        if (!run->hosts->len && (stopping || (!has_todo(run) && !away)))
            return true;
        bool idle = !run->hosts->len && !run->moved && !collected && !held && !run->was_held;
        if (away && !orch_schedule_look_away(run, idle))
            return true;
        if (!run->hosts->len && run->refused && !collected && !held && !pausing)
            return true; /* a limit prevents all remaining trials */
        orch_schedule_leases_flush(run);
        if (run->hosts->len || !collected)
            wait_for_something(run, held && !stopping);
        orch_schedule_reap(run);
        orch_schedule_watch_time(run);
        orch_schedule_watch_alerts(run);
        orch_schedule_watch_requests(run);
        orch_schedule_watch_values(run);
        orch_schedule_enforce_limits(run);
        orch_schedule_tick(run);
        orch_schedule_tick_sharing(run);
    }
}

static bool has_timing(const struct orch_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (orch_experiment_runs_alone(plan->items[i].cell->experiment))
            return true;
    return false;
}

static bool is_submitted(const struct orch_plan *plan, const struct orch_plan_item *item)
{
    const struct orch_active_row *row = g_hash_table_lookup(plan->active, item->fingerprint);
    return row && orch_executor_has_submitted(&row->runner);
}

static void make_jobs(struct run *run)
{
    struct orch_plan *plan = run->plan;
    for (unsigned i = 0; i < plan->count; i++) {
        struct job *job = &run->jobs[i];
        enum orch_plan_state state = plan->items[i].state;
        job->index = i;
        if (state == ORCH_PLAN_PRUNED) {
            job->status = JOB_PRUNED;
            job->is_elsewhere = true;
        } else if (state == ORCH_PLAN_DONE || state == ORCH_PLAN_SKIPPED ||
                   state == ORCH_PLAN_UNUSED) {
            job->status = JOB_ENDED;
            job->well = state == ORCH_PLAN_DONE || state == ORCH_PLAN_UNUSED;
        } else if (state == ORCH_PLAN_HELD && is_submitted(plan, &plan->items[i])) {
            job->status = JOB_AWAY;
        }
        run->totals.planned += state != ORCH_PLAN_UNUSED;
        run->totals.reused += state == ORCH_PLAN_DONE;
        run->totals.pruned_before += state == ORCH_PLAN_PRUNED;
        run->totals.skipped += state == ORCH_PLAN_SKIPPED;
    }
    orch_plan_note_counted(plan, ORCH_ALL_ITEMS);
    orch_schedule_order_jobs(run);
}

/* After an error, stops the running hosts and collects them if the store allows it; otherwise the
 * next command does. */
static void abandon_hosts(struct run *run)
{
    orch_schedule_cancel(run, SIGINT, "the run ended with an error");
    run->stop_level = 2; /* no more retries */
    while (run->hosts->len) {
        int status;
        const struct host *host = run->hosts->pdata[0];
        while (waitpid(host->pid, &status, 0) < 0 && errno == EINTR)
            ;
        g_ptr_array_add(run->ended, g_ptr_array_steal_index(run->hosts, 0));
    }
    if (orch_schedule_collect(run, NULL))
        orch_store_sync(run->plan->store, NULL);
}

/* Says once which files of the trials will be captured with the source of later runs. */
static void say_untracked(struct run *run)
{
    g_autofree char *first = NULL, *line = NULL;
    unsigned count = run->written ? orch_written_files_untracked(run->written, &first, &line) : 0;
    if (count)
        orch_schedule_emit(run,
                           "%u file%s that the trials wrote %s neither tracked nor ignored by git "
                           "(the first: %s), so later runs capture %s as source\n  hint: add the "
                           "line '%s' to .gitignore",
                           count, orch_plural(count), count == 1 ? "is" : "are", first,
                           count == 1 ? "it" : "them", line);
}

static void finish_totals(struct run *run)
{
    struct orch_totals *totals = &run->totals;
    unsigned left = 0;
    for (unsigned i = 0; i < run->order_count; i++)
        left += !orch_schedule_is_over(&run->jobs[run->order[i]]);
    bool stopped = totals->interrupted || totals->terminated || run->failed_fast;
    bool is_held = orch_schedule_away(run) && !stopped && !run->refused;
    const unsigned others = left - orch_schedule_keep_pruned(run); /* those count as pruned */
    totals->held = is_held ? others : 0;
    totals->not_run += is_held ? 0 : others;
    totals->device_s = run->ended_device_s;
    if (stopped || (!left && !totals->cut_off) || totals->held)
        totals->limit =
            ORCH_LIMIT_NONE; /* every delayed trial has run, or the run ends for another reason */
    else if (totals->limit != ORCH_LIMIT_NONE)
        totals->held_back = others;
}

void orch_run_note_inputs(const struct orch_plan *plan)
{
    const struct orch_source *source = plan->workspace->source;
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (unsigned i = 0; source && source->tree && i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        const struct orch_experiment *experiment = item->cell->experiment;
        if (!experiment->inputs || !g_hash_table_add(seen, (gpointer)(uintptr_t)experiment))
            continue;
        g_autoptr(GError) problem = NULL;
        g_autofree char *declared = orch_inputs_declared_id(plan->inputs, experiment, &problem);
        if (!declared || !orch_vcs_note_inputs(plan->workspace->vcs, source->tree, declared,
                                               experiment->share_source, &problem))
            g_debug("inputs not noted: %s", problem->message);
    }
}

bool orch_run_plan(struct orch_plan *plan, const struct orch_run_options *options,
                   const struct orch_listener *listener, struct orch_totals *out_totals,
                   GError **error)
{
    struct run run = {.plan = plan, .options = options, .listener = listener};
    run.host_program = orch_program_path("orch-host", error);
    if (!run.host_program)
        return false;
    orch_process_get(getpid(), &run.self);
    run.jobs = g_new0(struct job, plan->count + 1);
    run.hosts = g_ptr_array_new_with_free_func(orch_schedule_host_free);
    run.ended = g_ptr_array_new_with_free_func(orch_schedule_host_free);
    run.collects_first = options->fail_fast || has_timing(plan) || options->chooser;
    run.lost_gpus = orch_schedule_lost_gpus_new();
    run.plugin_files = g_array_new(FALSE, FALSE, sizeof(struct plugin_file));
    run.failing = orch_schedule_failing_new();
    run.asked = g_ptr_array_new();
    run.wall_by_experiment = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
    run.totals.eta_s = run.totals.saved_share = NAN;
    make_jobs(&run);
    sigset_t handled, before;
    sigemptyset(&handled);
    sigaddset(&handled, SIGINT);
    sigaddset(&handled, SIGTERM);
    sigaddset(&handled, SIGHUP);
    sigprocmask(SIG_BLOCK, &handled, &before);
    run.signal_fd = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
    orch_workspace_hold_source(plan->workspace);
    orch_run_note_inputs(plan);
    orch_schedule_leases_open(&run);
    bool ok = loop(&run, error);
    if (!ok)
        abandon_hosts(&run);
    else
        ok = orch_store_sync(plan->store, error);
    orch_schedule_leases_close(&run);
    if (ok)
        say_untracked(&run);
    orch_schedule_places_clear(&run);
    finish_totals(&run);
    if (run.signal_fd >= 0)
        close(run.signal_fd);
    sigprocmask(SIG_SETMASK, &before, NULL);
    *out_totals = run.totals;
    g_ptr_array_unref(run.hosts);
    g_ptr_array_unref(run.ended);
    g_ptr_array_unref(run.lost_gpus);
    g_array_unref(run.plugin_files);
    g_hash_table_unref(run.wall_by_experiment);
    g_hash_table_unref(run.failing);
    g_ptr_array_unref(run.asked);
    for (unsigned i = 0; i < plan->count; i++)
        g_free(run.jobs[i].goes_on_why);
    g_free(run.jobs);
    g_free(run.whole_order);
    g_free(run.host_program);
    return ok;
}
