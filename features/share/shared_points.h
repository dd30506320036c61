/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points of a search that members of a group try together: a claim has its trial's point, so that
 * the searches of others know where it is before it has a result. */
#ifndef ORCH_FEATURES_SHARE_SHARED_POINTS_H
#define ORCH_FEATURES_SHARE_SHARED_POINTS_H

#include "core/plan/plan.h"
#include "features/share/remotes/claims.h"

/** The point of an item of a search for its claim: name -> value as text. NULL when it is of no
 * search. New reference. */
json_t *orch_shared_point(const struct orch_plan_item *item);

struct orch_shared_points;
struct orch_shared_points *orch_shared_points_new(void);
void orch_shared_points_free(struct orch_shared_points *points);
/** Makes the next reading take all claims, also those that were read before. */
void orch_shared_points_forget(struct orch_shared_points *points);
/** Reads the claims at all places (NULL: none) and gives open points of the plan those that other
 * members have begun, where the trial there would be the same one as here. `*out_taken`: it gave
 * any. `*out_ended`: a claim that was read before has gone, so there may be a result. False when a
 * place cannot be read. */
bool orch_shared_points_take(struct orch_shared_points *points, struct orch_plan *plan,
                             struct orch_claims *const *places, unsigned count, bool *out_taken,
                             bool *out_ended, GError **error);

#endif
