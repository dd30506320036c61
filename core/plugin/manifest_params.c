/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameters of a NAME.plugin file: 'lr: 0.1', or the long form with type, bounds and help. */
#include "core/plugin/manifest_reader.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/value.h"

#include <string.h>

static const char *const TYPES[] = {"bool",     "int",      "real",  "string", "enum",   "path",
                                    "artifact", "duration", "bytes", "money",  "secret", NULL};

const struct orch_yaml_key ORCH_PARAMETER_KEYS[] = {{"type", .type = "value"},
                                                    {"default", .type = "value"},
                                                    {"min", .type = "blank"},
                                                    {"max", .type = "blank"},
                                                    {"unit", .type = "blank"},
                                                    {"help", .type = "blank"},
                                                    {"label", .type = "blank"},
                                                    {"choices", .type = "texts"},
                                                    {"optional", .type = "flag"},
                                                    {"neutral", .type = "flag"},
                                                    {0}};

static uint32_t scalar_type(const struct orch_yaml *node)
{
    double real;
    int64_t whole;
    if (node->quoted)
        return ORCH_STRING;
    if (orch_manifest_is_bool_word(node->text))
        return ORCH_BOOL;
    if (!strpbrk(node->text, ".eE") && orch_int_parse(node->text, &whole))
        return ORCH_INT;
    return orch_real_parse(node->text, &real) ? ORCH_REAL : ORCH_STRING;
}

/* Infers the type from a default: 5 int, 0.1 real, yes bool, [1, 2] list of int; 0 when it cannot.
 */
static uint32_t infer_type(const struct orch_yaml *node)
{
    if (node->kind == ORCH_YAML_SCALAR)
        return orch_yaml_is_null(node) ? 0 : scalar_type(node);
    uint32_t type = 0;
    for (guint i = 0; node->kind == ORCH_YAML_LIST && i < node->items->len; i++) {
        const struct orch_yaml *item = node->items->pdata[i];
        uint32_t one = item->kind == ORCH_YAML_SCALAR ? scalar_type(item) : ORCH_STRING;
        bool numbers =
            (one == ORCH_INT && type == ORCH_REAL) || (one == ORCH_REAL && type == ORCH_INT);
        type = type == 0 || type == one ? one : numbers ? ORCH_REAL : ORCH_STRING;
    }
    return type ? ORCH_LIST | type : 0;
}

/* A value as the text of a row: lists become [a, "b c"]. NULL after a finding. */
static char *value_text(const struct orch_manifest_reader *reader, const struct orch_yaml *node,
                        const char *what)
{
    if (node->kind != ORCH_YAML_LIST) {
        const char *text = orch_manifest_read_text(reader, node, what);
        return g_strdup(text);
    }
    GString *out = g_string_new("[");
    for (guint i = 0; i < node->items->len; i++) {
        const char *text = orch_manifest_read_text(reader, node->items->pdata[i], what);
        if (!text) {
            g_string_free(out, TRUE);
            return NULL;
        }
        const char *quote = *text && !strpbrk(text, ",[]'\" \\") ? ""
                            : strchr(text, '"')                  ? "'"
                                                                 : "\"";
        g_string_append_printf(out, "%s%s%s%s", i ? ", " : "", quote, text, quote);
    }
    g_string_append_c(out, ']');
    return g_string_free(out, FALSE);
}

static bool read_type(const struct orch_manifest_reader *reader, const struct orch_yaml *node,
                      const char *name, uint32_t *out)
{
    g_autofree char *written = value_text(reader, node, "type"); /* [int] or list of int */
    if (!written)
        return false;
    *out = orch_type_parse(written);
    if (*out)
        return true;
    g_autofree char *known = g_strjoinv(", ", (char **)(uintptr_t)TYPES);
    g_autofree char *list = g_strdup_printf("known: %s, list of ...", known);
    g_autofree char *near = orch_suggest_hint(written, TYPES);
    orch_manifest_finding(reader, node, false, near ? near : list,
                          "parameter '%s': unknown type '%s'", name, written);
    return false;
}

