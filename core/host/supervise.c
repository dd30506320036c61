/* SPDX-License-Identifier: MIT */
/*
 * A single thread with a poll loop. The end of processes is detected by SIGCHLD (through a
 * signalfd, which works on older kernels and also reports orphans inherited by this subreaper), not
 * by the end of a pipe, which a grandchild may keep open.
 */
#include "core/host/supervise.h"

#include "core/host/follow.h"
#include "core/host/foreign_cpu.h"
#include "core/host/gpu_watch.h"
#include "core/host/logged_files.h"
#include "core/host/old_files.h"
#include "core/host/procs.h"
#include "core/host/supervisor.h"
#include "core/host/text_metrics.h"
#include "core/host/utilisation.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/trial_request.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int64_t SECOND_NS = INT64_C(1000000000), FIRST_LOOK_NS = INT64_C(200000000);

/* ---- setting up -------------------------------------------------------------------------------
 */

static bool listen_to_signals(struct supervisor *s, GError **error)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGINT);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->signal_fd < 0)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot listen to signals");
    return s->signal_fd >= 0;
}

/* The trial's current folder: TRIALDIR/work, or the start folder of a command. */
static bool make_work_dir(struct supervisor *s, char *work, GError **error)
{
    if (s->trial->cwd && s->trial->manifest->kind == ORCH_PLUGIN_WRAPPED) {
        s->setup.work_dir = s->trial->cwd;
        return true;
    }
    s->setup.work_dir = work;
    return orch_dir_make(work, error);
}

static void start_watching(struct supervisor *s)
{
    const struct orch_trial_spec *trial = s->trial;
    int64_t log_bytes = trial->limit_log_bytes > 0 ? trial->limit_log_bytes : 16 << 20;
    orch_intake_init(&s->intake, trial->manifest, &s->out, s->start_ns, log_bytes);
    orch_capture_init(&s->output, s->setup.trial_dir, "stdout", trial->limit_log_bytes);
    orch_capture_init(&s->errors, s->setup.trial_dir, "stderr", trial->limit_log_bytes);
    s->text_metrics = orch_text_metrics_new(trial->manifest, &s->intake);
    s->logged = orch_logged_files_new(&s->setup, &s->intake, s->started_utc_ns);
    s->alerts = orch_alerts_new(trial->alerts);
    s->intake.on_value = orch_alerts_is_empty(s->alerts) ? NULL : orch_alerts_take;
    s->intake.value_ctx = s->alerts;
    orch_stopping_init(&s->stopping, trial, &s->child);
    s->limit_ns =
        trial->limit_s > 0 ? s->start_ns + (int64_t)(MIN(trial->limit_s, 1e9) * 1e9) : INT64_MAX;
    s->ask_ns = trial->detached ? s->start_ns + ORCH_PRUNE_REQUEST_S * SECOND_NS : INT64_MAX;
    s->look_ns = trial->limit_memory_bytes > 0 ? s->start_ns + FIRST_LOOK_NS : INT64_MAX;
    s->buffer = g_malloc(ORCH_HOST_READ_BYTES);
    s->runner_line = g_string_new(NULL);
    s->strays = g_ptr_array_new_with_free_func(g_free);
}

static void stop_watching(struct supervisor *s)
{
    orch_child_close(&s->child);
    orch_logged_files_free(s->logged);
    orch_intake_clear(&s->intake);
    orch_alerts_free(s->alerts);
    orch_capture_clear(&s->output);
    orch_capture_clear(&s->errors);
    orch_text_metrics_free(s->text_metrics);
    orch_stopping_clear(&s->stopping);
    g_free(s->buffer);
    g_string_free(s->runner_line, TRUE);
    g_ptr_array_unref(s->strays);
}

/* ---- timers -----------------------------------------------------------------------------------
 */

static void look_at_memory(struct supervisor *s)
{
    int64_t bytes = orch_procs_memory_bytes(), limit = s->trial->limit_memory_bytes;
    s->memory_bytes = MAX(s->memory_bytes, bytes);
    s->look_ns = orch_mono_ns() + SECOND_NS;
    if (bytes <= limit)
        return;
    g_autofree char *used = orch_bytes_format(bytes);
    g_autofree char *allowed = orch_bytes_format(limit);
    orch_stopping_begin(&s->stopping, ORCH_VERDICT_FAILED, STOP_TERMINATED,
                        "memory over the limit: %s of %s", used, allowed);
}

/* A trial without a runner is told by its folder that it is to end. */
static void look_for_request(struct supervisor *s)
{
    g_autofree char *why = orch_trial_request_read(s->setup.trial_dir, ORCH_REQUEST_PRUNE);
    s->ask_ns = why ? INT64_MAX : orch_mono_ns() + ORCH_PRUNE_REQUEST_S * SECOND_NS;
    if (why)
        orch_stopping_begin(&s->stopping, ORCH_VERDICT_PRUNED, STOP_REQUESTED, "%s",
                            *why ? why : "its search's rule");
}

