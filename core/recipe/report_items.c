/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the report's items. The rows of the kinds define their keys and the types of these. Names
 * are checked against the plugins of the experiments that an item covers, so that a misspelt metric
 * is found before a night of training and not after it. The metrics read also determine the default
 * of `reuse`, because times and rates from another machine are not valid here. */
#include "core/recipe/report_shapes.h"

#include "core/feature/feature.h"
#include "core/recipe/internal.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"
#include "lib/wire/system_metrics.h"

#include <string.h>

const struct orch_yaml_key ORCH_REPORT_COMMON_KEYS[] = {
    {"question", .type = "text"}, {"title", .type = "text"}, {"points", .type = "number"}, {0}};

/* ---- items -------------------------------------------------------------------------------------
 */

/* Adds the experiments that a key names; false when the key is absent. */
static bool add_named(struct report_item *item, const char *key)
{
    struct recipe_draft *draft = item->draft;
    g_autoptr(GPtrArray) texts = orch_recipe_get_texts(draft, item->spec, key);
    for (guint i = 0; texts && i < texts->len; i++) {
        const struct orch_yaml *node = texts->pdata[i];
        struct recipe_experiment *experiment = g_hash_table_lookup(draft->by_name, node->text);
        g_autofree char *hint = orch_recipe_hint_names(
            draft, node->text, (const char *const *)draft->experiment_names->pdata);
        if (!experiment)
            orch_recipe_error_at(draft, node, hint, "unknown experiment '%s' in the report",
                                 node->text);
        else if (experiment->manifest)
            g_ptr_array_add(item->experiments, experiment);
        else
            item->has_unknown = true;
    }
    return texts;
}

/* Adds an experiment that is a side of a comparison; a side may also be a value. */
static void add_side(struct report_item *item, const char *key)
{
    const struct orch_yaml *node = orch_yaml_get(item->spec, key);
    if (!node || !orch_report_names_experiment(item, node))
        return;
    struct recipe_experiment *experiment = g_hash_table_lookup(item->draft->by_name, node->text);
    item->is_listed = true;
    item->has_unknown = item->has_unknown || !experiment->manifest;
    if (experiment->manifest)
        g_ptr_array_add(item->experiments, experiment);
}

/* Finds the experiments that the item covers: its own list, or all that can be checked. */
static void find_experiments(struct report_item *item, const struct orch_report_key *keys)
{
    struct recipe_draft *draft = item->draft;
    for (const struct orch_report_key *key = keys; key->name; key++)
        if (key->shape == ORCH_SHAPE_EXPERIMENTS && add_named(item, key->name))
            item->is_listed = true;
    for (const struct orch_report_key *key = keys; key->name; key++)
        if (key->shape == ORCH_SHAPE_OTHER_EXPERIMENTS)
            add_named(item, key->name);
    for (const struct orch_report_key *key = keys; key->name; key++)
        if (key->shape == ORCH_SHAPE_SIDE)
            add_side(item, key->name);
    for (guint i = 0; !item->is_listed && i < draft->experiments->len; i++) {
        struct recipe_experiment *experiment = draft->experiments->pdata[i];
        if (experiment->manifest)
            g_ptr_array_add(item->experiments, experiment);
    }
}

static void check_key(struct report_item *item, const struct orch_report_kind *kind,
                      const struct orch_report_key *row)
{
    const struct orch_yaml *node = orch_yaml_get(item->spec, row->name);
    if (!node) {
        if (row->is_required)
            orch_recipe_error_at(item->draft, item->spec, "see 'Report' in 'orch help recipes'",
                                 "'%s' needs '%s'", kind->name, row->name);
        return;
    }
    if (row->shape == ORCH_SHAPE_BY_PROFILE && node->kind != ORCH_YAML_LIST) {
        orch_report_check_by_profile(item, node);
        return;
    }
    if (row->shape == ORCH_SHAPE_REFERENCE) {
        orch_report_check_reference(item, node);
        return;
    }
    if (node->kind == ORCH_YAML_LIST && !orch_report_takes_list(row->shape)) {
        orch_recipe_error_at(item->draft, node, NULL, "'%s' must be one value, found a list",
                             row->name);
        return;
    }
    g_autoptr(GPtrArray) texts = orch_recipe_get_texts(item->draft, item->spec, row->name);
    if (item->experiments->len == 0) /* nothing to check names against; reported elsewhere */
        return;
    for (guint i = 0; texts && i < texts->len; i++)
        orch_report_check(item, row, texts->pdata[i]);
}

