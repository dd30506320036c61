/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the profiles of a recipe, and chooses one. */
#include "core/recipe/parse_parts.h"

#include "lib/wire/value.h"

#include <string.h>

static const struct orch_yaml_key PART_KEYS[] = {
    {"with", .type = "values"},   {"sweep", .type = "sweeps"},
    {"zip", .type = "sweeps"},    {"search", .type = "sweeps"},
    {"repeat", .type = "repeat"}, {"timeout", .type = "duration"},
    {"skip", .type = "text"},     {0}};
const struct orch_yaml_key ORCH_PROFILE_KEYS[] = {
    {"with", .type = "values"},
    {"experiments", .keys = PART_KEYS, .named = ORCH_YAML_DASHED},
    {"jobs", .type = "count", .min = 1, .max = 1024},
    {0}};

static void read_skip(struct recipe_draft *draft, const struct orch_yaml *map,
                      struct recipe_part *part)
{
    const struct orch_yaml *node = orch_yaml_get(map, "skip");
    if (!node)
        return;
    if (node->kind == ORCH_YAML_SCALAR && !node->quoted) {
        struct orch_param_spec spec = {.name = (char *)(uintptr_t) "skip", .type = ORCH_BOOL};
        json_t *value = orch_value_parse_scalar(&spec, node->text, NULL);
        if (value) {
            part->skip = json_is_true(value);
            json_decref(value);
            return;
        }
    }
    part->skip = orch_recipe_get_text(draft, map, "skip", &part->skip_reason);
}

static void read_parts(struct recipe_draft *draft, const struct orch_yaml *map,
                       struct recipe_profile *profile)
{
    const struct orch_yaml *parts = orch_recipe_get_map(draft, map, "experiments");
    for (guint i = 0; parts && i < parts->keys->len; i++) {
        const struct orch_yaml *key = orch_recipe_key_at(parts, i),
                               *value = orch_recipe_value_at(parts, i);
        if (!g_hash_table_contains(draft->by_name, key->text)) {
            g_autofree char *hint = orch_recipe_hint_names(
                draft, key->text, (const char *const *)draft->experiment_names->pdata);
            orch_recipe_error_at(draft, key, hint, "unknown experiment '%s' in profile '%s'",
                                 key->text, profile->name);
            continue;
        }
        if (value->kind != ORCH_YAML_MAP)
            orch_recipe_error_at(draft, value, NULL, "'%s' must be a map (name: value), found %s",
                                 key->text, orch_recipe_node_kind(value));
        g_autofree char *where =
            g_strdup_printf("profile '%s', experiment '%s'", profile->name, key->text);
        orch_recipe_check_keys(draft, value, where, PART_KEYS);
        struct recipe_part *part = g_new0(struct recipe_part, 1);
        orch_recipe_read_part(draft, value, part);
        read_skip(draft, value, part);
        g_hash_table_insert(profile->parts, key->text, part);
    }
}

static void read_all(struct recipe_draft *draft)
{
    const struct orch_yaml *map = orch_recipe_get_map(draft, draft->root, "profiles");
    if (map && map->keys->len > RECIPE_PROFILES_MAX)
        orch_recipe_error_at(draft, map, "split the recipe",
                             "a recipe has at most %d profiles, found %u", RECIPE_PROFILES_MAX,
                             map->keys->len);
    for (guint i = 0; map && i < MIN(map->keys->len, RECIPE_PROFILES_MAX); i++) {
        const struct orch_yaml *key = orch_recipe_key_at(map, i),
                               *value = orch_recipe_value_at(map, i);
        orch_recipe_check_name(draft, key, "a profile");
        if (value->kind != ORCH_YAML_MAP && !orch_yaml_is_null(value))
            orch_recipe_error_at(draft, value, NULL, "profile '%s' must be a map, found %s",
                                 key->text, orch_recipe_node_kind(value));
        struct recipe_profile *profile = g_new0(struct recipe_profile, 1);
        profile->key = key;
        profile->name = key->text;
        profile->with = g_array_new(FALSE, TRUE, sizeof(struct recipe_setting));
        profile->parts = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
                                               (GDestroyNotify)orch_recipe_part_free);
        g_ptr_array_add(draft->profiles, profile);
        g_autofree char *where = g_strdup_printf("profile '%s'", key->text);
        orch_recipe_check_top_keys(draft, value, where, ORCH_PROFILE_KEYS, true);
        orch_recipe_read_settings(draft, value, "with", profile->with);
        read_parts(draft, value, profile);
        orch_recipe_read_jobs(draft, value, &profile->jobs);
        orch_recipe_check_feature_keys(draft, value);
        profile->map = value;
    }
}

static const struct recipe_profile *find_profile(struct recipe_draft *draft, const char *name,
                                                 struct recipe_place place)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < draft->profiles->len; i++) {
        const struct recipe_profile *profile = draft->profiles->pdata[i];
        if (strcmp(profile->name, name) == 0)
            return profile;
        g_ptr_array_add(names, (char *)(uintptr_t)profile->name);
    }
    g_ptr_array_add(names, NULL);
    g_autofree char *hint = orch_recipe_hint_names(draft, name, (const char *const *)names->pdata);
    orch_recipe_error(draft, place, hint ? hint : "add the profile under 'profiles:'",
                      "unknown profile '%s'", name);
    return NULL;
}

static void choose_profile(struct recipe_draft *draft)
{
    g_autofree char *name = NULL;
    const struct orch_yaml *node = orch_yaml_get(draft->root, "profile");
    if (orch_recipe_get_text(draft, draft->root, "profile", &name))
        draft->profile =
            find_profile(draft, name, (struct recipe_place){draft->path, node->line, node->column});
    if (draft->options->profile) {
        g_autofree char *option = g_strdup_printf("--profile %s", draft->options->profile);
        draft->profile =
            find_profile(draft, draft->options->profile, (struct recipe_place){.file = option});
    }
    if (draft->profile)
        draft->out->profile = g_strdup(draft->profile->name);
    if (draft->profile && draft->profile->jobs)
        draft->out->jobs = draft->profile->jobs;
    if (draft->profile)
        orch_recipe_read_feature_keys(draft, draft->profile->map, true);
}

void orch_recipe_read_profiles(struct recipe_draft *draft)
{
    read_all(draft);
    choose_profile(draft);
}
