/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/features/json_arrays.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

#if G_BYTE_ORDER != G_LITTLE_ENDIAN
#error "packed arrays are little-endian, and nothing here swaps them"
#endif

/* ---- writing -----------------------------------------------------------------------------------
 */

static json_t *pack(const void *values, size_t bytes)
{
    g_autofree char *text = g_base64_encode(values, bytes);
    return json_stringn_nocheck(text, strlen(text));
}

json_t *orch_save_reals(const double *values, size_t count, enum orch_save_style style)
{
    if (style == ORCH_SAVE_PACKED)
        return pack(values, count * sizeof *values);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, orch_json_finite(values[i]));
    return list;
}

json_t *orch_save_floats(const float *values, size_t count, enum orch_save_style style)
{
    if (style == ORCH_SAVE_PACKED)
        return pack(values, count * sizeof *values);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_real((double)values[i]));
    return list;
}

json_t *orch_save_ints(const int32_t *values, size_t count, enum orch_save_style style)
{
    if (style == ORCH_SAVE_PACKED)
        return pack(values, count * sizeof *values);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_integer(values[i]));
    return list;
}

/* ---- reading -----------------------------------------------------------------------------------
 */

bool orch_load_fail(const char *name, const char *what, GError **error)
{
    orch_error_set(error, ORCH_ERROR_RECIPE, "train it again with 'orch predictor train'",
                   "the saved predictor is damaged: '%s' %s", name, what);
    return false;
}

/* Decodes a packed array with elements of `size` bytes. Caller frees. */
static void *unpack(const json_t *value, const char *name, size_t size, size_t *count,
                    GError **error)
{
    gsize bytes = 0;
    guchar *data = g_base64_decode(json_string_value(value), &bytes);
    if (bytes % size || (*count != SIZE_MAX && bytes / size != *count)) {
        g_free(data);
        orch_load_fail(name, "has the wrong length", error);
        return NULL;
    }
    *count = bytes / size;
    return data ? data : g_malloc0(size);
}

static const json_t *member(const json_t *object, const char *name, size_t count, GError **error)
{
    const json_t *value = json_object_get(object, name);
    if (!value || (!json_is_string(value) && !json_is_array(value)))
        orch_load_fail(name, value ? "is not an array" : "is missing", error);
    else if (json_is_array(value) && count != SIZE_MAX && json_array_size(value) != count)
        orch_load_fail(name, "has the wrong length", error);
    else
        return value;
    return NULL;
}

double *orch_load_reals(const json_t *object, const char *name, size_t *count, GError **error)
{
    const json_t *value = member(object, name, *count, error);
    if (!value)
        return NULL;
    if (json_is_string(value))
        return unpack(value, name, sizeof(double), count, error);
    *count = json_array_size(value);
    double *out = g_new(double, MAX(*count, 1));
    for (size_t i = 0; i < *count; i++) {
        const json_t *element = json_array_get(value, i);
        out[i] = json_is_number(element) ? json_number_value(element) : (double)NAN;
    }
    return out;
}

float *orch_load_floats(const json_t *object, const char *name, size_t *count, GError **error)
{
    const json_t *value = member(object, name, *count, error);
    if (!value)
        return NULL;
    if (json_is_string(value))
        return unpack(value, name, sizeof(float), count, error);
    *count = json_array_size(value);
    float *out = g_new(float, MAX(*count, 1));
    for (size_t i = 0; i < *count; i++)
        out[i] = (float)json_number_value(json_array_get(value, i));
    return out;
}

int32_t *orch_load_ints(const json_t *object, const char *name, size_t *count, GError **error)
{
    const json_t *value = member(object, name, *count, error);
    if (!value)
        return NULL;
    if (json_is_string(value))
        return unpack(value, name, sizeof(int32_t), count, error);
    *count = json_array_size(value);
    int32_t *out = g_new(int32_t, MAX(*count, 1));
    for (size_t i = 0; i < *count; i++)
        out[i] = (int32_t)json_integer_value(json_array_get(value, i));
    return out;
}

bool orch_load_real(const json_t *object, const char *name, double *out, GError **error)
{
    const json_t *value = json_object_get(object, name);
    *out = json_number_value(value);
    return json_is_number(value) || orch_load_fail(name, "is not a number", error);
}

bool orch_load_int(const json_t *object, const char *name, int64_t low, int64_t high, int64_t *out,
                   GError **error)
{
    const json_t *value = json_object_get(object, name);
    *out = json_integer_value(value);
    if (!json_is_integer(value))
        return orch_load_fail(name, "is not an integer", error);
    return (*out >= low && *out <= high) || orch_load_fail(name, "is out of range", error);
}

const char *orch_load_text(const json_t *object, const char *name, GError **error)
{
    const char *text = json_string_value(json_object_get(object, name));
    if (!text)
        orch_load_fail(name, "is not a string", error);
    return text;
}

const json_t *orch_load_object(const json_t *object, const char *name, GError **error)
{
    const json_t *value = json_object_get(object, name);
    if (json_is_object(value))
        return value;
    orch_load_fail(name, "is not an object", error);
    return NULL;
}

const json_t *orch_load_list(const json_t *object, const char *name, GError **error)
{
    const json_t *value = json_object_get(object, name);
    if (json_is_array(value))
        return value;
    orch_load_fail(name, "is not a list", error);
    return NULL;
}
