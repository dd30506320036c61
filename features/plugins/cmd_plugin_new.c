/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "core/cli/consent.h"
#include "features/plugins/conform.h"
#include "features/plugins/skeleton.h"
#include "lib/base/error.h"

#include <string.h>

/* ---- plugin check -----------------------------------------------------------------------------
 */

struct check_options {
    const char **settings;
    bool trust;
};

static const struct orch_option CHECK_OPTIONS[] = {
    ORCH_OPTION(struct check_options, settings, LIST, "set", .letter = 's', .value = "PARAM=VALUE",
                .help = "run the plugin with this value instead of the default"),
    ORCH_TRUST_OPTION(struct check_options, trust),
    {0}};

static int run_check(struct orch_cli *cli, const void *options, GError **error)
{
    const struct check_options *o = options;
    orch_cli_confirm_trust(cli, o->trust);
    g_autofree char *base =
        strchr(cli->args[0], '/') ? g_get_current_dir() : orch_cli_recipe_folder();
    g_autoptr(GError) problem = NULL;
    if (!orch_plugins_find(orch_cli_plugins(cli), cli->args[0], base, &problem) &&
        problem->code == ORCH_ERROR_TRUST) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return -1;
    }
    g_autoptr(GPtrArray) steps =
        orch_conform_run(orch_cli_plugins(cli), cli->args[0], base, o->settings, error);
    if (!steps)
        return -1;
    static const char *const headers[] = {"step", "outcome", "detail", NULL};
    static const char *const outcomes[] = {"ok", "failed", "skipped"};
    struct orch_table *table = orch_table_new(headers);
    unsigned failed = 0;
    for (guint i = 0; i < steps->len; i++) {
        const struct orch_conform_step *step = steps->pdata[i];
        orch_table_add(table, step->name, NULL);
        orch_table_add(table, outcomes[step->outcome], NULL);
        orch_table_add(table, step->detail, NULL);
        failed += step->outcome == ORCH_CONFORM_FAILED;
    }
    orch_cli_table_print(cli, table, "steps");
    if (failed && !cli->json)
        orch_cli_info(cli, "%u of %u steps failed; 'orch help plugins' explains each step", failed,
                      steps->len);
    return failed ? ORCH_EXIT_CHECK : ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_PLUGIN_CHECK = {
    .name = "plugin check",
    .group = "Plugins",
    .summary = "test whether a plugin, in any language, conforms to the protocol",
    .usage = "NAME|PATH",
    .min_args = 1,
    .max_args = 1,
    .options = CHECK_OPTIONS,
    .option_bytes = sizeof(struct check_options),
    .about = "Runs the plugin and checks that its manifest is valid, that it loads quickly, that "
             "equal seeds give equal results, that it stops when it is cancelled, and that it "
             "reports only what it declares. The exit status is 7 when a check fails.",
    .run = run_check,
};

/* ---- plugin new -------------------------------------------------------------------------------
 */

struct new_options {
    const char *language, *skeleton, *dir;
};

static const struct orch_option NEW_OPTIONS[] = {
    ORCH_OPTION(struct new_options, language, TEXT, "language", .letter = 'l', .value = "LANG",
                .help = "language: c, shell or python (default)"),
    ORCH_OPTION(struct new_options, skeleton, TEXT, "skeleton", .value = "NAME",
                .help = "start from this skeleton: vecadd, a CUDA program with an empty kernel"),
    ORCH_OPTION(struct new_options, dir, TEXT, "dir", .letter = 'd', .value = "DIR",
                .help = "folder to create (default: plugins/NAME)"),
    {0}};

/* Returns the commands that build and run a new plugin, one per line. The caller frees. */
static char *next_commands(const char *folder, const char *name, const char *language,
                           const char *skeleton)
{
    if (skeleton)
        return g_strdup_printf("make -C %s\norch plugin check %s/%s.plugin", folder, folder, name);
    if (g_strcmp0(language, "c") != 0)
        return g_strdup_printf("orch plugin check %s/%s.plugin", folder, name);
    return g_strdup_printf("make -C %s\norch plugin trust %s/%s.so\norch plugin check %s/%s.so",
                           folder, folder, name, folder, name);
}

static int run_new(struct orch_cli *cli, const void *options, GError **error)
{
    const struct new_options *o = options;
    g_autofree char *folder =
        o->dir ? g_strdup(o->dir) : g_build_filename("plugins", cli->args[0], NULL);
    if (o->language && o->skeleton) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out one of the two",
                       "option '--language' excludes '--skeleton'");
        return -1;
    }
    g_autoptr(GPtrArray) files = orch_skeleton_make(
        cli->args[0], o->language ? o->language : "python", o->skeleton, folder, error);
    if (!files)
        return -1;
    json_t *list = json_array();
    for (guint i = 0; i < files->len; i++) {
        json_array_append_new(list, json_string(files->pdata[i]));
        if (!cli->json)
            puts(files->pdata[i]);
    }
    g_autofree char *next = next_commands(folder, cli->args[0], o->language, o->skeleton);
    if (cli->json) {
        orch_cli_print_json(json_pack("{s:o, s:s}", "files", list, "next", next));
        return ORCH_EXIT_OK;
    }
    json_decref(list);
    fflush(stdout);
    g_auto(GStrv) lines = g_strsplit(next, "\n", -1);
    for (int i = 0; lines[i]; i++)
        orch_cli_info(cli, "%s %s", i ? "     " : "next:", lines[i]);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_PLUGIN_NEW = {
    .name = "plugin new",
    .group = "Plugins",
    .summary = "create a working skeleton of a plugin in C, shell or Python",
    .usage = "NAME",
    .min_args = 1,
    .max_args = 1,
    .options = NEW_OPTIONS,
    .option_bytes = sizeof(struct new_options),
    .examples = "  orch plugin new mine && orch plugin check plugins/mine/mine.plugin",
    .run = run_new,
};
