/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads NAME.plugin, the YAML file that makes any program a plugin (docs/plugins.md has the
 * format). One table lists each key and the function that reads its value, ordered so that later
 * entries may refer to earlier ones (a command to its parameters). Every finding has the location
 * of its node, and all findings are made in one pass. */
#include "core/plugin/plugins.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/value.h"
#include "lib/yaml/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct reader {
    const char *file;
    struct orch_diags *diags;
    struct orch_manifest *manifest;
    const struct orch_yaml *root;
};

static const char *const TYPES[] = {"bool",     "int",      "real",  "string", "enum",   "path",
                                    "artifact", "duration", "bytes", "money",  "secret", NULL};

static void finding(const struct reader *reader, const struct orch_yaml *node, bool warning,
                    const char *hint, const char *format, ...) G_GNUC_PRINTF(5, 6);

static void finding(const struct reader *reader, const struct orch_yaml *node, bool warning,
                    const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    orch_diags_add(reader->diags, warning, reader->file, node ? node->line : 0,
                   node ? node->column : 0, hint, "%s", what);
}

/* Adds an error from a lower layer as a finding, with its hint line as the hint. Takes over
 * `error`. */
static void finding_take(const struct reader *reader, const struct orch_yaml *node, GError *error)
{
    g_autofree char *what = orch_error_what(error);
    finding(reader, node, false, orch_error_hint(error), "%s", what);
    g_error_free(error);
}

/* ---- scalars ------------------------------------------------------------------------------- */

/* Text of a scalar; NULL after a finding when the node is a list or a map. */
static const char *read_text(const struct reader *reader, const struct orch_yaml *node,
                             const char *what)
{
    if (node->kind == ORCH_YAML_SCALAR)
        return node->text;
    finding(reader, node, false, NULL, "%s must be a single value, not a %s", what,
            node->kind == ORCH_YAML_LIST ? "list" : "map");
    return NULL;
}

static void read_text_into(const struct reader *reader, const struct orch_yaml *node,
                           const char *what, char **out)
{
    const char *text = orch_yaml_is_null(node) ? NULL : read_text(reader, node, what);
    if (text && *text) {
        g_free(*out);
        *out = g_strdup(text);
    }
}

static bool is_bool_word(const char *text)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off", NULL};
    return g_strv_contains(words, text);
}

static bool read_bool(const struct reader *reader, const struct orch_yaml *node, const char *what)
{
    const char *text = read_text(reader, node, what);
    if (!text)
        return false;
    if (!is_bool_word(text))
        finding(reader, node, false, "write true or false", "%s: '%s' is neither true nor false",
                what, text);
    return strcmp(text, "true") == 0 || strcmp(text, "yes") == 0 || strcmp(text, "on") == 0;
}

/* Reads a scalar by the rules of a recipe's values. Zero after a finding. */
static int64_t read_number(const struct reader *reader, const struct orch_yaml *node,
                           const char *name, uint32_t type, const char *min)
{
    char low[24];
    g_strlcpy(low, min, sizeof low);
    const struct orch_param_spec spec = {.name = (char *)(uintptr_t)name, .type = type, .min = low};
    const char *text = read_text(reader, node, name);
    if (!text)
        return 0;
    GError *error = NULL;
    g_autoptr(json_t) value = orch_value_parse_scalar(&spec, text, &error);
    if (value)
        return json_integer_value(value);
    static const char prefix[] = "parameter ";
    if (g_str_has_prefix(error->message, prefix))
        memmove(error->message, error->message + strlen(prefix),
                strlen(error->message + strlen(prefix)) + 1);
    finding_take(reader, node, error);
    return 0;
}

/* Index of a scalar's text in a table of words; `fallback` after a finding that names the nearest
 * word. */
