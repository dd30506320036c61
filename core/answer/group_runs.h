/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recipe's runs by whoever made them and wherever: what a group has of each trial. */
#ifndef ORCH_CORE_ANSWER_GROUP_RUNS_H
#define ORCH_CORE_ANSWER_GROUP_RUNS_H

#include "core/run/plan.h"

struct orch_group_runs;
/** Of the plan's store, those that ended ok or diverged. NULL with an error. The caller frees. */
struct orch_group_runs *orch_group_runs_new(const struct orch_plan *plan, GError **error);
void orch_group_runs_free(struct orch_group_runs *group);
/** Those of a trial, newest first: struct orch_run *, borrowed. By fingerprint; where the plan has
 * none, by experiment, repeat and parameters. The caller unrefs. */
GPtrArray *orch_group_runs_of(const struct orch_group_runs *group,
                              const struct orch_plan_item *item);

#endif
