/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/results/upkeep.h"

bool orch_upkeep_look(struct orch_store *store, struct orch_upkeep *out, GError **error)
{
    *out = (struct orch_upkeep){.path = orch_store_path(store),
                                .folder = orch_store_folder(store),
                                .is_shared = orch_store_is_shared(store)};
    if (!orch_store_info(store, &out->info, error))
        return false;
    out->shards = orch_store_shards(store);
    return true;
}

void orch_upkeep_clear(struct orch_upkeep *upkeep)
{
    orch_store_info_clear(&upkeep->info);
    if (upkeep->shards)
        g_ptr_array_unref(upkeep->shards);
    *upkeep = (struct orch_upkeep){0};
}

bool orch_upkeep_check(struct orch_store *store, struct orch_upkeep_check *out, GError **error)
{
    struct orch_store_info info = {0};
    *out = (struct orch_upkeep_check){.findings = g_ptr_array_new_with_free_func(g_free)};
    if (!orch_store_check(store, out->findings, &out->runs, error))
        return false;
    if (orch_store_info(store, &info, NULL)) { /* unreadable parts are findings already */
        out->datasets = info.datasets;
        orch_store_info_clear(&info);
    }
    return true;
}

void orch_upkeep_check_clear(struct orch_upkeep_check *check)
{
    if (check->findings)
        g_ptr_array_unref(check->findings);
    *check = (struct orch_upkeep_check){0};
}
