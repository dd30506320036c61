/* SPDX-License-Identifier: MIT */
/*
 * The launcher starts this guard, which runs the plugin in a child process: only its parent learns
 * by which signal a process died. The guard outlives SIGTERM, which the launcher sends to all ranks
 * when one has failed, to report what it did to the plugin. When the host is gone the guard kills
 * the plugin; when the guard is gone the kernel does.
 */
#include "core/host/rank_process.h"

#include "core/host/child.h"
#include "lib/base/ident.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

struct guard {
    struct child_setup setup;
    const char *address;
    int link_fd, signal_fd;
    pid_t plugin;
    int wait_status;
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "orch-host: %s: %s\n", what, why);
    return 1;
}

/* ---- the plugin's process ---------------------------------------------------------------------
 */

static G_GNUC_NORETURN void run_plugin(struct guard *guard, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    int fd = orch_rank_link_connect(guard->address, guard->setup.rank.number, "plugin");
    if (fd < 0)
        _exit(fail("cannot connect to 'orch-host', which started this trial", g_strerror(errno)));
    int high = fcntl(fd, F_DUPFD, CHILD_CONTROL_FD + 1);
    dup2(high, CHILD_EVENTS_FD);
    dup2(high, CHILD_CONTROL_FD);
    fcntl(CHILD_EVENTS_FD, F_SETFD, FD_CLOEXEC);
    fcntl(CHILD_CONTROL_FD, F_SETFD, FD_CLOEXEC);
    for (int i = CHILD_CONTROL_FD + 1; i <= MAX(high, fd); i++)
        close(i);
    orch_compiled_main(&guard->setup);
}

/* ---- the guard --------------------------------------------------------------------------------
 */

static bool listen_to_signals(struct guard *guard)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    guard->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return guard->signal_fd >= 0;
}

/* Passes signals on. Launchers that signal the process group reach the plugin twice. */
static void read_signals(const struct guard *guard)
{
    struct signalfd_siginfo info;
    while (read(guard->signal_fd, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD)
            kill(guard->plugin, (int)info.ssi_signo);
}

/* Waits for the plugin's process; kills it when the host closes the connection. */
static void await_plugin(struct guard *guard)
{
    while (waitpid(guard->plugin, &guard->wait_status, WNOHANG) == 0) {
        struct pollfd fds[] = {{.fd = guard->signal_fd, .events = POLLIN},
                               {.fd = guard->link_fd, .events = POLLIN}};
        poll(fds, G_N_ELEMENTS(fds), -1);
        if (fds[0].revents)
            read_signals(guard);
        if (fds[1].revents) {
            kill(guard->plugin, SIGKILL);
            waitpid(guard->plugin, &guard->wait_status, 0);
            return;
        }
    }
}

static int report(const struct guard *guard)
{
    int status = guard->wait_status;
    char line[128];
    int length = snprintf(line, sizeof line, "{\"status\":%d,\"t_ns\":%lld}\n", status,
                          (long long)orch_now_ns());
    signal(SIGPIPE, SIG_IGN);
    if (write(guard->link_fd, line, (size_t)length) < length)
        return 1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_guard(struct guard *guard)
{
    guard->link_fd = orch_rank_link_connect(guard->address, guard->setup.rank.number, "guard");
    if (guard->link_fd < 0 || !listen_to_signals(guard))
        return fail("cannot connect to 'orch-host', which started this trial and must be running "
                    "on this machine",
                    g_strerror(errno));
    pid_t self = getpid();
    guard->plugin = fork();
    if (guard->plugin == 0)
        run_plugin(guard, self);
    if (guard->plugin < 0)
        return fail("cannot start a process", g_strerror(errno));
    await_plugin(guard);
    return report(guard);
}

int orch_rank_main(int argc, char **argv)
{
    struct guard guard = {.address = g_getenv(ORCH_RANK_LINK)};
    const char *folder = g_getenv(ORCH_RANK_TRIAL), *start = g_getenv(ORCH_RANK_START);
    g_auto(GStrv) environment = g_get_environ();
    g_autoptr(GError) error = NULL;
    if (!guard.address || !folder)
        return fail(ORCH_RANK_OPTION, "only mpirun or srun may start this program");
    if (!orch_rank_read(environment, &guard.setup.rank))
        return fail("the environment names no MPI rank",
                    "mpirun or srun sets OMPI_COMM_WORLD_RANK, PMI_RANK or SLURM_PROCID");
    struct orch_trial_spec *trial = orch_trial_read(folder, &error);
    if (!trial)
        return fail("cannot read the trial", error->message);
    g_autofree char *work = g_build_filename(folder, ORCH_TRIAL_WORK, NULL);
    if (chdir(work) != 0)
        return fail(work, g_strerror(errno));
    guard.setup.trial = trial;
    guard.setup.trial_dir = folder;
    guard.setup.work_dir = work;
    guard.setup.start_ns = start ? g_ascii_strtoll(start, NULL, 10) : orch_mono_ns();
    guard.setup.argc = argc;
    guard.setup.argv = argv;
    int status = run_guard(&guard);
    orch_trial_free(trial);
    return status;
}
