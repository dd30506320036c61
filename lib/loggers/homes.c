/* SPDX-License-Identifier: MIT */
#include "lib/loggers/homes.h"

#include <string.h>

/* Where loggers write that do not use the current folder: a variable, or without one a folder of
 * the user's, and the path below it. Of several rows for a logger the first that is set counts. */
static const struct {
    const char *logger, *variable, *below;
} ROWS[] = {
    {"trackio", "TRACKIO_DIR", ""},
    {"trackio", "HF_HOME", "trackio"},
    {"trackio", "XDG_CACHE_HOME", "huggingface/trackio"},
    {"trackio", "HOME", ".cache/huggingface/trackio"},
    {"wandb", "WANDB_DIR", ""},
    {"mlflow", "MLFLOW_TRACKING_URI", ""},
};

/* The path in a text such as "sqlite:////data/mlflow.db" or "file:///data/mlruns", or a path with
 * `below`; NULL: it is no absolute one. The caller frees. */
static char *path_of(const char *text, const char *below)
{
    static const char *const schemes[] = {"sqlite:///", "file://"};
    for (size_t i = 0; i < G_N_ELEMENTS(schemes); i++)
        if (g_str_has_prefix(text, schemes[i]))
            text += strlen(schemes[i]);
    return *text == '/' ? g_build_filename(text, *below ? below : NULL, NULL) : NULL;
}

GPtrArray *orch_logger_homes(char **env)
{
    GPtrArray *homes = g_ptr_array_new_with_free_func(g_free);
    const char *last = "";
    for (size_t i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        const char *value = g_environ_getenv(env, ROWS[i].variable);
        if (!value || !*value || strcmp(ROWS[i].logger, last) == 0)
            continue;
        char *home = path_of(value, ROWS[i].below);
        if (home)
            g_ptr_array_add(homes, home);
        last = ROWS[i].logger;
    }
    return homes;
}
