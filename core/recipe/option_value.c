/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/recipe/option_value.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <math.h>
#include <string.h>

/* Parses a number with the syntax of a parameter type; NULL for any other text. New reference. */
static json_t *parse(uint32_t type, const char *text)
{
    char name[] = "option";
    const struct orch_param_spec spec = {.name = name, .type = type};
    return orch_value_parse_scalar(&spec, text, NULL);
}

bool orch_option_seconds(const char *text, double *out_s)
{
    g_autoptr(json_t) value = parse(ORCH_DURATION, text);
    if (value)
        *out_s = json_number_value(value);
    return value != NULL;
}

bool orch_option_duration(const char *option, const char *text, double *out_s, GError **error)
{
    double seconds;
    if (!orch_option_seconds(text, &seconds) || !(seconds > 0)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example 90, 30s, 5min, 2h, 1h30min",
                       "option '--%s': '%s' is not a duration above 0", option, text);
        return false;
    }
    *out_s = seconds;
    return true;
}

bool orch_option_bytes(const char *text, int64_t *out_bytes)
{
    g_autoptr(json_t) value = parse(ORCH_BYTES, text);
    bool ok = json_is_integer(value) && json_integer_value(value) >= 0;
    if (ok)
        *out_bytes = json_integer_value(value);
    return ok;
}

bool orch_option_usd(const char *text, double most, double *out_usd)
{
    size_t length = strlen(text);
    bool has_unit = length > 3 && g_ascii_strcasecmp(text + length - 3, "usd") == 0;
    g_autofree char *number = g_strndup(text, has_unit ? length - 3 : length);
    g_autoptr(json_t) value = parse(ORCH_MONEY, g_strstrip(number));
    double usd = value ? json_number_value(value) : 0;
    if (usd <= 0 || usd > most)
        return false;
    *out_usd = usd;
    return true;
}

bool orch_option_device_time(const char *text, double *out_s)
{
    double usd, seconds;
    if (orch_option_usd(text, HUGE_VAL, &usd) || !orch_option_seconds(text, &seconds) ||
        !(seconds > 0))
        return false;
    *out_s = seconds;
    return true;
}
