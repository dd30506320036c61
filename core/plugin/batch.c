/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The host's stdin is one end of a socket pair: writing to a dead host is then an error code and
 * not a SIGPIPE. Writing, reading and draining stderr share one poll loop, so that a hundred
 * requests may be pending at once without either side blocking the other. End of file does not
 * prove a death (a grandchild may hold the pipe), so the loop also asks waitpid, ten times a
 * second. */
#include "core/plugin/batch.h"

#include "core/feature/feature.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/spawn.h"
#include "lib/wire/event.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STDERR_KEPT = 8192, INBOX_MAX = 4 << 20, SLICE_MS = 100, END_WAIT_MS = 200 };

struct orch_batch {
    char *plugin;
    pid_t pid; /* 0: reaped */
    int status;
    bool is_status_known;
    int in, out, err; /* -1: closed */
    GString *outbox, *inbox, *stderr_tail;
    size_t outbox_sent;
    GHashTable *answers; /* number -> json_t * */
    GHashTable *asked;   /* number -> static name of the request, until it is answered */
    struct orch_manifest *manifest;
    bool is_loaded;   /* its manifest has arrived */
    char *last_error; /* text of the last 'error' event */
    bool smoke;
    int64_t next_id;
    int64_t waiting_since_ns; /* time of the last response, or of the first request when none was
                                 pending */
    double timeout_s;
    GError *death; /* set once the host is gone */
    bool has_hung;
};

/* ---- start -------------------------------------------------------------------------------- */

static void set_nonblocking(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static void send_hello(struct orch_batch *batch)
{
    g_autoptr(json_t) hello =
        json_pack("{s:s, s:i}", "do", "hello", "protocol", ORCH_WIRE_PROTOCOL);
    orch_event_encode_json(batch->outbox, hello);
    batch->waiting_since_ns = orch_mono_ns();
}

static struct orch_batch *batch_new(const char *plugin, double timeout_s)
{
    struct orch_batch *batch = g_new0(struct orch_batch, 1);
    batch->plugin = g_strdup(plugin);
    batch->in = batch->out = batch->err = -1;
    batch->outbox = g_string_new(NULL);
    batch->inbox = g_string_new(NULL);
    batch->stderr_tail = g_string_new(NULL);
    batch->answers =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)json_decref);
    batch->asked = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    batch->timeout_s = timeout_s > 0 ? timeout_s : ORCH_BATCH_TIMEOUT_S;
    return batch;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Starts the host. It leads a process group of its own, so that Ctrl-C reaches only this process,
 * and a hung plugin is killed together with all processes it started. Returns 0 or an errno. */
static int start(struct orch_batch *batch, const char *const *argv)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
    bool is_ready = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) == 0 &&
                    pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0;
    const struct orch_spawn program = {.argv = argv, .fds = {in[1], out[1], err[1]}};
    int code = is_ready ? orch_spawn(&program, &batch->pid) : errno;
    batch->in = in[0];
    batch->out = out[0];
    batch->err = err[0];
    close_fd(&in[1]);
    close_fd(&out[1]);
    close_fd(&err[1]);
    return code;
}

struct orch_batch *orch_batch_start(const char *host, const char *plugin, const char *sha256,
                                    double timeout_s, GError **error)
{
    struct orch_batch *batch = batch_new(plugin, timeout_s);
    const char *const argv[] = {host, "--batch", plugin, sha256, NULL};
    int code = start(batch, argv);
    if (code) {
        const char *doctor = orch_advice(ORCH_ADVICE_MACHINE, NULL);
        g_autofree char *hint = g_strconcat("orch may not be installed completely",
                                            doctor ? ": see '" : NULL, doctor, "'", NULL);
        orch_error_set(error, ORCH_ERROR_PLUGIN, hint, "cannot start '%s': %s", host,
                       g_strerror(code));
        batch->pid = 0;
        orch_batch_free(batch);
        return NULL;
    }
    set_nonblocking(batch->in);
    set_nonblocking(batch->out);
    set_nonblocking(batch->err);
    send_hello(batch);
    return batch;
}

