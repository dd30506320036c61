/* SPDX-License-Identifier: MIT */
#include "core/host/journal_out.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/wire/event.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { GATHER_BYTES = 65536 };
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
    size_t done = 0;
    while (done < out->pending->len && !out->failure) {
        ssize_t n = write(out->fd, out->pending->str + done, out->pending->len - done);
        if (n < 0 && errno != EINTR)
            give_up(out, errno);
        else if (n > 0)
            done += (size_t)n;
    }
    if (!out->failure)
        out->bytes += (int64_t)done;
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
