/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the plan share. */
#ifndef ORCH_CORE_PLAN_PLAN_PRIVATE_H
#define ORCH_CORE_PLAN_PLAN_PRIVATE_H

#include "core/plan/plan.h"

/** Sets an item's state; takes `reason` over. */
void orch_plan_set_state(struct orch_plan_item *item, enum orch_plan_state state, char *reason);
/** Settles an item after the items it refers to. Does nothing when it is settled already. */
bool orch_plan_settle_once(struct orch_plan *plan, unsigned index, GError **error);

/** Lets the plugins check all items, and determines their inputs. False with errors in `diags`. */
bool orch_plan_check_items(struct orch_plan *plan, struct orch_diags *diags);

/** Handles an item for which no run can be reused: records what the store has instead. `rows`:
 * struct orch_history_row *, the newest runs of its cell; `same`: those of its fingerprint. */
void orch_plan_set_to_run(struct orch_plan *plan, struct orch_plan_item *item,
                          const GPtrArray *rows, const GPtrArray *same);

/** Describes how the trial has changed since a run of an earlier version: "train.py changed, and 2
 * more", "lr was 0.1, is 0.2". NULL when there is no recipe (is_ad_hoc) and the run has another
 * setting or command, because it then belongs to another trial. The caller frees. */
char *orch_plan_change(struct orch_plan *plan, const struct orch_plan_item *item,
                       const struct orch_history_row *row);

#endif
