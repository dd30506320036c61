/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program orch-web, which `orch serve` executes. It is separate so that orch itself starts
 * without an HTTP library.
 *
 * Forecasts and reports are made by running `orch predict --json` and `orch report --json`. The
 * page therefore shows what the commands print, and a recipe or a plugin cannot affect the server.
 *
 * Changes are carried out by 'orch tag' and other commands for the same reason.
 *
 * usage: orch-web ORCH VERSION STORE ADDRESS PORT TOKEN READ_ONLY QUIET GROUP [RECIPE...]
 *
 * ORCH is the program's path. ADDRESS "" means 127.0.0.1. TOKEN, READ_ONLY and QUIET are 0 or 1.
 * GROUP is "-" for the page of one person, "" for that of the group's default remote, else the
 * remote's name. */
#include "features/web/command.h"
#include "features/web/group_remote.h"
#include "features/web/web.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/spawn.h"
#include "lib/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECIPES_MAX = 200 };

/* ---- forecasts --------------------------------------------------------------------------------
 */

/* Returns the networks and GPUs that a user can choose. */
static json_t *choices(const struct web_command *request, GError **error)
{
    g_autoptr(GPtrArray) nets = orch_web_command_words("net", "ls");
    g_autoptr(GPtrArray) gpus = orch_web_command_words("gpu", "ls");
    g_autoptr(json_t) of_nets = orch_web_command_json(request, nets, error);
    g_autoptr(json_t) of_gpus = of_nets ? orch_web_command_json(request, gpus, error) : NULL;
    return of_gpus ? json_pack("{s:O s:O}", "nets", of_nets, "gpus", of_gpus) : NULL;
}

/* Accepts only names of the zoo or of a GPU, so that the page cannot make orch open a file. */
static bool is_plain(const char *text)
{
    return strlen(text) < 100 &&
           strspn(text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-:, +") == strlen(text);
}

static json_t *forecast(void *ctx, GHashTable *query, GError **error)
{
    static const char *const options[] = {"net",       "gpu",     "batch",    "epochs", "dataset",
                                          "workers",   "input",   "cloud",    "budget", "deadline",
                                          "precision", "scaling", "optimizer"};
    const char *net = g_hash_table_lookup(query, "net");
    if (!net || !*net)
        return choices(ctx, error);
    if (!is_plain(net)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for a file: 'orch predict --net FILE'",
                       "the page can forecast only built-in networks");
        return NULL;
    }
    g_autoptr(GPtrArray) words = orch_web_command_words("predict", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        const char *value = g_hash_table_lookup(query, options[i]);
        if (value && *value)
            g_ptr_array_add(words, g_strdup_printf("--%s=%s", options[i], value));
    }
    if (g_hash_table_contains(query, "spot"))
        g_ptr_array_add(words, g_strdup("--spot"));
    return orch_web_command_json(ctx, words, error);
}

/* ---- reports ----------------------------------------------------------------------------------
 */

static void add_recipes(const char *folder, GPtrArray *paths)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)) != NULL && paths->len < RECIPES_MAX)
        if (g_str_has_suffix(name, ".recipe"))
            g_ptr_array_add(paths, strcmp(folder, ".") == 0 ? g_strdup(name)
                                                            : g_build_filename(folder, name, NULL));
}

/* Returns the recipes named on the command line, else those of this folder and of its recipes/. */
static GPtrArray *recipe_paths(const struct web_command *request)
{
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; request->recipes[i]; i++)
        g_ptr_array_add(paths, g_strdup(request->recipes[i]));
    if (!paths->len) {
        add_recipes(".", paths);
        add_recipes("recipes", paths);
        g_ptr_array_sort(paths, orch_compare_texts);
    }
    return paths;
}

static json_t *reports(void *ctx, GHashTable *query, GError **error)
{
    (void)query;
    (void)error;
    g_autoptr(GPtrArray) paths = recipe_paths(ctx);
    json_t *list = json_array();
    for (guint i = 0; i < paths->len; i++)
        json_array_append_new(list, json_string(paths->pdata[i]));
    return json_pack("{s:o}", "recipes", list);
}