/* ---- end ---------------------------------------------------------------------------------- */

static bool reap(struct orch_batch *batch)
{
    if (batch->pid == 0)
        return true;
    pid_t got = waitpid(batch->pid, &batch->status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR))
        return false;
    batch->is_status_known = got == batch->pid;
    batch->pid = 0;
    return true;
}

/* Waits briefly for the host to end by itself, then kills it and all processes it started. */
static void end_host(struct orch_batch *batch, int wait_ms)
{
    close_fd(&batch->in);
    for (int waited_us = 0; !reap(batch) && waited_us < wait_ms * 1000; waited_us += 500)
        g_usleep(500);
    if (batch->pid == 0)
        return;
    pid_t pid = batch->pid;
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    while (!reap(batch))
        g_usleep(500);
}

void orch_batch_free(struct orch_batch *batch)
{
    if (!batch)
        return;
    end_host(batch, END_WAIT_MS);
    close_fd(&batch->out);
    close_fd(&batch->err);
    g_string_free(batch->outbox, TRUE);
    g_string_free(batch->inbox, TRUE);
    g_string_free(batch->stderr_tail, TRUE);
    g_hash_table_unref(batch->answers);
    g_hash_table_unref(batch->asked);
    orch_manifest_free(batch->manifest);
    g_clear_error(&batch->death);
    g_free(batch->last_error);
    g_free(batch->plugin);
    g_free(batch);
}

/* What the plugin was doing: "check", "cost", or "loading" before its manifest has arrived. */
static const char *what_it_did(const struct orch_batch *batch)
{
    GHashTableIter iter;
    gpointer id, what;
    int64_t first = INT64_MAX;
    const char *name = batch->is_loaded ? "idling" : "loading";
    g_hash_table_iter_init(&iter, batch->asked);
    while (g_hash_table_iter_next(&iter, &id, &what)) {
        if (*(int64_t *)id < first) {
            first = *(int64_t *)id;
            name = what;
        }
    }
    return name;
}

/* Appends the last lines of stderr, each with a label. */
static void append_stderr(GString *text, const GString *tail)
{
    enum { LINES = 5, LINE_CHARS = 200 };
    g_autofree char *valid = g_utf8_make_valid(tail->str, (gssize)tail->len);
    g_auto(GStrv) lines = g_strsplit(g_strchomp(valid), "\n", -1);
    guint count = g_strv_length(lines);
    for (guint i = count > LINES ? count - LINES : 0; i < count; i++)
        if (*lines[i])
            g_string_append_printf(text, "\n  stderr: %.*s", LINE_CHARS, lines[i]);
}

/* "SIGSEGV"; glibc before 2.32 has words alone: "Segmentation fault". The caller frees. */
static char *name_of_signal(int signal)
{
#if __GLIBC_PREREQ(2, 32)
    return g_strconcat("SIG", sigabbrev_np(signal), NULL);
#else
    return g_strdup(strsignal(signal));
#endif
}

static void describe_end(GString *text, const struct orch_batch *batch)
{
    const int status = batch->status;
    const char *what = what_it_did(batch);
    g_autofree char *signal = name_of_signal(WTERMSIG(status));
    if (batch->has_hung)
        g_string_append_printf(text, "plugin '%s' did not answer within %g s (%s)", batch->plugin,
                               batch->timeout_s, what);
    else if (batch->is_status_known && WIFSIGNALED(status))
        g_string_append_printf(text, "plugin '%s' crashed in %s: signal %d (%s)", batch->plugin,
                               what, WTERMSIG(status), signal);
    else if (batch->last_error)
        g_string_append(text, batch->last_error);
    else if (batch->is_status_known)
        g_string_append_printf(text, "plugin '%s' ended its process in %s: exit status %d",
                               batch->plugin, what, WEXITSTATUS(status));
    else
        g_string_append_printf(text, "plugin '%s' ended its process in %s", batch->plugin, what);
}

