/* SPDX-License-Identifier: MIT */
/*
 * A single thread with a poll loop, as in supervise.c. The end of the program is detected by its
 * pidfd, not by the end of the pipe, because forked workers keep the pipe open after it is killed.
 * Its exit status is available only to its parent, so a program that ends without `done` is
 * `crashed`, or `failed` if it sent an `error` before.
 *
 * An invalid line only loses that line, because it must not end a training of many hours.
 */
#include "core/host/follow.h"

#include "core/host/foreign_cpu.h"
#include "core/host/intake.h"
#include "core/host/join_pipe.h"
#include "core/host/output_capture.h"
#include "core/host/procs.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/proc_stat.h"
#include "lib/base/text.h"
#include "lib/wire/foreign_cpu_fact.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ARTIFACTS_MAX = 1000, REASON_BYTES_MAX = 2000 };
static const int64_t LOOK_NS = INT64_C(1000000000), TEXT_BYTES = 16 << 20;

/* Resource usage of the program at the last check. */
struct usage {
    int64_t rss_bytes;
    double user_s, system_s;
};

struct follower {
    const struct orch_trial_spec *trial;
    const char *trial_dir;
    struct journal_out out;
    struct intake intake;
    int events_fd; /* standard input; -1 after its end */
    int pid_fd, signal_fd;
    struct join_pipe join;
    struct capture output, errors; /* what the program printed */
    int artifact_count;
    int64_t start_ns, started_utc_ns, look_ns;
    struct usage usage;
    struct foreign_cpu foreign;
    double program_s;     /* CPU time of the program when recording began */
    double foreign_share; /* at the last check; NaN: unknown */
    bool process_ended;
    int signal; /* received by this host; 0: none */
    int write_failure;
};

/* ---- the program ------------------------------------------------------------------------------
 */

static int open_pidfd(const struct orch_process *process)
{
#ifdef SYS_pidfd_open
    int fd = process->pid > 0 ? (int)syscall(SYS_pidfd_open, (pid_t)process->pid, 0) : -1;
    if (fd >= 0 && orch_process_is_alive(process))
        return fd;
    if (fd >= 0)
        close(fd);
#else
    (void)process;
#endif
    return -1;
}

static void look_at_usage(struct follower *f)
{
    pid_t pid = (pid_t)f->trial->follow.pid;
    struct orch_proc_stat stat;
    if (orch_proc_stat_read(pid, &stat)) {
        f->usage.user_s = stat.user_s;
        f->usage.system_s = stat.system_s;
    }
    f->usage.rss_bytes = MAX(f->usage.rss_bytes, orch_procs_peak_bytes(pid));
}

static bool is_watched(const struct follower *f)
{
    return f->trial->follow.pid > 0;
}

/* Called once per second, and when the pidfd becomes readable. */
static void look_at_process(struct follower *f)
{
    f->look_ns = orch_mono_ns() + LOOK_NS;
    if (!orch_process_is_alive(&f->trial->follow))
        f->process_ended = true;
    else
        look_at_usage(f);
    if (f->process_ended)
        return;
    /* read both counters at the same time */
    f->foreign_share = orch_foreign_cpu_share_of_other(
        &f->foreign, (double)(orch_mono_ns() - f->start_ns) / 1e9,
        orch_foreign_cpu_of_program((int)f->trial->follow.pid) - f->program_s);
}

/* ---- artifacts --------------------------------------------------------------------------------
 */

