/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/stats/tried_command.h"

#include "lib/base/json.h"
#include "lib/wire/verdict.h"

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

char **orch_run_setting_words(const struct orch_run *run)
{
    char **words = orch_run_tried_words(run);
    const guint count = words ? g_strv_length(words) : 0;
    bool has_fact = words && run->facts && strstr(run->facts, "\"" ORCH_FACT_WRITTEN_WORDS "\"");
    g_autoptr(json_t) facts = has_fact ? json_loads(run->facts, 0, NULL) : NULL;
    const json_t *written = json_object_get(facts, ORCH_FACT_WRITTEN_WORDS);
    for (size_t i = 0; i < json_array_size(written); i++) {
        const json_int_t at = json_integer_value(json_array_get(written, i));
        if (at <= 0 || at >= count)
            continue;
        const char *equals = *words[at] == '-' ? strchr(words[at], '=') : NULL;
        char *word = equals ? g_strdup_printf("%.*s={output}", (int)(equals - words[at]), words[at])
                            : g_strdup("{output}");
        g_free(words[at]);
        words[at] = word;
    }
    return words;
}
