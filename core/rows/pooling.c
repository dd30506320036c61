/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/rows/pooling.h"

#include "lib/wire/library_fact.h"

#include <glib.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* What a run must agree on with the newest run of the same group. */
struct rule {
    /* The group's name, which the caller frees; NULL: the rule does not apply to the run. */
    char *(*group_of)(const struct orch_pooled_run *run);
    bool (*differs)(const struct orch_pooled_run *run, const struct orch_pooled_run *newest);
    enum orch_pooling pooling;
};

/* A device and the library's name without its version: programs with PyTorch and with LibTorch are
 * different plugins. */
static char *library_group(const struct orch_pooled_run *run)
{
    if (!run->library)
        return NULL;
    return g_strdup_printf("%.*s\n%s", (int)strcspn(run->library, " "), run->library, run->device);
}

static bool library_differs(const struct orch_pooled_run *run, const struct orch_pooled_run *newest)
{
    return orch_libraries_differ(run->library, newest->library);
}

/* What is computed on a device, for a run that has recorded `value`. */
static char *work_group(const struct orch_pooled_run *run, double value)
{
    return isnan(value) ? NULL : g_strdup_printf("%s\n%s", run->work, run->device);
}

static char *layout_group(const struct orch_pooled_run *run)
{
    return work_group(run, run->channels_last);
}

static bool layout_differs(const struct orch_pooled_run *run, const struct orch_pooled_run *newest)
{
    return (run->channels_last > 0) != (newest->channels_last > 0);
}

static char *graphs_group(const struct orch_pooled_run *run)
{
    return work_group(run, run->cuda_graphs);
}

static bool graphs_differ(const struct orch_pooled_run *run, const struct orch_pooled_run *newest)
{
    return (run->cuda_graphs > 0) != (newest->cuda_graphs > 0);
}

/* In this order: a run of an older version does not decide the layout, and one of another layout
 * does not decide whether graphs count. */
static const struct rule RULES[] = {
    {library_group, library_differs, ORCH_POOLING_OTHER_LIBRARY},
    {layout_group, layout_differs, ORCH_POOLING_OTHER_LAYOUT},
    {graphs_group, graphs_differ, ORCH_POOLING_OTHER_GRAPHS},
};

static GHashTable *newest_by_group(const struct orch_pooled_run *runs, size_t count,
                                   const struct rule *rule)
{
    GHashTable *newest = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t i = 0; i < count; i++) {
        char *group = runs[i].pooling == ORCH_POOLING_KEPT ? rule->group_of(&runs[i]) : NULL;
        const struct orch_pooled_run *known = group ? g_hash_table_lookup(newest, group) : NULL;
        if (group && (!known || strcmp(known->key, runs[i].key) < 0))
            g_hash_table_insert(newest, group, (gpointer)(uintptr_t)&runs[i]);
        else
            g_free(group);
    }
    return newest;
}

static void apply(struct orch_pooled_run *runs, size_t count, const struct rule *rule)
{
    g_autoptr(GHashTable) newest = newest_by_group(runs, count, rule);
    for (size_t i = 0; i < count; i++) {
        g_autofree char *group =
            runs[i].pooling == ORCH_POOLING_KEPT ? rule->group_of(&runs[i]) : NULL;
        if (group && rule->differs(&runs[i], g_hash_table_lookup(newest, group)))
            runs[i].pooling = rule->pooling;
    }
}

void orch_pooling_choose(struct orch_pooled_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (runs[i].pooling != ORCH_POOLING_NO_TIME)
            runs[i].pooling = ORCH_POOLING_KEPT;
    for (size_t i = 0; i < G_N_ELEMENTS(RULES); i++)
        apply(runs, count, &RULES[i]);
}