static void warn(struct follower *f, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void warn(struct follower *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_autoptr(json_t) object =
        json_pack("{s:s s:s s:s}", "event", "log", "level", "warning", "text", valid);
    orch_journal_out_add(&f->out, object);
}

/* Moves files from TRIALDIR/handed, which are copies already; copies others. Does not follow
 * links. */
static bool move_or_copy(const struct follower *f, const char *from, const char *to, GError **error)
{
    g_autofree char *handed = g_build_filename(f->trial_dir, "handed", NULL);
    g_autofree char *folder = g_path_get_dirname(from);
    struct stat info;
    return (strcmp(folder, handed) == 0 && lstat(from, &info) == 0 && S_ISREG(info.st_mode) &&
            rename(from, to) == 0) ||
           orch_file_copy(from, to, error);
}

/* Copies the file immediately, because the program may overwrite it. A later artifact of the same
 * name replaces it. */
static void take_artifact(void *ctx, const char *name, const char *given_path)
{
    struct follower *f = ctx;
    g_autoptr(GError) error = NULL;
    char sha256[ORCH_SHA256_CHARS];
    int64_t bytes;
    if (!orch_artifact_name_is_valid(name)) {
        warn(f, "artifact '%.100s': the name is not valid", name);
        return;
    }
    if (f->artifact_count == ARTIFACTS_MAX) {
        warn(f, "artifact '%s': a run can have at most %d", name, ARTIFACTS_MAX);
        return;
    }
    g_autofree char *from = orch_path_absolute(given_path, f->trial->cwd);
    g_autofree char *folder = g_build_filename(f->trial_dir, "artifacts", NULL);
    g_autofree char *path = g_strdup_printf("artifacts/%d", f->artifact_count++);
    g_autofree char *to = g_build_filename(f->trial_dir, path, NULL);
    if (!orch_dir_make(folder, &error) || !move_or_copy(f, from, to, &error) ||
        !orch_file_sha256(to, sha256, &bytes, &error)) {
        warn(f, "artifact '%s': %s", name, error->message);
        unlink(to);
        return;
    }
    g_autoptr(json_t) object =
        json_pack("{s:s s:s s:s s:s s:I}", "event", "artifact", "name", name, "path", path,
                  "sha256", sha256, "bytes", (json_int_t)bytes);
    orch_journal_out_add(&f->out, object);
}

/* ---- input ------------------------------------------------------------------------------------
 */

static void read_events(struct follower *f)
{
    if (!orch_intake_read(&f->intake, f->events_fd))
        f->events_fd = -1;
}

static void take_output(void *ctx, const char *stream, const char *text)
{
    struct follower *f = ctx;
    struct capture *capture = strcmp(stream, "stderr") == 0 ? &f->errors : &f->output;
    orch_capture_write(capture, text, strlen(text));
}

static void read_signals(struct follower *f)
{
    struct signalfd_siginfo info;
    while (read(f->signal_fd, &info, sizeof info) == sizeof info)
        f->signal = (int)info.ssi_signo;
}

static void settle(struct follower *f)
{
    orch_intake_settle(&f->intake);
    if (orch_journal_out_flush(&f->out))
        return;
    f->write_failure = f->out.failure;
    f->out.failure = 0; /* later points are kept if the disk has space again */
}

static int wait_ms(const struct follower *f)
{
    int64_t due = is_watched(f) ? f->look_ns : INT64_MAX;
    return orch_journal_out_wait_ms(&f->out, MIN(due, orch_intake_due(&f->intake)));
}

static void run_loop(struct follower *f)
{
    while (!f->signal && !f->process_ended && !f->intake.has_done && f->events_fd >= 0) {
        struct pollfd fds[] = {{.fd = f->events_fd, .events = POLLIN},
                               {.fd = f->join.fd, .events = POLLIN},
                               {.fd = f->signal_fd, .events = POLLIN},
                               {.fd = f->pid_fd, .events = POLLIN}};
        if (poll(fds, G_N_ELEMENTS(fds), wait_ms(f)) > 0) {
            if (fds[0].revents)
                read_events(f);
            if (fds[1].revents)
                orch_join_pipe_read(&f->join, &f->intake);
            if (fds[2].revents)
                read_signals(f);
        }
        int64_t now = orch_mono_ns();
        if (is_watched(f) && (fds[3].revents || now >= f->look_ns))
            look_at_process(f);
        if (now >= orch_journal_out_due(&f->out) || now >= orch_intake_due(&f->intake))
            settle(f);
    }
}

/* Waits briefly, because a killed process closes its pipe shortly before it disappears. */
static void await_process(struct follower *f)
{
    struct pollfd fd = {.fd = f->pid_fd, .events = POLLIN};
    if (is_watched(f) && !f->intake.has_done && !f->signal)
        poll(&fd, 1, f->pid_fd < 0 ? 50 : 500);
}

/* Reads the rest of the pipes, for at most a second if a forked worker keeps writing. */
static void drain(struct follower *f)
{
    int64_t until = orch_mono_ns() + LOOK_NS;
    struct pollfd fds[] = {{.fd = f->events_fd, .events = POLLIN},
                           {.fd = f->join.fd, .events = POLLIN}};
    while (orch_mono_ns() < until && poll(fds, G_N_ELEMENTS(fds), 0) > 0) {
        if (fds[0].revents)
            read_events(f);
        if (fds[1].revents)
            orch_join_pipe_read(&f->join, &f->intake);
        fds[0].fd = f->intake.has_done ? -1 : f->events_fd;
    }
}

/* ---- the end ----------------------------------------------------------------------------------
 */

static enum orch_verdict judge(const struct follower *f, char **out_reason)
{
    const struct intake *intake = &f->intake;
    *out_reason = g_strdup(intake->error_text);
    if (intake->has_done && intake->done == ORCH_VERDICT_OK && f->write_failure) {
        g_free(*out_reason);
        *out_reason = g_strdup_printf("some of its points could not be written: %s",
                                      g_strerror(f->write_failure));
        return ORCH_VERDICT_FAILED;
    }
    if (intake->has_done) {
        if (intake->done == ORCH_VERDICT_OK)
            g_clear_pointer(out_reason, g_free);
        else if (!*out_reason)
            *out_reason = g_strdup("the program gave no reason");
        return intake->done;
    }
    if (f->signal) {
        g_free(*out_reason);
        *out_reason = g_strdup_printf("its recorder received %s",
                                      f->signal == SIGINT ? "interrupted from the keyboard"
                                                          : strsignal(f->signal));
        return f->signal == SIGTERM ? ORCH_VERDICT_PREEMPTED : ORCH_VERDICT_CANCELLED;
    }
    if (*out_reason)
        return ORCH_VERDICT_FAILED;
    *out_reason = f->process_ended
                      ? g_strdup_printf("process %d ended without 'done': killed, or out of memory",
                                        (int)f->trial->follow.pid)
                      : g_strdup("its events ended without 'done'");
    return ORCH_VERDICT_CRASHED;
}

static void put_count(json_t *facts, const char *key, int64_t count)
{
    if (count > 0)
        json_object_set_new(facts, key, json_integer(count));
}

static json_t *end_facts(struct follower *f)
{
    const struct intake *intake = &f->intake;
    json_t *facts = json_object();
    put_count(facts, "points", intake->point_count);
    put_count(facts, "max_rss_bytes", f->usage.rss_bytes);
    put_count(facts, "stdout_dropped_bytes", orch_capture_finish(&f->output));
    put_count(facts, "stderr_dropped_bytes", orch_capture_finish(&f->errors));
    put_count(facts, "log_dropped_bytes", intake->dropped_bytes);
    put_count(facts, "log_dropped_lines", intake->dropped_count);
    put_count(facts, "unknown_events", intake->unknown_count);
    put_count(facts, "bad_events", intake->bad_count);
    if (!isnan(f->foreign_share)) /* three digits, the resolution of the kernel's counters */
        json_object_set_new(facts, ORCH_FACT_FOREIGN_CPU,
                            json_real(round(f->foreign_share * 1e3) / 1e3));
    if (f->usage.rss_bytes) {
        json_object_set_new(facts, "user_s", json_real(f->usage.user_s));
        json_object_set_new(facts, "system_s", json_real(f->usage.system_s));
    }
    return facts;
}

static bool write_end(struct follower *f, GError **error)
{
    bool is_past = f->trial->past_ended_ns > 0;
    int64_t ended_ns = is_past ? f->trial->past_ended_ns : orch_now_ns();
    int64_t took_ns = is_past ? ended_ns - f->started_utc_ns : orch_mono_ns() - f->start_ns;
    if (is_watched(f))
        look_at_process(f);
    orch_intake_finish(&f->intake);
    g_autofree char *skipped = orch_intake_skipped_text(&f->intake);
    if (skipped)
        warn(f, "%s", skipped);
    g_autofree char *reason = NULL;
    enum orch_verdict verdict = judge(f, &reason);
    g_autofree char *cut = reason ? g_strndup(reason, REASON_BYTES_MAX) : NULL;
    g_autofree char *shown = cut ? g_utf8_make_valid(cut, -1) : NULL;
    g_autofree char *tail = orch_capture_tail(&f->errors);
    g_autoptr(json_t) event =
        json_pack("{s:s s:s s:s? s:n s:n s:I s:I s:f s:s s:o}", "event", "end", "verdict",
                  orch_verdict_name(verdict), "reason", shown, "exit_code", "signal", "started_ns",
                  (json_int_t)f->started_utc_ns, "ended_ns", (json_int_t)ended_ns, "wall_ms",
                  (double)took_ns / 1e6, "stderr_tail", tail, "facts", end_facts(f));
    orch_journal_out_flush(&f->out);
    f->out.failure = 0;
    orch_journal_out_add(&f->out, event);
    if (orch_journal_out_flush(&f->out))
        return true;
    orch_error_set_errno(error, ORCH_ERROR_IO, f->out.failure,
                         "cannot write the journal (record) of the trial in '%s'", f->trial_dir);
    return false;
}

/* ---- setting up -------------------------------------------------------------------------------
 */

static bool listen_to_signals(struct follower *f, GError **error)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    f->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (f->signal_fd < 0)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot listen to signals");
    return f->signal_fd >= 0;
}

