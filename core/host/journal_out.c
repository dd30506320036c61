/* SPDX-License-Identifier: MIT */
#include "core/host/journal_out.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/write_all.h"
#include "lib/wire/event.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { GATHER_BYTES = 65536, WAIT_MS_MAX = 1000000 };
static const int64_t GATHER_NS = 50 * 1000 * 1000;

bool orch_journal_out_open(struct journal_out *out, const char *path, GError **error)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot create journal '%s'", path);
        return false;
    }
    *out = (struct journal_out){.fd = fd, .pending = g_string_sized_new(GATHER_BYTES + 1024)};
    return true;
}

void orch_journal_out_close(struct journal_out *out)
{
    if (!out->pending)
        return;
    close(out->fd);
    g_string_free(out->pending, TRUE);
    out->pending = NULL;
}

/* Removes a partially written line (on a full disk), so that the journal stays readable and the end
 * event may still fit. */
static void give_up(struct journal_out *out, int saved_errno)
{
    if (ftruncate(out->fd, out->bytes) != 0)
        g_debug("cannot take back a partial line");
    out->failure = saved_errno;
}

bool orch_journal_out_flush(struct journal_out *out)
{
    if (!out->failure && !orch_write_all(out->fd, out->pending->str, out->pending->len))
        give_up(out, errno);
    if (!out->failure)
        out->bytes += (int64_t)out->pending->len;
    g_string_truncate(out->pending, 0);
    out->pending_ns = 0;
    return out->failure == 0;
}

void orch_journal_out_touch(struct journal_out *out)
{
    if (out->pending_ns == 0)
        out->pending_ns = orch_mono_ns();
    if (out->pending->len >= GATHER_BYTES)
        orch_journal_out_flush(out);
}

void orch_journal_out_add(struct journal_out *out, const json_t *object)
{
    orch_event_encode_json(out->pending, object);
    orch_journal_out_touch(out);
}

int64_t orch_journal_out_due(const struct journal_out *out)
{
    return out->pending_ns ? out->pending_ns + GATHER_NS : INT64_MAX;
}

int orch_journal_out_wait_ms(const struct journal_out *out, int64_t due_ns)
{
    int64_t due = MIN(due_ns, orch_journal_out_due(out));
    if (due == INT64_MAX)
        return -1;
    return (int)CLAMP((due - orch_mono_ns() + 999999) / 1000000, 0, WAIT_MS_MAX);
}

static json_t *process_json(pid_t pid)
{
    struct orch_process process;
    if (pid <= 0 || !orch_process_get(pid, &process))
        return json_null();
    return json_pack("{s:s s:I s:I}", "boot_id", process.boot_id, "pid", (json_int_t)process.pid,
                     "start", (json_int_t)process.start);
}

void orch_journal_out_start(struct journal_out *out, const char *key, int64_t started_utc_ns,
                            pid_t child)
{
    g_autoptr(json_t) event =
        json_pack("{s:s s:I s:s s:o s:o}", "event", "start", "t_ns", (json_int_t)started_utc_ns,
                  "key", key, "host", process_json(getpid()), "child", process_json(child));
    orch_journal_out_add(out, event);
    orch_journal_out_flush(out);
}
