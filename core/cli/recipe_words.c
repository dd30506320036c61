/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "core/cli/recipe_plan.h"

#include <string.h>

/* Returns whether a shell would interpret characters in the word. */
static bool has_special(const char *text)
{
    return !*text || strpbrk(text, " \t\n'\"$\\*?&;|<>()[]{}`!#~");
}

static void append_option(GString *words, const char *name, const char *value)
{
    g_autofree char *quoted = g_shell_quote(value);
    g_string_append_printf(words, " %s %s", name, has_special(value) ? quoted : value);
}

/* Appends the settings that the options add to the profile. */
static void append_settings(GString *words, const struct orch_variant *variant)
{
    for (int i = 0; variant->settings && variant->settings[i]; i++)
        append_option(words, "-s", variant->settings[i]);
    for (int i = 0; variant->sweeps && variant->sweeps[i]; i++)
        append_option(words, "-x", variant->sweeps[i]);
    if (variant->part)
        append_option(words, "--part", variant->part);
}

char *orch_cli_settings_words(const struct orch_variant *variant)
{
    GString *words = g_string_new(NULL);
    append_settings(words, variant);
    bool any = words->len;
    if (any)
        g_string_erase(words, 0, 1); /* the space before the first word */
    char *text = g_string_free(words, !any);
    return any ? text : NULL;
}

char *orch_cli_recipe_words(const struct orch_cli *cli, const struct orch_variant *variant)
{
    const char *path = cli->arg_count ? cli->args[0] : "RECIPE";
    GString *words = g_string_new(NULL);
    g_autofree char *quoted = g_shell_quote(path);
    g_string_append(words, has_special(path) ? quoted : path);
    if (variant->profile)
        append_option(words, "-p", variant->profile);
    append_settings(words, variant);
    if (cli->db)
        append_option(words, "--db", cli->db);
    return g_string_free(words, FALSE);
}
