/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program orch-web, which `orch serve` executes. It is separate so that orch itself starts
 * without an HTTP library.
 *
 * Forecasts and reports are made by running `orch predict --json` and `orch report --json`. The
 * page therefore shows what the commands print, and a recipe or a plugin cannot affect the server.
 *
 * Changes are carried out by 'orch tag' and other commands for the same reason.
 *
 * usage: orch-web ORCH VERSION STORE ADDRESS PORT TOKEN READ_ONLY QUIET [RECIPE...]
 *
 * ORCH is the program's path. ADDRESS "" means 127.0.0.1. TOKEN, READ_ONLY and QUIET are 0 or 1. */
#include "features/web/web.h"
#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/subprocess.h"
#include "lib/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ANSWER_S = 60,           /* time limit of a report or forecast in s */
    ANSWER_BYTES = 64 << 20, /* maximum size of its JSON */
    RECIPES_MAX = 200,
};

/* What the callbacks need to run the program orch. */
struct request {
    const char *program, *db;
    char **recipes; /* recipes whose reports are shown; none: those of this folder */
};

/* Converts the error output of a failed command into an error. */
static void fail_with(const struct orch_subprocess_end *end, GError **error)
{
    g_autofree char *text = g_strchomp(g_strdup(end->err));
    const char *start = g_str_has_prefix(text, "orch: ") ? text + strlen("orch: ") : text;
    if (end->signal || !*start) {
        orch_error_set(error, ORCH_ERROR_IO, "run the command in a terminal",
                       "the command ended with status %d", end->status);
        return;
    }
    g_auto(GStrv) parts = g_strsplit(start, "\n  hint: ", 2);
    orch_error_set(error, ORCH_ERROR_USAGE, parts[1], "%s", parts[0]);
}

/* Runs a command line of orch and returns its output. Takes the words (char *) without the program;
 * they become NULL-terminated. The caller frees. */
static char *run_program(const struct request *request, GPtrArray *words, GError **error)
{
    struct orch_subprocess_end end;
    g_ptr_array_insert(words, 0, g_strdup(request->program));
    g_ptr_array_add(words, NULL);
    g_autofree char *name = g_strdup_printf("orch %s", (const char *)words->pdata[1]);
    const struct orch_subprocess command = {.argv = (const char *const *)words->pdata,
                                            .name = name,
                                            .timeout_s = ANSWER_S,
                                            .output_bytes_max = ANSWER_BYTES};
    if (!orch_subprocess_run(&command, &end, error))
        return NULL;
    char *out = end.status == 0 ? g_string_free(g_steal_pointer(&end.out), FALSE) : NULL;
    if (!out)
        fail_with(&end, error);
    orch_subprocess_end_clear(&end);
    return out;
}

/* Runs a command of orch and returns its output. Appends the common options to `words` (char *).
 * The caller frees. */
static char *query_text(const struct request *request, GPtrArray *words, GError **error)
{
    g_ptr_array_add(words, g_strdup("--quiet"));
    g_ptr_array_add(words, g_strdup_printf("--db=%s", request->db));
    return run_program(request, words, error);
}

static json_t *query_program(const struct request *request, GPtrArray *words, GError **error)
{
    g_ptr_array_add(words, g_strdup("--json"));
    g_autofree char *out = query_text(request, words, error);
    return out ? orch_json_parse(out, strlen(out), ANSWER_BYTES, error) : NULL;
}

static GPtrArray *words_of(const char *first, const char *second)
{
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(words, g_strdup(first));
    if (second)
        g_ptr_array_add(words, g_strdup(second));
    return words;
}

/* ---- forecasts --------------------------------------------------------------------------------
 */

/* Returns the networks and GPUs that a user can choose. */
static json_t *choices(const struct request *request, GError **error)
{
    g_autoptr(GPtrArray) nets = words_of("net", "ls");
    g_autoptr(GPtrArray) gpus = words_of("gpu", "ls");
    g_autoptr(json_t) of_nets = query_program(request, nets, error);
    g_autoptr(json_t) of_gpus = of_nets ? query_program(request, gpus, error) : NULL;
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
    g_autoptr(GPtrArray) words = words_of("predict", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        const char *value = g_hash_table_lookup(query, options[i]);
        if (value && *value)
            g_ptr_array_add(words, g_strdup_printf("--%s=%s", options[i], value));
    }
    if (g_hash_table_contains(query, "spot"))
        g_ptr_array_add(words, g_strdup("--spot"));
    return query_program(ctx, words, error);
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
static GPtrArray *recipe_paths(const struct request *request)
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
static GPtrArray *report_words(const struct request *request, GHashTable *query, const char *option,
                               GError **error)
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
    GPtrArray *words = words_of("report", option);
    if (profile && *profile)
        g_ptr_array_add(words, g_strdup_printf("--profile=%s", profile));
    g_ptr_array_add(words, g_str_has_prefix(recipe, "-") ? g_strconcat("./", recipe, NULL)
                                                         : g_strdup(recipe));
    return words;
}

