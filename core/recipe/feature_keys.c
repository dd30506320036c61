/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys that features read: they are checked, read and freed by the rows of the features' lists. */
#include "core/recipe/parse_parts.h"

#include "core/feature/feature.h"

/* Calls `visit` for each key of each feature. */
static void each_key(void (*visit)(const struct orch_recipe_key *key, void *ctx), void *ctx)
{
    for (const struct orch_feature *const *f = orch_features(); *f; f++)
        for (const struct orch_recipe_key *const *k = (*f)->recipe_keys; k && *k; k++)
            visit(*k, ctx);
}

/* ---- known keys --------------------------------------------------------------------------------
 */

struct known {
    GArray *keys;
    bool is_profile;
};

static void add_key(const struct orch_recipe_key *key, void *ctx)
{
    struct known *known = ctx;
    struct orch_yaml_key row = *key->value;
    row.name = key->name;
    if (key->in_profiles || !known->is_profile)
        g_array_append_val(known->keys, row);
}

GArray *orch_recipe_keys_with_features(const struct orch_yaml_key *own, bool is_profile)
{
    GArray *keys = g_array_new(TRUE, FALSE, sizeof(struct orch_yaml_key));
    struct known known = {keys, is_profile};
    for (; own->name; own++)
        g_array_append_vals(keys, own, 1);
    each_key(add_key, &known);
    return keys;
}

void orch_recipe_check_top_keys(struct recipe_draft *draft, const struct orch_yaml *map,
                                const char *where, const struct orch_yaml_key *own, bool is_profile)
{
    g_autoptr(GArray) keys = orch_recipe_keys_with_features(own, is_profile);
    orch_recipe_check_keys(draft, map, where, (const struct orch_yaml_key *)(void *)keys->data);
}

/* ---- values ------------------------------------------------------------------------------------
 */

struct reading {
    struct recipe_draft *draft;
    const struct orch_yaml *map;
    bool is_profile, is_kept;
};

static void read_key(const struct orch_recipe_key *key, void *ctx)
{
    const struct reading *r = ctx;
    if ((r->is_profile && !key->in_profiles) || !orch_yaml_get(r->map, key->name))
        return;
    GHashTable *values = r->draft->out->values;
    void *earlier = r->is_kept ? g_hash_table_lookup(values, key->name) : NULL;
    void *value = key->read(r->draft, r->map, earlier);
    if (r->is_kept)
        g_hash_table_insert(values, (gpointer)(uintptr_t)key->name, value);
    else
        key->free(value);
}

void orch_recipe_read_feature_keys(struct recipe_draft *draft, const struct orch_yaml *map,
                                   bool is_profile)
{
    struct reading reading = {draft, map, is_profile, .is_kept = true};
    if (!draft->out->values)
        draft->out->values = g_hash_table_new(g_str_hash, g_str_equal);
    each_key(read_key, &reading);
}

void orch_recipe_check_feature_keys(struct recipe_draft *draft, const struct orch_yaml *profile)
{
    struct reading reading = {draft, profile, .is_profile = true};
    each_key(read_key, &reading);
}

const void *orch_expansion_value(const struct orch_expansion *expansion,
                                 const struct orch_recipe_key *key)
{
    return expansion->values ? g_hash_table_lookup(expansion->values, key->name) : NULL;
}

static void free_value(const struct orch_recipe_key *key, void *values)
{
    key->free(g_hash_table_lookup(values, key->name));
}

void orch_recipe_feature_values_free(GHashTable *values)
{
    if (!values)
        return;
    each_key(free_value, values);
    g_hash_table_unref(values);
}