static unsigned read_word(const struct reader *reader, const struct orch_yaml *node,
                          const char *what, const char *const *words, unsigned fallback)
{
    const char *text = read_text(reader, node, what);
    if (!text)
        return fallback;
    for (unsigned i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    g_autofree char *known = g_strjoinv(", ", (char **)(uintptr_t)words);
    g_autofree char *near = orch_suggest_hint(text, words);
    g_autofree char *list = g_strdup_printf("known: %s", known);
    finding(reader, node, false, near ? near : list, "unknown %s '%s'", what, text);
    return fallback;
}

/* ---- texts with ${name} ------------------------------------------------------------------- */

/* True when `name` is allowed in ${name}; otherwise sets `*out_hint` to the nearest allowed name.
 */
static bool name_is_known(const struct reader *reader, const char *name, bool with_reserved,
                          char **out_hint)
{
    g_autoptr(GPtrArray) known = g_ptr_array_new();
    for (guint i = 0; i < reader->manifest->params->len; i++) {
        const struct orch_param_spec *spec = reader->manifest->params->pdata[i];
        g_ptr_array_add(known, spec->name);
    }
    for (unsigned i = 0; with_reserved && ORCH_TRIAL_VALUES[i]; i++)
        g_ptr_array_add(known, (char *)(uintptr_t)ORCH_TRIAL_VALUES[i]);
    g_ptr_array_add(known, NULL);
    const char *const *names = (const char *const *)known->pdata;
    if (g_strv_contains(names, name))
        return true;
    *out_hint = orch_suggest_hint(name, names);
    if (!*out_hint)
        *out_hint = g_strdup_printf("declare it: parameters: {%s: ...}; '$$' stands for '$'", name);
    return false;
}

/* Checks every ${name} of `text` and adds the names to `used` (a set; may be NULL). */
static void check_references(const struct reader *reader, const struct orch_yaml *node,
                             const char *text, const char *what, bool with_reserved,
                             GHashTable *used)
{
    for (const char *p = strchr(text, '$'); p; p = strchr(p, '$')) {
        if (p[1] == '$') {
            p += 2;
            continue;
        }
        if (p[1] != '{') {
            finding(reader, node, false, "write ${name}, or $$ for '$' itself",
                    "%s: '$' without a name in '%s'", what, text);
            return;
        }
        const char *end = strchr(p, '}');
        if (!end) {
            finding(reader, node, false, "close it: ${name}", "%s: '${' without '}' in '%s'", what,
                    text);
            return;
        }
        g_autofree char *name = g_strndup(p + 2, (size_t)(end - p - 2));
        g_autofree char *hint = NULL;
        if (!name_is_known(reader, name, with_reserved, &hint))
            finding(reader, node, false, hint, "%s: unknown name '${%s}'", what, name);
        else if (used)
            g_hash_table_add(used, g_steal_pointer(&name));
        p = end + 1;
    }
}

/* ---- head --------------------------------------------------------------------------------- */

static void read_name(struct reader *reader, const struct orch_yaml *node)
{
    const char *text = read_text(reader, node, "plugin");
    if (!text || strcmp(text, reader->manifest->name) == 0)
        return;
    g_autofree char *hint = g_strdup_printf("rename the file to '%s.plugin', or write plugin: %s",
                                            text, reader->manifest->name);
    finding(reader, node, false, hint, "plugin is named '%s', but its file is '%s.plugin'", text,
            reader->manifest->name);
}

static void read_version(struct reader *reader, const struct orch_yaml *node)
{
    read_text_into(reader, node, "version", &reader->manifest->version);
    unsigned parts[3];
    char rest;
    if (sscanf(reader->manifest->version, "%9u.%9u.%9u%c", &parts[0], &parts[1], &parts[2],
               &rest) != 3)
        finding(reader, node, false, "write three numbers, as in 1.0.0",
                "version '%s' is not of the form N.N.N", reader->manifest->version);
}

static void read_about(struct reader *reader, const struct orch_yaml *node)
{
    read_text_into(reader, node, "about", &reader->manifest->summary);
}

static void read_licence(struct reader *reader, const struct orch_yaml *node)
{
    read_text_into(reader, node, "licence", &reader->manifest->licence);
}

static void read_timing(struct reader *reader, const struct orch_yaml *node)
{
    if (read_bool(reader, node, "timing"))
        reader->manifest->flags |= ORCH_PLUGIN_TIMING;
}

static void read_metrics_from(struct reader *reader, const struct orch_yaml *node)
{
    static const char *const words[] = {"protocol", "lines", "regex", NULL};
    reader->manifest->metrics_from =
        (enum orch_metrics_from)read_word(reader, node, "metrics_from", words, ORCH_METRICS_LINES);
}

static void read_needs(struct reader *reader, const struct orch_yaml *node)
{
    static const char *const keys[] = {"gpus", "memory", "threads", "mpi", NULL};
    struct orch_needs *needs = &reader->manifest->needs;
    if (node->kind != ORCH_YAML_MAP) {
        finding(reader, node, false, "as in needs: {gpus: 1, memory: 1GiB}", "needs must be a map");
        return;
    }
    orch_yaml_check_keys(node, reader->file, "needs", keys, reader->diags);
    const struct orch_yaml *value = orch_yaml_get(node, "gpus");
    if (value)
        needs->gpus = (uint32_t)read_number(reader, value, "gpus", ORCH_INT, "0");
    value = orch_yaml_get(node, "threads");
    if (value)
        needs->threads = (uint32_t)read_number(reader, value, "threads", ORCH_INT, "0");
    value = orch_yaml_get(node, "memory");
    if (value)
        needs->memory_bytes = (uint64_t)read_number(reader, value, "memory", ORCH_BYTES, "0");
    value = orch_yaml_get(node, "mpi");
    if (value)
        needs->mpi = read_bool(reader, value, "mpi");
}

/* ---- parameters --------------------------------------------------------------------------- */

static uint32_t scalar_type(const struct orch_yaml *node)
{
    double real;
    int64_t whole;
    if (node->quoted)
        return ORCH_STRING;
    if (is_bool_word(node->text))
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
static char *value_text(const struct reader *reader, const struct orch_yaml *node, const char *what)
{
    if (node->kind != ORCH_YAML_LIST) {
        const char *text = read_text(reader, node, what);
        return g_strdup(text);
    }
    GString *out = g_string_new("[");
    for (guint i = 0; i < node->items->len; i++) {
        const char *text = read_text(reader, node->items->pdata[i], what);
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

static bool read_type(const struct reader *reader, const struct orch_yaml *node, const char *name,
                      uint32_t *out)
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
    finding(reader, node, false, near ? near : list, "parameter '%s': unknown type '%s'", name,
            written);
    return false;
}

static void read_choices(const struct reader *reader, const struct orch_yaml *node,
                         struct orch_param_spec *spec)
{
    if ((spec->type & ~(uint32_t)ORCH_LIST) != ORCH_ENUM) {
        finding(reader, node, false, "write type: enum",
                "parameter '%s': choices are for type enum", spec->name);
        return;
    }
    if (node->kind != ORCH_YAML_LIST || node->items->len == 0) {
        finding(reader, node, false, "as in choices: [sgd, adam]",
                "parameter '%s': choices must be a list with at least one word", spec->name);
        return;
    }
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < node->items->len; i++) {
        const char *text = read_text(reader, node->items->pdata[i], "a choice");
        if (text)
            g_ptr_array_add(words, g_strdup(text));
    }
    g_ptr_array_add(words, NULL);
    spec->choices = g_strdupv((char **)words->pdata);
}

/* Reads min, max or default into the row and checks it by the row's type. */
static void read_row_value(const struct reader *reader, const struct orch_yaml *node,
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
        finding_take(reader, node, error);
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

static void read_bounds(const struct reader *reader, const struct orch_yaml *map,
                        struct orch_param_spec *spec)
{
    const struct orch_yaml *min = orch_yaml_get(map, "min"), *max = orch_yaml_get(map, "max");
    const struct orch_yaml *first = min ? min : max;
    if (!first)
        return;
    if (!type_has_bounds(spec->type)) {
        g_autofree char *type = orch_type_format(spec->type);
        finding(reader, first, false, NULL, "parameter '%s': type %s has no bounds", spec->name,
                type);
        return;
    }
    if (min)
        read_row_value(reader, min, "min", spec, &spec->min, true);
    if (max) /* checked against min, so that a maximum below the minimum is reported here */
        read_row_value(reader, max, "max", spec, &spec->max, true);
}

static void read_flags(const struct reader *reader, const struct orch_yaml *map,
                       struct orch_param_spec *spec)
{
    const struct orch_yaml *node = orch_yaml_get(map, "optional");
    if (node && read_bool(reader, node, "optional")) {
        spec->flags |= ORCH_PARAM_OPTIONAL;
        if (spec->def)
            finding(reader, node, true, "drop one of the two",
                    "parameter '%s' has a default: 'optional' changes nothing", spec->name);
    }
    node = orch_yaml_get(map, "neutral");
    if (node && read_bool(reader, node, "neutral"))
        spec->flags |= ORCH_PARAM_NEUTRAL;
}

static const struct orch_yaml *get_given(const struct orch_yaml *map, const char *key)
{
    const struct orch_yaml *node = orch_yaml_get(map, key);
    return node && !orch_yaml_is_null(node) ? node : NULL;
}

/* The long form, {type: real, default: 0.1, ...}; false after a finding about its type. */
static bool parameter_type(const struct reader *reader, const struct orch_yaml *key,
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
        finding(reader, key, false, hint,
                "parameter '%s' has no type, and no default that tells it", key->text);
    }
    return *out != 0;
}

static void read_parameter(struct reader *reader, const struct orch_yaml *key,
                           const struct orch_yaml *value)
{
    static const char *const keys[] = {"type", "default", "min",      "max",     "unit",
                                       "help", "choices", "optional", "neutral", NULL};
    const bool is_map = value->kind == ORCH_YAML_MAP;
    if (is_map) {
        g_autofree char *where = g_strdup_printf("parameter '%s'", key->text);
        orch_yaml_check_keys(value, reader->file, where, keys, reader->diags);
    }
    uint32_t type = 0;
    bool is_typed = parameter_type(reader, key, value, &type);
    struct orch_param_spec *spec =
        orch_manifest_add_param(reader->manifest, key->text, is_typed ? type : ORCH_STRING);
    if (!is_typed)
        return;
    const struct orch_yaml *choices = is_map ? orch_yaml_get(value, "choices") : NULL;
    if (choices)
        read_choices(reader, choices, spec);
    else if ((type & ~(uint32_t)ORCH_LIST) == ORCH_ENUM)
        finding(reader, value, false, "as in choices: [sgd, adam]",
                "parameter '%s': type enum without choices", spec->name);
    if (is_map) {
        read_bounds(reader, value, spec);
        const struct orch_yaml *unit = orch_yaml_get(value, "unit");
        if (unit)
            read_text_into(reader, unit, "unit", &spec->unit);
        const struct orch_yaml *help = orch_yaml_get(value, "help");
        if (help)
            read_text_into(reader, help, "help", &spec->help);
    }
    const struct orch_yaml *def = is_map ? orch_yaml_get(value, "default") : value;
    if (def && (spec->choices || (type & ~(uint32_t)ORCH_LIST) != ORCH_ENUM))
        read_row_value(reader, def, "default", spec, &spec->def, false);
    if (is_map)
        read_flags(reader, value, spec);
}

/* A name of a parameter, metric or artifact; false after a finding. */
static bool check_name(const struct reader *reader, const struct orch_yaml *key, const char *what)
{
    if (orch_name_is_valid(key->text, false))
        return true;
    finding(reader, key, false,
            "a lower-case letter, then letters, digits and '_', 63 characters at most",
            "%s name '%s' is not valid", what, key->text);
    return false;
}

static bool check_is_map(const struct reader *reader, const struct orch_yaml *node,
                         const char *what, const char *hint)
{
    if (node->kind == ORCH_YAML_MAP)
        return true;
    if (!orch_yaml_is_null(node))
        finding(reader, node, false, hint, "%s must be a map of names", what);
    return false;
}

static void read_parameters(struct reader *reader, const struct orch_yaml *node)
{
    if (!check_is_map(reader, node, "parameters", "as in parameters: {lr: 0.1, epochs: 5}"))
        return;
    for (guint i = 0; i < node->items->len; i++) {
        const struct orch_yaml *key = node->keys->pdata[i];
        if (!check_name(reader, key, "parameter"))
            continue;
        if (g_strv_contains(ORCH_TRIAL_VALUES, key->text))
            finding(reader, key, true, "choose another name, unless that is what you want",
                    "parameter '%s' takes the place of the trial's own ${%s}", key->text,
                    key->text);
        read_parameter(reader, key, node->items->pdata[i]);
    }
}

/* ---- metrics and artifacts ---------------------------------------------------------------- */

static enum orch_better read_better(const struct reader *reader, const struct orch_yaml *node)
{
    static const char *const words[] = {"none", "min", "max", NULL};
    if (orch_yaml_is_null(node))
        return ORCH_BETTER_NONE;
    return (enum orch_better)read_word(reader, node, "better", words, ORCH_BETTER_NONE);
}

/* Reads the regular expression of a metric, which must compile and have exactly one group, the
 * value. */
static void read_pattern(const struct reader *reader, const struct orch_yaml *node,
                         struct orch_metric_spec *spec)
{
    read_text_into(reader, node, "pattern", &spec->pattern);
    if (!spec->pattern)
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(GRegex) regex = g_regex_new(spec->pattern, 0, 0, &error);
    if (!regex)
        finding(reader, node, false, NULL, "metric '%s': %s", spec->name, error->message);
    else if (g_regex_get_capture_count(regex) < 1)
        finding(reader, node, false, "put the number in parentheses, as in 'loss=([0-9.]+)'",
                "metric '%s': its pattern has no group", spec->name);
    if (reader->manifest->metrics_from != ORCH_METRICS_REGEX)
        finding(reader, node, true, "write metrics_from: regex, or drop the pattern",
                "metric '%s': its pattern is not used", spec->name);
}

static void read_metric(struct reader *reader, const struct orch_yaml *key,
                        const struct orch_yaml *value)
{
    static const char *const keys[] = {"unit", "better", "step", "help", "pattern", NULL};
    struct orch_metric_spec *spec = orch_manifest_add_metric(reader->manifest, key->text);
    if (value->kind != ORCH_YAML_MAP) {
        spec->better = read_better(reader, value);
    } else {
        g_autofree char *where = g_strdup_printf("metric '%s'", key->text);
        orch_yaml_check_keys(value, reader->file, where, keys, reader->diags);
        const struct {
            const char *key;
            char **out;
        } texts[] = {{"unit", &spec->unit}, {"step", &spec->step_unit}, {"help", &spec->help}};
        for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
            const struct orch_yaml *node = orch_yaml_get(value, texts[i].key);
            if (node)
                read_text_into(reader, node, texts[i].key, texts[i].out);
        }
        const struct orch_yaml *better = orch_yaml_get(value, "better");
        spec->better = better ? read_better(reader, better) : ORCH_BETTER_NONE;
        const struct orch_yaml *pattern = orch_yaml_get(value, "pattern");
        if (pattern)
            read_pattern(reader, pattern, spec);
    }
    if (reader->manifest->metrics_from == ORCH_METRICS_REGEX && !spec->pattern)
        finding(reader, key, false, "as in pattern: 'loss=([0-9.]+)'",
                "metric '%s' has no pattern, but metrics_from is regex", spec->name);
}

static void read_metrics(struct reader *reader, const struct orch_yaml *node)
{
    if (node->kind == ORCH_YAML_SCALAR && strcmp(node->text, "any") == 0) {
        reader->manifest->any_metric = true;
        if (reader->manifest->metrics_from == ORCH_METRICS_REGEX)
            finding(reader, node, false,
                    "declare each with its pattern, or write metrics_from: lines",
                    "metrics: any finds nothing with metrics_from: regex");
        return;
    }
    if (node->kind == ORCH_YAML_SCALAR && strcmp(node->text, "any") == 0) {
        reader->manifest->any_metric = true;
        return;
    }
    if (!check_is_map(reader, node, "metrics",
                      "as in metrics: {loss: min, accuracy: max}, or metrics: any"))
        return;
    for (guint i = 0; i < node->items->len; i++) {
        const struct orch_yaml *key = node->keys->pdata[i];
        if (check_name(reader, key, "metric"))
            read_metric(reader, key, node->items->pdata[i]);
    }
}

/* An artifact must be in the working folder: its path is not absolute and does not leave the
 * folder. */
static void check_artifact_path(const struct reader *reader, const struct orch_yaml *node,
                                const struct orch_artifact_spec *spec)
{
    g_auto(GStrv) parts = g_strsplit(spec->path, "/", -1);
    if (g_path_is_absolute(spec->path) || g_strv_contains((const char *const *)parts, ".."))
        finding(reader, node, false, "give a path inside the folder that the program starts in",
                "artifact '%s': '%s' lies outside of the working folder", spec->name, spec->path);
}

static void read_artifact(struct reader *reader, const struct orch_yaml *key,
                          const struct orch_yaml *value)
{
    static const char *const keys[] = {"path", "help", NULL};
    struct orch_artifact_spec *spec = orch_manifest_add_artifact(reader->manifest, key->text);
    const struct orch_yaml *path = value;
    if (value->kind == ORCH_YAML_MAP) {
        g_autofree char *where = g_strdup_printf("artifact '%s'", key->text);
        orch_yaml_check_keys(value, reader->file, where, keys, reader->diags);
        const struct orch_yaml *help = orch_yaml_get(value, "help");
        if (help)
            read_text_into(reader, help, "help", &spec->help);
        path = orch_yaml_get(value, "path");
    }
    if (path)
        read_text_into(reader, path, "path", &spec->path);
    if (spec->path)
        check_artifact_path(reader, path, spec);
    else if (reader->manifest->metrics_from != ORCH_METRICS_PROTOCOL)
        finding(reader, key, false, "as in weights: weights.json", "artifact '%s' has no path",
                spec->name);
}

static void read_artifacts(struct reader *reader, const struct orch_yaml *node)
{
    if (!check_is_map(reader, node, "artifacts", "as in artifacts: {weights: weights.json}"))
        return;
    for (guint i = 0; i < node->items->len; i++) {
        const struct orch_yaml *key = node->keys->pdata[i];
        if (check_name(reader, key, "artifact"))
            read_artifact(reader, key, node->items->pdata[i]);
    }
}

static void read_cost(struct reader *reader, const struct orch_yaml *node)
{
    static const char *const keys[] = {"network", "precision", "framework", "input",
                                       "images",  "batch",     "workers",   "classes",
                                       "epochs",  "training",  NULL};
    if (!check_is_map(reader, node, "cost", "as in cost: {network: \"${net}\", batch: 64}"))
        return;
    orch_yaml_check_keys(node, reader->file, "cost", keys, reader->diags);
    reader->manifest->cost = json_object();
    for (guint i = 0; i < node->items->len; i++) {
        const struct orch_yaml *key = node->keys->pdata[i];
        const char *text = read_text(reader, node->items->pdata[i], key->text);
        if (!text)
            continue;
        check_references(reader, node->items->pdata[i], text, "cost", false, NULL);
        json_object_set_new(reader->manifest->cost, key->text, json_string(text));
    }
}

/* ---- command ------------------------------------------------------------------------------ */

/* Warns about shell syntax, because such words are passed on literally, which is rarely intended.
 */
static void warn_of_shell_words(const struct reader *reader, const struct orch_yaml *node,
                                char **argv)
{
    static const char *const words[] = {"|", "||", "&&", ";", ">", ">>", "<", "2>&1", "&", NULL};
    for (; *argv; argv++) {
        if (g_strv_contains(words, *argv) || **argv == '"' || **argv == '\'') {
            finding(reader, node, true,
                    "write a list, [program, argument, ...]; for a shell: [sh, -c, \"...\"]",
                    "command: no shell reads it: %s is passed on as it stands", *argv);
            return;
        }
    }
}

static char **command_words(const struct reader *reader, const struct orch_yaml *node)
{
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    if (node->kind == ORCH_YAML_LIST) {
        for (guint i = 0; i < node->items->len; i++) {
            const char *text = read_text(reader, node->items->pdata[i], "a word of the command");
            g_ptr_array_add(words, g_strdup(text ? text : ""));
        }
    } else {
        g_auto(GStrv) parts = g_strsplit_set(node->text, " \t\r\n", -1);
        for (char **part = parts; *part; part++)
            if (**part)
                g_ptr_array_add(words, g_strdup(*part));
    }
    g_ptr_array_add(words, NULL);
    char **argv = (char **)g_ptr_array_steal(words, NULL);
    if (node->kind == ORCH_YAML_SCALAR)
        warn_of_shell_words(reader, node, argv);
    return argv;
}

/* Warns about parameters that are never passed to the program, because sweeping them has no effect.
 */
static void warn_of_unused(const struct reader *reader, GHashTable *used)
{
    const struct orch_yaml *rows = orch_yaml_get(reader->root, "parameters");
    if (reader->manifest->metrics_from == ORCH_METRICS_PROTOCOL)
        return; /* it receives all parameters in the 'run' message */
    for (guint i = 0; i < reader->manifest->params->len; i++) {
        const struct orch_param_spec *spec = reader->manifest->params->pdata[i];
        if (g_hash_table_contains(used, spec->name))
            continue;
        g_autofree char *hint =
            g_strdup_printf("pass it on: --%s, \"${%s}\"", spec->name, spec->name);
        finding(reader, orch_yaml_get_key(rows, spec->name), true, hint,
                "parameter '%s' is not in the command: it changes nothing", spec->name);
    }
}

static void read_command(struct reader *reader, const struct orch_yaml *node)
{
    if (node->kind == ORCH_YAML_MAP) {
        finding(reader, node, false, "as in command: [python3, train.py, --lr, \"${lr}\"]",
                "command must be a list of words, or one line");
        return;
    }
    reader->manifest->argv = command_words(reader, node);
    if (!reader->manifest->argv[0] || !*reader->manifest->argv[0]) {
        finding(reader, node, false, "as in command: [python3, train.py, --lr, \"${lr}\"]",
                "command is empty");
        return;
    }
    g_autoptr(GHashTable) used = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; reader->manifest->argv[i]; i++) {
        const struct orch_yaml *word = node->kind == ORCH_YAML_LIST ? node->items->pdata[i] : node;
        check_references(reader, word, reader->manifest->argv[i], "command", true, used);
    }
    warn_of_unused(reader, used);
}

