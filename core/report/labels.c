/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/labels.h"

#include "lib/wire/system_metrics.h"

#include <string.h>

GHashTable *orch_labels_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

/* A name that is declared without a label has an empty one. */
static void add_label(GHashTable *labels, const char *name, const char *label)
{
    const char *known = g_hash_table_lookup(labels, name);
    if (!known || (!*known && label))
        g_hash_table_insert(labels, g_strdup(name), g_strdup(label ? label : ""));
}

/* A metric comes before a parameter of its name, because charts and tables are about metrics. */
void orch_labels_add(GHashTable *labels, const struct orch_manifest *manifest)
{
    for (guint i = 0; i < manifest->metrics->len; i++) {
        const struct orch_metric_spec *metric = manifest->metrics->pdata[i];
        add_label(labels, metric->name, metric->label);
    }
    for (guint i = 0; i < manifest->params->len; i++) {
        const struct orch_param_spec *param = manifest->params->pdata[i];
        add_label(labels, param->name, param->label);
    }
}

void orch_labels_add_name(GHashTable *labels, const char *name)
{
    add_label(labels, name, NULL);
}

void orch_labels_join(GHashTable *labels, GHashTable *more)
{
    GHashTableIter iter;
    gpointer name, label;
    g_hash_table_iter_init(&iter, more);
    while (g_hash_table_iter_next(&iter, &name, &label))
        add_label(labels, name, *(const char *)label ? label : NULL);
}

const char *orch_label_of(GHashTable *labels, const char *name)
{
    const char *label = labels ? g_hash_table_lookup(labels, name) : NULL;
    const struct orch_metric_spec *system = label && *label ? NULL : orch_system_metric_find(name);
    return system ? system->label : label && *label ? label : NULL;
}

bool orch_label_is_declared(GHashTable *labels, const char *name)
{
    static const char *const own[] = {"device_key", "plugin_version", "wall_s", NULL};
    return g_strv_contains(own, name) || (labels && g_hash_table_contains(labels, name)) ||
           orch_system_metric_find(name);
}