static void read_choices(const struct orch_manifest_reader *reader, const struct orch_yaml *node,
                         struct orch_param_spec *spec)
{
    if ((spec->type & ~(uint32_t)ORCH_LIST) != ORCH_ENUM) {
        orch_manifest_finding(reader, node, false, "write type: enum",
                              "parameter '%s': only type 'enum' has 'choices'", spec->name);
        return;
    }
    if (node->kind != ORCH_YAML_LIST || node->items->len == 0) {
        orch_manifest_finding(reader, node, false, "for example choices: [sgd, adam]",
                              "parameter '%s': 'choices' must be a list with at least one word",
                              spec->name);
        return;
    }
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < node->items->len; i++) {
        const char *text = orch_manifest_read_text(reader, node->items->pdata[i], "a choice");
        if (text)
            g_ptr_array_add(words, g_strdup(text));
    }
    g_ptr_array_add(words, NULL);
    spec->choices = g_strdupv((char **)words->pdata);
}

/* Reads min, max or default into the row and checks it by the row's type. */
static void read_row_value(const struct orch_manifest_reader *reader, const struct orch_yaml *node,
                           const char *key, struct orch_param_spec *spec, char **out, bool is_bound)
{
    if (orch_yaml_is_null(node))
        return;
    g_autofree char *text = value_text(reader, node, key);
    if (!text)
        return;
    GError *error = NULL;
    g_autoptr(json_t) value = is_bound ? orch_value_parse_scalar(spec, text, &error)
                                       : orch_value_parse(spec, text, &error);
    if (!value) {
        g_prefix_error(&error, "%s of ", key);
        orch_manifest_finding_take(reader, node, error);
        return;
    }
    *out = g_steal_pointer(&text);
}

static bool type_has_bounds(uint32_t type)
{
    static const uint32_t numbers = 1u << ORCH_INT | 1u << ORCH_REAL | 1u << ORCH_DURATION |
                                    1u << ORCH_BYTES | 1u << ORCH_MONEY;
    return numbers >> (type & ~(uint32_t)ORCH_LIST) & 1u;
}

static void read_bounds(const struct orch_manifest_reader *reader, const struct orch_yaml *map,
                        struct orch_param_spec *spec)
{
    const struct orch_yaml *min = orch_yaml_get(map, "min"), *max = orch_yaml_get(map, "max");
    const struct orch_yaml *first = min ? min : max;
    if (!first)
        return;
    if (!type_has_bounds(spec->type)) {
        g_autofree char *type = orch_type_format(spec->type);
        orch_manifest_finding(reader, first, false, NULL,
                              "parameter '%s': type '%s' has no min and max", spec->name, type);
        return;
    }
    if (min)
        read_row_value(reader, min, "min", spec, &spec->min, true);
    if (max) /* checked against min, so that a maximum below the minimum is reported here */
        read_row_value(reader, max, "max", spec, &spec->max, true);
}

static void read_flags(const struct orch_manifest_reader *reader, const struct orch_yaml *map,
                       struct orch_param_spec *spec)
{
    const struct orch_yaml *node = orch_yaml_get(map, "optional");
    if (node && orch_manifest_read_bool(reader, node, "optional")) {
        spec->flags |= ORCH_PARAM_OPTIONAL;
        if (spec->def)
            orch_manifest_finding(reader, node, true, "remove 'optional'",
                                  "parameter '%s' has a default, so 'optional' changes nothing",
                                  spec->name);
    }
    node = orch_yaml_get(map, "neutral");
    if (node && orch_manifest_read_bool(reader, node, "neutral"))
        spec->flags |= ORCH_PARAM_NEUTRAL;
}

static const struct orch_yaml *get_given(const struct orch_yaml *map, const char *key)
{
    const struct orch_yaml *node = orch_yaml_get(map, key);
    return node && !orch_yaml_is_null(node) ? node : NULL;
}

