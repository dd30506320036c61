/* SPDX-License-Identifier: MIT */
#ifndef ORCH_HOST_READ_TRIAL_H
#define ORCH_HOST_READ_TRIAL_H

#include "lib/wire/trial.h"

/** Reads TRIALDIR/trial.json; a relative `cwd` is resolved against the trial's folder. NULL on
 * error. */
struct orch_trial_spec *orch_read_trial(const char *trial_dir, GError **error);

#endif
