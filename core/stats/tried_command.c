/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/stats/tried_command.h"

#include "lib/base/json.h"
#include <string.h>

char **orch_run_tried_words(const struct orch_run *run)
{
    g_autoptr(json_t) argv = run->argv ? json_loads(run->argv, 0, NULL) : NULL;
    const char *verb = json_string_value(json_array_get(argv, 1));
    if (g_strcmp0(verb, "try") != 0)
        return NULL;
    g_autoptr(GStrvBuilder) words = g_strv_builder_new();
    bool is_behind = false;
    for (size_t i = 2; i < json_array_size(argv); i++) {
        const char *word = json_string_value(json_array_get(argv, i));
        if (word && is_behind)
            g_strv_builder_add(words, word);
        is_behind = is_behind || g_strcmp0(word, "--") == 0;
    }
    return is_behind ? g_strv_builder_end(words) : NULL;
}
