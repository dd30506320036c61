/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/config/key_schema.h"

#include "core/plugin/manifest_keys.h"
#include "lib/base/json.h"
#include "lib/base/unit.h"

#include <string.h>

/* The types of values, as JSON; %s stands for the units of a quantity. */
static const struct {
    const char *name, *schema;
    enum orch_quantity quantity;
} TYPES[] = {
    {"nothing", "{\"type\": \"null\"}", 0},
    {"one", "{\"enum\": [1, \"1\"]}", 0},
    {"text", "{\"type\": [\"string\", \"number\", \"boolean\"]}", 0},
    {"blank", "{\"type\": [\"string\", \"number\", \"boolean\", \"null\"]}", 0},
    {"dashed", "{\"type\": \"string\", \"pattern\": \"" ORCH_YAML_DASHED "\"}", 0},
    {"texts",
     "{\"anyOf\": [{\"$ref\": \"#/$defs/text\"},"
     " {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/text\"}}]}",
     0},
    {"command",
     "{\"anyOf\": [{\"type\": \"string\", \"minLength\": 1}, {\"type\": \"array\","
     " \"minItems\": 1, \"items\": {\"$ref\": \"#/$defs/text\"}}]}",
     0},
    {"value",
     "{\"type\": [\"string\", \"number\", \"boolean\", \"array\", \"null\"],"
     " \"items\": {\"$ref\": \"#/$defs/value\"}}",
     0},
    {"values",
     "{\"type\": [\"object\", \"null\"], \"additionalProperties\": {\"$ref\": \"#/$defs/value\"}}",
     0},
    {"settings", "{\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/values\"}}", 0},
    {"alerts",
     "{\"anyOf\": [{\"$ref\": \"#/$defs/text\"}, {\"type\": \"array\", \"items\": {\"anyOf\": ["
     "{\"$ref\": \"#/$defs/text\"}, {\"type\": \"object\", \"required\": [\"when\"]}]}}]}",
     0},
    {"sweeps",
     "{\"type\": [\"object\", \"null\"], \"additionalProperties\": {\"anyOf\": ["
     "{\"type\": \"string\"}, {\"type\": \"array\", \"minItems\": 1,"
     " \"items\": {\"$ref\": \"#/$defs/value\"}}]}}",
     0},
    {"flag",
     "{\"anyOf\": [{\"type\": \"boolean\"}, {\"type\": \"string\","
     " \"pattern\": \"^(true|false|yes|no|on|off)$\"}]}",
     0},
    {"number",
     "{\"anyOf\": [{\"type\": \"number\"}, {\"type\": \"string\","
     " \"pattern\": \"^[+-]?([0-9][0-9._]*|[.][0-9]+)([eE][+-]?[0-9]+)?$\"}]}",
     0},
    {"share",
     "{\"anyOf\": [{\"type\": \"number\", \"exclusiveMinimum\": 0, \"maximum\": 0.5},"
     " {\"type\": \"string\", \"pattern\": \"^[0-9.]+([eE]-[0-9]+)?$\"}]}",
     0},
    {"count",
     "{\"anyOf\": [{\"type\": \"integer\", \"minimum\": 0},"
     " {\"type\": \"string\", \"pattern\": \"^[+]?[0-9][0-9_]*$\"}]}",
     0},
    {"gpus",
     "{\"anyOf\": [{\"$ref\": \"#/$defs/count\"},"
     " {\"type\": \"number\", \"minimum\": 0.01, \"maximum\": 1}]}",
     0},
    {"repeat",
     "{\"anyOf\": [{\"type\": \"integer\", \"minimum\": 1, \"maximum\": 10000}, {\"type\":"
     " \"string\", \"pattern\": \"^([1-9][0-9_]*|auto.*)$\"}]}",
     0},
    {"duration",
     "{\"anyOf\": [{\"type\": \"number\", \"minimum\": 0}, {\"type\": \"string\", \"pattern\":"
     " \"^([0-9.]+([eE][+-]?[0-9]+)?|([0-9.]+([eE][+-]?[0-9]+)? *(%s) *)+)$\"}]}",
     ORCH_QUANTITY_TIME},
    {"bytes",
     "{\"anyOf\": [{\"type\": \"integer\", \"minimum\": 0}, {\"type\": \"string\", \"pattern\":"
     " \"^[0-9][0-9._]*([eE][+-]?[0-9]+)? *(%s)?$\"}]}",
     ORCH_QUANTITY_BYTES},
};

