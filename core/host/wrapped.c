/* SPDX-License-Identifier: MIT */
/* Executes a command: its arguments and environment. */
#include "core/host/child.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Longer values are only in ORCH_PARAMS, because the kernel limits the size of each variable. */
enum { PARAM_BYTES_MAX = 32768 };

bool orch_wrapped_listens(const struct orch_trial_spec *trial)
{
    return trial->manifest->kind == ORCH_PLUGIN_WRAPPED &&
           trial->manifest->metrics_from == ORCH_METRICS_PROTOCOL;
}

json_t *orch_wrapped_values(const struct orch_trial_spec *trial, const char *trial_dir)
{
    json_t *values = json_copy(trial->params);
    g_autofree char *files = g_build_filename(trial_dir, ORCH_TRIAL_FILES, NULL);
    g_autofree char *manifest_dir =
        trial->manifest->path ? g_path_get_dirname(trial->manifest->path) : NULL;
    json_t *own =
        json_pack("{s:I s:o s:i s:s s:s s:s}", "seed", (json_int_t)orch_trial_seed31(trial->seed),
                  "seed64", orch_json_u64(trial->seed), "repeat", trial->repeat, "checkpoint_dir",
                  trial->checkpoint_dir ? trial->checkpoint_dir : "", "trial_dir", files,
                  "manifest_dir", manifest_dir ? manifest_dir : "");
    json_object_update_missing(values, own); /* a parameter with such a name has precedence */
    json_decref(own);
    /* optional parameters without a value expand to nothing */
    for (guint i = 0; i < trial->manifest->params->len; i++) {
        const struct orch_param_spec *spec = trial->manifest->params->pdata[i];
        if (!json_object_get(values, spec->name) && (spec->flags & ORCH_PARAM_OPTIONAL))
            json_object_set_new(values, spec->name, json_null());
    }
    return values;
}

json_t *orch_wrapped_run_line(const struct orch_trial_spec *trial)
{
    g_autofree char *seed = g_strdup_printf("%" G_GUINT32_FORMAT, orch_trial_seed31(trial->seed));
    return json_pack("{s:s s:o s:s s:o s:b s:s?}", "do", "run", "params",
                     orch_value_plain(trial->manifest, trial->params), "seed", seed, "seed64",
                     orch_json_u64(trial->seed), "smoke", trial->smoke, "checkpoint_dir",
                     trial->checkpoint_dir);
}

/* Adds the words in front of the command: for a container the names of the trial's variables, the
 * values of which its program takes from its own environment. */
static void add_launcher(GPtrArray *words, const struct orch_trial_spec *trial)
{
    for (char **word = trial->launcher; word && *word; word++) {
        if (strcmp(*word, "%folder") == 0)
            g_ptr_array_add(words, g_get_current_dir());
        else if (strcmp(*word, "%env") != 0)
            g_ptr_array_add(words, g_strdup(*word));
        for (char **entry = environ; strcmp(*word, "%env") == 0 && *entry; entry++) {
            char *name = g_strndup(*entry, strcspn(*entry, "="));
            bool is_set = false;
            for (char **set = trial->env; set && *set && !is_set; set++)
                is_set = g_str_has_prefix(*set, name) && (*set)[strlen(name)] == '=';
            if (is_set || g_str_has_prefix(name, "ORCH_")) {
                g_ptr_array_add(words, g_strdup("--env"));
                g_ptr_array_add(words, g_steal_pointer(&name));
            }
            g_free(name);
        }
    }
}

