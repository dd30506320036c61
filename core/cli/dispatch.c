/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program: finds the command, parses its options, runs it, prints its error, and exits with a
 * status that has the same meaning for every command. */
#include "core/cli/cli.h"

#include "core/cli/first_words.h"
#include "core/cli/pager.h"
#include "core/cli/parts.h"
#include "core/feature/feature.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/odd_char.h"
#include "lib/base/spawn.h"
#include "lib/base/text.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The kinds of errors: the exit status of each, and its word in JSON. */
static const struct error_kind {
    int code, status;
    const char *word;
} KINDS[] = {
    {ORCH_ERROR_TRIAL, ORCH_EXIT_TRIAL, "trial"},
    {ORCH_ERROR_USAGE, ORCH_EXIT_USAGE, "usage"},
    {ORCH_ERROR_RECIPE, ORCH_EXIT_USAGE, "recipe"},
    {ORCH_ERROR_STORE, ORCH_EXIT_STORE, "store"},
    {ORCH_ERROR_IO, ORCH_EXIT_STORE, "io"},
    {ORCH_ERROR_NOT_FOUND, ORCH_EXIT_USAGE, "not_found"},
    {ORCH_ERROR_PLUGIN, ORCH_EXIT_PLUGIN, "plugin"},
    {ORCH_ERROR_PROTOCOL, ORCH_EXIT_TRIAL, "protocol"},
    {ORCH_ERROR_BUDGET, ORCH_EXIT_BUDGET, "budget"},
    {ORCH_ERROR_CHECK, ORCH_EXIT_CHECK, "check"},
    {ORCH_ERROR_INTERRUPTED, ORCH_EXIT_INTERRUPTED, "interrupted"},
    {ORCH_ERROR_TRUST, ORCH_EXIT_PLUGIN, "trust"},
    {ORCH_ERROR_NO_PLUGIN, ORCH_EXIT_PLUGIN, "no_plugin"},
};

static struct error_kind kind_of(const GError *error)
{
    for (unsigned i = 0; error->domain == ORCH_ERROR && i < G_N_ELEMENTS(KINDS); i++)
        if (KINDS[i].code == error->code)
            return KINDS[i];
    return (struct error_kind){error->code, ORCH_EXIT_STORE, "other"};
}

/* Prints an error message with one or more findings; each finding begins on a line that is not
 * indented. */
static void print_error(const GError *error)
{
    const char *odd = orch_odd_char_find(error->message, strlen(error->message), true);
    g_autofree char *message = orch_text_plain(g_strdup(error->message));
    g_auto(GStrv) lines = g_strsplit(message, "\n", -1);
    for (int i = 0; lines[i]; i++)
        fprintf(stderr, "%s%s\n",
                lines[i][0] == ' ' || lines[i][0] == '(' ? "" : "orch: ", lines[i]);
    g_autofree char *hint = NULL, *what = odd ? orch_odd_char_describe(odd, &hint) : NULL;
    if (what && !strstr(error->message, what))
        fprintf(stderr, "  note: this text holds %s; %s\n", what, hint);
}

/* Whether --json is on the command line, also when an error came before it was parsed. */
static bool wants_json(const struct orch_cli *cli)
{
    bool wants = cli->json;
    for (int i = 1; !wants && i < cli->argc && strcmp(cli->argv[i], "--") != 0; i++)
        wants = strcmp(cli->argv[i], "--json") == 0;
    return wants;
}

/* Prints the error as the JSON of a command that has printed nothing, so that stdout is one
 * document. The text for people is on stderr in any case. */
static void print_json_error(const GError *error)
{
    g_autofree char *what = orch_error_what(error);
    orch_cli_print_json(orch_json_error(what, orch_error_hint(error), kind_of(error).word));
}

static bool starts_with_words(const char *name, char *const *argv, int argc, int *out_words)
{
    g_auto(GStrv) words = g_strsplit(name, " ", -1);
    int count = (int)g_strv_length(words);
    if (count > argc)
        return false;
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], argv[i]) != 0)
            return false;
    *out_words = count;
    return true;
}

static const struct orch_command *find_command(int argc, char **argv, int *out_words)
{
    const struct orch_command *best = NULL;
    int words;
    *out_words = 0;
    for (const struct orch_command *const *c = orch_commands(); *c; c++)
        if (starts_with_words((*c)->name, argv, argc, &words) && words > *out_words) {
            best = *c;
            *out_words = words;
        }
    return best;
}

