/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "core/feature/feature.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

struct orch_workspace *orch_cli_workspace(struct orch_cli *cli, const char *folder, GError **error)
{
    if (!cli->workspace)
        cli->workspace = orch_workspace_new(folder, cli->db, error);
    if (cli->workspace)
        orch_workspace_find_user(cli->workspace);
    return cli->workspace;
}

struct orch_store *orch_cli_store(struct orch_cli *cli, enum orch_store_mode mode, GError **error)
{
    struct orch_workspace *workspace = orch_cli_workspace(cli, NULL, error);
    if (!workspace)
        return NULL;
    if (mode != ORCH_STORE_CREATE && !orch_workspace_has_store(workspace)) {
        orch_error_set(error, ORCH_ERROR_STORE,
                       orch_advice(ORCH_ADVICE_NO_STORE, "run a recipe first ('orch run RECIPE'), "
                                                         "or name a store with --db"),
                       "there is no store '%s'", workspace->db_path);
        return NULL;
    }
    return orch_workspace_store(workspace, mode, error);
}

struct orch_plugins *orch_cli_plugins(struct orch_cli *cli)
{
    if (!cli->plugins)
        cli->plugins = orch_plugins_new(cli->plugin_paths);
    return cli->plugins;
}

void orch_cli_take_in(struct orch_cli *cli)
{
    for (const struct orch_feature *const *f = orch_features(); *f; f++)
        if ((*f)->take_in)
            (*f)->take_in(cli);
}

char *orch_cli_recipe_folder(void)
{
    g_autofree char *here = g_get_current_dir();
    char *recipes = g_build_filename(here, "recipes", NULL);
    if (access(recipes, F_OK) == 0)
        return recipes;
    g_free(recipes);
    return g_steal_pointer(&here);
}

/* Prints text from recipes and runs. Its escape sequences are neutralised, and its lines cannot
 * look like orch's own. */
static void print_plain(const char *format, va_list args)
{
    g_autofree char *text = orch_text_plain(g_strdup_vprintf(format, args));
    GString *lines = g_string_new(NULL);
    for (const char *at = text; *at; at++) {
        g_string_append_c(lines, *at);
        if (*at == '\n' && at[1] && at[1] != ' ' && at[1] != '\n')
            g_string_append(lines, "  ");
    }
    fprintf(stderr, "%s\n", lines->str);
    g_string_free(lines, TRUE);
}

void orch_cli_info(struct orch_cli *cli, const char *format, ...)
{
    if (cli->quiet)
        return;
    va_list args;
    va_start(args, format);
    print_plain(format, args);
    va_end(args);
}

void orch_cli_warn(struct orch_cli *cli, const char *format, ...)
{
    if (cli->quiet)
        return;
    va_list args;
    va_start(args, format);
    fputs("orch: warning: ", stderr);
    print_plain(format, args);
    va_end(args);
}

void orch_cli_warn_all(struct orch_cli *cli, const GPtrArray *texts)
{
    for (guint i = 0; i < texts->len; i++)
        orch_cli_warn(cli, "%s", (const char *)texts->pdata[i]);
}

void orch_cli_warnings(struct orch_cli *cli, const struct orch_diags *diags)
{
    for (guint i = 0; i < diags->items->len; i++) {
        const struct orch_diag *diag = diags->items->pdata[i];
        g_autofree char *text = orch_diag_format(diag);
        if (diag->warning)
            orch_cli_warn(cli, "%s", text);
    }
}

void orch_cli_warn_of_source(struct orch_cli *cli)
{
    const struct orch_source *source = cli->workspace->source;
    if (!cli->workspace->vcs)
        orch_cli_warn(cli,
                      "'%s' is not in a git repository, so runs are recorded without a version of "
                      "the code\n  hint: run 'git init'",
                      cli->workspace->folder);
    const GPtrArray *filters = orch_workspace_ignored_filters(cli->workspace);
    if (filters && filters->len)
        orch_cli_warn(cli,
                      "the git filter '%s' is not used: it is set only in this repository, and "
                      "could run any program\n  hint: if you trust it, set it in your ~/.gitconfig",
                      (char *)filters->pdata[0]);
    guint count = source && source->left_out ? source->left_out->len : 0;
    if (!count)
        return;
    const struct orch_left_out *first = source->left_out->pdata[0];
    orch_cli_warn(cli, "%u file%s not stored with the code of the runs: %s (%s)%s", count,
                  count == 1 ? " is" : "s are", first->path, first->why, count > 1 ? ", ..." : "");
}

static bool parse_part(const char *text, unsigned *part, unsigned *count, GError **error)
{
    char rest;
    if (!text ||
        (sscanf(text, "%u/%u%c", part, count, &rest) == 2 && *part >= 1 && *part <= *count))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "for example --part 2/5",
                   "option '--part': '%s' is not K/N with K from 1 to N", text);
    return false;
}

/* Sets the error for a missing recipe, with the file that was probably meant: for "first" and
 * "recipes/first" that is recipes/first.recipe. */
static void recipe_not_found(const char *path, GError **error)
{
    g_autofree char *with_ending = g_strconcat(path, ".recipe", NULL);
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *base_with_ending = g_path_get_basename(with_ending);
    g_autofree char *in_folder = g_build_filename("recipes", base, NULL);
    g_autofree char *in_folder_with_ending = g_build_filename("recipes", base_with_ending, NULL);
    const char *const places[] = {with_ending, in_folder, in_folder_with_ending, NULL};
    g_autofree char *hint = NULL;
    for (int i = 0; places[i] && !hint; i++)
        if (g_file_test(places[i], G_FILE_TEST_IS_REGULAR))
            hint = g_strdup_printf("did you mean '%s'?", places[i]);
    if (!hint)
        hint = g_strdup(g_file_test("recipes", G_FILE_TEST_IS_DIR)
                            ? "'ls recipes' shows those that are here"
                            : "'orch init' writes a first recipe");
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint, "there is no recipe '%s'", path);
}

struct orch_expansion *orch_cli_recipe(struct orch_cli *cli, const char *path,
                                       const struct orch_variant *variant, GError **error)
{
    struct orch_recipe_options options = {.profile = variant->profile,
                                          .settings = variant->settings,
                                          .sweeps = variant->sweeps,
                                          .smoke = variant->smoke,
                                          .leaves_out_unnamed = variant->leaves_out_unnamed,
                                          .leaves_out_untrusted = !cli->needs_every_plugin};
    if (!parse_part(variant->part, &options.part, &options.part_count, error))
        return NULL;
    if (cli->arg_count > 1)
        options.targets = cli->args + 1;
    g_autofree char *folder = orch_path_folder(path);
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        recipe_not_found(path, error);
        return NULL;
    }
    if (!orch_cli_workspace(cli, folder, error))
        return NULL;
    orch_plugins_set_smoke(orch_cli_plugins(cli), variant->smoke);
    struct orch_diags *diags = orch_diags_new();
    struct orch_expansion *expansion =
        orch_recipe_expand(path, orch_cli_plugins(cli), &options, diags);
    orch_cli_warnings(cli, diags);
    if (!expansion)
        orch_diags_to_error(diags, error);
    orch_diags_free(diags);
    return expansion;
}
