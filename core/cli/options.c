/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses options by the GNU conventions, using the tables: --name value, --name=value, -n value,
 * -nvalue, -abc for flags; -- ends the options. Options and arguments can be mixed, and long names
 * can be abbreviated while unique. */
#include "core/cli/parts.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

enum { OWNERS_MAX = 3 }; /* maximum number of commands named in the hint for an unknown option */

const struct orch_option ORCH_COMMON_OPTIONS[] = {
    ORCH_OPTION(struct orch_cli, db, TEXT, "db", .value = "FILE",
                .help = "the store (default: $ORCH_DB, else .orch/results.db of the repository)",
                .is_of_trial = true),
    ORCH_OPTION(struct orch_cli, directory, TEXT, "directory", .letter = 'C', .value = "DIR",
                .help = "work as if started in DIR", .is_of_trial = true),
    ORCH_OPTION(struct orch_cli, who, TEXT, "who", .value = "NAME",
                .help = "your name (default: $ORCH_USER, else git's, else the login)"),
    ORCH_OPTION(struct orch_cli, plugin_paths, LIST, "plugin-path", .value = "DIR",
                .help = "look for plugins in DIR first", .is_of_trial = true),
    ORCH_OPTION(struct orch_cli, json, FLAG, "json", .help = "print JSON"),
    ORCH_OPTION(struct orch_cli, format, TEXT, "format", .value = "NAME",
                .help = "print tables as text, tsv, csv, markdown or latex; some commands differ"),
    ORCH_OPTION(struct orch_cli, quiet, FLAG, "quiet", .letter = 'q',
                .help = "print less on stderr"),
    ORCH_OPTION(struct orch_cli, verbose, FLAG, "verbose", .letter = 'v',
                .help = "print more on stderr"),
    ORCH_OPTION(struct orch_cli, color, TEXT, "color", .value = "WHEN",
                .help = "use colours: auto, always or never"),
    ORCH_OPTION(struct orch_cli, no_pager, FLAG, "no-pager",
                .help = "print long output directly, not through $PAGER"),
    ORCH_OPTION(struct orch_cli, help, FLAG, "help", .letter = 'h', .help = "show this help"),
    {0}};

int orch_common_option_words(int argc, char *const *argv)
{
    const char *word = argv[0];
    bool is_long = g_str_has_prefix(word, "--");
    const char *name = word + (is_long ? 2 : 1);
    size_t length = is_long ? strcspn(name, "=") : 1;
    for (const struct orch_option *o = ORCH_COMMON_OPTIONS; word[0] == '-' && o->name; o++) {
        bool is_it = is_long ? strlen(o->name) == length && strncmp(o->name, name, length) == 0
                             : o->letter && name[0] == o->letter;
        if (!is_it || strcmp(o->name, "help") == 0)
            continue;
        bool takes_next = o->kind != ORCH_OPT_FLAG && !name[length];
        return takes_next && argc > 1 ? 2 : 1;
    }
    return 0;
}

/* An option of the command or a common one, with the struct that it fills. */
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

/* The words of the command line, and the index of the next one. */
struct scan {
    int argc, at;
    char **argv;
};

/* Returns whether '--' is among the remaining words. */
static bool has_separator(const struct scan *scan)
{
    for (int i = scan->at; i < scan->argc; i++)
        if (strcmp(scan->argv[i], "--") == 0)
            return true;
    return false;
}

/* Returns the hint for an unknown option without a similar one: the '--' that is missing before a
 * command with its own options, else the help. The caller frees. */
static char *help_hint(const struct orch_command *command, const struct scan *scan)
{
    const char *verb = command ? command->name : "";
    if (command && command->keeps_rest && !has_separator(scan))
        return g_strdup_printf("put '--' before the command: 'orch %s [OPTION...] %s'", verb,
                               command->usage);
    return g_strdup_printf("see 'orch %s --help'", verb);
}

static bool has_option(const struct orch_command *command, const char *name)
{
    g_autofree struct orch_option *options = orch_command_options(command);
    return find_exact(options, name, strlen(name));
}

/* Returns "'orch run' and 'orch predict' have it", or NULL when no command has the option. */
static char *owners_of(const struct orch_command *command, const char *name)
{
    GString *text = g_string_new(NULL);
    guint count = 0;
    for (const struct orch_command *const *c = orch_commands(); *c && count < OWNERS_MAX; c++)
        if (*c != command && has_option(*c, name))
            g_string_append_printf(text, "%s'orch %s'", count++ ? ", " : "", (*c)->name);
    if (count)
        g_string_append(text, count == 1 ? " has it" : " have it");
    char *owners = g_string_free(text, !count);
    return count ? owners : NULL;
}

/* Returns the hint for an unknown option: the most similar option, else the commands that have it.
 * The caller frees. */
static char *near_option(const struct orch_command *command, const char *name,
                         const struct scan *scan)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autofree struct orch_option *own = command ? orch_command_options(command) : NULL;
    for (const struct orch_option *o = own; o && o->name; o++)
        g_ptr_array_add(names, (char *)(uintptr_t)o->name);
    for (const struct orch_option *o = ORCH_COMMON_OPTIONS; o->name; o++)
        g_ptr_array_add(names, (char *)(uintptr_t)o->name);
    g_ptr_array_add(names, NULL);
    g_autofree char *owners = command ? owners_of(command, name) : NULL;
    g_autofree char *help = help_hint(command, scan);
    if (owners)
        return g_strdup_printf("%s; %s", owners, help);
    const char *near = orch_suggest(name, (const char *const *)names->pdata);
    return near ? g_strdup_printf("did you mean '--%s'?", near) : g_steal_pointer(&help);
}

