/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the fields of the format itself (repeat, timeout, resources, ...) by the same rules as
 * parameters, so that 5min and 4GiB mean the same everywhere in a recipe. */
#include "core/recipe/internal.h"

#include "lib/wire/value.h"

#include <string.h>

/* The scalar under `key`; NULL when it is absent or, after a finding, not a scalar. */
static const struct orch_yaml *get_scalar(struct recipe_draft *draft, const struct orch_yaml *map,
                                          const char *key)
{
    const struct orch_yaml *node = orch_yaml_get(map, key);
    if (!node)
        return NULL;
    if (node->kind == ORCH_YAML_SCALAR && !orch_yaml_is_null(node))
        return node;
    orch_recipe_error_at(draft, node, NULL, "'%s' must be one value, found %s", key,
                         orch_recipe_node_kind(node));
    return NULL;
}

bool orch_recipe_get_text(struct recipe_draft *draft, const struct orch_yaml *map, const char *key,
                          char **out)
{
    const struct orch_yaml *node = get_scalar(draft, map, key);
    if (!node)
        return false;
    *out = g_strdup(node->text);
    return true;
}

/* Reads a value as if `key` were a parameter of that type. New reference or NULL. */
static json_t *get_typed(struct recipe_draft *draft, const struct orch_yaml *map, const char *key,
                         uint32_t type, const char *min, const char *max)
{
    const struct orch_yaml *node = get_scalar(draft, map, key);
    if (!node)
        return NULL;
    struct orch_param_spec spec = {
        .name = (char *)(uintptr_t)key,
        .type = type,
        .min = (char *)(uintptr_t)min,
        .max = (char *)(uintptr_t)max,
    };
    g_autoptr(GError) error = NULL;
    json_t *value = orch_value_parse_scalar(&spec, node->text, &error);
    if (value)
        return value;
    /* it is a key of the format, not a parameter */
    g_autoptr(GError) plain = g_error_copy(error);
    if (g_str_has_prefix(plain->message, "parameter '"))
        memmove(plain->message, plain->message + strlen("parameter "),
                strlen(plain->message + strlen("parameter ")) + 1);
    orch_recipe_error_from(draft, (struct recipe_place){draft->path, node->line, node->column},
                           plain);
    return NULL;
}

bool orch_recipe_get_bool(struct recipe_draft *draft, const struct orch_yaml *map, const char *key,
                          bool *out)
{
    json_t *value = get_typed(draft, map, key, ORCH_BOOL, NULL, NULL);
    if (!value)
        return false;
    *out = json_is_true(value);
    json_decref(value);
    return true;
}

bool orch_recipe_get_count(struct recipe_draft *draft, const struct orch_yaml *map, const char *key,
                           const char *min, const char *max, int64_t *out)
{
    json_t *value = get_typed(draft, map, key, ORCH_INT, min, max);
    if (!value)
        return false;
    *out = json_integer_value(value);
    json_decref(value);
    return true;
}

bool orch_recipe_get_duration(struct recipe_draft *draft, const struct orch_yaml *map,
                              const char *key, double *out)
{
    json_t *value = get_typed(draft, map, key, ORCH_DURATION, "0", NULL);
    if (!value)
        return false;
    *out = json_number_value(value);
    json_decref(value);
    return true;
}

bool orch_recipe_get_bytes(struct recipe_draft *draft, const struct orch_yaml *map, const char *key,
                           int64_t *out)
{
    json_t *value = get_typed(draft, map, key, ORCH_BYTES, "0", NULL);
    if (!value)
        return false;
    *out = json_integer_value(value);
    json_decref(value);
    return true;
}

bool orch_recipe_get_choice(struct recipe_draft *draft, const struct orch_yaml *map,
                            const char *key, const char *const *words, unsigned *out)
{
    const struct orch_yaml *node = get_scalar(draft, map, key);
    if (!node)
        return false;
    for (unsigned i = 0; words[i]; i++) {
        if (strcmp(words[i], node->text) == 0) {
            *out = i;
            return true;
        }
    }
    g_autofree char *all = g_strjoinv(", ", (char **)(uintptr_t)words);
    g_autofree char *hint = orch_recipe_hint_names(draft, node->text, words);
    orch_recipe_error_at(draft, node, hint, "'%s': '%s' is not one of %s", key, node->text, all);
    return false;
}

const struct orch_yaml *orch_recipe_get_map(struct recipe_draft *draft, const struct orch_yaml *map,
                                            const char *key)
{
    const struct orch_yaml *node = orch_yaml_get(map, key);
    if (!node || orch_yaml_is_null(node))
        return NULL;
    if (node->kind == ORCH_YAML_MAP)
        return node;
    g_autofree char *hint = g_strdup_printf("write '%s: { NAME: ... }'", key);
    orch_recipe_error_at(draft, node, hint, "'%s' must be a map (name: value), found %s", key,
                         orch_recipe_node_kind(node));
    return NULL;
}

GPtrArray *orch_recipe_texts_of(struct recipe_draft *draft, const struct orch_yaml *node,
                                const char *key)
{
    GPtrArray *texts = g_ptr_array_new();
    guint count = node->kind == ORCH_YAML_LIST ? node->items->len : 1;
    for (guint i = 0; i < count; i++) {
        struct orch_yaml *item = node->kind == ORCH_YAML_LIST ? node->items->pdata[i]
                                                              : (struct orch_yaml *)(uintptr_t)node;
        if (item->kind == ORCH_YAML_SCALAR && !orch_yaml_is_null(item)) {
            g_ptr_array_add(texts, item);
            continue;
        }
        orch_recipe_error_at(draft, item, NULL, "'%s' must be a text or a list of texts, found %s",
                             key, orch_recipe_node_kind(item));
        g_ptr_array_unref(texts);
        return NULL;
    }
    return texts;
}

GPtrArray *orch_recipe_get_texts(struct recipe_draft *draft, const struct orch_yaml *map,
                                 const char *key)
{
    const struct orch_yaml *node = orch_yaml_get(map, key);
    return node ? orch_recipe_texts_of(draft, node, key) : NULL;
}
