/* SPDX-License-Identifier: MIT */
/* Values as text: for people, and for the command line of a wrapped program. */
#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/wire/value.h"

#include <math.h>
#include <string.h>

static char *real_text(double value)
{
    char number[ORCH_REAL_CHARS];
    return g_strdup(orch_real_format(value, number));
}

/* ---- without a parameter row ------------------------------------------------------------------
 */

static char *join_list(const json_t *list, const char *separator, char *(*format)(const json_t *))
{
    GString *out = g_string_new(NULL);
    for (size_t i = 0; i < json_array_size(list); i++) {
        g_autofree char *item = format(json_array_get(list, i));
        g_string_append_printf(out, "%s%s", i ? separator : "", item);
    }
    return g_string_free(out, FALSE);
}

char *orch_value_format_json(const json_t *value)
{
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_STRING:
        return g_strdup(json_string_value(value));
    case JSON_INTEGER:
        return g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    case JSON_REAL:
        return real_text(json_real_value(value));
    case JSON_TRUE:
        return g_strdup("true");
    case JSON_FALSE:
        return g_strdup("false");
    case JSON_NULL:
        return g_strdup("none");
    case JSON_ARRAY: {
        g_autofree char *inner = join_list(value, ", ", orch_value_format_json);
        return g_strdup_printf("[%s]", inner);
    }
    default: {
        char *dumped = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);
        char *text = g_strdup(dumped ? dumped : "{}");
        free(dumped);
        return text;
    }
    }
}

/* ---- by type ----------------------------------------------------------------------------------
 */

/* Exact for whole seconds: "5 min", "1 h 30 min"; otherwise "250 ms", "1.5 s". */
static char *duration_text(double seconds)
{
    static const struct {
        const char *unit;
        int64_t seconds;
    } parts[] = {{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}};
    if (!(seconds >= 60 && seconds < 1e12 && floor(seconds) == seconds)) {
        bool in_ms = seconds > 0 && seconds < 1 && seconds >= 1e-3;
        g_autofree char *number = real_text(in_ms ? seconds * 1e3 : seconds);
        return g_strdup_printf("%s %s", number, in_ms ? "ms" : "s");
    }
    GString *out = g_string_new(NULL);
    int64_t rest = (int64_t)seconds;
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        int64_t count = rest / parts[i].seconds;
        rest %= parts[i].seconds;
        if (count)
            g_string_append_printf(out, "%s%" G_GINT64_FORMAT " %s", out->len ? " " : "", count,
                                   parts[i].unit);
    }
    return g_string_free(out, FALSE);
}

static char *money_text(double dollars)
{
    if (fabs(dollars) < 1e12 && fabs(dollars * 100 - round(dollars * 100)) < 1e-6)
        return g_strdup_printf("$%.2f", dollars);
    g_autofree char *number = real_text(dollars);
    return g_strconcat("$", number, NULL);
}

static char *scalar_text(uint32_t type, const json_t *value)
{
    if (type == ORCH_SECRET && json_is_string(value))
        return g_strdup("(secret)");
    if (type == ORCH_DURATION && json_is_number(value))
        return duration_text(json_number_value(value));
    if (type == ORCH_BYTES && json_is_integer(value))
        return orch_bytes_format(json_integer_value(value));
    if (type == ORCH_MONEY && json_is_number(value))
        return money_text(json_number_value(value));
    return orch_value_format_json(value);
}

char *orch_value_format(const struct orch_param_spec *spec, const json_t *value)
{
    uint32_t type = spec->type & ~(uint32_t)ORCH_LIST;
    if (!json_is_array(value))
        return scalar_text(type, value);
    GString *out = g_string_new("[");
    for (size_t i = 0; i < json_array_size(value); i++) {
        g_autofree char *item = scalar_text(type, json_array_get(value, i));
        g_string_append_printf(out, "%s%s", i ? ", " : "", item);
    }
    g_string_append_c(out, ']');
    return g_string_free(out, FALSE);
}

/* ---- command lines ----------------------------------------------------------------------------
 */

/* For programs: lists joined by ',', "" for null. */
static char *machine_text(const json_t *value)
{
    if (json_is_null(value))
        return g_strdup("");
    return json_is_array(value) ? join_list(value, ",", machine_text)
                                : orch_value_format_json(value);
}

static bool append_value(GString *out, const char *name, const json_t *params, GError **error)
{
    const char *hex = name + strlen(ORCH_BYTE_PREFIX);
    if (g_str_has_prefix(name, ORCH_BYTE_PREFIX) && g_ascii_isxdigit(hex[0]) &&
        g_ascii_isxdigit(hex[1]) && !hex[2]) {
        g_string_append_c(out,
                          (char)(g_ascii_xdigit_value(hex[0]) << 4 | g_ascii_xdigit_value(hex[1])));
        return true;
    }
    const json_t *value = json_object_get(params, name);
    if (value) {
        g_autofree char *text = machine_text(value);
        g_string_append(out, text);
        return true;
    }
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)params, key, member)
        g_ptr_array_add(names, (char *)(uintptr_t)key);
    g_ptr_array_add(names, NULL);
    g_autofree char *hint = orch_suggest_hint(name, (const char *const *)names->pdata);
    orch_error_set(error, ORCH_ERROR_RECIPE, hint, "no parameter '%s' for '${%s}'", name, name);
    return false;
}

char *orch_value_expand(const char *text, const json_t *params, GError **error)
{
    GString *out = g_string_new(NULL);
    for (const char *p = text; *p;) {
        if (p[0] == '$' && p[1] == '$') {
            g_string_append_c(out, '$');
            p += 2;
        } else if (p[0] == '$' && p[1] == '{') {
            const char *end = strchr(p, '}');
            g_autofree char *name = end ? g_strndup(p + 2, (size_t)(end - p - 2)) : NULL;
            if (!end)
                orch_error_set(error, ORCH_ERROR_RECIPE, "for a plain '$' write '$$'",
                               "'${' without '}' in '%s'", text);
            if (!end || !append_value(out, name, params, error)) {
                g_string_free(out, TRUE);
                return NULL;
            }
            p = end + 1;
        } else {
            g_string_append_c(out, *p++);
        }
    }
    return g_string_free(out, FALSE);
}
