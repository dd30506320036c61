/* SPDX-License-Identifier: MIT */
#include "core/host/stopping.h"

#include "core/host/procs.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <signal.h>
#include <stdarg.h>

static const int64_t GRACE_DEFAULT_NS = INT64_C(5000000000), GRACE_MIN_NS = INT64_C(500000000),
                     KILL_AGAIN_NS = INT64_C(50000000), HOPELESS_NS = INT64_C(30000000000);

/* Half of the time limit if that is less than the default, so that a trial limited to 3 s does not
 * take 5 s more to end. */
static int64_t grace_of(const struct orch_trial_spec *trial)
{
    if (trial->grace_s > 0)
        return (int64_t)(MIN(trial->grace_s, 1e6) * 1e9);
    if (trial->limit_s <= 0)
        return GRACE_DEFAULT_NS;
    return CLAMP((int64_t)(MIN(trial->limit_s, 1e6) * 1e9 / 2), GRACE_MIN_NS, GRACE_DEFAULT_NS);
}

void orch_stopping_init(struct stopping *stopping, const struct orch_trial_spec *trial,
                        struct child *child)
{
    *stopping = (struct stopping){
        .key = trial->key,
        .child = child,
        .grace_ns = grace_of(trial),
        .next_ns = INT64_MAX,
    };
}

void orch_stopping_clear(struct stopping *stopping)
{
    g_clear_pointer(&stopping->reason, g_free);
}

/* Called again until the trial has ended, because new processes may be forked while the list is
 * read. */
static void kill_all(struct stopping *stopping)
{
    kill(-stopping->child->pid, SIGKILL);
    g_autoptr(GArray) procs = orch_procs_of_trial(stopping->key);
    orch_procs_signal(procs, SIGKILL);
}

static void enter(struct stopping *stopping, enum stop_stage stage)
{
    int64_t now = orch_mono_ns();
    if (stage == STOP_REQUESTED) {
        g_autoptr(json_t) line =
            json_pack("{s:s s:s}", "do", "cancel", "why", orch_verdict_name(stopping->why));
        if (!orch_child_send(stopping->child, line))
            stage = STOP_TERMINATED; /* it does not read messages */
    }
    if (stage == STOP_TERMINATED)
        kill(-stopping->child->pid, SIGTERM);
    if (stage == STOP_KILLED) {
        kill_all(stopping);
        if (stopping->stage != STOP_KILLED)
            stopping->killed_ns = now;
    }
    stopping->stage = stage;
    stopping->next_ns = now + (stage == STOP_KILLED ? KILL_AGAIN_NS : stopping->grace_ns);
}

void orch_stopping_begin(struct stopping *stopping, enum orch_verdict why, enum stop_stage stage,
                         const char *format, ...)
{
    if (stopping->why != ORCH_VERDICT_OK)
        return;
    va_list args;
    va_start(args, format);
    stopping->why = why;
    stopping->reason = g_strdup_vprintf(format, args);
    va_end(args);
    enter(stopping, stage);
}

void orch_stopping_set_reason(struct stopping *stopping, enum orch_verdict why, const char *reason)
{
    if (stopping->why != ORCH_VERDICT_OK)
        return;
    stopping->why = why;
    stopping->reason = g_strdup(reason);
}

static void go_on(struct stopping *stopping)
{
    enter(stopping, MIN(stopping->stage + 1, STOP_KILLED));
}

void orch_stopping_continue(struct stopping *stopping)
{
    if (stopping->stage == STOP_TERMINATED) { /* explains the wall time */
        char *reason = stopping->reason;
        g_autofree char *grace = orch_duration_format((double)stopping->grace_ns / 1e9);
        stopping->reason = g_strdup_printf("%s; it did not end within %s of SIGTERM and was killed",
                                           reason, grace);
        g_free(reason);
    }
    go_on(stopping);
}

void orch_stopping_escalate(struct stopping *stopping)
{
    go_on(stopping);
}

bool orch_stopping_is_hopeless(const struct stopping *stopping)
{
    return stopping->stage == STOP_KILLED && orch_mono_ns() - stopping->killed_ns > HOPELESS_NS;
}
