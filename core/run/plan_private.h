/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two files of the plan share. */
#ifndef ORCH_CORE_RUN_PLAN_PRIVATE_H
#define ORCH_CORE_RUN_PLAN_PRIVATE_H

#include "core/run/plan.h"

/** Sets an item's state; takes `reason` over. */
void orch_plan_set_state(struct orch_plan_item *item, enum orch_plan_state state, char *reason);
/** Settles an item, and before it what it refers to; nothing when that was done. */
bool orch_plan_settle_once(struct orch_plan *plan, unsigned index, GError **error);

#endif