static bool drain_stderr(struct orch_batch *batch)
{
    char buffer[4096];
    ssize_t n = 0;
    while (batch->err >= 0 && (n = read(batch->err, buffer, sizeof buffer)) > 0) {
        g_string_append_len(batch->stderr_tail, buffer, n);
        if (batch->stderr_tail->len > STDERR_KEPT)
            g_string_erase(batch->stderr_tail, 0, (gssize)(batch->stderr_tail->len - STDERR_KEPT));
    }
    if (n == 0)
        close_fd(&batch->err);
    return n > 0;
}

/* Ends the host, if it still runs, and records the reason as `death`. */
static void bury(struct orch_batch *batch, bool has_hung)
{
    batch->has_hung = has_hung;
    end_host(batch, has_hung ? 0 : END_WAIT_MS);
    drain_stderr(batch);
    g_autoptr(GString) text = g_string_new(NULL);
    describe_end(text, batch);
    if (!batch->last_error ||
        strcmp(text->str, batch->last_error) != 0) /* else both are the same */
        append_stderr(text, batch->stderr_tail);
    batch->death = g_error_new_literal(ORCH_ERROR, ORCH_ERROR_PLUGIN, text->str);
}

/* ---- exchange ----------------------------------------------------------------------------- */

static void take_answer(struct orch_batch *batch, const struct orch_event *event)
{
    int64_t *id = g_new(int64_t, 1);
    *id = event->id;
    g_hash_table_remove(batch->asked, id);
    g_hash_table_replace(batch->answers, id, json_incref(event->json));
    batch->waiting_since_ns = orch_mono_ns();
}

static void take_manifest(struct orch_batch *batch, const struct orch_event *event)
{
    g_autoptr(GError) error = NULL;
    struct orch_manifest *manifest = orch_manifest_decode(event->json, &error);
    if (!manifest) {
        g_free(batch->last_error);
        batch->last_error =
            g_strdup_printf("cannot load plugin '%s': %s", batch->plugin, error->message);
        close_fd(&batch->out); /* no use in going on */
        return;
    }
    orch_manifest_free(batch->manifest);
    batch->manifest = manifest;
    batch->is_loaded = true;
    batch->waiting_since_ns = orch_mono_ns();
}

static void take_line(struct orch_batch *batch, const char *line, size_t length)
{
    struct orch_event event;
    if (!orch_event_decode(line, length, &event, NULL))
        return; /* not an event, but output of the plugin */
    if (event.kind == ORCH_EVENT_CHECKED || event.kind == ORCH_EVENT_COST) {
        take_answer(batch, &event);
    } else if (event.kind == ORCH_EVENT_MANIFEST) {
        take_manifest(batch, &event);
    } else if (event.kind == ORCH_EVENT_ERROR) {
        g_free(batch->last_error);
        batch->last_error = g_strdup(event.text);
    }
    orch_event_clear(&event);
}

static void take_lines(struct orch_batch *batch)
{
    const char *start = batch->inbox->str, *end;
    const char *limit = start + batch->inbox->len;
    while ((end = memchr(start, '\n', (size_t)(limit - start)))) {
        take_line(batch, start, (size_t)(end - start));
        start = end + 1;
    }
    g_string_erase(batch->inbox, 0, start - batch->inbox->str);
    if (batch->inbox->len > INBOX_MAX) /* too much output without a newline */
        g_string_truncate(batch->inbox, 0);
}

static void read_answers(struct orch_batch *batch)
{
    char buffer[32768];
    ssize_t n = 0;
    while (batch->out >= 0 && (n = read(batch->out, buffer, sizeof buffer)) > 0) {
        g_string_append_len(batch->inbox, buffer, n);
        take_lines(batch);
    }
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        close_fd(&batch->out);
}

