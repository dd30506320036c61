/* SPDX-License-Identifier: MIT */
#include "lib/loggers/log_values.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

enum { DEPTH_MAX = 8, NAME_BYTES_MAX = 1000 };

/* A number, also written as a text ("NaN"), which JSON has no number for. */
static bool number_of(const struct orch_log_row *row, const json_t *value, double *out)
{
    if (json_is_string(value))
        return orch_log_number(json_string_value(value), out) && !isfinite(*out);
    if (json_is_boolean(value) && row->has_booleans) {
        *out = json_is_true(value);
        return true;
    }
    if (!json_is_number(value))
        return false;
    *out = json_number_value(value);
    return true;
}

static void take_numbers(const struct orch_log_row *row, const char *prefix, json_t *object,
                         const char *except, int depth)
{
    const struct orch_log_sink *sink = row->sink;
    const char *key;
    json_t *value;
    double number;
    if (json_object_get(object, "_type"))
        return;
    json_object_foreach(object, key, value)
    {
        g_autofree char *name = g_strconcat(prefix, *prefix ? "." : "", key, NULL);
        if (strlen(name) > NAME_BYTES_MAX || (except && strcmp(key, except) == 0))
            continue;
        if (json_is_object(value) && depth < DEPTH_MAX)
            take_numbers(row, name, value, NULL, depth + 1);
        else if (number_of(row, value, &number) && row->step)
            sink->point(sink->ctx, name, *row->step, row->time_s, number);
        else if (number_of(row, value, &number) && sink->result)
            sink->result(sink->ctx, name, number);
    }
}

void orch_log_take_numbers(const struct orch_log_row *row, json_t *object, const char *except)
{
    take_numbers(row, "", object, except, 0);
}

static void take_setting(const struct orch_log_sink *sink, const char *name, json_t *value,
                         int depth)
{
    const char *key;
    json_t *inner;
    if (json_is_object(value) && depth < DEPTH_MAX) {
        json_object_foreach(value, key, inner)
        {
            g_autofree char *below = g_strconcat(name, ".", key, NULL);
            if (strlen(below) <= NAME_BYTES_MAX)
                take_setting(sink, below, inner, depth + 1);
        }
        return;
    }
    bool is_plain = json_is_number(value) || json_is_boolean(value) || json_is_string(value);
    g_autofree char *text = is_plain ? NULL : orch_json_canonical(value);
    g_autoptr(json_t) written = is_plain ? json_incref(value) : json_string(text ? text : "");
    sink->setting(sink->ctx, name, written);
}

void orch_log_take_setting(const struct orch_log_sink *sink, const char *name, json_t *value)
{
    if (sink->setting && *name)
        take_setting(sink, name, value, 0);
}

json_t *orch_log_text_value(const char *text)
{
    static const char *const truths[] = {"False", "True", "false", "true"};
    int64_t whole;
    double number;
    for (size_t i = 0; i < G_N_ELEMENTS(truths); i++)
        if (strcmp(text, truths[i]) == 0)
            return json_boolean(i % 2);
    if (orch_int_parse(text, &whole))
        return json_integer(whole);
    if (orch_real_parse(text, &number) && isfinite(number))
        return json_real(number);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    return json_string(valid);
}

json_t *orch_log_json(const char *text, size_t length, size_t most)
{
    json_t *json = orch_json_parse(text, length, most, NULL);
    if (json || (!g_strstr_len(text, (gssize)length, "NaN") &&
                 !g_strstr_len(text, (gssize)length, "Infinity")))
        return json;
    g_autoptr(GRegex) bare = g_regex_new("([:\\[,]\\s*)(NaN|-?Infinity)(?=\\s*[,}\\]])",
                                         G_REGEX_RAW, (GRegexMatchFlags)0, NULL);
    g_autofree char *quoted =
        g_regex_replace(bare, text, (gssize)length, 0, "\\1\"\\2\"", (GRegexMatchFlags)0, NULL);
    return quoted ? orch_json_parse(quoted, strlen(quoted), most, NULL) : NULL;
}
