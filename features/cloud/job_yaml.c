/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/cloud/job_yaml.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A text that begins with a letter and has only these characters is no number and no structure;
 * what remains are the words for true, false and null. */
static bool is_plain(const char *text)
{
    static const char *const words[] = {"true", "false", "null", "yes", "no",
                                        "on",   "off",   "y",    "n",   NULL};
    g_autofree char *lower = g_ascii_strdown(text, -1);
    if (!g_ascii_isalpha(*text) || g_strv_contains(words, lower))
        return false;
    for (const char *p = text; *p; p++)
        if (!g_ascii_isalnum(*p) && !strchr("-_./", *p))
            return false;
    return true;
}

static void append_text(GString *out, const char *text)
{
    if (is_plain(text)) {
        g_string_append(out, text);
        return;
    }
    json_t *value = json_string(text);
    char *quoted = json_dumps(value, JSON_ENCODE_ANY);
    g_string_append(out, quoted ? quoted : "\"\"");
    free(quoted);
    json_decref(value);
}

static void append_scalar(GString *out, const json_t *value)
{
    if (json_is_string(value)) {
        append_text(out, json_string_value(value));
        return;
    }
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    g_string_append(out, text ? text : "null");
    free(text);
}

static void append_object(GString *out, const json_t *object, int indent, bool starts_line);

static void append_list(GString *out, const json_t *list, int indent)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        g_string_append_printf(out, "%*s- ", indent, "");
        if (json_object_size(item)) {
            append_object(out, item, indent + 2, false);
            continue;
        }
        append_scalar(out, item); /* lists in lists are written as in JSON */
        g_string_append_c(out, '\n');
    }
}

static void append_member(GString *out, const json_t *value, int indent)
{
    if (json_object_size(value) || json_array_size(value)) {
        g_string_append(out, ":\n");
        if (json_is_object(value))
            append_object(out, value, indent + 2, true);
        else
            append_list(out, value, indent + 2);
        return;
    }
    g_string_append(out, ": ");
    append_scalar(out, value);
    g_string_append_c(out, '\n');
}

/* `starts_line`: the first member, too, needs the indent. */
static void append_object(GString *out, const json_t *object, int indent, bool starts_line)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        g_string_append_printf(out, "%*s", starts_line ? indent : 0, "");
        starts_line = true;
        append_text(out, name);
        append_member(out, value, indent);
    }
}

char *orch_job_yaml_text(const json_t *object)
{
    GString *out = g_string_new(NULL);
    append_object(out, object, 0, true);
    return g_string_free(out, FALSE);
}
