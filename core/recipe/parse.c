/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Converts the YAML tree of a recipe to a draft: checks the keys and their types, and resolves the
 * names of plugins and experiments. Parameter values are checked in values.c. */
#include "core/recipe/parse_parts.h"

#include "lib/wire/alert.h"

#include <string.h>

static const struct orch_yaml_key ALERT_KEYS[] = {
    {"when", .type = "text", .is_required = true}, {"stop", .type = "flag"}, {0}};
const struct orch_yaml_key ORCH_RECIPE_KEYS[] = {
    {"format", .type = "one", .is_required = true},
    {"recipe", .type = "dashed", .is_required = true},
    {"about", .type = "text"},
    {"profile", .type = "text"},
    {"profiles", .keys = ORCH_PROFILE_KEYS, .type = "nothing", .named = ORCH_YAML_DASHED},
    {"problems", .type = "texts", .named = ORCH_YAML_DASHED},
    {"experiments", .keys = ORCH_EXPERIMENT_KEYS, .named = ORCH_YAML_DASHED, .is_required = true},
    {"with", .type = "values"},
    {"seed", .type = "count"},
    {"share", .words = ORCH_RECIPE_SHARE_WORDS},
    {"require_clean", .type = "flag"},
    {"report", .type = "report"},
    {"jobs", .type = "count", .min = 1, .max = 1024},
    {"alert", .keys = ALERT_KEYS, .type = "alerts"},
    {0}};

static void read_problem(struct recipe_draft *draft, const struct orch_yaml *key,
                         const struct orch_yaml *value)
{
    orch_recipe_check_name(draft, key, "a problem");
    if (g_hash_table_contains(draft->by_name, key->text))
        orch_recipe_error_at(draft, key, "give the problem another name",
                             "'problems': '%s' is already the name of an experiment", key->text);
    GPtrArray *members = g_ptr_array_new();
    g_hash_table_insert(draft->problems, key->text, members);
    g_ptr_array_add(draft->out->problems, g_strdup(key->text));
    g_autoptr(GPtrArray) texts = orch_recipe_texts_of(draft, value, key->text);
    for (guint i = 0; texts && i < texts->len; i++) {
        const struct orch_yaml *node = texts->pdata[i];
        struct recipe_experiment *experiment = g_hash_table_lookup(draft->by_name, node->text);
        if (experiment) {
            g_ptr_array_add(members, (char *)(uintptr_t)experiment->name);
            continue;
        }
        g_autofree char *hint = orch_recipe_hint_names(
            draft, node->text, (const char *const *)draft->experiment_names->pdata);
        orch_recipe_error_at(draft, node, hint, "unknown experiment '%s' in problem '%s'",
                             node->text, key->text);
    }
    if (texts && texts->len == 0)
        orch_recipe_error_at(draft, key, "list the problem's experiments: p1: [pretrain, finetune]",
                             "'problems': '%s' has no experiments", key->text);
}

static void read_problems(struct recipe_draft *draft)
{
    const struct orch_yaml *map = orch_recipe_get_map(draft, draft->root, "problems");
    for (guint i = 0; map && i < map->keys->len; i++)
        read_problem(draft, orch_recipe_key_at(map, i), orch_recipe_value_at(map, i));
}

static void read_format(struct recipe_draft *draft)
{
    const struct orch_yaml *node = orch_yaml_get(draft->root, "format");
    if (!node)
        orch_recipe_error_at(draft, draft->root, "begin the file with 'format: 1'",
                             "the recipe has no 'format'");
    else if (node->kind != ORCH_YAML_SCALAR || strcmp(node->text, "1") != 0)
        orch_recipe_error_at(draft, node, "this orch reads 'format: 1'",
                             "unknown format '%s', expected 1",
                             node->text ? node->text : orch_recipe_node_kind(node));
}

static void read_name(struct recipe_draft *draft)
{
    struct orch_expansion *out = draft->out;
    if (!orch_yaml_get(draft->root, "recipe"))
        orch_recipe_error_at(draft, draft->root, "add 'recipe: NAME'", "the recipe has no name");
    else if (orch_recipe_get_text(draft, draft->root, "recipe", &out->name))
        orch_recipe_check_name(draft, orch_yaml_get(draft->root, "recipe"), "a recipe");
    orch_recipe_get_text(draft, draft->root, "about", &out->about);
}

static void read_seed(struct recipe_draft *draft)
{
    const struct orch_yaml *node = orch_yaml_get(draft->root, "seed");
    g_autofree char *text = NULL;
    if (!orch_recipe_get_text(draft, draft->root, "seed", &text))
        return;
    guint64 seed;
    if (g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, &seed, NULL))
        draft->out->seed = seed;
    else
        orch_recipe_error_at(draft, node, "write one number, such as 1",
                             "'seed': '%s' is not an integer from 0 to 2^64 - 1", text);
}

/* Reads an alert: a condition, or a map with `when` and `stop`. */
static void read_alert(struct recipe_draft *draft, const struct orch_yaml *node)
{
    g_autofree char *when = node->kind == ORCH_YAML_SCALAR ? g_strdup(node->text) : NULL;
    bool stop = false;
    if (node->kind == ORCH_YAML_MAP) {
        orch_recipe_check_keys(draft, node, "an alert", ALERT_KEYS);
        orch_recipe_get_text(draft, node, "when", &when);
        orch_recipe_get_bool(draft, node, "stop", &stop);
    }
    g_autoptr(GError) problem = NULL;
    struct orch_alert *alert = when ? orch_alert_parse(when, &problem) : NULL;
    if (!alert)
        orch_recipe_error_at(draft, node, "for example { when: loss is nan, stop: true }", "%s",
                             problem ? problem->message : "an alert has no condition 'when'");
    else
        json_array_append_new(draft->out->alerts,
                              json_pack("{s:s s:b}", "when", when, "stop", (int)stop));
    orch_alert_free(alert);
}

static void read_alerts(struct recipe_draft *draft)
{
    const struct orch_yaml *node = orch_yaml_get(draft->root, "alert");
    if (!node)
        return;
    draft->out->alerts = json_array();
    if (node->kind != ORCH_YAML_LIST)
        read_alert(draft, node);
    for (guint i = 0; node->kind == ORCH_YAML_LIST && i < node->items->len; i++)
        read_alert(draft, node->items->pdata[i]);
}

void orch_recipe_parse(struct recipe_draft *draft)
{
    const struct orch_yaml *root = draft->root;
    if (root->kind != ORCH_YAML_MAP) {
        orch_recipe_error_at(draft, root, "begin the file with 'format: 1'",
                             "a recipe must be a map (name: value), found %s",
                             orch_recipe_node_kind(root));
        return;
    }
    orch_recipe_check_top_keys(draft, root, "the recipe", ORCH_RECIPE_KEYS, false);
    read_format(draft);
    read_name(draft);
    read_seed(draft);
    orch_recipe_get_bool(draft, root, "require_clean", &draft->out->require_clean);
    read_alerts(draft);
    orch_recipe_read_jobs(draft, root, &draft->out->jobs);
    orch_recipe_read_feature_keys(draft, root, false);
    orch_recipe_read_share(draft, root, &draft->share_source);
    orch_recipe_read_settings(draft, root, "with", draft->with);
    orch_recipe_read_experiments(draft);
    g_ptr_array_add(draft->experiment_names, NULL);
    orch_recipe_read_profiles(draft);
    read_problems(draft);
}
