/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of a recipe made by any user on any machine, looked up by trial. */
#ifndef ORCH_FEATURES_SHARE_GROUP_RUNS_H
#define ORCH_FEATURES_SHARE_GROUP_RUNS_H

#include "core/plan/plan.h"

struct orch_group_runs;
/** Loads the runs in the plan's store that ended ok or diverged. NULL with an error. The caller
 * frees. */
struct orch_group_runs *orch_group_runs_new(const struct orch_plan *plan, GError **error);
void orch_group_runs_free(struct orch_group_runs *group);
/** Returns the runs of one trial, newest first (struct orch_run *, borrowed). They are matched
 * by fingerprint, or by experiment, repeat and parameters when the plan has no fingerprint. The
 * caller unrefs the array. */
GPtrArray *orch_group_runs_of(const struct orch_group_runs *group,
                              const struct orch_plan_item *item);

#endif