/* Builds the arguments of 'orch report' for a query; NULL with an error. The caller unrefs. */
static GPtrArray *report_words(const struct web_command *request, GHashTable *query,
                               const char *option, GError **error)
{
    const char *recipe = g_hash_table_lookup(query, "recipe");
    const char *profile = g_hash_table_lookup(query, "profile");
    g_autoptr(GPtrArray) paths = recipe_paths(request);
    if (!recipe || !g_ptr_array_find_with_equal_func(paths, recipe, g_str_equal, NULL)) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "start the server with its recipe: orch serve RECIPE",
                       "this server has no report '%.100s'", recipe ? recipe : "");
        return NULL;
    }
    GPtrArray *words = orch_web_command_words("report", option);
    if (profile && *profile)
        g_ptr_array_add(words, g_strdup_printf("--profile=%s", profile));
    g_ptr_array_add(words, g_str_has_prefix(recipe, "-") ? g_strconcat("./", recipe, NULL)
                                                         : g_strdup(recipe));
    return words;
}

static json_t *report(void *ctx, GHashTable *query, GError **error)
{
    g_autoptr(GPtrArray) words = report_words(ctx, query, "--quick", error);
    return words ? orch_web_command_json(ctx, words, error) : NULL;
}

static char *page(void *ctx, GHashTable *query, GError **error)
{
    g_autoptr(GPtrArray) words = report_words(ctx, query, "--html=-", error);
    return words ? orch_web_command_text(ctx, words, error) : NULL;
}

/* ---- changes ----------------------------------------------------------------------------------
 */

/* The command behind each verb; `option` comes in front of the run. */
static const struct {
    const char *verb, *command, *option;
    bool is_reason; /* the text is why, and may be missing */
} CHANGES[] = {
    {"tag", "tag", NULL, false},       {"untag", "tag", "--remove", false},
    {"note", "note", NULL, false},     {"name", "name", NULL, false},
    {"hide", "rm", NULL, true},        {"show", "rm", "--undo", false},
    {"cancel", "cancel", NULL, false},
};

/* Everything from the page stands behind '--', so that it is never read as an option; the reason,
 * an option's value, is one word with its option. */
static bool change(void *ctx, const char *verb, const char *run, const char *text, GError **error)
{
    const struct web_command *request = ctx;
    for (size_t i = 0; i < G_N_ELEMENTS(CHANGES); i++) {
        if (strcmp(CHANGES[i].verb, verb) != 0)
            continue;
        g_autoptr(GPtrArray) words = orch_web_command_words(CHANGES[i].command, CHANGES[i].option);
        g_ptr_array_add(words, g_strdup("--quiet"));
        g_ptr_array_add(words, g_strdup_printf("--db=%s", request->db));
        if (text && CHANGES[i].is_reason)
            g_ptr_array_add(words, g_strdup_printf("--reason=%s", text));
        g_ptr_array_add(words, g_strdup("--"));
        g_ptr_array_add(words, g_strdup(run));
        if (text && !CHANGES[i].is_reason)
            g_ptr_array_add(words, g_strdup(text));
        g_autofree char *said = orch_web_command_run(request, words, error);
        return said != NULL;
    }
    orch_error_set(error, ORCH_ERROR_USAGE, NULL, "there is no action '%s'", verb);
    return false;
}

static bool view(void *ctx, const struct orch_web_view *view, GError **error)
{
    static const struct {
        const char *verb, *option;
    } rows[] = {{"view-save", NULL},
                {"view-share", "--public"},
                {"view-pin", "--pin"},
                {"view-unpin", "--unpin"},
                {"view-remove", "--remove"}};
    const struct web_command *request = ctx;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (strcmp(rows[i].verb, view->verb) != 0)
            continue;
        g_autoptr(GPtrArray) words = orch_web_command_words("view", rows[i].option);
        g_ptr_array_add(words, g_strdup("--quiet"));
        g_ptr_array_add(words, g_strdup_printf("--db=%s", request->db));
        if (view->of)
            g_ptr_array_add(words, g_strdup_printf("--of=%s", view->of));
        if (view->instead_of)
            g_ptr_array_add(words, g_strdup_printf("--instead-of=%s", view->instead_of));
        g_ptr_array_add(words, g_strdup("--"));
        g_ptr_array_add(words, g_strdup(view->name));
        if (view->address)
            g_ptr_array_add(words, g_strdup(view->address));
        g_autofree char *said = orch_web_command_run(request, words, error);
        return said != NULL;
    }
    orch_error_set(error, ORCH_ERROR_USAGE, NULL, "there is no action '%s'", view->verb);
    return false;
}

