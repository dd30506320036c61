/* SPDX-License-Identifier: MIT */
/* The processes of one trial, from /proc: all descendants of this process (it is a subreaper, so an
 * orphan becomes its child whatever group or session it moved to), and whatever else carries the
 * trial's ORCH_RUN in its environment. */
#ifndef ORCH_HOST_PROCS_H
#define ORCH_HOST_PROCS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct proc {
    pid_t pid;
    char name[16];
};

/** Live processes (no zombies) of the trial with this key: struct proc. The caller unrefs. */
GArray *procs_of_trial(const char *key);

/** Sends a signal to each. */
void procs_signal(const GArray *procs, int signal);

/** Proportional share of memory (PSS) of all descendants, in bytes; shared pages count once. */
int64_t procs_memory_bytes(void);

#endif