/* Marks the experiments whose values in this item depend on the device. */
static void mark_where(const struct report_item *item)
{
    for (guint i = 0; i < item->experiments->len; i++) {
        const struct recipe_experiment *experiment = item->experiments->pdata[i];
        struct orch_experiment *made = experiment->made;
        bool has_metric = item->metrics->len == 0;
        for (guint j = 0; j < item->metrics->len; j++) {
            const struct orch_metric_spec *read = item->metrics->pdata[j];
            const struct orch_metric_spec *metric =
                orch_manifest_metric(experiment->manifest, read->name);
            has_metric = has_metric || metric;
            if (orch_metric_is_system(read->name) && !made->reuse_why) {
                made->reuse = ORCH_RECIPE_REUSE_DEVICE;
                made->reuse_why = g_strdup_printf("report reads %s", read->name);
            }
            if (metric && orch_unit_is_timing(metric->unit, NULL) && !made->reuse_why) {
                made->reuse = ORCH_RECIPE_REUSE_DEVICE;
                made->reuse_why =
                    g_strdup_printf("report reads %s (%s)", metric->name, metric->unit);
            }
        }
        if (item->place && has_metric && !made->reuse_why) {
            made->reuse = ORCH_RECIPE_REUSE_DEVICE;
            made->reuse_why = g_strdup_printf("report groups by %s", item->place);
        }
    }
}

static void check_spec(struct recipe_draft *draft, const struct orch_report_kind *kind,
                       const struct orch_yaml *spec)
{
    struct report_item item = {.draft = draft, .spec = spec};
    g_autoptr(GPtrArray) known = g_ptr_array_new();
    for (const struct orch_report_key *key = kind->keys; key->name; key++)
        g_ptr_array_add(known, (char *)(uintptr_t)key->name);
    g_ptr_array_add(known, NULL);
    g_autofree char *where = g_strdup_printf("'%s'", kind->name);
    orch_yaml_check_keys(spec, draft->path, where, (const char *const *)known->pdata, draft->diags);
    item.experiments = g_ptr_array_new();
    item.metrics = g_ptr_array_new();
    find_experiments(&item, kind->keys);
    for (const struct orch_report_key *key = kind->keys; key->name; key++)
        check_key(&item, kind, key);
    if (kind->place)
        item.place = kind->place;
    if (kind->check)
        kind->check(&item);
    mark_where(&item);
    g_ptr_array_unref(item.experiments);
    g_ptr_array_unref(item.metrics);
}

/* Converts a node as written: texts, lists, objects. The YAML reader bounds the depth. */
static json_t *as_written(const struct orch_yaml *node)
{
    if (node->kind == ORCH_YAML_SCALAR)
        return json_string(node->text);
    json_t *json = node->kind == ORCH_YAML_LIST ? json_array() : json_object();
    for (guint i = 0; i < node->items->len; i++) {
        json_t *value = as_written(node->items->pdata[i]);
        if (node->kind == ORCH_YAML_LIST)
            json_array_append_new(json, value);
        else
            json_object_set_new(json, ((const struct orch_yaml *)node->keys->pdata[i])->text,
                                value);
    }
    return json;
}

GPtrArray *orch_report_kinds(void)
{
    GPtrArray *kinds = g_ptr_array_new();
    for (const struct orch_feature *const *f = orch_features(); *f; f++)
        for (const struct orch_report_kind *const *k = (*f)->report_kinds; k && *k; k++)
            g_ptr_array_add(kinds, (struct orch_report_kind *)(uintptr_t)*k);
    return kinds;
}

const struct orch_report_kind *orch_report_kind_find(const char *name)
{
    g_autoptr(GPtrArray) kinds = orch_report_kinds();
    for (guint i = 0; i < kinds->len; i++)
        if (strcmp(((const struct orch_report_kind *)kinds->pdata[i])->name, name) == 0)
            return kinds->pdata[i];
    return NULL;
}

/* Adds an error for an item without content, which names the kinds. */
static void complain_empty(struct recipe_draft *draft, const struct orch_yaml *map,
                           const GPtrArray *kinds)
{
    g_autoptr(GString) hint = g_string_new("add one of: ");
    for (guint i = 0; i < kinds->len; i++)
        g_string_append_printf(hint, "%s%s", i ? ", " : "",
                               ((const struct orch_report_kind *)kinds->pdata[i])->name);
    orch_recipe_error_at(draft, map, hint->str, "a report item has no content");
}

/* Adds errors for keys of an item that are neither common to all items nor a kind. Returns whether
 * there were any. */
static bool has_unknown_key(struct recipe_draft *draft, const struct orch_yaml *map,
                            const GPtrArray *kinds)
{
    unsigned before = draft->diags->error_count;
    g_autoptr(GPtrArray) known = g_ptr_array_new();
    for (const struct orch_yaml_key *key = ORCH_REPORT_COMMON_KEYS; key->name; key++)
        g_ptr_array_add(known, (char *)(uintptr_t)key->name);
    for (guint i = 0; i < kinds->len; i++)
        g_ptr_array_add(
            known, (char *)(uintptr_t)((const struct orch_report_kind *)kinds->pdata[i])->name);
    g_ptr_array_add(known, NULL);
    orch_yaml_check_keys(map, draft->path, "a report item", (const char *const *)known->pdata,
                         draft->diags);
    return draft->diags->error_count > before;
}

