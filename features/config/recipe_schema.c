/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/config/recipe_schema.h"

#include "core/recipe/parse_parts.h"
#include "core/recipe/report_shapes.h"
#include "features/config/key_schema.h"
#include "lib/base/json.h"

/* ---- report items ------------------------------------------------------------------------------
 */

/* The type of one value of a key. */
static const char *type_of_shape(enum orch_report_shape shape)
{
    switch (shape) {
    case ORCH_SHAPE_FLAG:
        return "flag";
    case ORCH_SHAPE_SHARE:
        return "share";
    case ORCH_SHAPE_NUMBERS:
        return "number";
    case ORCH_SHAPE_COUNTS:
    case ORCH_SHAPE_COUNT:
        return "positive";
    case ORCH_SHAPE_BY_PROFILE:
        return "by_profile";
    case ORCH_SHAPE_REFERENCE:
        return "reference";
    default:
        return "text";
    }
}

static json_t *key_schema(const struct orch_report_key *key)
{
    const struct orch_yaml_key row = {
        .words = key->words ? key->words->words : NULL,
        .listed = key->words ? key->words->listed : NULL,
        .type = key->words ? NULL : type_of_shape(key->shape),
    };
    json_t *one = orch_key_schema_value(&row);
    return orch_report_takes_list(key->shape)
               ? json_pack("{s:[O {s:s s:o}]}", "anyOf", one, "type", "array", "items", one)
               : one;
}

static json_t *keys_schema(const struct orch_report_key *key)
{
    json_t *properties = json_object(), *required = json_array();
    for (; key->name; key++) {
        json_object_set_new(properties, key->name, key_schema(key));
        if (key->is_required)
            json_array_append_new(required, json_string(key->name));
    }
    return json_pack("{s:s s:o s:o s:b}", "type", "object", "properties", properties, "required",
                     required, "additionalProperties", 0);
}

static json_t *kind_schema(const struct orch_report_kind *kind)
{
    json_t *full = kind->keys
                       ? keys_schema(kind->keys)
                       : json_pack("{s:[s s] s:i}", "type", "string", "number", "minLength", 1);
    return kind->may_be_bare ? json_pack("{s:[o {s:[n b]}]}", "anyOf", full, "enum", 1) : full;
}

static json_t *report_schema(void)
{
    g_autoptr(GPtrArray) kinds = orch_report_kinds();
    json_t *item = orch_key_schema_map(ORCH_REPORT_COMMON_KEYS), *one = json_array();
    json_t *properties = json_object_get(item, "properties");
    for (guint i = 0; i < kinds->len; i++) {
        const struct orch_report_kind *kind = kinds->pdata[i];
        json_object_set_new(properties, kind->name, kind_schema(kind));
        json_array_append_new(one, json_pack("{s:[s]}", "required", kind->name));
    }
    json_object_set_new(item, "oneOf", one);
    return json_pack("{s:[s s] s:o s:i}", "type", "array", "null", "items", item, "maxItems",
                     RECIPE_REPORT_MAX);
}

/* ---- the recipe --------------------------------------------------------------------------------
 */

/* The types that only report items have. */
static void add_types(json_t *defs)
{
    json_object_set_new(defs, "positive",
                        json_pack("{s:[{s:s s:i s:i} {s:s s:s}]}", "anyOf", "type", "integer",
                                  "minimum", 1, "maximum", 1000000, "type", "string", "pattern",
                                  "^[+]?[1-9][0-9_]*$"));
    json_t *number = orch_key_schema_type("number"), *text = orch_key_schema_type("text");
    json_object_set_new(defs, "by_profile",
                        json_pack("{s:[O {s:s s:O}]}", "anyOf", number, "type", "object",
                                  "additionalProperties", number));
    json_t *curve =
        json_pack("{s:s s:b s:[s s s] s:{s:O s:{s:s s:i s:O} s:{s:s s:i s:O} s:O}}", "type",
                  "object", "additionalProperties", 0, "required", "name", "x", "y", "properties",
                  "name", text, "x", "type", "array", "minItems", 1, "items", text, "y", "type",
                  "array", "minItems", 1, "items", number, "source", text);
    json_t *one = json_pack("{s:[O o]}", "anyOf", number, curve);
    json_object_set_new(
        defs, "reference",
        json_pack("{s:[O {s:s s:O}]}", "anyOf", one, "type", "array", "items", one));
    json_decref(one);
    json_decref(number);
    json_decref(text);
}

/* The map has one of these two keys; `how` says whether it may have both. */
static void either(json_t *map, const char *how, const char *one, const char *other)
{
    json_object_set_new(map, how,
                        json_pack("[{s:[s]} {s:[s]}]", "required", one, "required", other));
}

json_t *orch_recipe_schema(void)
{
    g_autoptr(GArray) keys = orch_recipe_keys_with_features(ORCH_RECIPE_KEYS, false);
    g_autoptr(GArray) of_profile = orch_recipe_keys_with_features(ORCH_PROFILE_KEYS, true);
    for (guint i = 0; i < keys->len; i++) {
        struct orch_yaml_key *key = &g_array_index(keys, struct orch_yaml_key, i);
        if (key->keys == ORCH_PROFILE_KEYS)
            key->keys = (const struct orch_yaml_key *)(void *)of_profile->data;
    }
    json_t *schema = orch_key_schema_map((const struct orch_yaml_key *)(void *)keys->data);
    json_t *properties = json_object_get(schema, "properties");
    json_t *experiment =
        json_object_get(json_object_get(properties, "experiments"), "additionalProperties");
    json_t *objective = json_object_get(json_object_get(experiment, "properties"), "objective");
    either(experiment, "anyOf", "plugin", "program");
    either(json_array_get(json_object_get(objective, "anyOf"), 1), "oneOf", "metric", "metrics");
    schema = orch_key_schema_file(schema, "NAME.recipe of orch");
    json_t *defs = json_object_get(schema, "$defs");
    json_object_set_new(defs, "report", report_schema());
    add_types(defs);
    return schema;
}
