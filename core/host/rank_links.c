/* SPDX-License-Identifier: MIT */
/* An abstract Unix socket, because the path of a trial's folder can be longer than a socket's. The
 * kernel chooses its name, and only this user's processes are admitted. One epoll descriptor stands
 * for all connections, so that the host's poll loop has one entry for them. */
#include "core/host/rank_links.h"

#include "core/host/crash/signal_text.h"
#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STRANGERS_MAX = 8, READ_BYTES = 65536 };
/* After a failure: for the launcher to end the other ranks, or for those to return as well. */
static const int64_t PATIENCE_NS = INT64_C(2000000000);
#define GO_LINE "{\"do\":\"go\"}\n"

struct link {
    int fd;
    int rank; /* -1: it has not introduced itself */
    bool is_guard;
    GString *in; /* an incomplete line */
};

/* What is known of a rank. */
struct rank_state {
    bool has_plugin, has_guard, has_done, has_ended, has_ended_well;
    char *error; /* its last `error` event */
};

struct rank_links {
    unsigned count;
    int listen_fd, epoll_fd;
    char *address;
    GPtrArray *open; /* struct link * */
    struct rank_state *ranks;
    int first_fd;  /* rank 0's plugin, until it is taken */
    GString *sent; /* lines for all ranks */
    struct rank_failure failure;
    bool has_failure;
    int64_t failure_ns, due_ns;
};

/* ---- failures ---------------------------------------------------------------------------------
 */

static bool is_sigterm(int status)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
}

/* True if a failure came before another one. The launcher ends the other ranks when one has failed:
 * a rank that calls MPI_Abort exits after the launcher's SIGTERM ended others. */
static bool comes_before(int status, int64_t t_ns, int other_status, int64_t other_ns)
{
    if (is_sigterm(status) && WIFEXITED(other_status))
        return false;
    return (WIFEXITED(status) && is_sigterm(other_status)) || t_ns < other_ns;
}

/* Keeps the failure that came first. Takes over `text`. */
static void add_failure(struct rank_links *links, enum orch_verdict verdict, char *text,
                        int wait_status, int64_t t_ns)
{
    links->due_ns = MIN(links->due_ns, orch_mono_ns() + PATIENCE_NS);
    if (links->has_failure &&
        !comes_before(wait_status, t_ns, links->failure.wait_status, links->failure_ns)) {
        g_free(text);
        return;
    }
    g_free(links->failure.text);
    links->failure = (struct rank_failure){verdict, text, wait_status};
    links->failure_ns = t_ns;
    links->has_failure = true;
}

/* A rank other than 0 has returned from its hooks. */
static void take_done(struct rank_links *links, unsigned rank, enum orch_verdict done)
{
    struct rank_state *state = &links->ranks[rank];
    state->has_done = true;
    if (done == ORCH_VERDICT_OK || done == ORCH_VERDICT_UNKNOWN)
        return;
    char *text = state->error ? g_strdup(state->error)
                              : g_strdup_printf("rank %u: %s without a reason", rank,
                                                orch_verdict_name(done));
    add_failure(links, done, text, 0, orch_now_ns());
}

/* Launchers also end all ranks when one exits without MPI_Finalize. */
static const char *hint_of(const struct rank_links *links)
{
    for (unsigned i = 0; i < links->count; i++)
        if (links->ranks[i].has_ended_well)
            return " after another rank had ended: does each rank call MPI_Finalize?";
    return "";
}

/* The process of a rank has ended. What rank 0 reported before is judged as that of a trial without
 * MPI. */
static void take_status(struct rank_links *links, unsigned rank, int status, int64_t t_ns)
{
    struct rank_state *state = &links->ranks[rank];
    state->has_ended = true;
    state->has_ended_well = status == 0;
    if (WIFSIGNALED(status)) {
        g_autofree char *signal = orch_signal_text(WTERMSIG(status));
        add_failure(links, ORCH_VERDICT_CRASHED,
                    g_strdup_printf("rank %u was killed by %s%s", rank, signal,
                                    is_sigterm(status) ? hint_of(links) : ""),
                    status, t_ns);
    } else if (WEXITSTATUS(status)) {
        add_failure(links, ORCH_VERDICT_FAILED,
                    g_strdup_printf("rank %u ended with exit status %d", rank, WEXITSTATUS(status)),
                    status, t_ns);
    } else if (rank > 0 && !state->has_done) {
        add_failure(links, ORCH_VERDICT_PROTOCOL,
                    g_strdup_printf("rank %u exited with status 0 without a 'done' event", rank), 0,
                    t_ns);
    }
}

/* ---- lines ------------------------------------------------------------------------------------
 */

