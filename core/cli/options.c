/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GNU conventions from the tables: --name value, --name=value, -n value, -nvalue, -abc for flags,
 * -- ends options; options and arguments may be mixed; long names may be shortened while unique. */
#include "core/cli/cli.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

const struct orch_option ORCH_COMMON_OPTIONS[] = {
    {"db", 0, "FILE", ORCH_OPT_TEXT, offsetof(struct orch_cli, db),
     "the store (default: $ORCH_DB, else .orch/results.db of the repository)"},
    {"directory", 'C', "DIR", ORCH_OPT_TEXT, offsetof(struct orch_cli, directory),
     "work as if started in DIR"},
    {"who", 0, "NAME", ORCH_OPT_TEXT, offsetof(struct orch_cli, who),
     "who you are (default: $ORCH_USER, else as git knows you, else the login name)"},
    {"plugin-path", 0, "DIR", ORCH_OPT_LIST, offsetof(struct orch_cli, plugin_paths),
     "look for plugins in DIR first"},
    {"json", 0, NULL, ORCH_OPT_FLAG, offsetof(struct orch_cli, json), "print JSON"},
    {"format", 0, "NAME", ORCH_OPT_TEXT, offsetof(struct orch_cli, format),
     "print tables as text, tsv, csv, markdown or latex (default: text, aligned)"},
    {"quiet", 'q', NULL, ORCH_OPT_FLAG, offsetof(struct orch_cli, quiet), "less talk on stderr"},
    {"verbose", 'v', NULL, ORCH_OPT_FLAG, offsetof(struct orch_cli, verbose),
     "more talk on stderr"},
    {"color", 0, "WHEN", ORCH_OPT_TEXT, offsetof(struct orch_cli, color),
     "auto, always or never (NO_COLOR is respected)"},
    {"help", 'h', NULL, ORCH_OPT_FLAG, offsetof(struct orch_cli, help), "show this help"},
    {0}};

/* An option of the command or a common one, and the struct that it fills. */
struct found {
    const struct orch_option *option;
    char *base;
};

static unsigned find_in(const struct orch_option *table, void *base, const char *name,
                        size_t length, struct found *out)
{
    unsigned matches = 0;
    for (; table && table->name; table++) {
        if (strncmp(table->name, name, length) != 0)
            continue;
        *out = (struct found){table, base};
        if (strlen(table->name) == length)
            return 1;
        matches++;
    }
    return matches;
}

static bool find_exact(const struct orch_option *table, const char *name, size_t length)
{
    for (; table && table->name; table++)
        if (strlen(table->name) == length && strncmp(table->name, name, length) == 0)
            return true;
    return false;
}

static char *near_option(const struct orch_command *command, const char *name)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const struct orch_option *o = command ? command->options : NULL; o && o->name; o++)
        g_ptr_array_add(names, (char *)(uintptr_t)o->name);
    for (const struct orch_option *o = ORCH_COMMON_OPTIONS; o->name; o++)
        g_ptr_array_add(names, (char *)(uintptr_t)o->name);
    g_ptr_array_add(names, NULL);
    const char *near = orch_suggest(name, (const char *const *)names->pdata);
    const char *verb = command ? command->name : "";
    if (!near && command && command->keeps_rest)
        return g_strdup_printf("put '--' before the command, whose options are its own: "
                               "'orch %s [OPTION...] %s'",
                               verb, command->usage);
    return near ? g_strdup_printf("did you mean '--%s'? see 'orch %s --help'", near, verb)
                : g_strdup_printf("see 'orch %s --help'", verb);
}

static bool find_long(struct orch_cli *cli, void *options, const char *name, size_t length,
                      struct found *out, GError **error)
{
    const struct orch_option *own = cli->command ? cli->command->options : NULL;
    unsigned matches;
    if (find_exact(own, name, length))
        matches = find_in(own, options, name, length, out);
    else if (find_exact(ORCH_COMMON_OPTIONS, name, length))
        matches = find_in(ORCH_COMMON_OPTIONS, cli, name, length, out);
    else
        matches = find_in(own, options, name, length, out) +
                  find_in(ORCH_COMMON_OPTIONS, cli, name, length, out);
    if (matches == 1)
        return true;
    g_autofree char *word = g_strndup(name, length);
    g_autofree char *hint = near_option(cli->command, word);
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   matches ? "option '--%s' is ambiguous" : "unknown option '--%s'", word);
    return false;
}

