/* SPDX-License-Identifier: MIT */
/* Supervises a trial: starts it, receives its events, enforces its limits, stops it, and writes its
 * journal, which ends with exactly one end event. */
#ifndef ORCH_HOST_SUPERVISE_H
#define ORCH_HOST_SUPERVISE_H

#include "lib/wire/trial.h"

/** Runs the trial described in TRIALDIR/trial.json. Returns true if the journal has its end event,
 * whatever the verdict. `argc` and `argv` are this program's own. */
bool orch_host_supervise(const char *trial_dir, int argc, char **argv, GError **error);

#endif
