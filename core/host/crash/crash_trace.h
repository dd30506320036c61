/* SPDX-License-Identifier: MIT */
/* Reads what core/host/crash/crash_trap.h wrote of a crash and makes names of its addresses:
 * functions, files and lines by addr2line(1) where it is installed, else places in the files. */
#ifndef ORCH_HOST_CRASH_TRACE_H
#define ORCH_HOST_CRASH_TRACE_H

#include "lib/wire/trial.h"

struct crash_trace {
    char *text; /* lines for the trial's log; NULL: no trace was written */
    char *top; /* the plugin's innermost frame, "step at crash.c:12"; NULL: none, or that of several
                  ranks */
};

/** Reads the traces in the trial's folder, those of several ranks one after the other, and removes
 * their files. */
void orch_crash_trace_read(const struct orch_trial_spec *trial, const char *trial_dir,
                           struct crash_trace *out);
void orch_crash_trace_clear(struct crash_trace *trace);

#endif
