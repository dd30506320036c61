/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/compare/stored_pairs.h"

#include "core/plan/cell_runs.h"

#include <math.h>
#include <string.h>

/* A run follows another one if it begins at most so long after the other's end. */
#define PAUSE_S 5.0

/* Whether a verdict comes from the trial itself, so that it would come again. */
static bool is_own_failure(enum orch_verdict verdict)
{
    return orch_verdict_facts(verdict)->fault && verdict != ORCH_VERDICT_LOST &&
           verdict != ORCH_VERDICT_PREEMPTED;
}

bool orch_stored_failure(const struct orch_plan *plan, const struct orch_plan_item *item,
                         enum orch_verdict *out, GError **error)
{
    *out = ORCH_VERDICT_OK;
    if (item->state == ORCH_PLAN_DONE || !plan->store || !*item->fingerprint)
        return true;
    g_autoptr(GPtrArray) rows = orch_item_runs(plan, item, 1, error);
    if (rows && rows->len) {
        const struct orch_history_row *newest = rows->pdata[0];
        enum orch_verdict verdict = orch_verdict_parse(newest->state);
        *out = is_own_failure(verdict) ? verdict : ORCH_VERDICT_OK;
    }
    return rows;
}

bool orch_stored_are_in_turns(const struct orch_run *a, const struct orch_run *b)
{
    const struct orch_run *first = a->started_ns < b->started_ns ? a : b;
    const struct orch_run *second = first == a ? b : a;
    double pause_s = (double)(second->started_ns - first->ended_ns) / 1e9;
    return pause_s >= 0 && pause_s < fmax(PAUSE_S, first->wall_ms / 1e3);
}