/* ---- whole file --------------------------------------------------------------------------- */

static const struct {
    const char *key;
    void (*read)(struct reader *reader, const struct orch_yaml *node);
} FIELDS[] = {
    {"plugin", read_name},
    {"version", read_version},
    {"about", read_about},
    {"licence", read_licence},
    {"timing", read_timing},
    {"needs", read_needs},
    {"metrics_from", read_metrics_from},
    {"parameters", read_parameters},
    {"metrics", read_metrics},
    {"artifacts", read_artifacts},
    {"cost", read_cost},
    {"command", read_command},
};

static void read_fields(struct reader *reader)
{
    const char *known[G_N_ELEMENTS(FIELDS) + 1] = {NULL};
    for (unsigned i = 0; i < G_N_ELEMENTS(FIELDS); i++)
        known[i] = FIELDS[i].key;
    orch_yaml_check_keys(reader->root, reader->file, "a plugin's manifest", known, reader->diags);
    for (unsigned i = 0; i < G_N_ELEMENTS(FIELDS); i++) {
        const struct orch_yaml *node = orch_yaml_get(reader->root, FIELDS[i].key);
        if (node && (!orch_yaml_is_null(node) || strcmp(FIELDS[i].key, "command") == 0))
            FIELDS[i].read(reader, node);
    }
    if (!orch_yaml_get(reader->root, "command"))
        finding(reader, reader->root, false, "as in command: [python3, train.py, --lr, \"${lr}\"]",
                "a plugin's manifest needs 'command'");
}

