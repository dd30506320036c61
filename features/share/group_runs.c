/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/group_runs.h"

#include "core/report/trials.h"
#include "lib/wire/verdict.h"

struct orch_group_runs {
    struct orch_store *store;   /* borrowed; NULL: there is none yet */
    GPtrArray *runs;            /* struct orch_run *; NULL without a store */
    GHashTable *by_fingerprint; /* fingerprint -> GPtrArray of runs, newest first */
};

static bool is_reusable(const struct orch_run *run)
{
    return orch_verdict_facts(orch_verdict_parse(run->state))->is_reused;
}

struct orch_group_runs *orch_group_runs_new(const struct orch_plan *plan, GError **error)
{
    struct orch_run_query query = {.recipe = plan->expansion->name, .with_counted = true};
    struct orch_group_runs *group = g_new0(struct orch_group_runs, 1);
    group->store = plan->store;
    group->by_fingerprint =
        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_ptr_array_unref);
    if (!plan->store)
        return group;
    group->runs = orch_store_runs(plan->store, &query, NULL, error);
    for (guint i = 0; group->runs && i < group->runs->len; i++) {
        struct orch_run *run = group->runs->pdata[i];
        GPtrArray *list = g_hash_table_lookup(group->by_fingerprint, run->fingerprint);
        if (!is_reusable(run))
            continue;
        if (!list) {
            list = g_ptr_array_new();
            g_hash_table_insert(group->by_fingerprint, run->fingerprint, list);
        }
        g_ptr_array_add(list, run);
    }
    if (group->runs)
        return group;
    orch_group_runs_free(group);
    return NULL;
}

void orch_group_runs_free(struct orch_group_runs *group)
{
    if (!group)
        return;
    g_hash_table_unref(group->by_fingerprint);
    if (group->runs)
        g_ptr_array_unref(group->runs);
    g_free(group);
}

GPtrArray *orch_group_runs_of(const struct orch_group_runs *group,
                              const struct orch_plan_item *item)
{
    GPtrArray *known = g_hash_table_lookup(group->by_fingerprint, item->fingerprint);
    GPtrArray *out = known ? g_ptr_array_ref(known) : g_ptr_array_new();
    for (guint i = 0; !*item->fingerprint && group->runs && i < group->runs->len; i++)
        if (is_reusable(group->runs->pdata[i]) &&
            orch_run_is_of(group->store, group->runs->pdata[i], item))
            g_ptr_array_add(out, group->runs->pdata[i]);
    return out;
}
