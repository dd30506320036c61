/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/trial_attempts.h"

#include "core/plan/cell_runs.h"
#include "lib/wire/verdict.h"

#include <string.h>

#define ATTEMPTS_MAX 100

static void free_row(void *row)
{
    orch_history_row_free(row);
}

/* Whether each run of the trial stands for itself. */
static bool makes_new_runs(const struct orch_plan_item *item)
{
    return item->forced || item->cell->experiment->reuse == ORCH_RECIPE_REUSE_NEVER;
}

GPtrArray *orch_trial_attempts(const struct orch_plan *plan, const struct orch_plan_item *item,
                               const char *key, int64_t since_ns, GError **error)
{
    g_autoptr(GPtrArray) attempts = g_ptr_array_new_with_free_func(free_row);
    g_autoptr(GPtrArray) rows = orch_item_runs(plan, item, ATTEMPTS_MAX, error);
    if (!rows)
        return NULL;
    g_ptr_array_set_free_func(rows, NULL);
    bool is_before = !key, goes_on = true;
    for (guint i = 0; i < rows->len; i++) {
        struct orch_history_row *row = rows->pdata[i];
        bool is_same = strcmp(row->fingerprint, item->fingerprint) == 0;
        goes_on = goes_on && !(is_before && is_same &&
                               (orch_verdict_facts(orch_verdict_parse(row->state))->is_reused ||
                                (makes_new_runs(item) && row->ended_ns < since_ns)));
        bool is_own = !is_before && strcmp(row->key, key) == 0;
        if (is_before && is_same && goes_on)
            g_ptr_array_add(attempts, row);
        else
            free_row(row);
        is_before = is_before || is_own;
    }
    return g_steal_pointer(&attempts);
}

bool orch_trial_attempts_stopped(const GPtrArray *attempts)
{
    for (guint i = 0; i < attempts->len; i++) {
        const struct orch_history_row *row = attempts->pdata[i];
        if (orch_verdict_parse(row->state) == ORCH_VERDICT_PRUNED)
            return true;
    }
    return false;
}
