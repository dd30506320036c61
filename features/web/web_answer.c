/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the parameters of requests, and formats responses: JSON, or an error with its hint. */
#include "features/web/internal.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

enum { KEY_MAX = 64 };

const char *orch_web_query_text(const struct web_call *call, const char *name, const char *fallback)
{
    const char *text = g_hash_table_lookup(call->query, name);
    return text && *text ? text : fallback;
}

bool orch_web_query_int(const struct web_call *call, const char *name, int64_t least, int64_t most,
                        int64_t *inout, GError **error)
{
    const char *text = orch_web_query_text(call, name, NULL);
    int64_t value;
    if (!text)
        return true;
    if (!orch_int_parse(text, &value) || value < least || value > most) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "'%s' takes a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                       ", not '%.40s'",
                       name, least, most, text);
        return false;
    }
    *inout = value;
    return true;
}

bool orch_web_is_key(const char *text)
{
    return text && *text && strlen(text) <= KEY_MAX &&
           strspn(text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_") == strlen(text);
}

char **orch_web_query_list(const struct web_call *call, const char *name, const char *fallback)
{
    return g_strsplit(orch_web_query_text(call, name, fallback), ",", 0);
}

void orch_web_answer_json(struct web_call *call, json_t *json, int digits)
{
    char *text =
        json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION((size_t)digits));
    json_decref(json);
    call->bytes = text ? g_bytes_new_with_free_func(text, strlen(text), free, text)
                       : orch_web_error_bytes("the response is not valid text", NULL, "server");
}

GBytes *orch_web_error_bytes(const char *message, const char *hint, const char *code)
{
    json_t *json = orch_json_error(message, hint, code);
    char *text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    return g_bytes_new_with_free_func(text, strlen(text), free, text);
}

void orch_web_error_split(const GError *error, char **out_message, char **out_hint)
{
    g_autofree char *message = orch_error_what(error);
    const char *hint = orch_error_hint(error);
    *out_message = g_utf8_make_valid(message, -1);
    *out_hint = hint ? g_utf8_make_valid(hint, -1) : NULL;
}