static void write_questions(struct orch_batch *batch)
{
    while (batch->in >= 0 && batch->outbox_sent < batch->outbox->len) {
        ssize_t n = send(batch->in, batch->outbox->str + batch->outbox_sent,
                         batch->outbox->len - batch->outbox_sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            if (errno != EAGAIN)
                close_fd(&batch->in); /* the host is exiting; its earlier output is still read */
            return;
        }
        batch->outbox_sent += (size_t)n;
    }
    g_string_truncate(batch->outbox, 0);
    batch->outbox_sent = 0;
}

/* One iteration of the poll loop. False once the host is gone; `death` has the reason. */
static bool exchange(struct orch_batch *batch)
{
    if (batch->death)
        return false;
    write_questions(batch);
    const short in_events = batch->outbox->len > batch->outbox_sent ? POLLOUT : 0;
    struct pollfd fds[] = {{.fd = in_events ? batch->in : -1, .events = in_events},
                           {.fd = batch->out, .events = POLLIN},
                           {.fd = batch->err, .events = POLLIN}};
    int ready = poll(fds, G_N_ELEMENTS(fds), SLICE_MS);
    const bool was_gone =
        ready == 0 && reap(batch); /* checked before the last read, so that no output is missed */
    drain_stderr(batch);
    read_answers(batch);
    if (batch->out < 0 || was_gone) {
        bury(batch, false);
        return false;
    }
    if ((double)(orch_mono_ns() - batch->waiting_since_ns) / 1e9 > batch->timeout_s) {
        bury(batch, true);
        return false;
    }
    return true;
}

struct orch_manifest *orch_batch_manifest(struct orch_batch *batch, GError **error)
{
    while (!batch->manifest && exchange(batch))
        ;
    if (batch->manifest)
        return g_steal_pointer(&batch->manifest);
    g_propagate_error(error, g_error_copy(batch->death));
    return NULL;
}

void orch_batch_set_smoke(struct orch_batch *batch, bool on)
{
    batch->smoke = on;
}

int64_t orch_batch_request(struct orch_batch *batch, const char *what, const json_t *params,
                           GError **error)
{
    int64_t *id = g_new(int64_t, 1);
    *id = batch->next_id++;
    const int64_t number = *id;
    g_autoptr(json_t) question =
        json_pack("{s:s, s:I, s:O}", "do", what, "id", (json_int_t)number, "params", params);
    if (batch->smoke)
        json_object_set_new(question, "smoke", json_true());
    g_autoptr(GString) line = g_string_new(NULL);
    orch_event_encode_json(line, question);
    if (line->len > ORCH_WIRE_LINE_MAX) {
        orch_error_set(error, ORCH_ERROR_RECIPE,
                       "pass long values in a file (a parameter of type 'path')",
                       "parameters of %" G_GSIZE_FORMAT " bytes exceed the limit of %d", line->len,
                       ORCH_WIRE_LINE_MAX);
        g_free(id);
        return -1;
    }
    if (g_hash_table_size(batch->asked) == 0)
        batch->waiting_since_ns = orch_mono_ns();
    g_hash_table_insert(batch->asked, id, (gpointer)(uintptr_t)g_intern_string(what));
    g_string_append_len(batch->outbox, line->str, (gssize)line->len);
    return number;
}

json_t *orch_batch_wait(struct orch_batch *batch, int64_t id, GError **error)
{
    json_t *answer;
    while (!(answer = g_hash_table_lookup(batch->answers, &id)) && exchange(batch))
        ;
    if (!answer) {
        g_propagate_error(error, g_error_copy(batch->death));
        return NULL;
    }
    json_incref(answer);
    g_hash_table_remove(batch->answers, &id);
    return answer;
}

bool orch_batch_is_dead(const struct orch_batch *batch)
{
    return batch->death != NULL;
}

bool orch_batch_has_hung(const struct orch_batch *batch)
{
    return batch->has_hung;
}