/* The long form, {type: real, default: 0.1, ...}; false after a finding about its type. */
static bool parameter_type(const struct orch_manifest_reader *reader, const struct orch_yaml *key,
                           const struct orch_yaml *value, uint32_t *out)
{
    const bool is_map = value->kind == ORCH_YAML_MAP;
    const struct orch_yaml *type = is_map ? get_given(value, "type") : NULL;
    const struct orch_yaml *def = is_map ? get_given(value, "default") : value;
    if (type)
        return read_type(reader, type, key->text, out);
    if (is_map && get_given(value, "choices"))
        *out = def && def->kind == ORCH_YAML_LIST ? ORCH_LIST | ORCH_ENUM : ORCH_ENUM;
    else
        *out = def ? infer_type(def) : 0;
    if (*out == 0) {
        g_autofree char *hint =
            g_strdup_printf("as in %s: {type: real}, or %s: 0.1", key->text, key->text);
        orch_manifest_finding(reader, key, false, hint,
                              "parameter '%s' has neither a type nor a default that shows its type",
                              key->text);
    }
    return *out != 0;
}

static void read_parameter(struct orch_manifest_reader *reader, const struct orch_yaml *key,
                           const struct orch_yaml *value)
{
    const bool is_map = value->kind == ORCH_YAML_MAP;
    if (is_map) {
        g_autofree char *where = g_strdup_printf("parameter '%s'", key->text);
        orch_yaml_check_table(value, reader->file, where, ORCH_PARAMETER_KEYS, reader->diags);
    }
    uint32_t type = 0;
    bool is_typed = parameter_type(reader, key, value, &type);
    struct orch_param_spec *spec =
        orch_manifest_add_param(reader->manifest, key->text, is_typed ? type : ORCH_STRING);
    spec->keeps_text = true;
    if (!is_typed)
        return;
    const struct orch_yaml *choices = is_map ? orch_yaml_get(value, "choices") : NULL;
    if (choices)
        read_choices(reader, choices, spec);
    else if ((type & ~(uint32_t)ORCH_LIST) == ORCH_ENUM)
        orch_manifest_finding(reader, value, false, "for example choices: [sgd, adam]",
                              "parameter '%s': type 'enum' needs 'choices'", spec->name);
    if (is_map) {
        read_bounds(reader, value, spec);
        const struct orch_yaml *unit = orch_yaml_get(value, "unit");
        if (unit)
            orch_manifest_read_text_into(reader, unit, "unit", &spec->unit);
        const struct orch_yaml *label = orch_yaml_get(value, "label");
        if (label)
            orch_manifest_read_text_into(reader, label, "label", &spec->label);
        const struct orch_yaml *help = orch_yaml_get(value, "help");
        if (help)
            orch_manifest_read_text_into(reader, help, "help", &spec->help);
    }
    const struct orch_yaml *def = is_map ? orch_yaml_get(value, "default") : value;
    if (def && (spec->choices || (type & ~(uint32_t)ORCH_LIST) != ORCH_ENUM))
        read_row_value(reader, def, "default", spec, &spec->def, false);
    if (is_map)
        read_flags(reader, value, spec);
}

void orch_manifest_read_parameters(struct orch_manifest_reader *reader,
                                   const struct orch_yaml *node)
{
    if (!orch_manifest_check_is_map(reader, node, "parameters",
                                    "as in parameters: {lr: 0.1, epochs: 5}"))
        return;
    for (guint i = 0; i < node->items->len; i++) {
        const struct orch_yaml *key = node->keys->pdata[i];
        if (!orch_manifest_check_param_name(reader, key))
            continue;
        if (g_strv_contains(ORCH_TRIAL_VALUES, key->text))
            orch_manifest_finding(reader, key, true, "choose another name, unless this is intended",
                                  "parameter '%s' hides the trial's own value ${%s}", key->text,
                                  key->text);
        read_parameter(reader, key, node->items->pdata[i]);
    }
}
