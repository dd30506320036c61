/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/recipe/setting_type.h"

#include "lib/base/text.h"
#include "lib/space/param_space.h"

#include <glib.h>
#include <string.h>

/* The type of the values of a range: that of all of its choices, or of its numbers. */
static const char *type_of_range(const char *range)
{
    const char *inside = strchr(range, '(') + 1;
    if (g_str_has_prefix(range, "choice")) {
        g_autofree char *choices = g_strndup(inside, strcspn(inside, ")"));
        return orch_setting_type(choices, true);
    }
    return g_str_has_prefix(range, "int") ? "int" : "real";
}

const char *orch_setting_type(const char *values, bool is_swept)
{
    size_t length = strlen(values);
    if (is_swept && g_str_has_prefix(values, "range("))
        return "int";
    if (is_swept && orch_space_is_meant(values))
        return type_of_range(values);
    bool is_list = is_swept && length >= 2 && values[0] == '[' && values[length - 1] == ']';
    g_autofree char *inside = g_strndup(values + is_list, length - 2 * (size_t)is_list);
    g_auto(GStrv) words = is_swept ? g_strsplit(inside, ",", -1) : NULL;
    const char *type = is_swept && words[0] ? "int" : *inside ? "int" : "string";
    for (int i = 0; is_swept ? words[i] != NULL : i < 1; i++) {
        int64_t whole;
        double real;
        const char *word = is_swept ? g_strstrip(words[i]) : inside;
        if (strcmp(type, "int") == 0 && !orch_int_parse(word, &whole))
            type = "real";
        if (strcmp(type, "real") == 0 && !orch_real_parse(word, &real))
            type = "string";
    }
    return type;
}
