/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The canonical form: the meaning of the file as JSON. It does not depend on comments, layout,
 * quotes or the order of keys, nor on 1e-2 versus 0.01 for a real parameter. The order inside lists
 * is kept, since it is the order of trials and of the report. Secrets are left out. It depends only
 * on the file, not on options, environment or folder. */
#include "core/recipe/internal.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/secret.h"
#include "lib/wire/value.h"

#include <string.h>

/* A scalar without a parameter type: the value of an unquoted number or bool, else the text. */
static json_t *plain_scalar(const struct orch_yaml *node)
{
    int64_t integer;
    double real;
    if (orch_yaml_is_null(node))
        return json_null();
    if (node->quoted)
        return json_string(node->text);
    if (orch_int_parse(node->text, &integer))
        return json_integer(integer);
    if (orch_real_parse(node->text, &real))
        return json_real(real);
    if (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0)
        return json_boolean(node->text[0] == 't');
    return json_string(node->text);
}

/* Returns the canonical value of entry `key` in a map, or NULL to leave it out. */
typedef json_t *(*entry_fn)(const struct recipe_draft *draft, const void *ctx, const char *key,
                            const struct orch_yaml *value);

static json_t *map_with(const struct recipe_draft *draft, const struct orch_yaml *map,
                        entry_fn entry, const void *ctx);

static json_t *plain(const struct orch_yaml *node)
{
    if (node->kind == ORCH_YAML_SCALAR)
        return plain_scalar(node);
    json_t *json = node->kind == ORCH_YAML_LIST ? json_array() : json_object();
    for (guint i = 0; i < node->items->len; i++) {
        if (node->kind == ORCH_YAML_LIST)
            json_array_append_new(json, plain(node->items->pdata[i]));
        else
            json_object_set_new(json, ((const struct orch_yaml *)node->keys->pdata[i])->text,
                                plain(node->items->pdata[i]));
    }
    return json;
}

static json_t *map_with(const struct recipe_draft *draft, const struct orch_yaml *map,
                        entry_fn entry, const void *ctx)
{
    if (map->kind != ORCH_YAML_MAP)
        return plain(map);
    json_t *json = json_object();
    for (guint i = 0; i < map->keys->len; i++) {
        const char *key = ((const struct orch_yaml *)map->keys->pdata[i])->text;
        json_t *value = entry(draft, ctx, key, map->items->pdata[i]);
        if (value)
            json_object_set_new(json, key, value);
    }
    return json;
}

/* A value converted by its parameter's type; a value with variables or references stays as written.
 */
static json_t *typed(const struct orch_param_spec *spec, const struct orch_yaml *node)
{
    if (orch_yaml_is_null(node))
        return json_null();
    if (node->kind == ORCH_YAML_SCALAR) {
        json_t *value = strchr(node->text, '$') || g_str_has_prefix(node->text, "range(")
                            ? NULL
                            : orch_value_parse(spec, node->text, NULL);
        return value ? value : json_string(node->text);
    }
    json_t *list = json_array();
    for (guint i = 0; i < node->items->len; i++) {
        const struct orch_yaml *item = node->items->pdata[i];
        json_t *value =
            strchr(item->text, '$') ? NULL : orch_value_parse_scalar(spec, item->text, NULL);
        json_array_append_new(list, value ? value : json_string(item->text));
    }
    return list;
}

/* The parameter of that name in one experiment or, with NULL, in the first experiment (by name)
 * that has it. */
static const struct orch_param_spec *find_spec(const struct recipe_draft *draft,
                                               const struct recipe_experiment *experiment,
                                               const char *name)
{
    if (experiment)
        return experiment->manifest ? orch_manifest_param(experiment->manifest, name) : NULL;
    const struct recipe_experiment *first = NULL;
    for (guint i = 0; i < draft->experiments->len; i++) {
        const struct recipe_experiment *other = draft->experiments->pdata[i];
        if (other->manifest && orch_manifest_param(other->manifest, name) &&
            (!first || strcmp(other->name, first->name) < 0))
            first = other;
    }
    return first ? orch_manifest_param(first->manifest, name) : NULL;
}

