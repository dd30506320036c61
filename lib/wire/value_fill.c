/* SPDX-License-Identifier: MIT */
/* Canonical values for their readers: a compiled plugin's parameter struct, a program's JSON. */
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/value.h"

#include <string.h>

/* Memory layout of a type. */
enum layout { AS_BOOL, AS_INT, AS_REAL, AS_TEXT };

static enum layout layout_of(uint32_t type)
{
    switch (type & ~(uint32_t)ORCH_LIST) {
    case ORCH_BOOL:
        return AS_BOOL;
    case ORCH_INT:
    case ORCH_BYTES:
        return AS_INT;
    case ORCH_REAL:
    case ORCH_DURATION:
    case ORCH_MONEY:
        return AS_REAL;
    default:
        return AS_TEXT;
    }
}

static const size_t LAYOUT_BYTES[] = {
    [AS_BOOL] = sizeof(bool),
    [AS_INT] = sizeof(int64_t),
    [AS_REAL] = sizeof(double),
    [AS_TEXT] = sizeof(const char *),
};

static void store_scalar(enum layout layout, const json_t *value, void *out, GPtrArray *arena)
{
    bool truth = json_is_true(value);
    int64_t integer = json_integer_value(value);
    double real = json_number_value(value);
    const char *text = NULL;
    if (layout == AS_TEXT) {
        char *copy = g_strdup(json_string_value(value));
        g_ptr_array_add(arena, copy);
        text = copy;
    }
    const void *sources[] = {
        [AS_BOOL] = &truth, [AS_INT] = &integer, [AS_REAL] = &real, [AS_TEXT] = &text};
    memcpy(out, sources[layout], LAYOUT_BYTES[layout]);
}

static void store_list(enum layout layout, const json_t *value, void *out, GPtrArray *arena)
{
    struct orch_list list = {.count = json_array_size(value)};
    char *items = g_malloc0(list.count * LAYOUT_BYTES[layout] + 1);
    g_ptr_array_add(arena, items);
    for (size_t i = 0; i < list.count; i++)
        store_scalar(layout, json_array_get(value, i), items + i * LAYOUT_BYTES[layout], arena);
    list.items = items;
    memcpy(out, &list, sizeof list);
}

static bool fill_one(const struct orch_param_spec *spec, const json_t *given, char *out,
                     size_t bytes, GPtrArray *arena, GError **error)
{
    enum layout layout = layout_of(spec->type);
    bool is_list = spec->type & ORCH_LIST;
    size_t size = is_list ? sizeof(struct orch_list) : LAYOUT_BYTES[layout];
    if (spec->offset > bytes || bytes - spec->offset < size) {
        orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL,
                       "parameter '%s' is outside the plugin's struct of %zu bytes", spec->name,
                       bytes);
        return false;
    }
    g_autoptr(GError) problem = NULL;
    g_autoptr(json_t) value =
        given ? orch_value_from_json(spec, given, &problem) : orch_value_default(spec);
    if (!value) {
        g_autofree char *what = problem ? orch_error_what(problem)
                                        : g_strdup_printf("parameter '%s' is missing", spec->name);
        orch_error_set(error, ORCH_ERROR_PROTOCOL, problem ? orch_error_hint(problem) : NULL, "%s",
                       what);
        return false;
    }
    if (json_is_null(value))
        return true;
    if (is_list)
        store_list(layout, value, out + spec->offset, arena);
    else
        store_scalar(layout, value, out + spec->offset, arena);
    return true;
}

bool orch_value_fill(const struct orch_manifest *manifest, const json_t *params, void *out,
                     size_t bytes, GPtrArray *arena, GError **error)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)params, name, value)
    {
        if (!orch_manifest_param(manifest, name)) {
            orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL, "plugin '%s' has no parameter '%s'",
                           manifest->name, name);
            return false;
        }
    }
    for (guint i = 0; i < manifest->params->len; i++) {
        const struct orch_param_spec *spec = manifest->params->pdata[i];
        if (!fill_one(spec, json_object_get(params, spec->name), out, bytes, arena, error))
            return false;
    }
    return true;
}

/* ---- for programs ------------------------------------------------------------------------------
 */

/* A number that is kept as text, as a number; other values as they are. New reference. */
static json_t *plain_number(const json_t *value)
{
    const char *text = json_string_value(value);
    const char *digits = text ? text + (*text == '-' || *text == '+') : "";
    bool is_padded = digits[0] == '0' && g_ascii_isdigit(digits[1]);
    bool is_whole = !digits[strspn(digits, "0123456789")]; /* of more than 64 bits, if no int */
    int64_t whole;
    double real;
    if (text && !is_padded && orch_int_parse(text, &whole))
        return json_integer(whole);
    if (text && !is_padded && !is_whole && orch_real_parse(text, &real))
        return json_real(real);
    return json_deep_copy(value);
}

json_t *orch_value_plain(const struct orch_manifest *manifest, const json_t *params)
{
    json_t *out = json_object(), *value;
    const char *name;
    json_object_foreach((json_t *)(uintptr_t)params, name, value)
    {
        const struct orch_param_spec *spec = orch_manifest_param(manifest, name);
        uint32_t type = spec ? spec->type & ~(uint32_t)ORCH_LIST : ORCH_STRING;
        if (type != ORCH_INT && type != ORCH_REAL) {
            json_object_set(out, name, value);
            continue;
        }
        json_t *plain = json_is_array(value) ? json_array() : plain_number(value);
        for (size_t i = 0; i < json_array_size(value); i++)
            json_array_append_new(plain, plain_number(json_array_get(value, i)));
        json_object_set_new(out, name, plain);
    }
    return out;
}
