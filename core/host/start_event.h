/* SPDX-License-Identifier: MIT */
/* The first line of a journal. */
#ifndef ORCH_HOST_START_EVENT_H
#define ORCH_HOST_START_EVENT_H

#include "core/host/journal_out.h"

#include <sys/types.h>

/** Appends the start event and writes it. `child`: the trial's first process; 0: not known. */
void start_event_write(struct journal_out *out, const char *key, int64_t started_utc_ns,
                       pid_t child);

#endif