static char **expand_words(const struct child_setup *setup)
{
    g_autoptr(json_t) values = orch_wrapped_values(setup->trial, setup->trial_dir);
    g_autoptr(GError) error = NULL;
    GPtrArray *words = g_ptr_array_new();
    add_launcher(words, setup->trial);
    for (char **word = setup->trial->manifest->argv; word && *word; word++) {
        char *text = orch_value_expand(*word, values, &error);
        if (!text)
            orch_child_fail(error->message);
        g_ptr_array_add(words, text);
    }
    if (words->len == 0)
        orch_child_fail("the plugin's command is empty");
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

/* Sets ORCH_PARAM_lr=0.1 etc., each parameter as in the command. Optional parameters without a
 * value are not set, so that a shell can distinguish them. */
static char **set_params(char **env, const struct orch_trial_spec *trial)
{
    g_auto(GStrv) inherited = g_strdupv(env);
    for (char **entry = inherited; *entry; entry++) {
        g_autofree char *name = g_strndup(*entry, strcspn(*entry, "="));
        if (g_str_has_prefix(name, "ORCH_PARAM_")) /* inherited from an outer trial */
            env = g_environ_unsetenv(env, name);
    }
    const char *name;
    json_t *value;
    json_object_foreach(trial->params, name, value)
    {
        g_autofree char *word = g_strdup_printf("${%s}", name);
        g_autofree char *text = orch_value_expand(word, trial->params, NULL);
        g_autofree char *variable = g_strdup_printf("ORCH_PARAM_%s", name);
        if (text && !json_is_null(value) && strlen(text) <= PARAM_BYTES_MAX)
            env = g_environ_setenv(env, variable, text, TRUE);
    }
    return env;
}

/* Numbers of ranks that this program inherited, as "RANK=3 ...": those of a job in which orch runs,
 * and not of the trial's own processes. NULL: none. The caller frees. */
static char *outer_ranks(char **env)
{
    static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};
    GString *out = g_string_new(NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_environ_getenv(env, names[i]))
            g_string_append_printf(out, "%s%s=%s", out->len ? " " : "", names[i],
                                   g_environ_getenv(env, names[i]));
    return g_string_free(out, !out->len);
}

static char **make_environment(const struct child_setup *setup)
{
    const struct orch_trial_spec *trial = setup->trial;
    char **env = g_strdupv(environ);
    for (char **entry = trial->env; entry && *entry; entry++) {
        g_autofree char *name = g_strndup(*entry, strcspn(*entry, "="));
        env = g_environ_setenv(env, name, *entry + strlen(name) + 1, TRUE);
    }
    env = set_params(env, trial);
    g_autoptr(json_t) plain = orch_value_plain(trial->manifest, trial->params);
    g_autofree char *params = orch_json_canonical(plain);
    g_autofree char *seed = g_strdup_printf("%" G_GUINT32_FORMAT, orch_trial_seed31(trial->seed));
    g_autofree char *seed64 = g_strdup_printf("%" G_GUINT64_FORMAT, trial->seed);
    g_autofree char *events = g_strdup_printf("%d", CHILD_EVENTS_FD), *ranks = outer_ranks(env);
    g_autofree char *files = g_build_filename(setup->trial_dir, ORCH_TRIAL_FILES, NULL);
    g_autofree char *runs = g_build_filename(setup->trial_dir, ORCH_TRIAL_RUNS, NULL);
    const struct {
        const char *name, *value; /* NULL: unset */
    } own[] = {
        {"ORCH_EVENTS", events},
        {"ORCH_PARAMS", params},
        {"ORCH_SEED", seed},
        {"ORCH_SEED64", seed64},
        {"ORCH_CHECKPOINT_DIR", trial->checkpoint_dir},
        {"ORCH_SMOKE", trial->smoke ? "1" : NULL},
        {"ORCH_TRIAL_DIR", files},
        {"ORCH_RUN", trial->key},
        {"ORCH_RUNS", runs},
        {"ORCH_COMMANDS", orch_wrapped_listens(trial) ? "stdin" : NULL},
        {"ORCH_OUTER_RANKS", ranks},
        {"ORCH_JOIN", NULL}, /* of a run in whose program orch was started */
        {"ORCH_OPEN_RUN", NULL},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(own); i++)
        env = own[i].value ? g_environ_setenv(env, own[i].name, own[i].value, TRUE)
                           : g_environ_unsetenv(env, own[i].name);
    env = orch_opened_files_environment(setup->opened, env);
    return setup->apart ? orch_apart_environment(setup->apart, env) : env;
}

void orch_wrapped_main(const struct child_setup *setup)
{
    g_autofree char *files = g_build_filename(setup->trial_dir, ORCH_TRIAL_FILES, NULL);
    orch_dir_make(files, NULL);
    if (setup->trial->checkpoint_dir)
        orch_dir_make(setup->trial->checkpoint_dir, NULL);
    environ = make_environment(setup);
    char **words = expand_words(setup);
    execvp(words[0], words);
    int saved = errno;
    g_autofree char *text = g_strdup_printf("cannot start '%s': %s", words[0], g_strerror(saved));
    orch_child_fail(text);
}
