/* SPDX-License-Identifier: MIT */
#include "lib/loggers/unread.h"

#include <stdbool.h>
#include <string.h>

#define PRINT_THEM "print the values, too"

/* A row counts when the variable begins with `value`, or the source has `call` before that. With
 * neither the module alone is enough. */
static const struct {
    const char *module, *variable, *call, *value, *why;
} ROWS[] = {
    {"mlflow", "MLFLOW_TRACKING_URI", "set_tracking_uri(", "http",
     "its values are on a server only; without MLFLOW_TRACKING_URI and set_tracking_uri they are "
     "in files"},
    {"wandb", "WANDB_MODE", "mode=", "disabled",
     "it is switched off; WANDB_MODE=offline keeps its values in files"},
    {"comet_ml", NULL, NULL, NULL, "its values are on Comet's server only; " PRINT_THEM},
    {"neptune", NULL, NULL, NULL, "its values are on Neptune's server only; " PRINT_THEM},
    {"clearml", NULL, NULL, NULL, "its values are on ClearML's server only; " PRINT_THEM},
    {"aim", NULL, NULL, NULL,
     "orch does not read Aim's database while it runs; " PRINT_THEM ", or "
     "afterwards use 'python3 -m orch.export_runs aim'"},
    {"swanlab", NULL, NULL, NULL, "orch reads its files from version 0.10 on; " PRINT_THEM},
};

/* True for "import NAME" and "from NAME" at the beginning of a line. */
static bool imports(const char *source, const char *module)
{
    static const char *const words[] = {"import ", "from "};
    size_t length = strlen(module);
    for (const char *at = strstr(source, module); at; at = strstr(at + length, module))
        for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
            size_t word = strlen(words[i]);
            const char *begin = at - source >= (gssize)word ? at - word : NULL;
            bool is_word = begin && strncmp(begin, words[i], word) == 0 &&
                           !g_ascii_isalnum(at[length]) && at[length] != '_';
            while (is_word && begin > source && (begin[-1] == ' ' || begin[-1] == '\t'))
                begin--;
            if (is_word && (begin == source || begin[-1] == '\n'))
                return true;
        }
    return false;
}

/* True when a call in the source has a text that begins so. */
static bool calls_with(const char *source, const char *call, const char *value)
{
    for (const char *at = strstr(source, call); at; at = strstr(at + 1, call)) {
        const char *text = at + strlen(call);
        if ((*text == '"' || *text == '\'') && g_str_has_prefix(text + 1, value))
            return true;
    }
    return false;
}

void orch_log_unread(const char *source, char **env, GHashTable *out)
{
    for (size_t i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        const char *value = ROWS[i].variable ? g_environ_getenv(env, ROWS[i].variable) : NULL;
        bool counts = !ROWS[i].variable || (value && g_str_has_prefix(value, ROWS[i].value)) ||
                      calls_with(source, ROWS[i].call, ROWS[i].value);
        if (counts && imports(source, ROWS[i].module))
            g_hash_table_insert(out, g_strdup(ROWS[i].module), g_strdup(ROWS[i].why));
    }
}
