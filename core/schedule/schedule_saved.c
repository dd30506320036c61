/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long trials took, by experiment, and what stopping some of them early has saved. */
#include "core/schedule/schedule_private.h"

#include <math.h>

void orch_schedule_keep_wall(GHashTable *by_experiment, const struct orch_experiment *experiment,
                             double wall_ms)
{
    gpointer key = (gpointer)(uintptr_t)experiment;
    GArray *walls = g_hash_table_lookup(by_experiment, key);
    if (!walls) {
        walls = g_array_new(FALSE, FALSE, sizeof(double));
        g_hash_table_insert(by_experiment, key, walls);
    }
    double seconds = wall_ms / 1e3;
    g_array_append_val(walls, seconds);
}

static double sum_of(const GArray *walls)
{
    double sum = 0;
    for (guint i = 0; walls && i < walls->len; i++)
        sum += g_array_index(walls, double, i);
    return sum;
}

double orch_schedule_saved_share(const struct run *run)
{
    double saved_s = 0, spent_s = 0;
    GHashTableIter iter;
    void *experiment, *pruned;
    g_hash_table_iter_init(&iter, run->pruned_by_experiment);
    while (g_hash_table_iter_next(&iter, &experiment, &pruned)) {
        const GArray *stopped = pruned;
        const GArray *ended = g_hash_table_lookup(run->wall_by_experiment, experiment);
        if (!ended || !ended->len)
            continue;
        saved_s += fmax(sum_of(ended) / ended->len * stopped->len - sum_of(stopped), 0);
        spent_s += sum_of(ended) + sum_of(stopped);
    }
    return spent_s > 0 ? saved_s / (saved_s + spent_s) : (double)NAN;
}