static void settle(struct supervisor *s)
{
    orch_intake_settle(&s->intake);
    if (!orch_journal_out_flush(&s->out))
        orch_stopping_begin(&s->stopping, ORCH_VERDICT_FAILED, STOP_TERMINATED,
                            "cannot write its journal: %s", g_strerror(s->out.failure));
}

/* Ends the trial once a rank has failed. */
static void look_at_ranks(struct supervisor *s)
{
    const struct rank_failure *failure = orch_rank_links_failure(s->links);
    if (failure)
        orch_stopping_begin(&s->stopping, failure->verdict, STOP_TERMINATED, "%s", failure->text);
}

static int64_t ranks_due(const struct supervisor *s)
{
    return s->links && s->stopping.stage == STOP_NOT ? orch_rank_links_due(s->links) : INT64_MAX;
}

static void look_at_alerts(struct supervisor *s)
{
    g_autofree char *why = orch_supervisor_take_alerts(s);
    if (why)
        orch_stopping_begin(&s->stopping, ORCH_VERDICT_DIVERGED, STOP_REQUESTED, "alert: %s", why);
}

static void do_what_is_due(struct supervisor *s)
{
    int64_t now = orch_mono_ns();
    look_at_alerts(s);
    if (now >= s->limit_ns) {
        g_autofree char *limit = orch_duration_format(s->trial->limit_s);
        s->limit_ns = INT64_MAX;
        orch_stopping_begin(&s->stopping, ORCH_VERDICT_TIMEOUT, STOP_REQUESTED,
                            "ran past its limit of %s", limit);
    }
    if (now >= s->look_ns)
        look_at_memory(s);
    if (now >= s->ask_ns)
        look_for_request(s);
    if (now >= orch_logged_files_due(s->logged))
        orch_logged_files_read(s->logged);
    if (now >= ranks_due(s))
        look_at_ranks(s);
    if (now >= s->stopping.next_ns)
        orch_stopping_continue(&s->stopping);
    if (now >= orch_journal_out_due(&s->out) || now >= orch_intake_due(&s->intake))
        settle(s);
}

static int wait_ms(const struct supervisor *s)
{
    int64_t due =
        MIN(MIN(s->ask_ns, MIN(s->limit_ns, s->look_ns)), MIN(s->stopping.next_ns, ranks_due(s)));
    due = MIN(due, orch_logged_files_due(s->logged));
    return orch_journal_out_wait_ms(&s->out, MIN(due, orch_intake_due(&s->intake)));
}

/* Ends the trial once one of its GPUs cannot be used any more. */
static void look_at_gpus(struct supervisor *s)
{
    g_autofree char *loss = orch_gpu_watch_take(s->gpu_watch, &s->out);
    if (loss)
        orch_stopping_begin(&s->stopping, ORCH_VERDICT_LOST, STOP_TERMINATED, "a GPU was lost: %s",
                            loss);
}

static void run_loop(struct supervisor *s)
{
    while (!s->child_ended && !orch_stopping_is_hopeless(&s->stopping)) {
        struct pollfd fds[] = {
            {.fd = s->signal_fd, .events = POLLIN},
            {.fd = s->child.events_fd, .events = POLLIN},
            {.fd = s->child.stdout_fd, .events = POLLIN},
            {.fd = s->child.stderr_fd, .events = POLLIN},
            {.fd = s->runner_fd, .events = POLLIN},
            {.fd = s->links ? orch_rank_links_fd(s->links) : -1, .events = POLLIN},
            {.fd = orch_utilisation_fd(s->utilisation), .events = POLLIN},
            {.fd = orch_gpu_watch_fd(s->gpu_watch), .events = POLLIN},
            {.fd = s->join.fd, .events = POLLIN}};
        if (poll(fds, G_N_ELEMENTS(fds), wait_ms(s)) > 0) {
            if (fds[5].revents)
                orch_supervisor_read_ranks(s);
            if (fds[6].revents)
                orch_utilisation_take(s->utilisation, &s->out);
            if (fds[7].revents)
                look_at_gpus(s);
            if (fds[1].revents)
                orch_supervisor_read_events(s);
            if (fds[8].revents)
                orch_supervisor_read_join(s);
            if (fds[2].revents)
                orch_supervisor_read_output(s, &s->child.stdout_fd, &s->output);
            if (fds[3].revents)
                orch_supervisor_read_output(s, &s->child.stderr_fd, &s->errors);
            if (fds[4].revents)
                orch_supervisor_read_runner(s);
            if (fds[0].revents)
                orch_supervisor_read_signals(s);
        }
        do_what_is_due(s);
    }
}

/* Writes the end event, which may fit on a full disk after a partial line was removed. */
static bool flush_end(struct supervisor *s, GError **error)
{
    s->out.failure = 0;
    if (orch_journal_out_flush(&s->out))
        return true;
    orch_error_set_errno(error, ORCH_ERROR_IO, s->out.failure, "cannot write the journal in '%s'",
                         s->setup.trial_dir);
    return false;
}