static bool find_letter(struct orch_cli *cli, void *options, char letter, struct found *out,
                        GError **error)
{
    const struct orch_option *tables[] = {cli->command ? cli->command->options : NULL,
                                          ORCH_COMMON_OPTIONS};
    void *bases[] = {options, cli};
    for (int i = 0; i < 2; i++)
        for (const struct orch_option *o = tables[i]; o && o->name; o++)
            if (o->letter == letter) {
                *out = (struct found){o, bases[i]};
                return true;
            }
    g_autofree char *hint =
        g_strdup_printf("see 'orch %s --help'", cli->command ? cli->command->name : "");
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "unknown option '-%c'", letter);
    return false;
}

static void append_list(const char ***list, const char *value)
{
    guint count = 0;
    while (*list && (*list)[count])
        count++;
    *list = g_renew(const char *, *list, count + 2);
    (*list)[count] = value;
    (*list)[count + 1] = NULL;
}

static bool store_value(const struct found *found, const char *value, GError **error)
{
    void *at = found->base + found->option->offset;
    int64_t number;
    double real;
    switch (found->option->kind) {
    case ORCH_OPT_FLAG:
        *(bool *)at = true;
        return true;
    case ORCH_OPT_TEXT:
        *(const char **)at = value;
        return true;
    case ORCH_OPT_LIST:
        append_list(at, value);
        return true;
    case ORCH_OPT_INT:
        if (orch_int_parse(value, &number) && number >= G_MININT && number <= G_MAXINT) {
            *(int *)at = (int)number;
            return true;
        }
        break;
    case ORCH_OPT_REAL:
        if (orch_real_parse(value, &real)) {
            *(double *)at = real;
            return true;
        }
        break;
    }
    orch_error_set(error, ORCH_ERROR_USAGE, NULL, "option '--%s': '%s' is not a number",
                   found->option->name, value);
    return false;
}

struct scan {
    int argc, at;
    char **argv;
};

static bool take_long(struct orch_cli *cli, struct scan *scan, void *options, GError **error)
{
    const char *word = scan->argv[scan->at++] + 2;
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    struct found found;
    if (!find_long(cli, options, word, length, &found, error))
        return false;
    if (found.option->kind == ORCH_OPT_FLAG) {
        if (equals) {
            orch_error_set(error, ORCH_ERROR_USAGE, NULL, "option '--%s' takes no value",
                           found.option->name);
            return false;
        }
        return store_value(&found, NULL, error);
    }
    if (!equals && scan->at >= scan->argc) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "option '--%s' needs a value: --%s %s",
                       found.option->name, found.option->name, found.option->value);
        return false;
    }
    return store_value(&found, equals ? equals + 1 : scan->argv[scan->at++], error);
}

static bool take_letters(struct orch_cli *cli, struct scan *scan, void *options, GError **error)
{
    const char *word = scan->argv[scan->at++] + 1;
    for (; *word; word++) {
        struct found found;
        if (!find_letter(cli, options, *word, &found, error))
            return false;
        if (found.option->kind == ORCH_OPT_FLAG) {
            store_value(&found, NULL, error);
            continue;
        }
        if (!word[1] && scan->at >= scan->argc) {
            orch_error_set(error, ORCH_ERROR_USAGE, NULL, "option '-%c' needs a value: -%c %s",
                           *word, *word, found.option->value);
            return false;
        }
        return store_value(&found, word[1] ? word + 1 : scan->argv[scan->at++], error);
    }
    return true;
}

bool orch_options_parse(struct orch_cli *cli, int argc, char **argv, void *options, GError **error)
{
    struct scan scan = {argc, 0, argv};
    while (scan.at < argc) {
        const char *word = argv[scan.at];
        if (strcmp(word, "--") == 0) {
            scan.at++;
            if (cli->command && cli->command->keeps_rest) {
                cli->rest = (const char **)(void *)(argv + scan.at);
                break;
            }
            while (scan.at < argc)
                cli->args[cli->arg_count++] = argv[scan.at++];
        } else if (g_str_has_prefix(word, "--")) {
            if (!take_long(cli, &scan, options, error))
                return false;
        } else if (word[0] == '-' && word[1]) {
            if (!take_letters(cli, &scan, options, error))
                return false;
        } else {
            cli->args[cli->arg_count++] = argv[scan.at++];
        }
    }
    return true;
}
