/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds runs of code that differs from the present one in comments only. */
#ifndef ORCH_CORE_PLAN_SAME_COMMENTS_H
#define ORCH_CORE_PLAN_SAME_COMMENTS_H

#include "core/plan/fingerprint.h"
#include "core/plan/plan.h"

/** The fingerprint of the item with Python scripts without their comments and blank lines, which is
 * kept with its run. */
void orch_code_fingerprint(struct orch_plan *plan, const struct orch_plan_item *item,
                           const struct orch_fingerprint_ref *refs, size_t ref_count, char out[65]);

/** When a run of `history` (struct orch_history_row *, newest first) has the item's
 * code_fingerprint and can be reused, gives the item that run's fingerprint and returns true. The
 * fingerprint then stands for the same trial. */
bool orch_adopt_same_code(struct orch_plan *plan, struct orch_plan_item *item,
                          const GPtrArray *history);

#endif
