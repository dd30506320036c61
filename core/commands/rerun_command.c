/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses the recorded command line with the tables of options, like any command line, and writes
 * those options again that decide what a trial is. */
#include "core/commands/rerun_command.h"

#include "core/cli/parts.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/secret.h"
#include "lib/wire/value.h"

#include <string.h>

enum { VERB = 1 }; /* index of "run" or "try" in the recorded words */

/* The recorded command line, and the one that is written. */
struct rerun {
    const struct orch_run *run;
    const json_t *coords; /* the swept parameters; or NULL */
    struct orch_cli cli;
    void *options;
    char **argv;
    bool is_try;
    GString *text;
};

static void add_word(struct rerun *r, const char *word)
{
    g_autofree char *quoted = orch_cli_shell_word(word);
    g_string_append_printf(r->text, "%s%s", r->text->len ? " " : "", quoted);
}

/* Returns whether "NAME=VALUE" or "EXPERIMENT.NAME=VALUE" sets a swept parameter, whose value is
 * written instead. */
static bool sets_swept(const struct rerun *r, const char *text)
{
    const char *equals = strchr(text, '=');
    g_autofree char *name = equals ? g_strndup(text, (gsize)(equals - text)) : g_strdup(text);
    g_autofree char *scope = g_strdup_printf("%s.", r->run->experiment);
    const char *plain = g_str_has_prefix(name, scope) ? name + strlen(scope) : name;
    return json_object_get(r->coords, plain) || json_object_get(r->coords, name);
}

static void add_value(struct rerun *r, const struct orch_option *option, const char *value)
{
    if (strcmp(option->name, "set") == 0 && sets_swept(r, value))
        return;
    if (option->letter) {
        const char dashed[] = {'-', option->letter, 0};
        add_word(r, dashed);
        add_word(r, value);
    } else {
        g_autofree char *word = g_strdup_printf("--%s=%s", option->name, value);
        add_word(r, word);
    }
}

/* Writes an option that was given, with the value that the parser put into its struct. */
static void add_option(struct rerun *r, const struct orch_option *option, const void *base)
{
    const void *at = (const char *)base + option->offset;
    char real[ORCH_REAL_CHARS];
    g_autofree char *number = NULL, *flag = NULL;
    switch (option->kind) {
    case ORCH_OPT_FLAG:
        flag = g_strdup_printf("--%s", option->name);
        add_word(r, flag);
        return;
    case ORCH_OPT_TEXT:
        add_value(r, option, *(const char *const *)at);
        return;
    case ORCH_OPT_LIST:
        for (const char *const *value = *(const char *const *const *)at; *value; value++)
            add_value(r, option, *value);
        return;
    case ORCH_OPT_INT:
    case ORCH_OPT_COUNT:
        number = g_strdup_printf("%d", *(const int *)at);
        add_value(r, option, number);
        return;
    case ORCH_OPT_REAL:
        add_value(r, option, orch_real_format(*(const double *)at, real));
        return;
    }
}

static void add_options(struct rerun *r, const struct orch_option *table, const void *base)
{
    for (; table && table->name; table++)
        if (table->is_of_trial && orch_cli_is_given(&r->cli, table->name))
            add_option(r, table, base);
}

static void add_setting(struct rerun *r)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)r->coords, name, value)
    {
        g_autofree char *text = orch_value_format_json(value);
        g_autofree char *set = r->is_try
                                   ? g_strdup_printf("%s=%s", name, text)
                                   : g_strdup_printf("%s.%s=%s", r->run->experiment, name, text);
        add_word(r, "-s");
        add_word(r, set);
    }
}

static void write_command(struct rerun *r)
{
    add_word(r, "orch");
    add_word(r, r->argv[VERB]);
    if (!r->is_try) {
        add_word(r, r->cli.args[0]);
        add_word(r, r->run->experiment);
    }
    add_options(r, ORCH_COMMON_OPTIONS, &r->cli);
    add_options(r, r->cli.command->options, r->options);
    for (guint i = 0; i < r->cli.parts->len; i++) {
        const struct orch_cli_part *p = &g_array_index(r->cli.parts, struct orch_cli_part, i);
        add_options(r, p->part->options, p->options);
    }
    add_setting(r);
    add_word(r, "--force");
    if (r->cli.rest)
        add_word(r, "--");
    for (const char **word = r->cli.rest; word && *word; word++)
        add_word(r, *word);
}

/* Parses the words after the verb into `cli` and `options`, and writes them. */
static bool parse_and_write(struct rerun *r, int argc, GError **error)
{
    struct orch_cli *cli = &r->cli;
    cli->args = g_new0(const char *, (gsize)argc + 1);
    cli->given = g_ptr_array_new();
    cli->parts = orch_parts_new(cli->command);
    r->options = g_malloc0(cli->command->option_bytes + 1);
    bool ok = orch_options_parse(cli, argc - VERB - 1, r->argv + VERB + 1, r->options, error);
    if (ok && !r->is_try && !cli->arg_count) {
        ok = false;
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                       "the command of run '%s' did not name a recipe", r->run->key);
    }
    if (ok)
        write_command(r);
    orch_parts_free(cli->parts);
    orch_options_free_lists(cli->command->options, r->options);
    orch_options_free_lists(ORCH_COMMON_OPTIONS, cli);
    g_ptr_array_unref(cli->given);
    g_free(cli->args);
    g_free(r->options);
    return ok;
}

/* Returns the recorded words; NULL when there are none. The caller frees. */
static char **words_of(const struct orch_run *run)
{
    g_autoptr(json_t) argv = run->argv ? json_loads(run->argv, 0, NULL) : NULL;
    g_autoptr(GStrvBuilder) words = g_strv_builder_new();
    for (size_t i = 0; i < json_array_size(argv); i++)
        g_strv_builder_add(words, json_string_value(json_array_get(argv, i))
                                      ? json_string_value(json_array_get(argv, i))
                                      : "");
    return g_strv_builder_end(words);
}

char *orch_rerun_command(const struct orch_run *run, GError **error)
{
    g_auto(GStrv) words = words_of(run);
    const int argc = (int)g_strv_length(words);
    const char *verb = argc > VERB ? words[VERB] : "";
    const bool is_try = strcmp(verb, "try") == 0;
    if (!run->experiment || (!is_try && strcmp(verb, "run") != 0)) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                       "neither 'orch run' nor 'orch try' made run '%s'", run->key);
        return NULL;
    }
    for (char **word = words; *word; word++)
        if (strstr(*word, ORCH_SECRET_SHOWN)) {
            orch_error_set(error, ORCH_ERROR_NOT_FOUND, "type the command again, with the secret",
                           "the command of run '%s' had a secret, which is not recorded: %s",
                           run->key, *word);
            return NULL;
        }
    g_autoptr(json_t) facts = run->facts ? json_loads(run->facts, 0, NULL) : NULL;
    struct rerun r = {.run = run,
                      .coords = json_object_get(facts, "coords"),
                      .cli = {.command = orch_command_find(verb)},
                      .argv = words,
                      .is_try = is_try,
                      .text = g_string_new(NULL)};
    return g_string_free(r.text, !parse_and_write(&r, argc, error));
}