/* The name of the file without its ending; NULL after a finding. */
static char *name_from_path(const char *path, struct orch_diags *diags)
{
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *name = g_str_has_suffix(base, ".plugin")
                                ? g_strndup(base, strlen(base) - strlen(".plugin"))
                                : g_strdup(base);
    if (orch_name_is_valid(name, true))
        return g_steal_pointer(&name);
    orch_diags_add(diags, false, path, 0, 0,
                   "rename the file: a lower-case letter, then letters, digits, '_' and '-'",
                   "plugin name '%s' is not valid", name);
    return NULL;
}

static struct orch_manifest *manifest_begin(const char *path, char *name)
{
    struct orch_manifest *manifest = orch_manifest_new();
    manifest->kind = ORCH_PLUGIN_WRAPPED;
    manifest->path = orch_path_absolute(path, NULL);
    manifest->name = name;
    manifest->version = g_strdup("1.0.0");
    manifest->metrics_from = ORCH_METRICS_LINES;
    return manifest;
}

struct orch_manifest *orch_manifest_load(const char *path, struct orch_diags *diags)
{
    const unsigned errors_before = diags->error_count;
    char *name = name_from_path(path, diags);
    struct orch_yaml *root = name ? orch_yaml_parse_file(path, diags) : NULL;
    if (!root) {
        g_free(name);
        return NULL;
    }
    struct reader reader = {.file = path, .diags = diags, .root = root};
    reader.manifest = manifest_begin(path, name);
    if (root->kind == ORCH_YAML_MAP)
        read_fields(&reader);
    else
        finding(&reader, root, false, "begin with 'plugin: NAME' and 'command: [...]'",
                "a plugin's manifest must be a map");
    if (diags->error_count == errors_before) {
        g_autofree char *problem = orch_manifest_problem(reader.manifest);
        if (problem)
            finding(&reader, root, false, NULL, "%s", problem);
    }
    orch_yaml_free(root);
    if (diags->error_count == errors_before)
        return reader.manifest;
    orch_manifest_free(reader.manifest);
    return NULL;
}
