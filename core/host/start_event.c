/* SPDX-License-Identifier: MIT */
#include "core/host/start_event.h"

#include "lib/base/ident.h"
#include "lib/base/json.h"

#include <unistd.h>

static json_t *process_json(pid_t pid)
{
    struct orch_process process;
    if (pid <= 0 || !orch_process_get(pid, &process))
        return json_null();
    return json_pack("{s:s s:I s:I}", "boot_id", process.boot_id, "pid", (json_int_t)process.pid,
                     "start", (json_int_t)process.start);
}

void orch_start_event_write(struct journal_out *out, const char *key, int64_t started_utc_ns,
                            pid_t child)
{
    g_autoptr(json_t) event =
        json_pack("{s:s s:I s:s s:o s:o}", "event", "start", "t_ns", (json_int_t)started_utc_ns,
                  "key", key, "host", process_json(getpid()), "child", process_json(child));
    orch_journal_out_add(out, event);
    orch_journal_out_flush(out);
}