static json_t *report(void *ctx, GHashTable *query, GError **error)
{
    g_autoptr(GPtrArray) words = report_words(ctx, query, "--quick", error);
    return words ? query_program(ctx, words, error) : NULL;
}

static char *page(void *ctx, GHashTable *query, GError **error)
{
    g_autoptr(GPtrArray) words = report_words(ctx, query, "--html=-", error);
    return words ? query_text(ctx, words, error) : NULL;
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
    const struct request *request = ctx;
    for (size_t i = 0; i < G_N_ELEMENTS(CHANGES); i++) {
        if (strcmp(CHANGES[i].verb, verb) != 0)
            continue;
        g_autoptr(GPtrArray) words = words_of(CHANGES[i].command, CHANGES[i].option);
        g_ptr_array_add(words, g_strdup("--quiet"));
        g_ptr_array_add(words, g_strdup_printf("--db=%s", request->db));
        if (text && CHANGES[i].is_reason)
            g_ptr_array_add(words, g_strdup_printf("--reason=%s", text));
        g_ptr_array_add(words, g_strdup("--"));
        g_ptr_array_add(words, g_strdup(run));
        if (text && !CHANGES[i].is_reason)
            g_ptr_array_add(words, g_strdup(text));
        g_autofree char *said = run_program(request, words, error);
        return said != NULL;
    }
    orch_error_set(error, ORCH_ERROR_USAGE, NULL, "nothing can be done by '%s'", verb);
    return false;
}

static bool view(void *ctx, const char *verb, const char *name, const char *address, GError **error)
{
    static const struct {
        const char *verb, *option;
    } rows[] = {{"view-save", NULL},
                {"view-share", "--public"},
                {"view-pin", "--pin"},
                {"view-unpin", "--unpin"},
                {"view-remove", "--remove"}};
    const struct request *request = ctx;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (strcmp(rows[i].verb, verb) != 0)
            continue;
        g_autoptr(GPtrArray) words = words_of("view", rows[i].option);
        g_ptr_array_add(words, g_strdup("--quiet"));
        g_ptr_array_add(words, g_strdup_printf("--db=%s", request->db));
        g_ptr_array_add(words, g_strdup("--"));
        g_ptr_array_add(words, g_strdup(name));
        if (address)
            g_ptr_array_add(words, g_strdup(address));
        g_autofree char *said = run_program(request, words, error);
        return said != NULL;
    }
    orch_error_set(error, ORCH_ERROR_USAGE, NULL, "nothing can be done by '%s'", verb);
    return false;
}

/* ---- differences ------------------------------------------------------------------------------
 */

static json_t *difference(void *ctx, const char *a, const char *b, GError **error)
{
    g_autoptr(GPtrArray) words = words_of("diff", "--source");
    g_ptr_array_add(words, g_strdup(a));
    g_ptr_array_add(words, g_strdup(b));
    return query_program(ctx, words, error);
}

static json_t *comparison(void *ctx, const char *a, const char *b, GError **error)
{
    g_autoptr(GPtrArray) words = words_of("compare", NULL);
    g_ptr_array_add(words, g_strdup(a));
    g_ptr_array_add(words, g_strdup(b));
    return query_program(ctx, words, error);
}

static json_t *reruns(void *ctx, char *const *runs, GError **error)
{
    g_autoptr(GPtrArray) words = words_of("show", "--rerun");
    for (; *runs; runs++)
        g_ptr_array_add(words, g_strdup(*runs));
    return query_program(ctx, words, error);
}

/* ---- the program ------------------------------------------------------------------------------
 */

enum word { ORCH, VERSION, STORE, ADDRESS, PORT, TOKEN, READ_ONLY, QUIET, RECIPES };

static void end_with(const GError *error)
{
    g_autofree char *message = orch_text_plain(g_strdup(error->message));
    fprintf(stderr, "orch: %s\n", message);
    exit(error->code == ORCH_ERROR_USAGE ? 2 : 3);
}

int main(int argc, char **argv)
{
    if (argc < 1 + RECIPES) {
        fprintf(stderr, "orch-web: 'orch serve' starts it\n");
        return 2;
    }
    char **words = argv + 1;
    struct request request = {words[ORCH], words[STORE], words + RECIPES};
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
        .ctx = &request,
    };
    g_autoptr(GError) error = NULL;
    struct orch_web *web = orch_web_new(&options, &error);
    if (!web)
        end_with(error);
    printf("%s\n", orch_web_url(web));
    fflush(stdout);
    if (strcmp(words[QUIET], "1") != 0)
        fprintf(stderr, "the page of %s; Ctrl-C ends it\n", words[STORE]);
    orch_web_run(web);
    orch_web_free(web);
    return 0;
}
