/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which run spares a trial of a plan. */
#ifndef ORCH_CORE_RUN_SPARE_H
#define ORCH_CORE_RUN_SPARE_H

#include "core/run/plan.h"
#include "store/store.h"

/** A run of the item's fingerprint that spares it where it would run now (with any_slots: on any
 * share of this machine's threads); NULL without error: there is none. A run does not count that
 * this machine made with another build of orch's own plugin, nor under `reuse: where` one of
 * another environment: `*out_passed_over` (may be NULL; the caller frees) then says why the newest
 * such run was passed over. The caller frees. */
struct orch_run *orch_spare_find(const struct orch_plan *plan, const struct orch_plan_item *item,
                                 char **out_passed_over, GError **error);

/** For those who only read, of an item without a fingerprint of its own: the newest run of its
 * parameters that would spare it, or NULL, in `*out` (the caller frees). False with an error. */
bool orch_spare_by_params(const struct orch_plan *plan, const struct orch_plan_item *item,
                          struct orch_history_row **out, GError **error);

#endif