/* Finds the item's kind; there must be exactly one. */
static const struct orch_report_kind *find_kind(struct recipe_draft *draft,
                                                const struct orch_yaml *map)
{
    g_autoptr(GPtrArray) kinds = orch_report_kinds();
    const struct orch_report_kind *found = NULL;
    bool has_unknown = has_unknown_key(draft, map, kinds);
    for (guint i = 0; i < kinds->len; i++) {
        const struct orch_report_kind *kind = kinds->pdata[i];
        const struct orch_yaml *key = orch_yaml_get_key(map, kind->name);
        if (key && found) {
            orch_recipe_error_at(draft, key, "split the item into two",
                                 "a report item must have exactly one kind, found '%s' and '%s'",
                                 found->name, key->text);
            return NULL;
        }
        found = key ? kind : found;
    }
    if (!found && !has_unknown)
        complain_empty(draft, map, kinds);
    return found;
}

/* True for `- coverage:` without keys. */
static bool is_bare(const struct orch_report_kind *kind, const struct orch_yaml *spec)
{
    return kind->may_be_bare && spec->kind == ORCH_YAML_SCALAR &&
           (orch_yaml_is_null(spec) || strcmp(spec->text, "true") == 0);
}

/* True when the item's value has the type that its kind needs. */
static bool spec_fits(struct recipe_draft *draft, const struct orch_report_kind *kind,
                      const struct orch_yaml *spec)
{
    bool is_text = !kind->keys;
    if (is_bare(kind, spec) || (is_text && spec->kind == ORCH_YAML_SCALAR && *spec->text) ||
        (!is_text && spec->kind == ORCH_YAML_MAP))
        return true;
    orch_recipe_error_at(draft, spec, "see 'Report' in 'orch help recipes'",
                         "'%s' must be %s, found %s", kind->name, is_text ? "a text" : "a map",
                         orch_recipe_node_kind(spec));
    return false;
}

static void read_item(struct recipe_draft *draft, const struct orch_yaml *map)
{
    if (map->kind != ORCH_YAML_MAP) {
        orch_recipe_error_at(draft, map, "write '- { title: ..., table: { ... } }'",
                             "a report item must be a map, found %s", orch_recipe_node_kind(map));
        return;
    }
    struct orch_report_item *item = g_new0(struct orch_report_item, 1);
    g_ptr_array_add(draft->out->report, item);
    item->line = map->line;
    item->column = map->column;
    orch_recipe_get_text(draft, map, "question", &item->question);
    orch_recipe_get_text(draft, map, "title", &item->title);
    g_autofree char *points = NULL;
    if (orch_recipe_get_text(draft, map, "points", &points) &&
        (!orch_real_parse(points, &item->points) || item->points < 0))
        orch_recipe_error_at(draft, orch_yaml_get(map, "points"), NULL,
                             "'points': '%s' is not a number", points);
    const struct orch_report_kind *kind = find_kind(draft, map);
    const struct orch_yaml *spec = kind ? orch_yaml_get(map, kind->name) : NULL;
    if (!spec || !spec_fits(draft, kind, spec))
        return;
    item->kind = kind;
    item->spec = is_bare(kind, spec) ? json_object() : as_written(spec);
    if (spec->kind == ORCH_YAML_MAP)
        check_spec(draft, kind, spec);
}

/* ---- reuse -------------------------------------------------------------------------------------
 */

/* Precedence: the recipe's `reuse`, the plugin's, the metrics that the report reads (already
 * recorded), else any. */
static void decide_reuse(struct recipe_experiment *experiment)
{
    struct orch_experiment *made = experiment->made;
    bool is_timing = experiment->manifest && experiment->manifest->flags & ORCH_PLUGIN_TIMING;
    if (experiment->has_reuse) {
        g_free(made->reuse_why);
        made->reuse = experiment->reuse;
        made->reuse_why = g_strdup("says the recipe");
    } else if (is_timing) {
        g_free(made->reuse_why);
        made->reuse = ORCH_RECIPE_REUSE_DEVICE;
        made->reuse_why =
            g_strdup_printf("plugin '%s' is a timing plugin", experiment->manifest->name);
    } else if (!made->reuse_why) {
        made->reuse = ORCH_RECIPE_REUSE_ANY;
        made->reuse_why = g_strdup("default");
    }
}

void orch_recipe_read_report(struct recipe_draft *draft)
{
    const struct orch_yaml *list = orch_yaml_get(draft->root, "report");
    if (list && list->kind != ORCH_YAML_LIST && !orch_yaml_is_null(list))
        orch_recipe_error_at(draft, list, "begin each item with '- '",
                             "'report' must be a list, found %s", orch_recipe_node_kind(list));
    guint count = list && list->kind == ORCH_YAML_LIST ? list->items->len : 0;
    if (count > RECIPE_REPORT_MAX)
        orch_recipe_error_at(draft, list, "split the recipe",
                             "a report has at most %d items, found %u", RECIPE_REPORT_MAX, count);
    for (guint i = 0; i < MIN(count, RECIPE_REPORT_MAX); i++)
        read_item(draft, list->items->pdata[i]);
    for (guint i = 0; i < draft->experiments->len; i++)
        decide_reuse(draft->experiments->pdata[i]);
}