/* An event of a rank other than 0. */
static void take_event(struct rank_links *links, const struct link *link, const char *line,
                       size_t length, struct intake *intake)
{
    struct orch_event event;
    struct rank_state *state = &links->ranks[link->rank];
    if (!orch_event_decode(line, length, &event, NULL))
        return;
    if (event.kind == ORCH_EVENT_LOG || event.kind == ORCH_EVENT_NOTE)
        orch_intake_line(intake, line, length);
    if (event.kind == ORCH_EVENT_ERROR) {
        g_free(state->error);
        state->error = g_strdup(event.text);
    }
    if (event.kind == ORCH_EVENT_DONE)
        take_done(links, (unsigned)link->rank, event.verdict);
    orch_event_clear(&event);
}

static void take_report(struct rank_links *links, const struct link *link, const char *line,
                        size_t length)
{
    g_autoptr(json_t) report = orch_json_parse(line, length, READ_BYTES, NULL);
    int64_t status = orch_json_int(report, "status", -1);
    if (status >= 0)
        take_status(links, (unsigned)link->rank, (int)status,
                    orch_json_int(report, "t_ns", orch_now_ns()));
}

static bool write_line(int fd, const char *line, size_t length)
{
    return send(fd, line, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length;
}

/* The first line: which rank it is, and in which role. False if it is refused. */
static bool introduce(struct rank_links *links, struct link *link, const char *line, size_t length)
{
    g_autoptr(json_t) hello = orch_json_parse(line, length, READ_BYTES, NULL);
    int64_t rank = orch_json_int(hello, "rank", -1);
    const char *role = orch_json_text(hello, "role", "");
    if (rank < 0 || rank >= links->count)
        return false;
    struct rank_state *state = &links->ranks[rank];
    link->is_guard = strcmp(role, "guard") == 0;
    bool *is_there = link->is_guard ? &state->has_guard : &state->has_plugin;
    if (*is_there || !write_line(link->fd, GO_LINE, strlen(GO_LINE)))
        return false;
    *is_there = true;
    link->rank = (int)rank;
    if (!link->is_guard && links->sent->len)
        write_line(link->fd, links->sent->str, links->sent->len);
    return true;
}

static bool is_first(const struct link *link)
{
    return link->rank == 0 && !link->is_guard;
}

/* False if the connection is to be closed. */
static bool take_line(struct rank_links *links, struct link *link, const char *line, size_t length,
                      struct intake *intake)
{
    if (link->rank < 0)
        return introduce(links, link, line, length);
    if (link->is_guard)
        take_report(links, link, line, length);
    else
        take_event(links, link, line, length, intake);
    return true;
}

static bool take_lines(struct rank_links *links, struct link *link, struct intake *intake)
{
    size_t begin = 0;
    const char *newline;
    bool ok = true;
    while (ok && (newline = memchr(link->in->str + begin, '\n', link->in->len - begin))) {
        const char *line = link->in->str + begin;
        begin = (size_t)(newline - link->in->str) + 1;
        ok = take_line(links, link, line, (size_t)(newline - line), intake);
    }
    g_string_erase(link->in, 0, (gssize)begin);
    return ok && link->in->len < ORCH_WIRE_LINE_MAX;
}

/* ---- connections ------------------------------------------------------------------------------
 */

static void free_link(void *pointer)
{
    struct link *link = pointer;
    if (link->fd >= 0)
        close(link->fd);
    g_string_free(link->in, TRUE);
    g_free(link);
}

static bool is_own(int fd)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

static void watch(struct rank_links *links, int fd, struct link *link)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = link};
    epoll_ctl(links->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void accept_one(struct rank_links *links)
{
    int fd = accept4(links->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (!is_own(fd) || links->open->len >= 2 * links->count + STRANGERS_MAX) {
        close(fd);
        return;
    }
    struct link *link = g_new0(struct link, 1);
    link->fd = fd;
    link->rank = -1;
    link->in = g_string_new(NULL);
    g_ptr_array_add(links->open, link);
    watch(links, fd, link);
}

/* Hands the connection of rank 0's plugin over, because its events are read like those of a trial
 * without MPI. A duplicate stays to send messages. */
static void keep_first(struct rank_links *links, struct link *link)
{
    epoll_ctl(links->epoll_fd, EPOLL_CTL_DEL, link->fd, NULL);
    links->first_fd = fcntl(link->fd, F_DUPFD_CLOEXEC, 0);
}

/* A guard that is gone without a report was killed together with its rank. */
static void end_link(struct rank_links *links, struct link *link)
{
    if (link->rank >= 0 && link->is_guard && !links->ranks[link->rank].has_ended)
        add_failure(links, ORCH_VERDICT_CRASHED,
                    g_strdup_printf("rank %d was killed, and so was its guard", link->rank),
                    SIGKILL, orch_now_ns());
    g_ptr_array_remove_fast(links->open, link);
}

static void read_link(struct rank_links *links, struct link *link, struct intake *intake)
{
    char buffer[READ_BYTES];
    bool was_known = link->rank >= 0;
    ssize_t n = recv(link->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        g_string_append_len(link->in, buffer, n);
    if (n <= 0 || !take_lines(links, link, intake))
        end_link(links, link);
    else if (!was_known && is_first(link))
        keep_first(links, link);
}

/* The events that a rank wrote before its guard reported its end. */
static void read_plugins(struct rank_links *links, struct intake *intake)
{
    for (guint i = links->open->len; i > 0; i--) {
        struct link *link = links->open->pdata[i - 1];
        if (link->rank > 0 && !link->is_guard)
            read_link(links, link, intake);
    }
}

void orch_rank_links_read(struct rank_links *links, struct intake *intake)
{
    struct epoll_event events[16];
    int count = epoll_wait(links->epoll_fd, events, G_N_ELEMENTS(events), 0);
    for (int i = 0; i < count; i++) {
        struct link *link = events[i].data.ptr;
        if (!link) {
            accept_one(links);
            continue;
        }
        if (link->is_guard)
            read_plugins(links, intake);
        if (g_ptr_array_find(links->open, link, NULL))
            read_link(links, link, intake);
    }
}

int orch_rank_links_take_first(struct rank_links *links)
{
    int fd = links->first_fd;
    links->first_fd = -1;
    return fd;
}

unsigned orch_rank_links_joined(const struct rank_links *links)
{
    unsigned joined = 0;
    for (unsigned i = 0; i < links->count; i++)
        joined += links->ranks[i].has_plugin;
    return joined;
}

bool orch_rank_links_send(struct rank_links *links, const char *line, size_t length)
{
    bool sent = false;
    g_string_append_len(links->sent, line, (gssize)length);
    for (guint i = 0; i < links->open->len; i++) {
        const struct link *link = links->open->pdata[i];
        if (link->rank >= 0 && !link->is_guard)
            sent = write_line(link->fd, line, length) || sent;
    }
    return sent;
}

/* ---- life -------------------------------------------------------------------------------------
 */

/* Binds to a name that the kernel chooses: a zero byte and five hexadecimal digits. */
static bool listen_on(struct rank_links *links)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t length = sizeof name;
    links->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    links->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (links->listen_fd < 0 || links->epoll_fd < 0 ||
        bind(links->listen_fd, (struct sockaddr *)&name, sizeof(sa_family_t)) != 0 ||
        listen(links->listen_fd, SOMAXCONN) != 0 ||
        getsockname(links->listen_fd, (struct sockaddr *)&name, &length) != 0)
        return false;
    links->address = g_strndup(name.sun_path + 1, length - sizeof(sa_family_t) - 1);
    watch(links, links->listen_fd, NULL);
    return true;
}

struct rank_links *orch_rank_links_open(unsigned count, GError **error)
{
    struct rank_links *links = g_new0(struct rank_links, 1);
    links->count = count;
    links->listen_fd = links->epoll_fd = links->first_fd = -1;
    links->open = g_ptr_array_new_with_free_func(free_link);
    links->ranks = g_new0(struct rank_state, count);
    links->sent = g_string_new(NULL);
    links->due_ns = INT64_MAX;
    if (listen_on(links))
        return links;
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot open a socket for the ranks");
    orch_rank_links_free(links);
    return NULL;
}

void orch_rank_links_free(struct rank_links *links)
{
    if (!links)
        return;
    const int fds[] = {links->listen_fd, links->epoll_fd, links->first_fd};
    for (unsigned i = 0; i < G_N_ELEMENTS(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    g_ptr_array_unref(links->open);
    for (unsigned i = 0; i < links->count; i++)
        g_free(links->ranks[i].error);
    g_free(links->ranks);
    g_free(links->address);
    g_free(links->failure.text);
    g_string_free(links->sent, TRUE);
    g_free(links);
}

const char *orch_rank_links_address(const struct rank_links *links)
{
    return links->address;
}

int orch_rank_links_fd(const struct rank_links *links)
{
    return links->epoll_fd;
}

int64_t orch_rank_links_due(const struct rank_links *links)
{
    return links->due_ns;
}

const struct rank_failure *orch_rank_links_failure(const struct rank_links *links)
{
    return links->has_failure ? &links->failure : NULL;
}

/* ---- in a rank --------------------------------------------------------------------------------
 */

static bool await_go(int fd)
{
    char c = 0;
    ssize_t n;
    while ((n = read(fd, &c, 1)) == 1 || (n < 0 && errno == EINTR))
        if (n == 1 && c == '\n')
            return true;
    if (n == 0)
        errno = ECONNREFUSED;
    return false;
}

int orch_rank_link_connect(const char *address, unsigned rank, const char *role)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    g_autofree char *hello = g_strdup_printf("{\"rank\":%u,\"role\":\"%s\"}\n", rank, role);
    size_t length = strlen(address);
    if (length + 1 > sizeof name.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(name.sun_path + 1, address, length);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t bytes = (socklen_t)(sizeof(sa_family_t) + 1 + length);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&name, bytes) == 0 &&
        write_line(fd, hello, strlen(hello)) && await_go(fd))
        return fd;
    int saved = errno;
    if (fd >= 0)
        close(fd);
    errno = saved;
    return -1;
}