static void start(struct follower *f)
{
    f->foreign_share = (double)NAN;
    orch_foreign_cpu_begin(&f->foreign, NULL, NULL, 0);
    f->program_s = is_watched(f) ? orch_foreign_cpu_of_program((int)f->trial->follow.pid) : 0;
    f->start_ns = orch_mono_ns();
    f->started_utc_ns = f->trial->past_started_ns > 0 ? f->trial->past_started_ns : orch_now_ns();
    orch_intake_init(&f->intake, f->trial->manifest, &f->out, f->start_ns, TEXT_BYTES);
    f->intake.is_lenient = true;
    f->intake.on_artifact = take_artifact;
    f->intake.on_output = take_output;
    f->intake.ctx = f;
    orch_capture_init(&f->output, f->trial_dir, "stdout", f->trial->limit_log_bytes);
    orch_capture_init(&f->errors, f->trial_dir, "stderr", f->trial->limit_log_bytes);
    orch_journal_out_start(&f->out, f->trial->key, f->started_utc_ns, (pid_t)f->trial->follow.pid);
}

static void close_all(struct follower *f)
{
    const int fds[] = {f->pid_fd, f->signal_fd};
    for (unsigned i = 0; i < G_N_ELEMENTS(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    orch_foreign_cpu_clear(&f->foreign);
    orch_journal_out_close(&f->out);
    orch_intake_clear(&f->intake);
    orch_join_pipe_close(&f->join);
    if (f->output.path) {
        orch_capture_clear(&f->output);
        orch_capture_clear(&f->errors);
    }
}

bool orch_host_follow(struct orch_trial_spec *trial, const char *trial_dir, GError **error)
{
    struct follower f = {.trial = trial,
                         .trial_dir = trial_dir,
                         .events_fd = STDIN_FILENO,
                         .join = {.fd = -1},
                         .signal_fd = -1};
    g_autofree char *journal = g_build_filename(trial_dir, "journal", NULL);
    g_autofree char *join = g_build_filename(trial_dir, "join", NULL);
    f.pid_fd = open_pidfd(&trial->follow);
    bool ok = listen_to_signals(&f, error) && orch_join_pipe_open(&f.join, join, error) &&
              orch_journal_out_open(&f.out, journal, error);
    if (ok) {
        start(&f);
        run_loop(&f);
        await_process(&f);
        drain(&f);
        ok = write_end(&f, error);
    }
    close_all(&f);
    return ok;
}
