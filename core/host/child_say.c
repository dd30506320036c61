/* SPDX-License-Identifier: MIT */
/* Events from a child to its host, the last of which may report a failure. */
#include "core/host/child.h"

#include "lib/base/json.h"
#include "lib/base/write_all.h"
#include "lib/wire/event.h"

#include <stdlib.h>
#include <unistd.h>

void orch_child_report(const json_t *event)
{
    g_autoptr(GString) line = g_string_new(NULL);
    orch_event_encode_json(line, event);
    orch_write_all(CHILD_EVENTS_FD, line->str, line->len);
}

static G_GNUC_NORETURN void end(const char *status, const char *text, int exit_status)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    json_t *reason = json_pack("{s:s s:s}", "event", "error", "text", valid);
    json_t *done = json_pack("{s:s s:s}", "event", "done", "status", status);
    orch_child_report(reason);
    orch_child_report(done);
    _exit(exit_status);
}

void orch_child_fail(const char *text)
{
    end("failed", text, 1);
}

void orch_child_skip(const char *text)
{
    end("skipped", text, 0);
}
