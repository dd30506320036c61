/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's standard input is a socket, because a write to a closed socket can be kept from
 * raising SIGPIPE; its output is a pipe, because programs open /dev/stdout. */
#include "plugins/replay/env/env_program.h"

#include "lib/base/error.h"
#include "lib/base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct orch_env_program {
    char *command;
    int64_t copy;
    double timeout_s;
    pid_t pid;
    int in, out;   /* of the program, our ends */
    GString *text; /* what was read and not yet used */
    struct orch_env_description about;
    bool is_step;    /* the last command was one */
    bool has_failed; /* it is not waited for any more */
};

enum { CLOSE_MS = 500 };

static bool fail(struct orch_env_program *p, const char *hint, GError **error, const char *format,
                 ...) G_GNUC_PRINTF(4, 5);
static bool fail(struct orch_env_program *p, const char *hint, GError **error, const char *format,
                 ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    p->has_failed = true;
    orch_error_set(error, ORCH_ERROR_PROTOCOL, hint,
                   "environment program '%s' (copy %" G_GINT64_FORMAT ") %s", p->command, p->copy,
                   text);
    return false;
}

/** Waits up to `limit_ms` for the end of the process, without reaping it. Returns whether it ended
 * and how. */
static bool has_ended(pid_t pid, int limit_ms, siginfo_t *out)
{
    for (int waited_ms = 0;; waited_ms += 5) {
        *out = (siginfo_t){0};
        if (waitid(P_PID, (id_t)pid, out, WEXITED | WNOWAIT | WNOHANG) != 0 || out->si_pid == pid)
            return out->si_pid == pid;
        if (waited_ms >= limit_ms)
            return false;
        g_usleep(5000);
    }
}

static bool fail_ended(struct orch_env_program *p, GError **error)
{
    static const char HINT[] = "what it wrote to its standard error may tell why";
    siginfo_t info;
    if (!has_ended(p->pid, CLOSE_MS, &info))
        return fail(p, HINT, error, "closed its standard output");
    if (info.si_code == CLD_EXITED)
        return fail(p, HINT, error, "ended with status %d", info.si_status);
    return fail(p, HINT, error, "was ended by signal %d (%s)", info.si_status,
                strsignal(info.si_status));
}

static bool spawn(struct orch_env_program *p, char **words, GError **error)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0 || pipe2(out, O_CLOEXEC) != 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make a pipe for '%s'",
                             p->command);
        if (in[0] >= 0) {
            close(in[0]);
            close(in[1]);
        }
        return false;
    }
    const struct orch_spawn program = {.argv = (const char *const *)words,
                                       .fds = {in[1], out[1], -1}};
    const int problem = orch_spawn(&program, &p->pid);
    close(in[1]);
    close(out[1]);
    p->in = in[0];
    p->out = out[0];
    if (problem) {
        p->pid = 0;
        orch_error_set_errno(error, ORCH_ERROR_RECIPE, problem,
                             "cannot start the environment program '%s'", p->command);
    }
    return !problem;
}

/** Reads more. Returns false when the time is over, the program has ended or it wrote too much. */
static bool read_more(struct orch_env_program *p, int64_t until_us, GError **error)
{
    const int64_t left_us = until_us - g_get_monotonic_time();
    struct pollfd waiting = {.fd = p->out, .events = POLLIN};
    const int ready = poll(&waiting, 1, left_us > 0 ? (int)((left_us + 999) / 1000) : 0);
    if (ready < 0 && errno == EINTR)
        return true;
    if (ready <= 0)
        return fail(p, "check that the program flushes each answer", error,
                    "sent no answer within %g s", p->timeout_s);
    char block[65536];
    const ssize_t got = read(p->out, block, sizeof block);
    if (got < 0 && errno == EINTR)
        return true;
    if (got <= 0)
        return fail_ended(p, error);
    g_string_append_len(p->text, block, got);
    return p->text->len <= ORCH_ENV_LINE_MOST
               ? true
               : fail(p, NULL, error, "sent a line longer than %d bytes", ORCH_ENV_LINE_MOST);
}

