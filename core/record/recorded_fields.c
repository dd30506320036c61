/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/record/recorded_fields.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/sha256.h"
#include "lib/base/text.h"
#include "lib/wire/secret.h"

#include <string.h>

enum { PARAMS_MAX = 10000, TAGS_MAX = 100 };

/* "int", "real", "bool" or "string"; NULL for other values. */
static const char *scalar_type(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_INTEGER:
        return "int";
    case JSON_REAL:
        return "real";
    case JSON_TRUE:
    case JSON_FALSE:
        return "bool";
    case JSON_STRING:
        return "string";
    default:
        return NULL;
    }
}

/* The type of a list is that of its first element; an empty one is a list of texts. The caller
 * frees; NULL: neither a scalar nor a list of scalars. */
static char *value_type(const json_t *value)
{
    const char *type = scalar_type(value);
    if (type || !json_is_array(value))
        return g_strdup(type);
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!scalar_type(json_array_get(value, i)))
            return NULL;
    const char *first = json_array_size(value) ? scalar_type(json_array_get(value, 0)) : "string";
    return g_strconcat("list of ", first, NULL);
}

json_t *orch_recorded_params(const json_t *params, GError **error)
{
    g_autoptr(json_t) rows = json_array();
    const char *name;
    json_t *value;
    if (json_object_size(params) > PARAMS_MAX) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "there are %zu parameters, but a run can have at most %d",
                       json_object_size(params), PARAMS_MAX);
        return NULL;
    }
    json_object_foreach((json_t *)(uintptr_t)params, name, value)
    {
        g_autofree char *type = value_type(value);
        if (!orch_label_is_valid(name) || !type) {
            orch_error_set(error, ORCH_ERROR_USAGE,
                           "use a name without spaces and quotes; a value is a number, true, "
                           "false, a text, or a list of these",
                           "parameter '%s': its %s cannot be recorded", name,
                           type ? "name" : "value");
            return NULL;
        }
        g_autofree char *text = orch_json_canonical(value);
        json_array_append_new(rows, json_pack("[sss]", name, type, text));
    }
    return json_incref(rows);
}

bool orch_recorded_names_check(const char *experiment, const json_t *tags, const char *name,
                               GError **error)
{
    if (experiment && !orch_name_is_valid(experiment, true)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use lower-case letters, digits, '_' and '-'",
                       "experiment '%s' is not a valid name", experiment);
        return false;
    }
    size_t count = json_array_size(tags);
    for (size_t i = 0; i < count; i++) {
        const char *tag = json_string_value(json_array_get(tags, i));
        if (count > TAGS_MAX || !orch_label_is_valid(tag)) {
            orch_error_set(error, ORCH_ERROR_USAGE, "use one word for a tag, and at most 100 tags",
                           "tag '%s' is not valid", tag ? tag : "");
            return false;
        }
    }
    if (name && !orch_label_is_valid(name)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use one word", "name '%s' is not valid", name);
        return false;
    }
    return true;
}

char *orch_recorded_fingerprint(const char *experiment, const json_t *params)
{
    g_autoptr(json_t) all = json_pack("{s:s s:s s:O}", "format", "record-1", "experiment",
                                      experiment, "params", params);
    g_autofree char *text = orch_json_canonical(all);
    char digest[ORCH_SHA256_CHARS];
    orch_sha256(text, strlen(text), digest);
    return g_strdup(digest);
}

char *orch_recorded_command(const json_t *argv)
{
    if (!json_is_array(argv))
        return NULL;
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    for (size_t i = 0; i < json_array_size(argv); i++)
        if (json_is_string(json_array_get(argv, i)))
            g_ptr_array_add(words, (char *)(uintptr_t)json_string_value(json_array_get(argv, i)));
    g_autoptr(json_t) masked =
        orch_secret_mask_words((const char *const *)words->pdata, words->len);
    return orch_json_canonical(masked);
}
