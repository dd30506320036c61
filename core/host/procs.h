/* SPDX-License-Identifier: MIT */
/* The processes of a trial, from /proc: all descendants of this process (it is a subreaper, so
 * orphans become its children, whatever their group or session), and all processes with the trial's
 * ORCH_RUN in their environment. */
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

/** Live processes (not zombies) of the trial with this key: struct proc. Caller unrefs. */
GArray *orch_procs_of_trial(const char *key);

/** Sends a signal to each. */
void orch_procs_signal(const GArray *procs, int signal);

/** Proportional set size (PSS) of all descendants in bytes, in which shared pages count once. */
int64_t orch_procs_memory_bytes(void);

/** Largest resident size (VmHWM) of a process so far, in bytes; 0 if it is gone. */
int64_t orch_procs_peak_bytes(pid_t pid);

#endif
