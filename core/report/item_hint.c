/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the command to run for a report item that has no answer yet. */
#include "core/report/items.h"

#include <string.h>

/* The state of an experiment's trials in the plan. `asked` false: none was requested, so their
 * state is unknown. */
struct standing {
    bool ctx, undone, skipped;
};

static bool is_left_out(const struct orch_plan *plan, const char *name)
{
    const GPtrArray *all = plan->expansion->experiments;
    for (guint i = 0; i < all->len; i++) {
        const struct orch_experiment *experiment = all->pdata[i];
        if (strcmp(experiment->name, name) == 0)
            return experiment->skipped;
    }
    return false;
}

static struct standing standing_of(const struct orch_plan *plan, const char *name)
{
    struct standing s = {0};
    if (is_left_out(plan, name)) /* left out by the profile: running it would have no effect */
        return (struct standing){.ctx = true};
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *trial = &plan->items[i];
        if (strcmp(trial->cell->experiment->name, name) != 0 || trial->state == ORCH_PLAN_UNUSED)
            continue;
        s.ctx = true;
        s.skipped |= trial->state == ORCH_PLAN_SKIPPED;
        s.undone |= trial->state != ORCH_PLAN_DONE && trial->state != ORCH_PLAN_PRUNED &&
                    trial->state != ORCH_PLAN_SKIPPED;
    }
    return s;
}

static void add_once(GPtrArray *names, const char *name)
{
    if (name && !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
        g_ptr_array_add(names, (gpointer)(uintptr_t)name);
}

/* Returns the experiments that the item names, in order, or all experiments of the plan when it
 * names none. */
static GPtrArray *names_of(const struct orch_plan *plan, const struct orch_report_item *item,
                           const char *const *keys)
{
    GPtrArray *names = g_ptr_array_new();
    for (int k = 0; keys[k]; k++) {
        const json_t *list = json_object_get(item->spec, keys[k]);
        add_once(names, json_string_value(list));
        for (size_t i = 0; i < json_array_size(list); i++)
            add_once(names, json_string_value(json_array_get(list, i)));
    }
    bool is_listed = names->len > 0;
    for (unsigned i = 0; !is_listed && i < plan->count; i++)
        add_once(names, plan->items[i].cell->experiment->name);
    return names;
}

char *orch_section_hint(const struct orch_section_context *a, const char *const *keys)
{
    g_autoptr(GPtrArray) names = names_of(a->plan, a->item, keys);
    g_autoptr(GPtrArray) undone = g_ptr_array_new();
    bool skipped = false;
    for (guint i = 0; i < names->len; i++) {
        struct standing s = standing_of(a->plan, names->pdata[i]);
        skipped |= s.skipped;
        if (s.undone || !s.ctx)
            g_ptr_array_add(undone, names->pdata[i]);
    }
    if (!undone->len && !skipped)
        return NULL;
    g_ptr_array_add(undone, NULL);
    g_autofree char *list = g_strjoinv(" ", (char **)undone->pdata);
    g_autofree char *plan = orch_section_command(a, "plan", NULL);
    return *list ? orch_section_command(a, "run", list)
                 : g_strdup_printf("'%s' says why its trials are skipped here", plan);
}
