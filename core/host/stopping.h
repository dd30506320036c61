/* SPDX-License-Identifier: MIT */
/* Ending a trial before its time, in steps: it is asked, its group gets SIGTERM, then every process
 * that belongs to it SIGKILL. */
#ifndef ORCH_HOST_STOPPING_H
#define ORCH_HOST_STOPPING_H

#include "core/host/child.h"
#include "lib/wire/verdict.h"

enum stop_stage { STOP_NOT, STOP_ASKED, STOP_TERMINATED, STOP_KILLED };

struct stopping {
    const char *key; /* the trial's */
    struct child *child;
    int64_t grace_ns;
    enum stop_stage stage;
    enum orch_verdict why; /* ORCH_VERDICT_OK while nobody wants it stopped */
    char *reason;
    int64_t next_ns;   /* monotonic: when to go on; INT64_MAX: never */
    int64_t killed_ns; /* when STOP_KILLED began */
};

void stopping_init(struct stopping *stopping, const struct orch_trial *trial, struct child *child);
void stopping_clear(struct stopping *stopping);

/** Begins at `stage`, if the trial is not being stopped already: the first reason counts. */
void stopping_begin(struct stopping *stopping, enum orch_verdict why, enum stop_stage stage,
                    const char *format, ...) G_GNUC_PRINTF(4, 5);
/** The next stage at once: someone asked again. */
void stopping_hurry(struct stopping *stopping);
/** To be called at `next_ns`. */
void stopping_continue(struct stopping *stopping);
/** True when even SIGKILL has not helped for long: a process hangs inside the kernel. */
bool stopping_is_hopeless(const struct stopping *stopping);

#endif
