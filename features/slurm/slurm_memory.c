/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/slurm/slurm_memory.h"

#include "lib/base/json.h"

#include <math.h>

static int compare_bytes(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The 95 % quantile of the memory that the newest runs of the experiment used; 0: none is known. */
static int64_t memory_of(struct orch_plan *plan, const struct orch_experiment *experiment)
{
    enum { RUNS = 100 };
    const struct orch_run_query query = {.recipe = plan->expansion->name,
                                         .experiment = experiment->name,
                                         .ended_well = true,
                                         .limit = RUNS};
    g_autoptr(GPtrArray) runs = orch_store_runs(plan->store, &query, NULL, NULL);
    g_autoptr(GArray) bytes = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (guint i = 0; runs && i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        g_autoptr(json_t) facts = run->facts ? json_loads(run->facts, 0, NULL) : NULL;
        int64_t used =
            MAX(orch_json_int(facts, "max_pss_bytes", 0), orch_json_int(facts, "max_rss_bytes", 0));
        if (used > 0)
            g_array_append_val(bytes, used);
    }
    if (!bytes->len)
        return 0;
    g_array_sort(bytes, compare_bytes);
    return g_array_index(bytes, int64_t, (guint)ceil(0.95 * bytes->len) - 1);
}

int64_t orch_slurm_memory_forecast(struct orch_plan *plan, GHashTable *cache,
                                   const struct orch_experiment *experiment)
{
    gpointer key = (gpointer)(uintptr_t)experiment;
    int64_t *known = g_hash_table_lookup(cache, key);
    if (!known) {
        known = g_new(int64_t, 1);
        *known = experiment->memory_bytes ? 0 : memory_of(plan, experiment);
        g_hash_table_insert(cache, key, known);
    }
    return *known;
}
