/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sweeps any command without a recipe file: makes a recipe in memory, with a manifest that has a
 * parameter for each -x and -s, and runs it like any other. */
#include "core/cli/cli.h"
#include "core/cli/execute.h"
#include "core/cli/limits.h"
#include "core/cli/try_words.h"
#include "store/store_dir.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <string.h>

struct try_options {
    struct orch_execute_options execute; /* must be the first member */
    const char *name;
    const char **artifacts, **inputs;
    int repeat;
    const char *timeout;
    bool from_env;
};

static const struct orch_option OPTIONS[] = {
    {"set", 's', "PARAM=VALUE", ORCH_OPT_LIST,
     offsetof(struct try_options, execute.variant.settings), "give {PARAM} a value"},
    {"sweep", 'x', "PARAM=A,B,...", ORCH_OPT_LIST,
     offsetof(struct try_options, execute.variant.sweeps),
     "sweep {PARAM} over values, or range(A,B[,STEP])"},
    {"repeat", 0, "N", ORCH_OPT_INT, offsetof(struct try_options, repeat),
     "run each setting N times; {seed} and {repeat} tell them apart"},
    {"name", 0, "NAME", ORCH_OPT_TEXT, offsetof(struct try_options, name),
     "name of the experiment (default: the program's name)"},
    {"artifact", 0, "NAME=FILE", ORCH_OPT_LIST, offsetof(struct try_options, artifacts),
     "keep a file that the command makes"},
    {"inputs", 0, "FILE", ORCH_OPT_LIST, offsetof(struct try_options, inputs),
     "files that results depend on: data, 'models/*.py'"},
    {"env", 0, NULL, ORCH_OPT_FLAG, offsetof(struct try_options, from_env),
     "the program reads its settings from $ORCH_PARAM_name or $ORCH_PARAMS"},
    {"timeout", 0, "DURATION", ORCH_OPT_TEXT, offsetof(struct try_options, timeout),
     "stop a trial after this time: 90, 30s, 5min (docs/recipes.md)"},
    {"jobs", 'j', "N", ORCH_OPT_INT, offsetof(struct try_options, execute.jobs),
     "run N trials at once"},
    {"force", 0, NULL, ORCH_OPT_FLAG, offsetof(struct try_options, execute.force),
     "run trials again that are done"},
    {"dry-run", 'n', NULL, ORCH_OPT_FLAG, offsetof(struct try_options, execute.dry_run),
     "show the plan only"},
    {"yes", 'y', NULL, ORCH_OPT_FLAG, offsetof(struct try_options, execute.yes),
     "run more than 500 trials without asking"},
    {"sign", 0, NULL, ORCH_OPT_FLAG, offsetof(struct try_options, execute.sign),
     "sign your runs with git's key when they have ended (always: git config orch.sign true)"},
    {"no-progress", 0, NULL, ORCH_OPT_FLAG, offsetof(struct try_options, execute.no_progress),
     "print a line for each trial instead of live progress"},
    {"keep-trials", 0, NULL, ORCH_OPT_FLAG, offsetof(struct try_options, execute.keep_trials),
     "keep each trial's folder for debugging, until 'orch gc' (docs/debugging.md)"},
    {0}};

/* Quotes a text for the recipe. JSON is valid YAML, so jansson does the quoting. */
static void append_quoted(GString *out, const char *text)
{
    json_t *value = json_string(text);
    char *quoted = json_dumps(value, JSON_ENCODE_ANY);
    g_string_append(out, quoted ? quoted : "\"\"");
    free(quoted);
    json_decref(value);
}

static char *command_text(char *const *words)
{
    GString *out = g_string_new("[");
    for (int i = 0; words[i]; i++) {
        g_string_append(out, i ? ", " : "");
        append_quoted(out, words[i]);
    }
    return g_string_free(g_string_append_c(out, ']'), FALSE);
}

/* Derives the experiment's name from the program: "python3 train_net.py" -> "train_net". */
static char *default_name(struct orch_cli *cli)
{
    const char *chosen = cli->rest[0];
    for (int i = 1; cli->rest[i] && i < 3; i++)
        if (cli->rest[i][0] != '-' && strchr(cli->rest[i], '.')) {
            chosen = cli->rest[i];
            break;
        }
    char *name = g_path_get_basename(chosen);
    char *dot = strchr(name, '.');
    if (dot)
        *dot = 0;
    for (char *p = name; *p; p++)
        *p = g_ascii_isalnum(*p) ? (char)g_ascii_tolower(*p) : '_';
    if (!orch_name_is_valid(name, true)) {
        g_free(name);
        name = g_strdup("try");
    }
    return name;
}

static bool manifest_text(const struct try_options *o, const char *name, const char *command,
                          const GPtrArray *settings, GString *out, GError **error)
{
    g_string_append_printf(out,
                           "plugin: %s\nversion: 1.0.0\nabout: a command given to orch try\n"
                           "metrics_from: lines\nmetrics: any\ncommand: %s\n",
                           name, command);
    if (settings->len)
        g_string_append(out, "parameters:\n");
    for (guint i = 0; i < settings->len; i++) {
        const struct try_setting *p = settings->pdata[i];
        g_string_append_printf(out, "  %s: {type: %s}\n", p->name, p->type);
    }
    if (o->artifacts)
        g_string_append(out, "artifacts:\n");
    for (int i = 0; o->artifacts && o->artifacts[i]; i++) {
        const char *equals = strchr(o->artifacts[i], '=');
        g_autofree char *artifact =
            equals ? g_strndup(o->artifacts[i], (gsize)(equals - o->artifacts[i])) : NULL;
        if (!artifact || !orch_name_is_valid(artifact, false)) {
            orch_error_set(error, ORCH_ERROR_USAGE, "for example --artifact weights=out.pt",
                           "option '--artifact': '%s' is not of the form NAME=FILE",
                           o->artifacts[i]);
            return false;
        }
        g_string_append_printf(out, "  %s: ", artifact);
        append_quoted(out, equals + 1);
        g_string_append_c(out, '\n');
    }
    return true;
}

