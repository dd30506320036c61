/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the run that is reused for a trial of a plan. */
#ifndef ORCH_CORE_PLAN_REUSE_H
#define ORCH_CORE_PLAN_REUSE_H

#include "core/plan/plan.h"
#include "store/store.h"

/** Returns a run of the item's fingerprint that can be reused on the device where the item would
 * run now (with any_slots: on any share of this machine's threads), or NULL without error when
 * there is none. A run that this machine made with another build of orch's own plugin is not
 * reused, nor under `reuse: device` a run of another environment: `*out_passed_over` (may be NULL;
 * the caller frees) then says why the newest such run was passed over. The caller frees. */
struct orch_run *orch_reuse_find(const struct orch_plan *plan, const struct orch_plan_item *item,
                                 char **out_passed_over, GError **error);

/** For callers that only read: stores in `*out` the newest run with the item's parameters that
 * could be reused, or NULL (the caller frees). For items without a fingerprint of their own. False
 * with an error. */
bool orch_reuse_find_by_params(const struct orch_plan *plan, const struct orch_plan_item *item,
                               struct orch_history_row **out, GError **error);

#endif
