/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which runs of the store are of a trial or of an experiment of the plan, whoever made them and
 * under whatever name. A trial's are those with its fingerprint. Where there is no fingerprint to
 * ask for (values that are not chosen yet, earlier versions, failures), an experiment's are those
 * made under its name, those that it counts (store/write/counted.h), and of a search those of an
 * equal search of another recipe; their fingerprints then say which of them hold. */
#ifndef ORCH_CORE_PLAN_CELL_RUNS_H
#define ORCH_CORE_PLAN_CELL_RUNS_H

#include "core/plan/plan.h"

/** The newest runs, in any state, with the item's fingerprint: struct orch_history_row *, newest
 * first, at most `limit`. The caller unrefs; NULL with an error. */
GPtrArray *orch_item_runs(const struct orch_plan *plan, const struct orch_plan_item *item,
                          unsigned limit, GError **error);

/** The newest runs, in any state, of the cell's experiment and of this repeat whose parameters have
 * these values (object of canonical values). As orch_item_runs; those of equal searches come after
 * the others. */
GPtrArray *orch_cell_runs(const struct orch_plan *plan, const struct orch_cell *cell, int repeat,
                          const json_t *values, unsigned limit, GError **error);

/** Notes in the store which runs of other names the plan counts: of one item, or of all
 * (ORCH_ALL_ITEMS). Goes on without when the store cannot be written. */
#define ORCH_ALL_ITEMS UINT_MAX
void orch_plan_note_counted(const struct orch_plan *plan, unsigned index);

#endif
