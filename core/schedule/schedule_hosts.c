/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts and stops the host processes and detects their exit. */
#include "core/plugin/host_start.h"
#include "core/schedule/schedule_private.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

bool orch_schedule_spawn(struct run *run, struct host *host, GError **error)
{
    int pipe_fds[2];
    if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make a pipe");
        return false;
    }
    g_autofree char *errors = g_build_filename(host->running.trial_dir, "host.stderr", NULL);
    bool is_started = orch_host_start(run->host_program, host->running.trial_dir, pipe_fds[0],
                                      errors, &host->pid, error);
    close(pipe_fds[0]);
    if (!is_started) {
        close(pipe_fds[1]);
        return false;
    }
    host->stdin_fd = pipe_fds[1];
    host->pidfd = open_pidfd(host->pid);
    return true;
}

void orch_schedule_host_free(void *pointer)
{
    struct host *host = pointer;
    if (host->pidfd >= 0)
        close(host->pidfd);
    if (host->stdin_fd >= 0)
        close(host->stdin_fd);
    if (host->running.points)
        g_array_unref(host->running.points);
    orch_journal_close(host->values);
    g_free(host->running.trial_dir);
    g_free(host->record);
    g_free(host->spoiled);
    g_ptr_array_unref(host->code);
    g_ptr_array_unref(host->data);
    g_free(host->overdue);
    g_free(host);
}

/* A stopped host (SIGSTOP) must continue before it can end its trial. Another one gets no SIGCONT:
 * it takes away the stop by which a debugger attaches, or LeakSanitizer when the host exits, and
 * these wait for that stop forever. */
static void wake(const struct host *host)
{
    if (orch_process_is_stopped(host->pid))
        kill(host->pid, SIGCONT);
}

/* Sends the host a line; one that cannot read it gets SIGTERM. */
static void ask_to_end(struct host *host, const char *what, const char *why)
{
    g_autoptr(json_t) object = json_pack("{s:s, s:s}", "do", what, "why", why);
    char *text = json_dumps(object, JSON_COMPACT);
    g_autofree char *line =
        text ? g_strdup_printf("%s\n", text) : g_strdup_printf("{\"do\":\"%s\"}\n", what);
    free(text);
    if (write(host->stdin_fd, line, strlen(line)) < 0)
        kill(host->pid, SIGTERM);
    wake(host);
}

void orch_schedule_cancel_host(struct host *host, int signal_number, const char *why)
{
    if (signal_number == SIGTERM) {
        kill(host->pid, SIGTERM);
        wake(host);
    } else if (!host->cancelled) {
        ask_to_end(host, "cancel", why);
    } else {
        wake(host);
    }
    host->cancelled = true;
}

void orch_schedule_prune_host(struct host *host, const char *why)
{
    ask_to_end(host, "prune", why);
    host->is_pruned = true;
}

void orch_schedule_cancel(struct run *run, int signal_number, const char *why)
{
    for (guint i = 0; i < run->hosts->len; i++)
        orch_schedule_cancel_host(run->hosts->pdata[i], signal_number, why);
}

void orch_schedule_reap(struct run *run)
{
    for (guint i = 0; i < run->hosts->len;) {
        struct host *host = run->hosts->pdata[i];
        int status;
        pid_t pid = waitpid(host->pid, &status, WNOHANG);
        if (pid == 0 || (pid < 0 && errno == EINTR)) {
            i++;
            continue;
        }
        if (pid > 0 && WIFEXITED(status)) /* the host exits after all processes of its trial */
            orch_schedule_unlease(run, &host->running.slot);
        g_ptr_array_add(run->ended, g_ptr_array_steal_index(run->hosts, i));
    }
}
