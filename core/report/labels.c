/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/labels.h"

#include "lib/wire/system_metrics.h"

#include <string.h>

GHashTable *orch_labels_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

static void add_label(GHashTable *labels, const char *name, const char *label)
{
    if (label && !g_hash_table_contains(labels, name))
        g_hash_table_insert(labels, g_strdup(name), g_strdup(label));
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

const char *orch_label_of(GHashTable *labels, const char *name)
{
    const char *label = labels ? g_hash_table_lookup(labels, name) : NULL;
    const struct orch_metric_spec *system = label ? NULL : orch_system_metric_find(name);
    return system ? system->label : label;
}