/* A table of options, with the struct that they fill. */
struct target {
    const struct orch_option *table;
    void *base;
};

/* Returns the tables of the command, of its parts, and of the common options, in this order. */
static GArray *tables_of(struct orch_cli *cli, void *options)
{
    GArray *tables = g_array_new(FALSE, FALSE, sizeof(struct target));
    const struct target own = {cli->command ? cli->command->options : NULL, options};
    const struct target common = {ORCH_COMMON_OPTIONS, cli};
    g_array_append_val(tables, own);
    for (guint i = 0; cli->parts && i < cli->parts->len; i++) {
        const struct orch_cli_part *p = &g_array_index(cli->parts, struct orch_cli_part, i);
        const struct target of_part = {p->part->options, p->options};
        g_array_append_val(tables, of_part);
    }
    g_array_append_val(tables, common);
    return tables;
}

static bool find_long(struct orch_cli *cli, const struct scan *scan, void *options,
                      const char *name, size_t length, struct found *out, GError **error)
{
    g_autoptr(GArray) tables = tables_of(cli, options);
    unsigned matches = 0;
    for (guint i = 0; i < tables->len; i++) {
        const struct target *target = &g_array_index(tables, struct target, i);
        if (find_exact(target->table, name, length)) {
            find_in(target->table, target->base, name, length, out);
            return true;
        }
        matches += find_in(target->table, target->base, name, length, out);
    }
    if (matches == 1)
        return true;
    g_autofree char *word = g_strndup(name, length);
    g_autofree char *hint = near_option(cli->command, word, scan);
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   matches ? "option '--%s' is ambiguous" : "unknown option '--%s'", word);
    return false;
}

static bool find_letter(struct orch_cli *cli, const struct scan *scan, void *options, char letter,
                        struct found *out, GError **error)
{
    g_autoptr(GArray) tables = tables_of(cli, options);
    for (guint i = 0; i < tables->len; i++) {
        const struct target *target = &g_array_index(tables, struct target, i);
        for (const struct orch_option *o = target->table; o && o->name; o++)
            if (o->letter == letter) {
                *out = (struct found){o, target->base};
                return true;
            }
    }
    g_autofree char *hint = help_hint(cli->command, scan);
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

static bool store_value(struct orch_cli *cli, const struct found *found, const char *value,
                        GError **error)
{
    void *at = found->base + found->option->offset;
    int64_t number;
    double real;
    g_ptr_array_add(cli->given, (gpointer)(uintptr_t)found->option->name);
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
    case ORCH_OPT_COUNT:
        if (orch_int_parse(value, &number) && number >= 1 && number <= G_MAXINT) {
            *(int *)at = (int)number;
            return true;
        }
        orch_error_set(error, ORCH_ERROR_USAGE, "write a whole number of at least 1",
                       "option '--%s': '%s' is not a whole number of at least 1",
                       found->option->name, value);
        return false;
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

static bool take_long(struct orch_cli *cli, struct scan *scan, void *options, GError **error)
{
    const char *word = scan->argv[scan->at++] + 2;
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    struct found found;
    if (!find_long(cli, scan, options, word, length, &found, error))
        return false;
    if (found.option->kind == ORCH_OPT_FLAG) {
        if (equals) {
            orch_error_set(error, ORCH_ERROR_USAGE, NULL, "option '--%s' takes no value",
                           found.option->name);
            return false;
        }
        return store_value(cli, &found, NULL, error);
    }
    if (!equals && scan->at >= scan->argc) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "option '--%s' needs a value: --%s %s",
                       found.option->name, found.option->name, found.option->value);
        return false;
    }
    return store_value(cli, &found, equals ? equals + 1 : scan->argv[scan->at++], error);
}

static bool take_letters(struct orch_cli *cli, struct scan *scan, void *options, GError **error)
{
    const char *word = scan->argv[scan->at++] + 1;
    for (; *word; word++) {
        struct found found;
        if (!find_letter(cli, scan, options, *word, &found, error))
            return false;
        if (found.option->kind == ORCH_OPT_FLAG) {
            store_value(cli, &found, NULL, error);
            continue;
        }
        if (!word[1] && scan->at >= scan->argc) {
            orch_error_set(error, ORCH_ERROR_USAGE, NULL, "option '-%c' needs a value: -%c %s",
                           *word, *word, found.option->value);
            return false;
        }
        return store_value(cli, &found, word[1] ? word + 1 : scan->argv[scan->at++], error);
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

bool orch_cli_is_given(const struct orch_cli *cli, const char *option)
{
    return g_ptr_array_find_with_equal_func(cli->given, option, g_str_equal, NULL);
}

bool orch_cli_count(const char *text, const char *option, int64_t most, int64_t *inout,
                    GError **error)
{
    int64_t value = 0;
    if (!text)
        return true;
    if (orch_int_parse(text, &value) && value >= 1 && value <= most) {
        *inout = value;
        return true;
    }
    g_autofree char *hint = g_strdup_printf("a whole number from 1 to %" G_GINT64_FORMAT, most);
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "option '%s': '%s' is out of range", option,
                   text);
    return false;
}
