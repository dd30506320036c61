/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/recipe/auto_repeat.h"

#include "core/recipe/recipe_search.h"
#include "core/recipe/report_shapes.h"
#include "lib/base/error.h"

#include <string.h>

/* The place of the character at an offset of a text. */
static struct recipe_place place_in(const struct recipe_draft *draft, const struct orch_yaml *node,
                                    size_t at)
{
    return (struct recipe_place){draft->path, node->line, node->column + node->quoted + (int)at};
}

void orch_recipe_read_repeat(struct recipe_draft *draft, const struct orch_yaml *map,
                             struct recipe_part *part)
{
    const struct orch_yaml *node = orch_yaml_get(map, "repeat");
    int64_t count;
    if (!node || node->kind != ORCH_YAML_SCALAR || !orch_repeat_rule_is_meant(node->text)) {
        if (orch_recipe_get_count(draft, map, "repeat", "1", "10000", &count))
            part->repeat = (int)count;
        return;
    }
    g_autoptr(GError) problem = NULL;
    size_t at;
    part->repeat_node = node;
    part->repeat_rule = orch_repeat_rule_parse(node->text, &at, &problem);
    if (part->repeat_rule) {
        part->repeat = part->repeat_rule->max;
        return;
    }
    g_autofree char *what = orch_error_what(problem);
    bool is_cut = !draft->options->is_ad_hoc && strchr(node->text, '(') && !strchr(node->text, ')');
    orch_recipe_error(draft, place_in(draft, node, at),
                      is_cut ? "put the value in quotes: inside { }, YAML ends it at a comma"
                             : orch_error_hint(problem),
                      "'repeat': %s", what);
}

bool orch_recipe_check_metric(struct recipe_draft *draft, const struct orch_yaml *node,
                              const struct recipe_experiment *experiment, const char *metric)
{
    const struct orch_manifest *manifest = experiment->manifest;
    if (!manifest || manifest->any_metric || strcmp(metric, "wall_s") == 0 ||
        orch_manifest_metric(manifest, metric))
        return true;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < manifest->metrics->len; i++)
        g_ptr_array_add(names, ((struct orch_metric_spec *)manifest->metrics->pdata[i])->name);
    g_ptr_array_add(names, NULL);
    g_autofree char *hint =
        orch_recipe_hint_names(draft, metric, (const char *const *)names->pdata);
    orch_recipe_error_at(draft, node, hint, "'metric': plugin '%s' reports no '%s'", manifest->name,
                         metric);
    return false;
}

/* Checks the metric of auto(...), or takes over that of the search. */
static void settle_metric(struct recipe_draft *draft, const struct recipe_experiment *experiment,
                          const struct orch_yaml *node)
{
    struct orch_repeat_rule *rule = experiment->made->repeats;
    const struct orch_search *search = experiment->made->search;
    if (search && rule->metric) {
        orch_recipe_error_at(
            draft, node, "remove 'metric='",
            "'repeat: auto' takes no metric in a search: the objective names the metric");
    } else if (search && search->more_count) {
        orch_recipe_error_at(draft, node, "write a number of repeats",
                             "'repeat: auto' needs one metric, but the objective has several");
    } else if (search) {
        rule->metric = g_strdup(search->metric);
        rule->summary = g_strdup(search->summary);
    } else if (!rule->metric) {
        orch_recipe_error_at(
            draft, node, "for example auto(ci=2%, max=20, metric=val_accuracy)",
            "'repeat: auto' needs 'metric', because this experiment is not a search");
    } else if (rule->summary && !orch_report_is_curve_summary(rule->summary)) {
        orch_recipe_error_at(
            draft, node, "write last, best, mean, min, max or first before the metric",
            "'repeat': the first word of 'metric=%s %s' does not say which value counts",
            rule->summary, rule->metric);
    } else {
        orch_recipe_check_metric(draft, node, experiment, rule->metric);
    }
}

void orch_recipe_resolve_repeat(struct recipe_draft *draft,
                                const struct recipe_experiment *experiment,
                                const struct recipe_part *part)
{
    const struct recipe_part *from = part && part->repeat ? part : &experiment->own;
    struct orch_experiment *made = experiment->made;
    made->repeat = MAX(from->repeat, 1);
    orch_repeat_rule_free(made->repeats);
    made->repeats = from->repeat_rule ? orch_repeat_rule_copy(from->repeat_rule) : NULL;
    if (made->repeats && experiment->manifest)
        settle_metric(draft, experiment, from->repeat_node);
}
