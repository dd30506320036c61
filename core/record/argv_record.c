/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/record/argv_record.h"

#include "lib/base/json.h"
#include "lib/wire/secret.h"

#include <string.h>

/* Returns the start of the value that a word assigns to parameter `name`: "NAME=", "EXP.NAME=",
 * "--set=NAME=", "-sNAME="; NULL when it assigns none. */
static const char *value_set(const char *word, const char *name)
{
    g_autofree char *start = g_strconcat(name, "=", NULL);
    for (const char *at = word; (at = strstr(at, start)); at++)
        if (at == word || strchr(".=", at[-1]) || (at == word + 2 && g_str_has_prefix(word, "-s")))
            return at + strlen(start);
    return NULL;
}

static const char *secret_set(const char *word, const struct orch_expansion *expansion)
{
    for (guint i = 0; expansion && i < expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = expansion->experiments->pdata[i];
        for (guint j = 0; j < experiment->manifest->params->len; j++) {
            const struct orch_param_spec *spec = experiment->manifest->params->pdata[j];
            const char *value = orch_param_is_secret(spec) ? value_set(word, spec->name) : NULL;
            if (value)
                return value;
        }
    }
    return NULL;
}

char *orch_argv_record(char *const *argv, int argc, const struct orch_expansion *expansion)
{
    json_t *words = json_array();
    int i;
    for (i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *word = argv[i], *secret = secret_set(word, expansion);
        json_array_append_new(
            words, secret ? json_sprintf("%.*s" ORCH_SECRET_SHOWN, (int)(secret - word), word)
                          : json_string(word));
    }
    g_autoptr(json_t) command = /* of another program: 'orch try -- COMMAND' */
        orch_secret_mask_words((const char *const *)(argv + i), (size_t)(argc - i));
    json_array_extend(words, command);
    char *text = json_dumps(words, JSON_COMPACT);
    json_decref(words);
    char *copy = g_strdup(text ? text : "[]");
    free(text);
    return copy;
}
