/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/commands/declared_labels.h"

#include "core/plugin/plugins.h"
#include "core/report/labels.h"
#include "core/report/metric_bounds.h"

void orch_label_runs(struct orch_trials *trials)
{
    struct orch_plugins *plugins = orch_plugins_new(NULL); /* without consent: nothing is asked */
    g_autofree char *folder = orch_cli_recipe_folder();
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < trials->all->len; i++) {
        const struct orch_run *run = ((const struct orch_report_trial *)trials->all->pdata[i])->run;
        if (!run || !run->plugin || !g_hash_table_add(seen, run->plugin))
            continue;
        const struct orch_manifest *manifest =
            orch_plugins_find(plugins, run->plugin, folder, NULL);
        if (manifest) {
            orch_labels_add(trials->labels, manifest);
            orch_bounds_add(trials->bounds, manifest);
        }
    }
    orch_plugins_free(plugins);
}