static bool arguments_fit(const struct orch_cli *cli, GError **error)
{
    const struct orch_command *command = cli->command;
    g_autofree char *hint =
        *command->usage
            ? g_strdup_printf("usage: orch %s %s", command->name, command->usage)
            : g_strdup_printf("it takes options only: see 'orch %s --help'", command->name);
    if (cli->arg_count < command->min_args) {
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "'%s' needs %s argument%s", command->name,
                       command->min_args == 1 ? "an" : "more", orch_plural(command->min_args));
        return false;
    }
    if (command->max_args >= 0 && cli->arg_count > command->max_args) {
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "too many arguments: '%s'",
                       cli->args[command->max_args]);
        return false;
    }
    return true;
}

static bool name_user(const struct orch_cli *cli, GError **error)
{
    g_autofree char *name = cli->who ? orch_who_clean(g_strdup(cli->who)) : NULL;
    if (name && !*name) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "for example --who 'Ada Lovelace <ada@example.org>'",
                       "option '--who': '%s' is not a name", cli->who);
        return false;
    }
    orch_user_set(name);
    return true;
}

/* The current folder; NULL if it was deleted. GLib's function would give the root folder. */
static char *getcwd_copy(void)
{
    char *path = getcwd(NULL, 0);
    char *copy = g_strdup(path);
    free(path);
    return copy;
}

/* Fails where there is no current folder. From here on it is known by its path without links, which
 * is that of its repository; one whose path is not UTF-8 is known by another path. */
static bool settle_folder(GError **error)
{
    g_autofree char *here = getcwd_copy();
    if (!here) {
        orch_error_set(error, ORCH_ERROR_IO, "change to another folder, or name one with -C DIR",
                       "the current folder '%s' no longer exists: %s",
                       g_getenv("PWD") ? g_getenv("PWD") : ".", g_strerror(errno));
        return false;
    }
    g_autofree char *shown = orch_path_utf8(here, error);
    if (shown) /* GLib's current folder is then this one */
        g_setenv("PWD", shown, TRUE);
    return shown != NULL;
}

static int run_parsed(struct orch_cli *cli, const void *options, GError **error)
{
    const struct orch_command *command = cli->command;
    if (cli->help) {
        orch_help_command(stdout, command, false);
        return ORCH_EXIT_OK;
    }
    if (!arguments_fit(cli, error) || !orch_cli_format_check(cli->format, error))
        return -1;
    if (cli->directory && chdir(cli->directory) != 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot change to folder '%s'",
                             cli->directory);
        return -1;
    }
    if (!settle_folder(error) || !name_user(cli, error))
        return -1;
    orch_pager_start(cli);
    return command->run(cli, options, error);
}

static int run_command(struct orch_cli *cli, int words, GError **error)
{
    const struct orch_command *command = cli->command;
    g_autofree void *options = g_malloc0(command->option_bytes + 1);
    char **argv = cli->argv + 1 + words;
    int argc = cli->argc - 1 - words, status = -1;
    cli->parts = orch_parts_new(command);
    if (orch_options_parse(cli, argc, argv, options, error))
        status = run_parsed(cli, options, error);
    orch_parts_free(cli->parts);
    orch_options_free_lists(command->options, options);
    return status;
}

/* Returns whether the user asks for a group, as in "orch predictor --help": a word that only
 * begins commands, followed only by options. */
static bool asks_for_group(int argc, char *const *argv)
{
    bool asks = false;
    for (int i = 1, words; i < argc; i += MAX(words, 1)) {
        words = orch_common_option_words(argc - i, argv + i);
        if (argv[i][0] != '-')
            return false;
        asks |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    }
    return asks;
}

char *orch_cli_version(void)
{
    return g_strdup_printf("orch %s (plugin ABI %d.%d, store schema %d)", ORCH_VERSION,
                           ORCH_ABI_MAJOR, ORCH_ABI_MINOR, ORCH_STORE_SCHEMA);
}

