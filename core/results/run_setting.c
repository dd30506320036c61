/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/results/run_setting.h"

#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <string.h>

/* Appends the -s settings for this experiment on the command line that made the run. */
static void append_set(GString *text, const char *argv_json, const char *experiment)
{
    g_autoptr(json_t) argv = argv_json ? json_loads(argv_json, 0, NULL) : NULL;
    for (size_t i = 2; i < json_array_size(argv); i++) { /* after "orch run" */
        const char *word = json_string_value(json_array_get(argv, i));
        const char *set = NULL;
        if (!word || strcmp(word, "--") == 0)
            break;
        if (strcmp(word, "-s") == 0 || strcmp(word, "--set") == 0)
            set = json_string_value(json_array_get(argv, ++i));
        else if (g_str_has_prefix(word, "--set="))
            set = word + strlen("--set=");
        else if (g_str_has_prefix(word, "-s"))
            set = word + 2;
        const char *dot = set ? strchr(set, '.') : NULL, *equals = set ? strchr(set, '=') : NULL;
        bool is_scoped = dot && equals && dot < equals;
        size_t length = is_scoped ? (size_t)(dot - set) : 0;
        if (!equals ||
            (is_scoped && (strlen(experiment) != length || strncmp(set, experiment, length) != 0)))
            continue;
        g_string_append_printf(text, "%s%s", text->len ? " " : "", is_scoped ? dot + 1 : set);
    }
}

char *orch_run_setting_text(const json_t *coords, const struct orch_run *run, int repeat)
{
    GString *text = g_string_new(NULL);
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)coords, name, value)
    {
        g_autofree char *one = orch_value_format_json(value);
        g_string_append_printf(text, "%s%s=%s", text->len ? " " : "", name, one);
    }
    if (run && run->experiment)
        append_set(text, run->argv, run->experiment);
    if (repeat > 1)
        g_string_append_printf(text, "%s#%d", text->len ? " " : "", repeat);
    return g_string_free(text, FALSE);
}
