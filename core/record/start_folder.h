/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder in which a program starts: the user's, as by hand, or one apart. */
#ifndef ORCH_CORE_RECORD_START_FOLDER_H
#define ORCH_CORE_RECORD_START_FOLDER_H

#include "core/record/trialdir.h"

/** True when a trial of the experiment can run in the user's folder: it is a program, and starts in
 * the repository (or, without one, in the workspace's folder). */
bool orch_trial_may_run_in_place(const struct orch_plan *plan,
                                 const struct orch_experiment *experiment);

/** Finds or makes the folder in which the trial starts. `*out_cwd`: absolute, or relative to the
 * trial's folder, so that this can be moved; NULL for a compiled plugin. `*out_apart`: NULL in the
 * user's folder. The caller frees both. */
bool orch_start_folder(struct orch_plan *plan, const struct orch_plan_item *item,
                       const struct orch_run_slot *slot, const char *trial_dir, char **out_cwd,
                       json_t **out_apart, GError **error);

#endif
