/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules that stop trials early, for trials of searches that run on a cluster. Nothing runs between
 * two commands, so each command judges the values that came since the last one, as the rule would
 * have judged them one after the other. What it decides is a file in the trial's folder, which its
 * host looks for (lib/wire/trial_request.h). */
#ifndef ORCH_FEATURES_SLURM_SLURM_STOP_H
#define ORCH_FEATURES_SLURM_SLURM_STOP_H

#include "core/schedule/schedule.h"

/** Asks for submitted trials to be ended that their search's rule stops. Returns "TRIAL: WHY" for
 * each, char *; the caller unrefs. `chooser` NULL: none. */
GPtrArray *orch_slurm_stop_trials(struct orch_plan *plan, const struct orch_chooser *chooser);
/** Keeps a trial that is about to be submitted from being judged. */
bool orch_slurm_stop_never(const char *trial_dir, GError **error);

#endif
