/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A page over the store. Forecasts and reports are what `orch predict --json` and `orch report
 * --json` answer: each is asked of a process of this same program, so that what the page shows is
 * what the command says, and nothing that a recipe or a plugin does reaches the server.
 */
#include "core/cli/cli.h"
#include "core/cli/nets.h"

#include "core/web/web.h"
#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ANSWER_S = 60,           /* a report or a forecast takes no longer */
    ANSWER_BYTES = 64 << 20, /* of JSON */
    RECIPES_MAX = 200,
};

struct serve_options {
    const char *port, *address;
    bool token;
};

static const struct orch_option OPTIONS[] = {
    {"port", 0, "N", ORCH_OPT_TEXT, offsetof(struct serve_options, port),
     "listen there (default 8899; 0: any that is free)"},
    {"bind", 0, "ADDRESS", ORCH_OPT_TEXT, offsetof(struct serve_options, address),
     "listen at another address than 127.0.0.1, with a token"},
    {"token", 0, NULL, ORCH_OPT_FLAG, offsetof(struct serve_options, token),
     "ask for a token at 127.0.0.1, too: others have accounts on this machine"},
    {0}};

/* What the page asks of this program. */
struct asked {
    struct orch_cli *cli;
    char *program, *db;
};

static void end_in_time(gpointer data)
{
    (void)data;
    alarm(ANSWER_S); /* stays over the exec */
}

/* The last words of a command that failed, as an error. */
static void fail_with(const char *words, int status, GError **error)
{
    g_autofree char *text = g_strchomp(g_strdup(words));
    const char *start = g_str_has_prefix(text, "orch: ") ? text + strlen("orch: ") : text;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        orch_error_set(error, ORCH_ERROR_IO, "ask it of the command itself",
                       "it took longer than %d s", ANSWER_S);
    else if (WIFSIGNALED(status) || !*start)
        orch_error_set(error, ORCH_ERROR_IO, "ask it of the command itself",
                       "the command ended with status %d", status);
    else
        g_set_error(error, ORCH_ERROR, ORCH_ERROR_USAGE, "%s", start);
}

/* What a command of this program prints. `words`: char *, to which it adds. The caller frees. */
static char *ask_text(const struct asked *asked, GPtrArray *words, GError **error)
{
    g_autofree char *out = NULL, *err = NULL;
    int status;
    g_ptr_array_insert(words, 0, g_strdup(asked->program));
    g_ptr_array_add(words, g_strdup("--quiet"));
    g_ptr_array_add(words, g_strdup_printf("--db=%s", asked->db));
    g_ptr_array_add(words, NULL);
    if (!g_spawn_sync(NULL, (char **)words->pdata, NULL, G_SPAWN_DEFAULT, end_in_time, NULL, &out,
                      &err, &status, error))
        return NULL;
    if (status != 0) {
        fail_with(err, status, error);
        return NULL;
    }
    return g_steal_pointer(&out);
}

static json_t *ask(const struct asked *asked, GPtrArray *words, GError **error)
{
    g_ptr_array_add(words, g_strdup("--json"));
    g_autofree char *out = ask_text(asked, words, error);
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

/* Networks and GPUs to choose from. */
static json_t *choices(const struct asked *asked, GError **error)
{
    g_autoptr(GPtrArray) nets = words_of("net", "ls");
    g_autoptr(GPtrArray) gpus = words_of("gpu", "ls");
    g_autoptr(json_t) of_nets = ask(asked, nets, error);
    g_autoptr(json_t) of_gpus = of_nets ? ask(asked, gpus, error) : NULL;
    return of_gpus ? json_pack("{s:O s:O}", "nets", of_nets, "gpus", of_gpus) : NULL;
}

/* A name of the zoo or of a GPU: no file is opened because a page names it. */
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
                       "the page forecasts networks of the zoo");
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
    return ask(ctx, words, error);
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

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Those that were named, else those of this folder and of its recipes/. */
static GPtrArray *recipe_paths(const struct asked *asked)
{
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; i < asked->cli->arg_count; i++)
        g_ptr_array_add(paths, g_strdup(asked->cli->args[i]));
    if (!paths->len) {
        add_recipes(".", paths);
        add_recipes("recipes", paths);
        g_ptr_array_sort(paths, compare_texts);
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

/* The words of 'orch report' for a query; NULL with an error. The caller unrefs. */
static GPtrArray *report_words(const struct asked *asked, GHashTable *query, const char *option,
                               GError **error)
{
    const char *recipe = g_hash_table_lookup(query, "recipe");
    const char *profile = g_hash_table_lookup(query, "profile");
    g_autoptr(GPtrArray) paths = recipe_paths(asked);
    if (!recipe || !g_ptr_array_find_with_equal_func(paths, recipe, g_str_equal, NULL)) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "name it: orch serve RECIPE",
                       "this page has no report '%.100s'", recipe ? recipe : "");
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
    return words ? ask(ctx, words, error) : NULL;
}

static char *page(void *ctx, GHashTable *query, GError **error)
{
    g_autoptr(GPtrArray) words = report_words(ctx, query, "--html=-", error);
    return words ? ask_text(ctx, words, error) : NULL;
}

/* ---- the command ------------------------------------------------------------------------------
 */

static int serve(struct orch_cli *cli, const struct serve_options *o, int64_t port, GError **error)
{
    struct asked asked = {.cli = cli,
                          .program = g_file_read_link("/proc/self/exe", error),
                          .db = g_strdup(cli->workspace->db_path)};
    const struct orch_web_options options = {.store_path = asked.db,
                                             .who = orch_user_name(),
                                             .version = ORCH_VERSION,
                                             .address = o->address,
                                             .port = (unsigned)port,
                                             .with_token = o->token,
                                             .forecast = forecast,
                                             .reports = reports,
                                             .report = report,
                                             .page = page,
                                             .ctx = &asked};
    struct orch_web *web = asked.program ? orch_web_new(&options, error) : NULL;
    if (web) {
        printf("%s\n", orch_web_url(web));
        fflush(stdout);
        orch_cli_say(cli, "the page of %s; Ctrl-C ends it", asked.db);
        orch_web_run(web);
    }
    bool ok = web != NULL;
    orch_web_free(web);
    g_free(asked.program);
    g_free(asked.db);
    return ok ? ORCH_EXIT_OK : -1;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct serve_options *o = options;
    int64_t port = 8899;
    bool is_any = o->port && strcmp(o->port, "0") == 0;
    if (!is_any && !orch_cli_count(o->port, "--port", 65535, &port, error))
        return -1;
    if (!orch_cli_store(cli, ORCH_STORE_READ, error))
        return -1;
    return serve(cli, o, is_any ? 0 : port, error);
}

const struct orch_command ORCH_COMMAND_SERVE = {
    .name = "serve",
    .group = "Looking",
    .summary = "a page over the store for a browser: runs, curves, what runs now, forecasts",
    .usage = "[RECIPE...]",
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct serve_options),
    .about = "Prints the page's address and serves it until Ctrl-C. It reads the store and never "
             "writes. It listens at 127.0.0.1 alone; with --bind at another address, and then asks "
             "for the token that is part of the printed address. RECIPE: whose reports the page "
             "shows (without: *.recipe here and in recipes/). docs/serve.md says what the page "
             "can do and what its JSON interface is.",
    .examples = "  orch serve                            # then open http://127.0.0.1:8899/\n"
                "  orch serve --port 0 --token           # any free port, with a token\n"
                "  ssh -L 8899:localhost:8899 lab        # see a page that runs on 'lab' from here",
    .run = run,
};
