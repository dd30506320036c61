/* SPDX-License-Identifier: MIT */
/* What a trial's host reads while it waits: output, events, the runner's requests, signals. */
#include "core/host/supervisor.h"

#include "core/host/text_metrics.h"
#include "lib/base/json.h"
#include "lib/base/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static void close_fd(int *fd)
{
    close(*fd);
    *fd = -1;
}

size_t orch_supervisor_read_output(struct supervisor *s, int *fd, struct capture *capture)
{
    ssize_t n = read(*fd, s->buffer, ORCH_HOST_READ_BYTES);
    if (n == 0 || (n < 0 && errno != EAGAIN))
        close_fd(fd);
    if (n <= 0)
        return 0;
    orch_capture_write(capture, s->buffer, (size_t)n);
    if (capture == &s->output || capture == &s->errors)
        orch_text_metrics_feed(s->text_metrics, capture == &s->output ? TEXT_STDOUT : TEXT_STDERR,
                               s->buffer, (size_t)n);
    return (size_t)n;
}

/* Notes a 'done' that came before the trial was stopped, and ends a trial that broke the protocol.
 */
static void judge_events(struct supervisor *s, bool had_done)
{
    if (!had_done && s->intake.has_done)
        s->done_first = s->stopping.stage == STOP_NOT;
    if (s->intake.problem && !s->child_ended)
        orch_stopping_begin(&s->stopping, ORCH_VERDICT_PROTOCOL, STOP_TERMINATED, "%s",
                            s->intake.problem);
}

static void mark_alert(struct supervisor *s, const char *fired)
{
    g_autofree char *text = g_strconcat("alert: ", fired, NULL);
    g_autoptr(json_t) note = json_pack("{s:s s:s}", "event", "note", "text", text);
    g_autoptr(json_t) tag = json_pack("{s:s s:[s]}", "event", "run", "tags", "alert");
    orch_intake_settle(&s->intake);
    orch_journal_out_add(&s->out, note);
    orch_journal_out_add(&s->out, tag);
    g_autofree char *path = g_build_filename(s->setup.trial_dir, ORCH_TRIAL_ALERTS, NULL);
    g_autofree char *line = g_strconcat(fired, "\n", NULL);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return; /* the run is marked all the same */
    orch_write_all(fd, line, strlen(line));
    close(fd);
}

char *orch_supervisor_take_alerts(struct supervisor *s)
{
    char *why = NULL;
    bool stops;
    for (char *fired; (fired = orch_alerts_next(s->alerts, &stops));) {
        mark_alert(s, fired);
        if (stops && !why)
            why = g_steal_pointer(&fired);
        g_free(fired);
    }
    return why;
}

void orch_supervisor_read_events(struct supervisor *s)
{
    bool had_done = s->intake.has_done;
    if (!orch_intake_read(&s->intake, s->child.events_fd))
        close_fd(&s->child.events_fd);
    judge_events(s, had_done);
}

bool orch_supervisor_read_join(struct supervisor *s)
{
    bool had_done = s->intake.has_done;
    bool any = orch_join_pipe_read(&s->join, &s->intake) > 0;
    judge_events(s, had_done);
    return any;
}

void orch_supervisor_read_ranks(struct supervisor *s)
{
    orch_rank_links_read(s->links, &s->intake);
    int first = orch_rank_links_take_first(s->links);
    if (first < 0)
        return;
    if (s->child.events_fd >= 0)
        close_fd(&s->child.events_fd);
    s->child.events_fd = first;
}

static void cancel(struct supervisor *s, const char *reason)
{
    if (s->stopping.why == ORCH_VERDICT_CANCELLED || s->stopping.why == ORCH_VERDICT_PRUNED)
        orch_stopping_escalate(&s->stopping);
    orch_stopping_begin(&s->stopping, ORCH_VERDICT_CANCELLED, STOP_REQUESTED, "%s", reason);
}

static void take_runner_line(struct supervisor *s, const char *line, size_t length)
{
    g_autoptr(json_t) object = orch_json_parse(line, length, ORCH_HOST_READ_BYTES, NULL);
    const char *wanted = orch_json_text(object, "do", "");
    if (strcmp(wanted, "cancel") == 0)
        cancel(s, orch_json_text(object, "why", "the 'orch' process asked"));
    else if (strcmp(wanted, "prune") == 0)
        orch_stopping_begin(&s->stopping, ORCH_VERDICT_PRUNED, STOP_REQUESTED, "%s",
                            orch_json_text(object, "why", "its search's rule"));
}

void orch_supervisor_read_runner(struct supervisor *s)
{
    ssize_t n = read(s->runner_fd, s->buffer, ORCH_HOST_READ_BYTES);
    if (n <= 0) { /* the descriptor stays open, so that its number 0 is not reused */
        s->runner_fd = -1;
        if (!s->trial->detached)
            orch_stopping_begin(&s->stopping, ORCH_VERDICT_CANCELLED, STOP_REQUESTED,
                                "the 'orch' process that started it has ended");
        return;
    }
    g_string_append_len(s->runner_line, s->buffer, n);
    const char *newline;
    while ((newline = memchr(s->runner_line->str, '\n', s->runner_line->len))) {
        size_t length = (size_t)(newline - s->runner_line->str);
        take_runner_line(s, s->runner_line->str, length);
        g_string_erase(s->runner_line, 0, (gssize)length + 1);
    }
    if (s->runner_line->len > ORCH_HOST_READ_BYTES)
        g_string_truncate(s->runner_line, 0);
}

bool orch_supervisor_reap(struct supervisor *s)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == s->child.pid) {
            s->child_ended = true;
            s->wait_status = status;
        }
    }
    return pid == 0;
}

void orch_supervisor_read_signals(struct supervisor *s)
{
    struct signalfd_siginfo info;
    while (read(s->signal_fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            orch_supervisor_reap(s);
        else if (info.ssi_signo == SIGTERM)
            orch_stopping_begin(&s->stopping, ORCH_VERDICT_PREEMPTED, STOP_REQUESTED,
                                "its 'orch-host' process received SIGTERM");
        else if (info.ssi_signo == SIGHUP && !s->trial->detached)
            cancel(s, "its terminal was closed (SIGHUP)");
        else if (info.ssi_signo == SIGINT && isatty(STDIN_FILENO))
            cancel(s, "interrupted from the keyboard");
    }
}
