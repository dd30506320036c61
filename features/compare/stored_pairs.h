/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which earlier runs of a pair a comparison may count that goes on. */
#ifndef ORCH_FEATURES_COMPARE_STORED_PAIRS_H
#define ORCH_FEATURES_COMPARE_STORED_PAIRS_H

#include "core/plan/plan.h"
#include "store/store.h"

/** Finds out how the newest run of a trial's fingerprint failed by itself, so that it would fail
 * again. `*out`: ORCH_VERDICT_OK when it did not. False with an error when the store cannot be
 * read. */
bool orch_stored_failure(const struct orch_plan *plan, const struct orch_plan_item *item,
                         enum orch_verdict *out, GError **error);
/** Returns whether one of the two runs began right after the end of the other: their times may be
 * compared, as the machine was the same. */
bool orch_stored_are_in_turns(const struct orch_run *a, const struct orch_run *b);

#endif