/* ---- differences ------------------------------------------------------------------------------
 */

static json_t *difference(void *ctx, const char *a, const char *b, GError **error)
{
    g_autoptr(GPtrArray) words = orch_web_command_words("diff", "--source");
    g_ptr_array_add(words, g_strdup(a));
    g_ptr_array_add(words, g_strdup(b));
    return orch_web_command_json(ctx, words, error);
}

static json_t *comparison(void *ctx, const char *a, const char *b, GError **error)
{
    g_autoptr(GPtrArray) words = orch_web_command_words("compare", NULL);
    g_ptr_array_add(words, g_strdup(a));
    g_ptr_array_add(words, g_strdup(b));
    return orch_web_command_json(ctx, words, error);
}

static json_t *reruns(void *ctx, char *const *runs, GError **error)
{
    g_autoptr(GPtrArray) words = orch_web_command_words("show", "--rerun");
    for (; *runs; runs++)
        g_ptr_array_add(words, g_strdup(*runs));
    return orch_web_command_json(ctx, words, error);
}

/* ---- the program ------------------------------------------------------------------------------
 */

enum word { ORCH, VERSION, STORE, ADDRESS, PORT, TOKEN, READ_ONLY, QUIET, GROUP, RECIPES };

static void warn(const char *text)
{
    g_autofree char *plain = orch_text_plain(g_strdup(text));
    fprintf(stderr, "orch: warning: nothing is pulled: %s\n", plain);
}

static void end_with(const GError *error)
{
    g_autofree char *message = orch_text_plain(g_strdup(error->message));
    fprintf(stderr, "orch: %s\n", message);
    exit(error->code == ORCH_ERROR_USAGE ? 2 : 3);
}

static json_t *group_standing(void *group, GError **error)
{
    return orch_web_group_standing(group, error);
}

int main(int argc, char **argv)
{
    if (argc < 1 + RECIPES) {
        fprintf(stderr, "orch-web: 'orch serve' starts it\n");
        return 2;
    }
    orch_ignore_write_signals();
    char **words = argv + 1;
    struct web_command request = {words[ORCH], words[STORE], words + RECIPES};
    const bool has_group = strcmp(words[GROUP], "-") != 0;
    struct web_group group = {.command = request, .remote = words[GROUP]};
    const struct orch_web_options options = {
        .store_path = words[STORE],
        .who = orch_user_name(),
        .version = words[VERSION],
        .address = *words[ADDRESS] ? words[ADDRESS] : NULL,
        .port = (unsigned)strtoul(words[PORT], NULL, 10),
        .with_token = strcmp(words[TOKEN], "1") == 0,
        .is_read_only = strcmp(words[READ_ONLY], "1") == 0,
        .forecast = forecast,
        .reports = reports,
        .report = report,
        .page = page,
        .change = change,
        .view = view,
        .difference = difference,
        .comparison = comparison,
        .reruns = reruns,
        .group = has_group ? group_standing : NULL,
        .ctx = &request,
        .group_ctx = &group,
    };
    g_autoptr(GError) error = NULL;
    struct orch_web *web = orch_web_new(&options, &error);
    if (!web)
        end_with(error);
    group.is_quiet = orch_web_why_unchanged(web) != NULL;
    g_autofree char *unpulled = has_group ? orch_web_group_open(&group) : NULL;
    if (unpulled && strcmp(words[QUIET], "1") != 0)
        warn(unpulled);
    printf("%s\n", orch_web_url(web));
    fflush(stdout);
    if (strcmp(words[QUIET], "1") != 0)
        fprintf(stderr, "the page of %s; Ctrl-C ends it\n", words[STORE]);
    orch_web_run(web);
    orch_web_free(web);
    if (has_group)
        orch_web_group_clear(&group);
    return 0;
}
