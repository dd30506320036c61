/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notices that several trials of a sweep, which run in one folder, write the same file: then each
 * trial finds or overwrites what another has left. */
#ifndef ORCH_CORE_RUN_WRITTEN_H
#define ORCH_CORE_RUN_WRITTEN_H

#include "core/run/plan.h"

struct orch_written;

struct orch_written *orch_written_new(struct orch_plan *plan);
void orch_written_free(struct orch_written *written);

/** A trial starts in the user's folder `folder`. Returns its number for orch_written_end. */
unsigned orch_written_begin(struct orch_written *written, const char *folder);
/** That trial has ended. Looks at the folder unless looks cost too much of the time; with `is_last`
 * always. Returns a file that more than one trial wrote, once for all calls, or NULL; the caller
 * frees. */
char *orch_written_end(struct orch_written *written, unsigned number, bool is_last);

#endif
