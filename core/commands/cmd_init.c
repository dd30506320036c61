/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <unistd.h>

static const char FIRST_RECIPE[] =
    "format: 1\n"
    "recipe: first\n"
    "about: A first sweep. It needs no GPU; run it with 'orch run recipes/first.recipe'.\n"
    "\n"
    "experiments:\n"
    "  nap:\n"
    "    plugin: sleep                      # 'orch plugin show sleep' lists its parameters\n"
    "    sweep: { seconds: [0.1, 0.2, 0.4] }\n"
    "    repeat: 2\n"
    "\n"
    "report:\n"
    "  - { title: Does it sleep as long as it was told?, table: { rows: seconds, value: slept_s } "
    "}\n";

/* Writes the recipe. Outside of a repository it lies in the folder of the store itself: the runs of
 * one in recipes/ would be in another store, of that folder. */
static bool write_recipe(const struct orch_workspace *workspace, const char *path, GError **error)
{
    static const char in_repository[] = "recipes/first.recipe";
    g_autofree char *folder = g_path_get_dirname(path);
    GString *text = g_string_new(FIRST_RECIPE);
    if (!workspace->vcs)
        g_string_replace(text, in_repository, "first.recipe", 0);
    bool ok =
        orch_dir_make(folder, error) && orch_file_write(path, text->str, text->len, false, error);
    g_string_free(text, TRUE);
    return ok;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_CREATE, error);
    if (!store)
        return -1;
    const struct orch_workspace *workspace = cli->workspace;
    g_autofree char *recipe = g_build_filename(
        workspace->root, workspace->vcs ? "recipes/first.recipe" : "first.recipe", NULL);
    bool there = access(recipe, F_OK) == 0;
    if (!there && !write_recipe(workspace, recipe, error))
        return -1;
    if (cli->json) {
        orch_cli_print_json(
            json_pack("{s:s s:s}", "store", orch_store_path(store), "recipe", recipe));
        return ORCH_EXIT_OK;
    }
    orch_cli_print("%s\n%s", orch_store_path(store), recipe);
    orch_cli_info(cli, "%s\nnow: orch run %s",
                  there ? "the recipe already exists and was not changed"
                        : "a store and a first recipe",
                  recipe);
    if (!cli->workspace->vcs)
        orch_cli_warn(cli,
                      "'%s' is not in a git repository, so runs are recorded without a version of "
                      "the code\n  hint: run 'git init'",
                      cli->workspace->root);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_INIT = {
    .name = "init",
    .group = "Run",
    .is_listed = true,
    .summary = "create a store and a first recipe here",
    .usage = "",
    .max_args = 0,
    .about =
        "The store is .orch/results.db at the root of the repository; git ignores it. Outside of a "
        "repository, store and recipe are in the current folder. Existing files are not changed.",
    .run = run,
};