/* Sends the `run` message. It is not an error if the command does not read it. */
static void send_run(struct supervisor *s)
{
    g_autoptr(json_t) line = orch_wrapped_run_line(s->trial);
    if (json_dumpb(line, NULL, 0, JSON_COMPACT) < ORCH_WIRE_LINE_MAX)
        orch_child_send(&s->child, line);
    else
        orch_stopping_begin(&s->stopping, ORCH_VERDICT_FAILED, STOP_TERMINATED,
                            "its parameters do not fit a line of %d bytes", ORCH_WIRE_LINE_MAX);
}

static bool run_trial(struct supervisor *s, GError **error)
{
    s->start_ns = s->setup.start_ns = orch_mono_ns();
    s->started_utc_ns = orch_now_ns();
    orch_foreign_cpu_begin(&s->foreign, NULL, s->trial->cpus, s->trial->cpu_count);
    if (s->trial->ranks && s->trial->manifest->kind == ORCH_PLUGIN_COMPILED) {
        if (!(s->links = orch_rank_links_open(s->trial->ranks, error)))
            return false;
        s->setup.link = orch_rank_links_address(s->links);
    }
    g_autofree char *join = g_build_filename(s->setup.trial_dir, ORCH_TRIAL_RUNS, "join", NULL);
    if (s->trial->manifest->kind == ORCH_PLUGIN_WRAPPED) /* without it the others are runs apart */
        orch_join_pipe_open(&s->join, join, NULL);
    s->old_files = orch_old_files_look(&s->setup);
    orch_apart_prepare(s->apart);
    if (!orch_child_start(&s->setup, &s->child, error))
        return false;
    s->child.links = s->links;
    orch_journal_out_start(&s->out, s->trial->key, s->started_utc_ns, s->child.pid);
    start_watching(s);
    s->utilisation = orch_utilisation_start(s->trial, s->start_ns);
    s->gpu_watch = orch_gpu_watch_start(s->trial);
    if (orch_wrapped_listens(s->trial))
        send_run(s);
    run_loop(s);
    orch_supervisor_finish(s);
    bool ok = flush_end(s, error);
    stop_watching(s);
    return ok;
}

/* Writes the end event for a trial that could not be started. */
static bool write_failed_start(struct supervisor *s, const char *reason, GError **error)
{
    int64_t now = orch_now_ns();
    g_autoptr(json_t) end =
        json_pack("{s:s s:s s:s s:n s:n s:I s:I s:f s:s s:{}}", "event", "end", "verdict", "failed",
                  "reason", reason, "exit_code", "signal", "started_ns", (json_int_t)now,
                  "ended_ns", (json_int_t)now, "wall_ms", 0.0, "stderr_tail", "", "facts");
    orch_journal_out_start(&s->out, s->trial->key, now, 0);
    orch_journal_out_add(&s->out, end);
    return flush_end(s, error);
}

static bool run_in(struct supervisor *s, GError **error)
{
    g_autofree char *work = g_build_filename(s->setup.trial_dir, ORCH_TRIAL_WORK, NULL);
    g_autofree char *journal = g_build_filename(s->setup.trial_dir, "journal", NULL);
    g_autoptr(GError) problem = NULL;
    if (!orch_journal_out_open(&s->out, journal, error))
        return false;
    s->setup.apart = s->apart = orch_apart_open(s->trial, s->setup.trial_dir);
    s->setup.opened = orch_opened_files_begin(s->trial, s->apart);
    bool ok = make_work_dir(s, work, &problem) && listen_to_signals(s, &problem) &&
              run_trial(s, &problem);
    if (!ok && s->child.pid == 0)
        ok = write_failed_start(s, problem->message, error);
    else if (!ok)
        g_propagate_error(error, g_steal_pointer(&problem));
    orch_journal_out_close(&s->out);
    orch_foreign_cpu_clear(&s->foreign);
    orch_join_pipe_close(&s->join);
    orch_rank_links_free(s->links);
    orch_old_files_free(s->old_files);
    orch_apart_leave(s->apart);
    orch_opened_files_free(s->setup.opened);
    orch_apart_free(s->apart);
    if (s->signal_fd >= 0)
        close(s->signal_fd);
    return ok;
}

bool orch_host_supervise(const char *trial_dir, int argc, char **argv, GError **error)
{
    g_autofree char *absolute = orch_path_absolute(trial_dir, NULL);
    struct supervisor s = {.signal_fd = -1, .runner_fd = STDIN_FILENO, .join = {.fd = -1}};
    s.trial = orch_trial_read(absolute, error);
    if (!s.trial)
        return false;
    s.setup =
        (struct child_setup){.trial = s.trial, .trial_dir = absolute, .argc = argc, .argv = argv};
    bool ok = s.trial->is_followed ? orch_host_follow(s.trial, absolute, error) : run_in(&s, error);
    orch_trial_free(s.trial);
    return ok;
}
