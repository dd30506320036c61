/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/compare/stored_pairs.h"

#include <math.h>
#include <string.h>

/* A run follows another one if it begins at most so long after the other's end. */
#define PAUSE_S 5.0
/* Earlier runs of a trial that are looked at for one that failed. */
#define HISTORY_MAX 100

/* Whether a verdict comes from the trial itself, so that it would come again. */
static bool is_own_failure(enum orch_verdict verdict)
{
    return orch_verdict_facts(verdict)->fault && verdict != ORCH_VERDICT_LOST &&
           verdict != ORCH_VERDICT_PREEMPTED;
}

bool orch_stored_failure(const struct orch_plan *plan, const struct orch_plan_item *item,
                         enum orch_verdict *out, GError **error)
{
    const struct orch_cell *cell = item->cell;
    *out = ORCH_VERDICT_OK;
    if (item->state == ORCH_PLAN_DONE || !plan->store || !*item->fingerprint)
        return true;
    g_autoptr(GPtrArray) rows =
        orch_store_history(plan->store, plan->expansion->name, cell->experiment->name, cell->repeat,
                           cell->coords, HISTORY_MAX, error);
    for (guint i = 0; rows && i < rows->len; i++) {
        const struct orch_history_row *row = rows->pdata[i];
        if (strcmp(row->fingerprint, item->fingerprint) != 0)
            continue;
        enum orch_verdict verdict = orch_verdict_parse(row->state);
        *out = is_own_failure(verdict) ? verdict : ORCH_VERDICT_OK;
        break;
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
