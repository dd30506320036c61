/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings, scalars, names and texts with ${name} of a NAME.plugin file. */
#include "core/plugin/manifest_reader.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/value.h"

#include <stdarg.h>
#include <string.h>

void orch_manifest_finding(const struct orch_manifest_reader *reader, const struct orch_yaml *node,
                           bool warning, const char *hint, const char *format, ...)
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
void orch_manifest_finding_take(const struct orch_manifest_reader *reader,
                                const struct orch_yaml *node, GError *error)
{
    g_autofree char *what = orch_error_what(error);
    orch_manifest_finding(reader, node, false, orch_error_hint(error), "%s", what);
    g_error_free(error);
}

/* ---- scalars ------------------------------------------------------------------------------- */

/* Text of a scalar; NULL after a finding when the node is a list or a map. */
const char *orch_manifest_read_text(const struct orch_manifest_reader *reader,
                                    const struct orch_yaml *node, const char *what)
{
    if (node->kind == ORCH_YAML_SCALAR)
        return node->text;
    orch_manifest_finding(reader, node, false, NULL, "%s must be a single value, not a %s", what,
                          node->kind == ORCH_YAML_LIST ? "list" : "map");
    return NULL;
}

void orch_manifest_read_text_into(const struct orch_manifest_reader *reader,
                                  const struct orch_yaml *node, const char *what, char **out)
{
    const char *text = orch_yaml_is_null(node) ? NULL : orch_manifest_read_text(reader, node, what);
    if (text && *text) {
        g_free(*out);
        *out = g_strdup(text);
    }
}

bool orch_manifest_is_bool_word(const char *text)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off", NULL};
    return g_strv_contains(words, text);
}

bool orch_manifest_read_bool(const struct orch_manifest_reader *reader,
                             const struct orch_yaml *node, const char *what)
{
    const char *text = orch_manifest_read_text(reader, node, what);
    if (!text)
        return false;
    if (!orch_manifest_is_bool_word(text))
        orch_manifest_finding(reader, node, false, "write true or false",
                              "%s: '%s' is neither true nor false", what, text);
    return strcmp(text, "true") == 0 || strcmp(text, "yes") == 0 || strcmp(text, "on") == 0;
}

/* Reads a scalar by the rules of a recipe's values. Zero after a finding. */
int64_t orch_manifest_read_number(const struct orch_manifest_reader *reader,
                                  const struct orch_yaml *node, const char *name, uint32_t type,
                                  const char *min)
{
    char low[24];
    g_strlcpy(low, min, sizeof low);
    const struct orch_param_spec spec = {.name = (char *)(uintptr_t)name, .type = type, .min = low};
    const char *text = orch_manifest_read_text(reader, node, name);
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
    orch_manifest_finding_take(reader, node, error);
    return 0;
}

/* Index of a scalar's text in a table of words; `fallback` after a finding that names the nearest
 * word. */
unsigned orch_manifest_read_word(const struct orch_manifest_reader *reader,
                                 const struct orch_yaml *node, const char *what,
                                 const char *const *words, unsigned fallback)
{
    const char *text = orch_manifest_read_text(reader, node, what);
    if (!text)
        return fallback;
    for (unsigned i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    g_autofree char *known = g_strjoinv(", ", (char **)(uintptr_t)words);
    g_autofree char *near = orch_suggest_hint(text, words);
    g_autofree char *list = g_strdup_printf("known: %s", known);
    orch_manifest_finding(reader, node, false, near ? near : list, "unknown %s '%s'", what, text);
    return fallback;
}

/* ---- texts with ${name} ------------------------------------------------------------------- */

/* True when `name` is allowed in ${name}; otherwise sets `*out_hint` to the nearest allowed name.
 */
static bool name_is_known(const struct orch_manifest_reader *reader, const char *name,
                          bool with_reserved, char **out_hint)
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
    if (g_strv_contains(names, name) || (with_reserved && g_str_has_prefix(name, ORCH_BYTE_PREFIX)))
        return true;
    *out_hint = orch_suggest_hint(name, names);
    if (!*out_hint)
        *out_hint = g_strdup_printf("declare it: parameters: {%s: ...}; '$$' stands for '$'", name);
    return false;
}

/* Checks every ${name} of `text` and adds the names to `used` (a set; may be NULL). */
void orch_manifest_check_references(const struct orch_manifest_reader *reader,
                                    const struct orch_yaml *node, const char *text,
                                    const char *what, bool with_reserved, GHashTable *used)
{
    for (const char *p = strchr(text, '$'); p; p = strchr(p, '$')) {
        if (p[1] == '$') {
            p += 2;
            continue;
        }
        if (p[1] != '{') {
            orch_manifest_finding(reader, node, false, "write ${name}, or $$ for '$' itself",
                                  "%s: '$' without a name in '%s'", what, text);
            return;
        }
        const char *end = strchr(p, '}');
        if (!end) {
            orch_manifest_finding(reader, node, false, "close it: ${name}",
                                  "%s: '${' without '}' in '%s'", what, text);
            return;
        }
        g_autofree char *name = g_strndup(p + 2, (size_t)(end - p - 2));
        g_autofree char *hint = NULL;
        if (!name_is_known(reader, name, with_reserved, &hint))
            orch_manifest_finding(reader, node, false, hint, "%s: unknown name '${%s}'", what,
                                  name);
        else if (used)
            g_hash_table_add(used, g_steal_pointer(&name));
        p = end + 1;
    }
}
bool orch_manifest_check_param_name(const struct orch_manifest_reader *reader,
                                    const struct orch_yaml *key)
{
    if (orch_setting_name_is_valid(key->text))
        return true;
    orch_manifest_finding(
        reader, key, false,
        "begin with a letter or '_'; letters, digits and _ . - / @ + may follow, 100 bytes at most",
        "parameter name '%s' is not valid", key->text);
    return false;
}

/* A name of a metric or artifact; false after a finding. */
bool orch_manifest_check_name(const struct orch_manifest_reader *reader,
                              const struct orch_yaml *key, const char *what)
{
    if (orch_name_is_valid(key->text, false))
        return true;
    orch_manifest_finding(
        reader, key, false,
        "begin with a lower-case letter; letters, digits and '_' may follow, 63 characters at most",
        "%s name '%s' is not valid", what, key->text);
    return false;
}

bool orch_manifest_check_is_map(const struct orch_manifest_reader *reader,
                                const struct orch_yaml *node, const char *what, const char *hint)
{
    if (node->kind == ORCH_YAML_MAP)
        return true;
    if (!orch_yaml_is_null(node))
        orch_manifest_finding(reader, node, false, hint, "%s must be a map (name: value)", what);
    return false;
}
