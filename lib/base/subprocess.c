/* SPDX-License-Identifier: MIT */
/* End of file does not prove that a program has ended, because a process that it started may hold
 * the pipe (ssh's ControlPersist does), so its end is seen through a pidfd, or by asking waitpid
 * where the kernel has none. */
#include "lib/base/subprocess.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/spawn.h"
#include "lib/base/text.h"
#include "lib/base/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    OUTPUT_BYTES_MAX = 64 << 20,
    STDERR_BYTES_MAX = 65536,
    SLICE_MS = 100,
    SLICE_BLIND_MS = 5, /* without a pidfd */
    GRACE_MS = 1000,    /* between SIGTERM and SIGKILL */
    READS_AT_ONCE = 64, /* of 64 KiB */
};

static const int END_SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/** A running program. */
struct running {
    const struct orch_subprocess *command;
    pid_t pid;
    int pidfd, out_fd, err_fd; /* -1: closed, or none */
    GString *out, *err;
    size_t output_bytes_max;
    double timeout_s;
    int64_t started_ns, told_ns; /* told_ns: when it was to end; 0: not yet */
    bool is_reaped;
    int wait_status;
};

static const char *name_of(const struct orch_subprocess *command)
{
    return command->name ? command->name : command->argv[0];
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- signals to end ---------------------------------------------------------------------------
 */

/* Blocks them, so that the program is ended before this process. */
static void hold_signals(sigset_t *out_before)
{
    sigset_t held;
    sigemptyset(&held);
    for (unsigned i = 0; i < G_N_ELEMENTS(END_SIGNALS); i++)
        sigaddset(&held, END_SIGNALS[i]);
    pthread_sigmask(SIG_BLOCK, &held, out_before);
}

static bool is_told_to_end(void)
{
    sigset_t pending;
    sigpending(&pending);
    for (unsigned i = 0; i < G_N_ELEMENTS(END_SIGNALS); i++) {
        struct sigaction action;
        if (sigismember(&pending, END_SIGNALS[i]) &&
            sigaction(END_SIGNALS[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            return true;
    }
    return false;
}

/* ---- starting ---------------------------------------------------------------------------------
 */

/* A descriptor from which the program reads its input; -1 on error. */
static int open_input(const struct orch_subprocess *command)
{
    if (!command->input)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    int fd = memfd_create("orch-input", MFD_CLOEXEC);
    if (fd >= 0 && orch_write_all(fd, command->input, command->input_bytes) &&
        lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    close_fd(&fd);
    return -1;
}

static void set_unstarted(GError **error, const char *name, int code)
{
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL, "cannot start '%s': %s", name,
                   g_strerror(code));
}

static double limit_s(const struct orch_subprocess *command)
{
    const char *set = g_getenv("ORCH_PROGRAM_TIMEOUT");
    double seconds;
    if (command->timeout_s > 0 && set && orch_real_parse(set, &seconds) && seconds > 0)
        return seconds;
    return command->timeout_s;
}

static bool start(const struct orch_subprocess *command, struct running *r, GError **error)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1}, in = open_input(command);
    bool is_ready = in >= 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0;
    const struct orch_spawn program = {
        .argv = command->argv,
        .fds = {in, out[1], err[1]},
        .folder = command->folder,
        .environment = command->environment,
        .shares_group = command->asks,
    };
    int code = is_ready ? orch_spawn(&program, &r->pid) : errno;
    close_fd(&in);
    close_fd(&out[1]);
    close_fd(&err[1]);
    if (code) {
        close_fd(&out[0]);
        close_fd(&err[0]);
        set_unstarted(error, name_of(command), code);
        return false;
    }
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    r->out_fd = out[0];
    r->err_fd = err[0];
    r->pidfd = (int)syscall(SYS_pidfd_open, r->pid, 0);
    r->started_ns = orch_mono_ns();
    r->out = g_string_new(NULL);
    r->err = g_string_new(NULL);
    return true;
}

/* ---- waiting ----------------------------------------------------------------------------------
 */

static bool reap(struct running *r)
{
    if (r->is_reaped)
        return true;
    pid_t got = waitpid(r->pid, &r->wait_status, WNOHANG);
    r->is_reaped = got == r->pid || (got < 0 && errno != EINTR);
    return r->is_reaped;
}

/* Reads what is there, but only so much at once that the limits of time are seen in between. Keeps
 * up to `max` bytes and one more. */
static void drain(int *fd, GString *into, size_t max)
{
    char buffer[65536];
    for (unsigned i = 0; *fd >= 0 && i < READS_AT_ONCE; i++) {
        ssize_t n = read(*fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0 || (n < 0 && errno != EAGAIN))
            close_fd(fd);
        if (n <= 0)
            return;
        size_t room = into->len > max ? 0 : max + 1 - into->len;
        g_string_append_len(into, buffer, (gssize)MIN((size_t)n, room));
    }
}

static void drain_both(struct running *r)
{
    drain(&r->out_fd, r->out, r->output_bytes_max);
    drain(&r->err_fd, r->err, STDERR_BYTES_MAX);
}

static void kill_it(const struct running *r, int number)
{
    if (!r->command->asks)
        kill(-r->pid, number);
    if (!r->is_reaped)
        kill(r->pid, number);
}

/* Ends the program and all of its group. */
static void end_it(struct running *r)
{
    kill_it(r, SIGTERM);
    for (int waited_ms = 0; !reap(r) && waited_ms < GRACE_MS; waited_ms += SLICE_BLIND_MS)
        g_usleep(SLICE_BLIND_MS * 1000);
    kill_it(r, SIGKILL);
    while (!reap(r))
        g_usleep(1000);
}

static bool is_late(const struct running *r)
{
    return r->timeout_s > 0 && (double)(orch_mono_ns() - r->started_ns) / 1e9 > r->timeout_s;
}

/* Whether this process was told to end, and the program's grace is over. */
static bool has_to_end(struct running *r)
{
    if (!is_told_to_end())
        return false;
    const int64_t now_ns = orch_mono_ns();
    r->told_ns = r->told_ns ? r->told_ns : now_ns;
    return (double)(now_ns - r->told_ns) / 1e9 >= r->command->grace_s;
}

/* Waits until the program has ended or written too much. False with an error for other ends. */
static bool wait_for(struct running *r, GError **error)
{
    while (!reap(r) && r->out->len <= r->output_bytes_max) {
        struct pollfd fds[] = {{.fd = r->out_fd, .events = POLLIN},
                               {.fd = r->err_fd, .events = POLLIN},
                               {.fd = r->pidfd, .events = POLLIN}};
        bool is_blind = r->pidfd < 0 && r->out_fd < 0;
        poll(fds, G_N_ELEMENTS(fds), is_blind ? SLICE_BLIND_MS : SLICE_MS);
        drain_both(r);
        if (has_to_end(r)) {
            orch_error_set(error, ORCH_ERROR_INTERRUPTED, NULL, "'%s' was interrupted",
                           name_of(r->command));
            return false;
        }
        if (is_late(r) && !reap(r)) {
            orch_error_set(error, ORCH_ERROR_IO, "set ORCH_PROGRAM_TIMEOUT=SECONDS to wait longer",
                           "'%s' gave no answer within %g s", name_of(r->command), r->timeout_s);
            return false;
        }
    }
    drain_both(r);
    if (r->out->len <= r->output_bytes_max || r->command->is_cut)
        return true;
    g_autofree char *most = orch_bytes_format((int64_t)r->output_bytes_max);
    orch_error_set(error, ORCH_ERROR_IO, NULL, "'%s' wrote more than %s", name_of(r->command),
                   most);
    return false;
}

static void take_end(struct running *r, struct orch_subprocess_end *out)
{
    *out = (struct orch_subprocess_end){.was_cut = r->out->len > r->output_bytes_max};
    if (out->was_cut)
        g_string_truncate(r->out, r->output_bytes_max);
    out->signal = WIFSIGNALED(r->wait_status) ? WTERMSIG(r->wait_status) : 0;
    out->status = out->signal ? 128 + out->signal : WEXITSTATUS(r->wait_status);
    out->out = g_steal_pointer(&r->out);
    out->err = g_string_free(g_steal_pointer(&r->err), FALSE);
}

static bool run(struct running *r, struct orch_subprocess_end *out, GError **error)
{
    if (!start(r->command, r, error))
        return false;
    bool ok = wait_for(r, error);
    if (!r->is_reaped)
        end_it(r);
    if (ok)
        take_end(r, out);
    const int open_ends[] = {r->out_fd, r->err_fd, r->pidfd};
    for (unsigned i = 0; i < G_N_ELEMENTS(open_ends); i++)
        if (open_ends[i] >= 0)
            close(open_ends[i]);
    if (r->out)
        g_string_free(r->out, TRUE);
    if (r->err)
        g_string_free(r->err, TRUE);
    return ok;
}

bool orch_subprocess_run(const struct orch_subprocess *command, struct orch_subprocess_end *out,
                         GError **error)
{
    struct running r = {
        .command = command, .pidfd = -1, .out_fd = -1, .err_fd = -1, .timeout_s = limit_s(command)};
    r.output_bytes_max = command->output_bytes_max ? command->output_bytes_max : OUTPUT_BYTES_MAX;
    sigset_t before;
    hold_signals(&before);
    bool ok = run(&r, out, error);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

void orch_subprocess_end_clear(struct orch_subprocess_end *end)
{
    if (end->out)
        g_string_free(end->out, TRUE);
    g_free(end->err);
    *end = (struct orch_subprocess_end){0};
}

char *orch_subprocess_complaint(const char *err, unsigned lines_max)
{
    GString *text = g_string_new(NULL);
    g_auto(GStrv) lines = g_strsplit(err ? err : "", "\n", -1);
    for (unsigned i = 0, used = 0; lines[i] && used < lines_max; i++) {
        const char *line = g_strstrip(lines[i]);
        if (!*line)
            continue;
        g_string_append_printf(text, "%s%s", used ? "; " : "", line);
        used++;
    }
    return g_string_free(text, FALSE);
}
