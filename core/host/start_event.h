/* SPDX-License-Identifier: MIT */
/* The first event of a journal. */
#ifndef ORCH_HOST_START_EVENT_H
#define ORCH_HOST_START_EVENT_H

#include "core/host/journal_out.h"

#include <sys/types.h>

/** Appends and writes the start event. `child`: the trial's main process; 0: unknown. */
void orch_start_event_write(struct journal_out *out, const char *key, int64_t started_utc_ns,
                            pid_t child);

#endif
