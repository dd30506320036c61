/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which trials of a plan other processes run, by their claims. For shared_run.c. */
#ifndef ORCH_FEATURES_SHARE_SHARED_HOLDERS_H
#define ORCH_FEATURES_SHARE_SHARED_HOLDERS_H

#include "features/share/shared_place.h"

/** What one member runs of a plan. */
struct orch_share_holding {
    const char *who;
    unsigned trials;
    int64_t until_ns;
};

/** The holders of the plan's held trials, in order of first appearance: struct orch_share_holding.
 * The caller unrefs. */
GArray *orch_share_holders_of(const struct orch_run_sharing *share, const struct orch_plan *plan);
/** "claimed by bob until 12:40"; for the user's own claims with the host. The caller frees. */
char *orch_share_claim_text(const struct orch_claim *claim);
/** The device that the claim of a trial names; NULL: the claim is for any. */
const char *orch_share_device(const struct orch_plan_item *item);
/** Whether others can use the trial's run, so that it is claimed. */
bool orch_share_is_claimable(const struct orch_plan_item *item);
/** Notes the claim because of which an item is HELD, and takes ownership of it. */
void orch_share_note_holder(struct orch_run_sharing *share, const struct orch_plan_item *item,
                            struct orch_claim *claim);

#endif
