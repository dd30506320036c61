/* SPDX-License-Identifier: MIT */
/* Stops a trial in steps: a cancel message, then SIGTERM to its process group, then SIGKILL to all
 * of its processes. */
#ifndef ORCH_HOST_STOPPING_H
#define ORCH_HOST_STOPPING_H

#include "core/host/child.h"
#include "lib/wire/verdict.h"

enum stop_stage { STOP_NOT, STOP_REQUESTED, STOP_TERMINATED, STOP_KILLED };

struct stopping {
    const char *key; /* of the trial */
    struct child *child;
    int64_t grace_ns;
    enum stop_stage stage;
    enum orch_verdict why; /* ORCH_VERDICT_OK if it is not being stopped */
    char *reason;
    int64_t next_ns;   /* monotonic time of the next step; INT64_MAX: never */
    int64_t killed_ns; /* when STOP_KILLED began */
};

void orch_stopping_init(struct stopping *stopping, const struct orch_trial_spec *trial,
                        struct child *child);
void orch_stopping_clear(struct stopping *stopping);

/** Begins stopping at `stage`, unless the trial is being stopped already: the first reason
 * counts. */
void orch_stopping_begin(struct stopping *stopping, enum orch_verdict why, enum stop_stage stage,
                         const char *format, ...) G_GNUC_PRINTF(4, 5);
/** Sets why a trial that has already ended did not end well, unless it was being stopped. */
void orch_stopping_set_reason(struct stopping *stopping, enum orch_verdict why, const char *reason);
/** Goes to the next stage immediately, after a repeated request. */
void orch_stopping_escalate(struct stopping *stopping);
/** Call at `next_ns`. */
void orch_stopping_continue(struct stopping *stopping);
/** True if SIGKILL has had no effect for a long time: a process hangs in the kernel. */
bool orch_stopping_is_hopeless(const struct stopping *stopping);

#endif