static json_t *with_entry(const struct recipe_draft *draft, const void *experiment, const char *key,
                          const struct orch_yaml *value)
{
    const struct orch_param_spec *spec = find_spec(draft, experiment, key);
    if (!spec)
        return plain(value);
    return orch_param_is_secret(spec) ? NULL : typed(spec, value);
}

static json_t *sweep_entry(const struct recipe_draft *draft, const void *experiment,
                           const char *key, const struct orch_yaml *value)
{
    const struct orch_param_spec *spec = find_spec(draft, experiment, key);
    if (!spec || value->kind != ORCH_YAML_LIST)
        return plain(value);
    json_t *list = json_array();
    for (guint i = 0; i < value->items->len; i++)
        json_array_append_new(list, typed(spec, value->items->pdata[i]));
    return list;
}

/* The words of a command, without those that look like secrets: the canonical form is stored and
 * shared. */
static json_t *program_words(const struct orch_yaml *node)
{
    g_auto(GStrv) split = NULL;
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    if (node->kind == ORCH_YAML_SCALAR)
        (void)g_shell_parse_argv(node->text, NULL, &split, NULL);
    for (guint i = 0; split && split[i]; i++)
        g_ptr_array_add(words, split[i]);
    for (guint i = 0; node->kind == ORCH_YAML_LIST && i < node->items->len; i++) {
        const struct orch_yaml *item = node->items->pdata[i];
        g_ptr_array_add(words,
                        item->kind == ORCH_YAML_SCALAR ? item->text : (char *)(uintptr_t) "");
    }
    const char *const *texts = (const char *const *)words->pdata;
    bool has_secret = false;
    for (size_t i = 0; i < words->len && !has_secret; i++)
        has_secret = orch_secret_in_word(texts, i) != NULL;
    return has_secret ? orch_secret_mask_words(texts, words->len) : plain(node);
}

/* Entries of an experiment, and of a profile's part for it. */
static json_t *part_entry(const struct recipe_draft *draft, const void *experiment, const char *key,
                          const struct orch_yaml *value)
{
    if (strcmp(key, "with") == 0)
        return map_with(draft, value, with_entry, experiment);
    if (strcmp(key, "sweep") == 0 || strcmp(key, "zip") == 0)
        return map_with(draft, value, sweep_entry, experiment);
    return strcmp(key, "program") == 0 ? program_words(value) : plain(value);
}

static json_t *experiment_entry(const struct recipe_draft *draft, const void *ctx, const char *key,
                                const struct orch_yaml *value)
{
    (void)ctx;
    return map_with(draft, value, part_entry, g_hash_table_lookup(draft->by_name, key));
}

static json_t *profile_part_entry(const struct recipe_draft *draft, const void *ctx,
                                  const char *key, const struct orch_yaml *value)
{
    (void)ctx;
    if (strcmp(key, "with") == 0)
        return map_with(draft, value, with_entry, NULL);
    return map_with(draft, value, experiment_entry, NULL);
}

static json_t *profile_entry(const struct recipe_draft *draft, const void *ctx, const char *key,
                             const struct orch_yaml *value)
{
    (void)ctx, (void)key;
    return map_with(draft, value, profile_part_entry, NULL);
}

static json_t *top_entry(const struct recipe_draft *draft, const void *ctx, const char *key,
                         const struct orch_yaml *value)
{
    (void)ctx;
    static const struct {
        const char *key;
        entry_fn entry;
    } rows[] = {
        {"with", with_entry}, {"experiments", experiment_entry}, {"profiles", profile_entry}};
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (strcmp(rows[i].key, key) == 0)
            return map_with(draft, value, rows[i].entry, NULL);
    return plain(value);
}

void orch_recipe_make_canonical(struct recipe_draft *draft)
{
    json_t *json = map_with(draft, draft->root, top_entry, NULL);
    char key[ORCH_SHA256_CHARS];
    draft->out->canonical = orch_json_canonical(json);
    orch_sha256(draft->out->canonical, strlen(draft->out->canonical), key);
    draft->out->key = g_strdup(key);
    json_decref(json);
}