/* Writes the manifest next to the store. Its name depends on its content, so the same command is
 * the same plugin. */
static char *write_manifest(struct orch_cli *cli, const char *name, const GString *text,
                            GError **error)
{
    char digest[ORCH_SHA256_CHARS];
    orch_sha256(text->str, text->len, digest);
    digest[16] = 0;
    struct orch_store *store = cli->workspace->store;
    g_autofree char *folder = orch_store_dir_path(store, ORCH_STORE_DIR_TRY, digest);
    g_autofree char *file = g_strconcat(name, ".plugin", NULL);
    char *path = g_build_filename(folder, file, NULL);
    if (!orch_store_dir_make_parent(store, ORCH_STORE_DIR_TRY, error) ||
        !orch_dir_make(folder, error) || !orch_file_write(path, text->str, text->len, false, error))
        g_clear_pointer(&path, g_free);
    return path;
}

static struct orch_expansion *expand(struct orch_cli *cli, const struct try_options *o,
                                     const char *name, const char *manifest, const char *command,
                                     GError **error)
{
    double timeout_s = 0;
    if (o->timeout && !cli_duration_read("timeout", o->timeout, &timeout_s, error))
        return NULL;
    GString *recipe = g_string_new(NULL);
    g_string_append_printf(recipe,
                           "format: 1\nrecipe: try\nexperiments:\n  %s:\n    plugin: ", name);
    append_quoted(recipe, manifest);
    g_string_append_printf(recipe, "\n    program: %s\n    repeat: %d\n", command,
                           MAX(1, o->repeat));
    for (int i = 0; o->inputs && o->inputs[i]; i++) {
        g_string_append(recipe, i ? ", " : "    inputs: [");
        append_quoted(recipe, o->inputs[i]);
        g_string_append(recipe, o->inputs[i + 1] ? "" : "]\n");
    }
    if (timeout_s > 0) {
        char number[ORCH_REAL_CHARS];
        g_string_append_printf(recipe, "    timeout: %s\n", orch_real_format(timeout_s, number));
    }
    struct orch_recipe_options options = {.settings = o->execute.variant.settings,
                                          .sweeps = o->execute.variant.sweeps};
    struct orch_diags *diags = orch_diags_new();
    g_autofree char *here = g_get_current_dir();
    g_autofree char *path = g_build_filename(here, "try.recipe", NULL);
    struct orch_expansion *expansion = orch_recipe_expand_text(
        path, recipe->str, recipe->len, orch_cli_plugins(cli), &options, diags);
    orch_cli_warnings(cli, diags);
    if (expansion)
        expansion->is_ad_hoc = true;
    else
        orch_diags_to_error(diags, error);
    orch_diags_free(diags);
    g_string_free(recipe, TRUE);
    return expansion;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct try_options *o = options;
    if (!cli->rest || !cli->rest[0] || !*cli->rest[0]) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "orch try -x lr=0.1,0.01 -- python3 train.py --lr {lr}",
                       "no command: put it behind '--'");
        return -1;
    }
    if (!orch_cli_store(cli, ORCH_STORE_CREATE, error))
        return -1;
    const char *const *words = (const char *const *)cli->rest;
    const struct orch_variant *variant = &o->execute.variant;
    g_autoptr(GPtrArray) settings = try_settings_new();
    if (!try_settings_add(settings, variant->settings, false, error) ||
        !try_settings_add(settings, variant->sweeps, true, error))
        return -1;
    g_auto(GStrv) translated = try_words_translate(words, settings, error);
    if (!translated || !try_settings_check_used(settings, words, o->from_env, error))
        return -1;
    g_autofree char *name = o->name ? g_strdup(o->name) : default_name(cli);
    g_autofree char *command = command_text(translated);
    GString *text = g_string_new(NULL);
    g_autofree char *manifest = manifest_text(o, name, command, settings, text, error)
                                    ? write_manifest(cli, name, text, error)
                                    : NULL;
    g_string_free(text, TRUE);
    struct orch_expansion *expansion =
        manifest ? expand(cli, o, name, manifest, command, error) : NULL;
    if (!expansion)
        return -1;
    int status = o->execute.dry_run ? orch_execute_plan(cli, expansion, &o->execute, error)
                                    : orch_execute(cli, expansion, &o->execute, error);
    orch_expansion_free(expansion);
    return status;
}

const struct orch_command ORCH_COMMAND_TRY = {
    .name = "try",
    .group = "Running",
    .summary = "record a sweep of any command, with no recipe",
    .usage = "-- COMMAND [ARGUMENT...]",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct try_options),
    .keeps_rest = true,
    .about = "{PARAM} in the command stands for a parameter of -s or -x, {seed}, {seed64} and "
             "{repeat} for "
             "the trial's own; {{word}} is the text {word}, and other braces are text. Every "
             "parameter must "
             "stand in the command; with --env, and where the program imports orch's Python "
             "helper, it may "
             "be read from the environment instead. Metrics are read from standard output: lines "
             "such as "
             "'epoch 3/10 loss 0.3', 'loss=0.3 accuracy=91.2%', or JSON objects "
             "(docs/printed-values.md). "
             "Trials run on a copy of the source tree, so editing during a sweep changes nothing.",
    .examples = "  orch try -x lr=0.1,0.01 -- python3 train.py --lr {lr}\n"
                "  orch try -x n='range(1,8)' --repeat 3 -- ./bench {n}",
    .run = run,
};
