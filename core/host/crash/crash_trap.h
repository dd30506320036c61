/* SPDX-License-Identifier: MIT */
/* In the process of a compiled plugin: when it crashes, writes down where each of its frames was,
 * for core/host/crash/crash_trace.h. */
#ifndef ORCH_HOST_CRASH_TRAP_H
#define ORCH_HOST_CRASH_TRAP_H

/** Name of the file in the trial's folder; that of rank N is followed by ".N". */
#define CRASH_FILE "crash"

/** Handles the signals of a crash from now on, in this process alone and not in its forks. Signals
 * that something else handles are left to it, and so is a process with a sanitizer, which has its
 * own report. `rank` -1: no rank. */
void orch_crash_trap_arm(const char *trial_dir, int rank);

#endif
