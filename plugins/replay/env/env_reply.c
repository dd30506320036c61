/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/env/env_reply.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

static void refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void refuse(GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL, "%s", text);
}

static json_t *parse_object(const char *line, size_t length, GError **error)
{
    json_t *root = orch_json_parse(line, length, ORCH_ENV_LINE_MOST, error);
    if (root && !json_is_object(root)) {
        json_decref(root);
        refuse(error, "not a JSON object");
        return NULL;
    }
    return root;
}

/** Reads member `key`, an integer from `least` to `most`. Without a fallback (< 0) it must be
 * there. */
static bool get_int(const json_t *root, const char *key, int least, int most, int fallback,
                    int *out, GError **error)
{
    const json_t *value = json_object_get(root, key);
    if (!value && fallback >= 0) {
        *out = fallback;
        return true;
    }
    if (!json_is_integer(value) || json_integer_value(value) < least ||
        json_integer_value(value) > most) {
        refuse(error, "'%s' is not an integer from %d to %d", key, least, most);
        return false;
    }
    *out = (int)json_integer_value(value);
    return true;
}

static bool get_shape(const json_t *root, struct orch_env_description *out, GError **error)
{
    const json_t *shape = json_object_get(root, "shape");
    int64_t values = 1;
    bool is_good =
        json_is_array(shape) && json_array_size(shape) >= 1 && json_array_size(shape) <= 3;
    for (size_t i = 0; is_good && i < 3; i++) {
        const json_t *length = json_array_get(shape, i);
        const json_int_t n = length ? json_integer_value(length) : 1;
        is_good = n >= 1 && n <= ORCH_ENV_SHAPE_MOST;
        out->shape[i] = is_good ? (int)n : 0;
        values *= out->shape[i];
    }
    if (!is_good || values > ORCH_ENV_VALUES_MOST) {
        refuse(error,
               "'shape' is not a list of 1 to 3 integers from 1 to %d with a product of %d at most",
               ORCH_ENV_SHAPE_MOST, ORCH_ENV_VALUES_MOST);
        return false;
    }
    out->observation_values = (int)values;
    return true;
}

static bool get_description(const json_t *root, struct orch_env_description *out, GError **error)
{
    const char *name = orch_json_text(root, "name", ""),
               *type = orch_json_text(root, "type", "float");
    out->is_bytes = strcmp(type, "bytes") == 0;
    if (!*name || strlen(name) >= sizeof out->name) {
        refuse(error, "'name' is not a text of 1 to %d bytes", (int)sizeof out->name - 1);
        return false;
    }
    if (!out->is_bytes && strcmp(type, "float") != 0) {
        refuse(error, "'type' is neither \"float\" nor \"bytes\"");
        return false;
    }
    g_strlcpy(out->name, name, sizeof out->name);
    return get_shape(root, out, error) &&
           get_int(root, "actions", 1, ORCH_ENV_ACTIONS_MOST, -1, &out->actions, error) &&
           get_int(root, "step_limit", 0, G_MAXINT, 0, &out->step_limit, error);
}

bool orch_env_description_parse(const char *line, size_t length, struct orch_env_description *out,
                                GError **error)
{
    g_autoptr(json_t) root = parse_object(line, length, error);
    struct orch_env_description read = {0};
    if (!root || !get_description(root, &read, error))
        return false;
    *out = read;
    return true;
}

static bool get_byte(const json_t *value, uint8_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > 255)
        return false;
    *out = (uint8_t)json_integer_value(value);
    return true;
}

static bool get_float(const json_t *value, float *out)
{
    *out = (float)json_number_value(value);
    return json_is_number(value) && isfinite(*out);
}

static bool get_observation(const json_t *root, const struct orch_env_description *about, void *out,
                            GError **error)
{
    const json_t *values = json_object_get(root, "observation");
    const size_t count = (size_t)about->observation_values;
    if (!json_is_array(values) || json_array_size(values) != count) {
        refuse(error, "'observation' is not a flat list of %d numbers", about->observation_values);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(values, i);
        if (about->is_bytes ? !get_byte(value, (uint8_t *)out + i)
                            : !get_float(value, (float *)out + i)) {
            refuse(error, "value %zu of 'observation' is not %s", i,
                   about->is_bytes ? "an integer from 0 to 255" : "a finite number");
            return false;
        }
    }
    return true;
}

/** Absent members mean false. */
static bool get_flag(const json_t *root, const char *key, bool *out, GError **error)
{
    const json_t *value = json_object_get(root, key);
    *out = json_is_true(value);
    if (!value || json_is_boolean(value))
        return true;
    refuse(error, "'%s' is neither true nor false", key);
    return false;
}

bool orch_env_reply_parse(const char *line, size_t length, const struct orch_env_description *about,
                          bool is_step, void *observation, struct orch_env_reply *out,
                          GError **error)
{
    g_autoptr(json_t) root = parse_object(line, length, error);
    struct orch_env_reply read = {0};
    bool is_terminated = false, is_truncated = false;
    if (!root || !get_observation(root, about, observation, error))
        return false;
    if (is_step && !get_float(json_object_get(root, "reward"), &read.reward)) {
        refuse(error, "'reward' is not a finite number");
        return false;
    }
    if (is_step && !(get_flag(root, "terminated", &is_terminated, error) &&
                     get_flag(root, "truncated", &is_truncated, error)))
        return false;
    read.end = is_terminated  ? ORCH_ENV_TERMINATED
               : is_truncated ? ORCH_ENV_TRUNCATED
                              : ORCH_ENV_GOES_ON;
    *out = read;
    return true;
}
