/* SPDX-License-Identifier: MIT */
#include "core/host/child.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/wire/event.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    HIGH_FD = 10,     /* above all descriptor numbers that the child uses */
    FD_LIMIT = 65536, /* of the descriptors that are closed one by one */
};

/* ---- in the child -----------------------------------------------------------------------------
 */

static void fail_errno(const char *what, const char *name)
{
    int saved = errno;
    g_autofree char *text = g_strdup_printf("%s '%s': %s", what, name, g_strerror(saved));
    orch_child_fail(text);
}

/* Closes all descriptors from `first` on, including those inherited from this program's parent. */
static void close_from(int first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0) == 0)
        return;
#endif
    for (int fd = first; fd < FD_LIMIT; fd++) /* before Linux 5.9 */
        close(fd);
}

/* `control` is -1 if the child reads no messages. */
static void place_descriptors(int control, int events, int output, int errors, bool is_compiled)
{
    int sources[] = {control, output, errors, events};
    for (unsigned i = 0; i < G_N_ELEMENTS(sources); i++)
        if (sources[i] >= 0)
            sources[i] = fcntl(sources[i], F_DUPFD, HIGH_FD);
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(sources[1], 1);
    dup2(sources[2], 2);
    dup2(sources[3], CHILD_EVENTS_FD);
    int next = CHILD_EVENTS_FD + 1;
    if (is_compiled) {
        dup2(sources[0], CHILD_CONTROL_FD);
        next = CHILD_CONTROL_FD + 1;
        fcntl(CHILD_EVENTS_FD, F_SETFD, FD_CLOEXEC);
        fcntl(CHILD_CONTROL_FD, F_SETFD, FD_CLOEXEC);
    } else if (sources[0] >= 0) {
        dup2(sources[0], 0);
    }
    close_from(next);
}

/* Resets signals to their defaults. The kernel kills the child when the host dies; this is bound to
 * the forking thread, and the host has only one. */
static void reset_process(pid_t host)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != host)
        _exit(1);
}

static void pin(const struct orch_trial_spec *trial)
{
    if (trial->cpu_count == 0)
        return;
    int highest = 0;
    for (unsigned i = 0; i < trial->cpu_count; i++)
        highest = MAX(highest, trial->cpus[i]);
    size_t bytes = CPU_ALLOC_SIZE(highest + 1);
    cpu_set_t *set = CPU_ALLOC(highest + 1);
    CPU_ZERO_S(bytes, set);
    for (unsigned i = 0; i < trial->cpu_count; i++)
        CPU_SET_S(trial->cpus[i], bytes, set);
    if (sched_setaffinity(0, bytes, set) != 0) {
        g_autofree char *text = g_strdup_printf("not pinned to its CPUs: %s", g_strerror(errno));
        g_autoptr(json_t) note = json_pack("{s:s s:s}", "event", "note", "text", text);
        orch_child_report(note);
    }
    CPU_FREE(set);
}

/* ---- in the host ------------------------------------------------------------------------------
 */

struct pipes {
    int control[2], events[2], output[2], errors[2]; /* read end, write end */
};

static bool open_pipes(struct pipes *pipes, bool with_control, GError **error)
{
    memset(pipes, -1, sizeof *pipes);
    if ((!with_control || pipe2(pipes->control, O_CLOEXEC) == 0) &&
        pipe2(pipes->events, O_CLOEXEC) == 0 && pipe2(pipes->output, O_CLOEXEC) == 0 &&
        pipe2(pipes->errors, O_CLOEXEC) == 0)
        return true;
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make a pipe");
    return false;
}

static void close_all(struct pipes *pipes)
{
    int *fds[] = {pipes->control, pipes->events, pipes->output, pipes->errors};
    for (unsigned i = 0; i < 2 * G_N_ELEMENTS(fds); i++) {
        int *fd = &fds[i / 2][i % 2];
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
    }
}

static int take(int *fd)
{
    int taken = *fd;
    *fd = -1;
    if (taken >= 0)
        fcntl(taken, F_SETFL, fcntl(taken, F_GETFL) | O_NONBLOCK);
    return taken;
}

static void enter_folder(const struct child_setup *setup)
{
    g_autofree char *problem = setup->apart ? orch_apart_enter(setup->apart) : NULL;
    if (problem)
        orch_child_fail(problem);
    g_autofree char *folder =
        setup->apart ? orch_apart_inside(setup->apart, setup->work_dir) : g_strdup(setup->work_dir);
    if (chdir(folder) != 0)
        fail_errno("cannot enter folder", folder);
    g_setenv("PWD", folder, TRUE);
}

static G_GNUC_NORETURN void run_child(const struct child_setup *setup, struct pipes *pipes,
                                      pid_t host)
{
    bool is_compiled = setup->trial->manifest->kind == ORCH_PLUGIN_COMPILED;
    reset_process(host);
    place_descriptors(pipes->control[0], pipes->events[1], pipes->output[1], pipes->errors[1],
                      is_compiled);
    enter_folder(setup);
    pin(setup->trial);
    if (setup->link)
        orch_launch_main(setup);
    if (is_compiled)
        orch_compiled_main(setup);
    orch_wrapped_main(setup);
}

bool orch_child_start(const struct child_setup *setup, struct child *out, GError **error)
{
    bool is_compiled = setup->trial->manifest->kind == ORCH_PLUGIN_COMPILED;
    struct pipes pipes;
    pid_t host = getpid(), pid = -1;
    if (open_pipes(&pipes, is_compiled || orch_wrapped_listens(setup->trial), error)) {
        pid = fork();
        if (pid == 0)
            run_child(setup, &pipes, host);
        if (pid < 0)
            orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot start a process");
    }
    if (pid > 0) {
        setpgid(pid, pid); /* also done in the child, whichever comes first */
        *out = (struct child){.pid = pid,
                              .events_fd = take(&pipes.events[0]),
                              .stdout_fd = take(&pipes.output[0]),
                              .stderr_fd = take(&pipes.errors[0]),
                              .control_fd = take(&pipes.control[1])};
    }
    close_all(&pipes);
    return pid > 0;
}

bool orch_child_send(struct child *child, const json_t *object)
{
    g_autoptr(GString) line = g_string_new(NULL);
    orch_event_encode_json(line, object);
    if (child->links)
        return orch_rank_links_send(child->links, line->str, line->len);
    if (child->control_fd < 0)
        return false;
    return write(child->control_fd, line->str, line->len) == (ssize_t)line->len;
}

void orch_child_close(struct child *child)
{
    int *fds[] = {&child->events_fd, &child->stdout_fd, &child->stderr_fd, &child->control_fd};
    for (unsigned i = 0; i < G_N_ELEMENTS(fds); i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
}