/** Waits until the text begins with a whole line, and gives its length with the newline. */
static bool read_line(struct orch_env_program *p, size_t *out_length, GError **error)
{
    const int64_t until_us = g_get_monotonic_time() + (int64_t)(p->timeout_s * 1e6);
    size_t searched = 0;
    const char *newline;
    while (!(newline = memchr(p->text->str + searched, '\n', p->text->len - searched))) {
        searched = p->text->len;
        if (!read_more(p, until_us, error))
            return false;
    }
    *out_length = (size_t)(newline - p->text->str) + 1;
    return true;
}

/** Reports a line that could not be understood, with its beginning; takes over `problem`. */
static bool fail_line(struct orch_env_program *p, size_t length, GError *problem, GError **error)
{
    g_autofree char *begin = g_strndup(p->text->str, MIN(length - 1, 80));
    g_autofree char *shown = g_utf8_make_valid(begin, -1);
    fail(p, NULL, error, "sent '%s'%s: %s", shown, length > 81 ? "..." : "", problem->message);
    g_error_free(problem);
    return false;
}

struct orch_env_program *orch_env_program_start(const char *command, int64_t copy, double timeout_s,
                                                GError **error)
{
    g_auto(GStrv) words = NULL;
    g_autoptr(GError) problem = NULL;
    if (!g_shell_parse_argv(command, NULL, &words, &problem)) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "environment program '%s': %s", command,
                       problem->message);
        return NULL;
    }
    struct orch_env_program *p = g_new0(struct orch_env_program, 1);
    p->command = g_strdup(command);
    p->copy = copy;
    p->timeout_s = timeout_s;
    p->in = p->out = -1;
    p->text = g_string_new(NULL);
    if (spawn(p, words, error))
        return p;
    orch_env_program_close(p);
    return NULL;
}

bool orch_env_program_meet(struct orch_env_program *program, GError **error)
{
    size_t length;
    GError *problem = NULL;
    if (!read_line(program, &length, error))
        return false;
    if (!orch_env_description_parse(program->text->str, length, &program->about, &problem))
        return fail_line(program, length, problem, error);
    g_string_erase(program->text, 0, (gssize)length);
    return true;
}

void orch_env_program_hang_up(struct orch_env_program *program)
{
    if (!program || program->in < 0)
        return;
    close(program->in);
    program->in = -1;
}

void orch_env_program_close(struct orch_env_program *program)
{
    if (!program)
        return;
    orch_env_program_hang_up(program);
    if (program->out >= 0)
        close(program->out);
    if (program->pid > 0) {
        siginfo_t info;
        has_ended(program->pid, program->has_failed ? 0 : CLOSE_MS, &info);
        kill(-program->pid, SIGKILL); /* its group, which keeps its number until it is reaped */
        while (waitpid(program->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    g_string_free(program->text, TRUE);
    g_free(program->command);
    g_free(program);
}

const struct orch_env_description *
orch_env_program_description(const struct orch_env_program *program)
{
    return &program->about;
}

static bool send_line(struct orch_env_program *p, const char *line, GError **error)
{
    if (p->text->len)
        return fail(p, NULL, error, "sent more than one line for a command");
    const size_t length = strlen(line);
    ssize_t sent;
    do
        sent = send(p->in, line, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    if (sent == (ssize_t)length)
        return true;
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET))
        return fail_ended(p, error);
    return fail(p, NULL, error, "does not read its commands");
}

bool orch_env_program_ask_reset(struct orch_env_program *program, uint64_t seed, GError **error)
{
    char line[64];
    g_snprintf(line, sizeof line, "{\"reset\":%" G_GUINT64_FORMAT "}\n", seed);
    program->is_step = false;
    return send_line(program, line, error);
}

bool orch_env_program_ask_step(struct orch_env_program *program, int32_t action, GError **error)
{
    char line[64];
    g_snprintf(line, sizeof line, "{\"action\":%d}\n", action);
    program->is_step = true;
    return send_line(program, line, error);
}

bool orch_env_program_reply(struct orch_env_program *program, void *observation,
                            struct orch_env_reply *out, GError **error)
{
    size_t length;
    GError *problem = NULL;
    if (!read_line(program, &length, error))
        return false;
    if (!orch_env_reply_parse(program->text->str, length, &program->about, program->is_step,
                              observation, out, &problem))
        return fail_line(program, length, problem, error);
    g_string_erase(program->text, 0, (gssize)length);
    return true;
}