static int dispatch(struct orch_cli *cli, GError **error)
{
    static const char *const version_words[] = {"--version", "-V", "version"};
    static const char *const help_words[] = {"--help", "-h", "help"};
    int argc = cli->argc - 1;
    char **argv = cli->argv + 1;
    int skip = 0, length;
    while (skip < argc && (length = orch_common_option_words(argc - skip, argv + skip)))
        skip += length;
    if (skip && skip < argc) { /* move the command to the front */
        g_autoptr(GPtrArray) words = g_ptr_array_new();
        int n;
        find_command(argc - skip, argv + skip, &n);
        n = MAX(n, 1);
        for (int i = 0; i < n; i++)
            g_ptr_array_add(words, argv[skip + i]);
        for (int i = 0; i < skip; i++)
            g_ptr_array_add(words, argv[i]);
        for (int i = 0; i < n + skip; i++)
            argv[i] = words->pdata[i];
    }
    for (unsigned i = 0; argc && i < G_N_ELEMENTS(version_words); i++)
        if (strcmp(argv[0], version_words[i]) == 0) {
            g_autofree char *version = orch_cli_version();
            orch_cli_print("%s", version);
            return ORCH_EXIT_OK;
        }
    if (!argc) {
        if (!settle_folder(error))
            return -1;
        orch_first_words(cli);
        return ORCH_EXIT_USAGE;
    }
    if (argc == 1 && (strcmp(argv[0], help_words[0]) == 0 || strcmp(argv[0], help_words[1]) == 0)) {
        orch_help_overview(stdout, false);
        return ORCH_EXIT_OK;
    }
    int words;
    cli->command = find_command(argc, argv, &words);
    if (!cli->command && asks_for_group(argc, argv) && orch_help_group(stdout, argv[0]))
        return ORCH_EXIT_OK;
    if (!cli->command) {
        orch_command_unknown(argc, (const char *const *)argv, error);
        return -1;
    }
    return run_command(cli, words, error);
}

/* Returns whether the reader of stdout has closed it. An earlier failed write sets the stream's
 * error flag, but leaves no errno. */
static bool reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP));
}

/* Closes stdout. A closed pipe ('orch ls | head') is not an error; a full disk is. */
static int close_stdout(int status)
{
    bool failed = fflush(stdout) != 0;
    const char *why = failed ? g_strerror(errno) : "not all of it was written";
    if ((!failed && !ferror(stdout)) || (failed && errno == EPIPE) || reader_is_gone())
        return status;
    fprintf(stderr, "orch: cannot write to standard output: %s\n", why);
    return status ? status : ORCH_EXIT_STORE;
}

/* Prints warnings from opening the store, such as another host's file that could not be read. */
static void print_warnings(struct orch_cli *cli)
{
    const struct orch_store *store = cli->workspace ? cli->workspace->store : NULL;
    const GPtrArray *warnings = store ? orch_store_warnings(store) : NULL;
    for (guint i = 0; warnings && i < warnings->len; i++)
        orch_cli_warn(cli, "%s", (char *)warnings->pdata[i]);
}

int orch_main(int argc, char **argv, const struct orch_feature *const *features)
{
    orch_features_set(features);
    setlocale(LC_CTYPE, "");
    orch_ignore_write_signals();
    struct orch_cli cli = {.argc = argc,
                           .argv = argv,
                           .stdout_is_tty = isatty(STDOUT_FILENO),
                           .stderr_is_tty = isatty(STDERR_FILENO)};
    cli.args = g_new0(const char *, (gsize)argc + 1);
    cli.given = g_ptr_array_new();
    GError *error = NULL;
    int status = dispatch(&cli, &error);
    bool had_error = error != NULL;
    if (error) {
        bool is_empty = !orch_cli_json_is_printed() && !__fpending(stdout);
        fflush(stdout);
        print_error(error);
        if (is_empty && wants_json(&cli))
            print_json_error(error);
        status = kind_of(error).status;
        g_clear_error(&error);
    }
    print_warnings(&cli);
    if (had_error && cli.workspace)
        orch_workspace_drop_new_store(cli.workspace);
    orch_plugins_free(cli.plugins);
    orch_workspace_free(cli.workspace);
    orch_options_free_lists(ORCH_COMMON_OPTIONS, &cli);
    g_free(cli.args);
    g_ptr_array_unref(cli.given);
    status = close_stdout(status);
    orch_pager_end();
    return status;
}
