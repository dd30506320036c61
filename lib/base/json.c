/* SPDX-License-Identifier: MIT */
#include "lib/base/json.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Counts nested brackets outside of strings, as jansson's own limit is 2048 levels and costs
 * stack. */
static bool depth_is_bounded(const char *text, size_t length)
{
    unsigned depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > ORCH_JSON_DEPTH_MAX)
                return false;
        } else if ((c == '}' || c == ']') && depth) {
            depth--;
        }
    }
    return true;
}

json_t *orch_json_parse(const char *text, size_t length, size_t max_bytes, GError **error)
{
    if (length > max_bytes) {
        orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL,
                       "JSON text of %" G_GSIZE_FORMAT
                       " bytes exceeds the limit of %" G_GSIZE_FORMAT,
                       length, max_bytes);
        return NULL;
    }
    if (!depth_is_bounded(text, length)) {
        orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL, "JSON nested deeper than %d levels",
                       ORCH_JSON_DEPTH_MAX);
        return NULL;
    }
    json_error_t problem;
    json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &problem);
    if (!value)
        orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL, "not valid JSON: %s (byte %d)",
                       problem.text, problem.position);
    return value;
}

/* Appends a real: so that 1.0 is read as a real again, it has a point or an exponent. */
static void append_real(GString *out, double real)
{
    char number[ORCH_REAL_CHARS];
    orch_real_format(real == 0 ? 0.0 : real, number); /* no -0 */
    g_string_append(out, number);
    if (!strpbrk(number, ".en"))
        g_string_append(out, ".0");
}

static void append_canonical(GString *out, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: {
        g_autoptr(GPtrArray) keys = g_ptr_array_new();
        const char *key;
        json_t *member;
        json_object_foreach((json_t *)(uintptr_t)value, key, member)
            g_ptr_array_add(keys, (char *)(uintptr_t)key);
        g_ptr_array_sort(keys, orch_compare_texts);
        g_string_append_c(out, '{');
        for (guint i = 0; i < keys->len; i++) {
            const char *name = keys->pdata[i];
            g_autoptr(json_t) text = json_string(name);
            if (i)
                g_string_append_c(out, ',');
            append_canonical(out, text);
            g_string_append_c(out, ':');
            append_canonical(out, json_object_get(value, name));
        }
        g_string_append_c(out, '}');
        break;
    }
    case JSON_ARRAY:
        g_string_append_c(out, '[');
        for (size_t i = 0; i < json_array_size(value); i++) {
            if (i)
                g_string_append_c(out, ',');
            append_canonical(out, json_array_get(value, i));
        }
        g_string_append_c(out, ']');
        break;
    case JSON_REAL:
        append_real(out, json_real_value(value));
        break;
    default: {
        char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        g_string_append(out, text);
        free(text);
    }
    }
}

char *orch_json_canonical(const json_t *value)
{
    GString *out = g_string_new(NULL);
    append_canonical(out, value);
    return g_string_free(out, FALSE);
}

char *orch_json_dump(const json_t *value, size_t flags)
{
    char *text = json_dumps(value, flags | JSON_REAL_PRECISION(17));
    GString *out = text ? g_string_new(NULL) : NULL;
    for (const char *at = text; out && *at;) {
        size_t length = *at == '"' ? 1 : strspn(at, "+-.0123456789eE");
        if (*at == '"') {
            while (at[length] != '"')
                length += at[length] == '\\' ? 2 : 1;
            length++;
        } else if (length && (g_ascii_isdigit(*at) || *at == '-') && strcspn(at, ".eE") < length) {
            append_real(out, g_ascii_strtod(at, NULL));
            at += length;
            continue;
        }
        g_string_append_len(out, at, (gssize)MAX(length, 1));
        at += MAX(length, 1);
    }
    free(text);
    return out ? g_string_free(out, FALSE) : NULL;
}

json_t *orch_json_real(double value)
{
    if (isnan(value))
        return json_string("nan");
    if (isinf(value))
        return json_string(value < 0 ? "-inf" : "inf");
    return json_real(value);
}

json_t *orch_json_finite(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *orch_json_real_or_null(double value)
{
    return isnan(value) ? json_null() : orch_json_real(value);
}

json_t *orch_json_text_or_null(const char *text)
{
    json_t *json = text ? json_string(text) : NULL;
    return json ? json : json_null();
}

bool orch_json_get_real(const json_t *value, double *out)
{
    if (json_is_number(value)) {
        *out = json_number_value(value);
        return true;
    }
    static const struct {
        const char *text;
        double value;
    } names[] = {{"nan", NAN},        {"NaN", NAN},           {"inf", INFINITY},
                 {"-inf", -INFINITY}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    for (unsigned i = 0; json_is_string(value) && i < G_N_ELEMENTS(names); i++) {
        if (strcmp(json_string_value(value), names[i].text) == 0) {
            *out = names[i].value;
            return true;
        }
    }
    return false;
}

json_t *orch_json_u64(guint64 value)
{
    return json_sprintf("%" G_GUINT64_FORMAT, value);
}

bool orch_json_get_u64(const json_t *value, guint64 *out)
{
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *out = (guint64)json_integer_value(value);
        return true;
    }
    return json_is_string(value) &&
           g_ascii_string_to_unsigned(json_string_value(value), 10, 0, G_MAXUINT64, out, NULL);
}

const char *orch_json_text(const json_t *object, const char *key, const char *fallback)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : fallback;
}

gint64 orch_json_int(const json_t *object, const char *key, gint64 fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

/* Appends an escape; characters beyond U+FFFF become a surrogate pair. */
static void append_escape(GString *out, gunichar c)
{
    if (c < 0x10000)
        g_string_append_printf(out, "\\u%04x", c);
    else
        g_string_append_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
                               0xdc00 + ((c - 0x10000) & 0x3ff));
}

char *orch_json_escape_hidden(const char *text)
{
    GString *out = g_string_new(NULL);
    const char *from = text;
    for (const char *at = text; *at; at++) {
        size_t length = orch_text_control_bytes(at);
        if (!length)
            continue;
        g_string_append_len(out, from, at - from);
        append_escape(out, g_utf8_get_char(at));
        from = at + length;
        at = from - 1;
    }
    g_string_append(out, from);
    return g_string_free(out, FALSE);
}

json_t *orch_json_error(const char *message, const char *hint, const char *code)
{
    g_autofree char *what = g_utf8_make_valid(message, -1);
    g_autofree char *way = hint ? g_utf8_make_valid(hint, -1) : NULL;
    return json_pack("{s:{s:s s:s? s:s}}", "error", "message", what, "hint", way, "code", code);
}
