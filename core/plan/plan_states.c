/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The states of a plan's items. */
#include "core/plan/plan_private.h"

const char *orch_plan_state_name(enum orch_plan_state state)
{
    static const char *const names[] = {"done", "missing", "stale",   "waiting",
                                        "held", "pruned",  "skipped", "unused"};
    return names[state];
}

const char *orch_plan_lack_name(enum orch_plan_lack lack)
{
    static const char *const names[] = {NULL, "gpu", "memory", "software"};
    return names[lack];
}

bool orch_plan_will_run(const struct orch_plan_item *item)
{
    return item->state == ORCH_PLAN_MISSING || item->state == ORCH_PLAN_STALE ||
           item->state == ORCH_PLAN_WAITING;
}

void orch_plan_set_state(struct orch_plan_item *item, enum orch_plan_state state, char *reason)
{
    item->state = state;
    item->lack = ORCH_PLAN_LACKS_NOTHING;
    g_free(item->reason);
    item->reason = reason;
}

void orch_plan_set_pruned(struct orch_plan_item *item, const char *key, const char *reason)
{
    char *copy = g_strdup(key);
    g_free(item->run_key);
    item->run_key = copy;
    if (g_strcmp0(item->goes_on_from, key) != 0)
        g_clear_pointer(&item->goes_on_from, g_free);
    orch_plan_set_state(item, ORCH_PLAN_PRUNED,
                        g_strdup_printf("pruned%s%s", reason ? ": " : "", reason ? reason : ""));
}

void orch_plan_let_go_on(struct orch_plan_item *item, const char *why)
{
    g_free(item->goes_on_from);
    item->goes_on_from = g_strdup(item->run_key);
    orch_plan_set_state(item, ORCH_PLAN_MISSING, g_strdup_printf("goes on: %s", why));
}

void orch_plan_set_unneeded(struct orch_plan_item *item, const char *why)
{
    orch_plan_set_state(item, ORCH_PLAN_UNUSED, g_strdup(why));
}

bool orch_plan_is_passed_over(const struct orch_plan_item *item)
{
    return item->state == ORCH_PLAN_PRUNED ||
           (item->state == ORCH_PLAN_UNUSED &&
            (item->cell->point || item->cell->experiment->repeats));
}
