/* SPDX-License-Identifier: MIT */
/* One trial from its first process to its last: starts it, listens, keeps its limits, ends it, and
 * writes its journal with exactly one end event, last. */
#ifndef ORCH_HOST_SUPERVISE_H
#define ORCH_HOST_SUPERVISE_H

#include "lib/wire/trial.h"

/** Runs the trial described in TRIALDIR/trial.json. True when the journal has its end event,
 * whatever the verdict. `argc` and `argv` are this program's own. */
bool supervise(const char *trial_dir, int argc, char **argv, GError **error);

#endif