/* ---- values -----------------------------------------------------------------------------------
 */

json_t *orch_key_schema_type(const char *type)
{
    g_autofree char *place = g_strconcat("#/$defs/", type, NULL);
    return json_pack("{s:s}", "$ref", place);
}

static json_t *words_of(const char *const *words)
{
    json_t *list = json_array();
    for (; *words; words++) {
        json_array_append_new(list, json_string(*words));
        if (strcmp(*words, "off") == 0 || strcmp(*words, "none") == 0) /* as YAML may read them */
            json_array_append_new(list, *words[0] == 'o' ? json_false() : json_null());
    }
    return json_pack("{s:o}", "enum", list);
}

/* A whole number within the bounds of the key. */
static json_t *bounded(const struct orch_yaml_key *key)
{
    json_t *number = json_pack("{s:s s:i}", "type", "integer", "minimum", key->min);
    if (key->max)
        json_object_set_new(number, "maximum", json_integer(key->max));
    return json_pack("{s:[o {s:s s:s}]}", "anyOf", number, "type", "string", "pattern",
                     key->min ? "^[+]?[1-9][0-9_]*$" : "^[+]?[0-9][0-9_]*$");
}

static json_t *one_value(const struct orch_yaml_key *key)
{
    json_t *any = json_array();
    const char *const *words = key->listed ? key->listed() : key->words;
    if (words)
        json_array_append_new(any, words_of(words));
    if (key->type)
        json_array_append_new(any, key->min || key->max ? bounded(key)
                                                        : orch_key_schema_type(key->type));
    if (key->keys)
        json_array_append_new(any, orch_key_schema_map(key->keys));
    json_t *schema = json_array_size(any) == 1 ? json_incref(json_array_get(any, 0))
                                               : json_pack("{s:O}", "anyOf", any);
    json_decref(any);
    return schema;
}

json_t *orch_key_schema_value(const struct orch_yaml_key *key)
{
    if (!key->named)
        return one_value(key);
    json_t *map = json_pack("{s:s s:{s:s} s:o}", "type", "object", "propertyNames", "pattern",
                            key->named, "additionalProperties", one_value(key));
    if (key->is_required)
        json_object_set_new(map, "minProperties", json_integer(1));
    return key->is_required ? map
           : key->instead   ? json_pack("{s:[o {s:s} {s:s}]}", "anyOf", map, "const", key->instead,
                                        "type", "null")
                            : json_pack("{s:[o {s:s}]}", "anyOf", map, "type", "null");
}

json_t *orch_key_schema_map(const struct orch_yaml_key *keys)
{
    json_t *properties = json_object(), *required = json_array();
    for (; keys->name; keys++) {
        json_object_set_new(properties, keys->name, orch_key_schema_value(keys));
        if (keys->is_required)
            json_array_append_new(required, json_string(keys->name));
    }
    json_t *map = json_pack("{s:s s:o s:b}", "type", "object", "properties", properties,
                            "additionalProperties", 0);
    if (json_array_size(required))
        json_object_set(map, "required", required);
    json_decref(required);
    return map;
}

/* ---- files ------------------------------------------------------------------------------------
 */

static json_t *type_schema(const char *text, enum orch_quantity quantity)
{
    g_autofree char *units = orch_unit_spellings(quantity);
    g_autoptr(GString) whole = g_string_new(text);
    g_string_replace(whole, "%s", units, 0);
    return json_loads(whole->str, 0, NULL);
}

json_t *orch_key_schema_file(json_t *schema, const char *title)
{
    json_t *types = json_object();
    for (unsigned i = 0; i < G_N_ELEMENTS(TYPES); i++)
        json_object_set_new(types, TYPES[i].name, type_schema(TYPES[i].schema, TYPES[i].quantity));
    json_object_set_new(schema, "$schema",
                        json_string("https://json-schema.org/draft/2020-12/schema"));
    json_object_set_new(schema, "title", json_string(title));
    json_object_set_new(schema, "$defs", types);
    return schema;
}

json_t *orch_manifest_schema(void)
{
    g_autoptr(GArray) keys = orch_manifest_keys();
    json_t *map = orch_key_schema_map((const struct orch_yaml_key *)(void *)keys->data);
    return orch_key_schema_file(map, "NAME.plugin of orch");
}
