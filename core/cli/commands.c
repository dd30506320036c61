/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands that all features add, in the order in which help shows them. */
#include "core/cli/cli.h"

#include "core/feature/feature.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

/* The groups of commands, in the order in which help shows them. Any other group comes last. */
static const char *const GROUPS[] = {
    "Run",     "Look at results",       "Decide", "Share", "Maintain",
    "Plugins", "Networks and hardware", "Data"};

static size_t group_rank(const char *group)
{
    size_t rank = 0;
    while (rank < G_N_ELEMENTS(GROUPS) && strcmp(GROUPS[rank], group) != 0)
        rank++;
    return rank;
}

/* Returns the commands of all features by group, and within a group by feature; ends with NULL. */
static GPtrArray *commands_by_group(void)
{
    GPtrArray *commands = g_ptr_array_new();
    for (size_t rank = 0; rank <= G_N_ELEMENTS(GROUPS); rank++)
        for (const struct orch_feature *const *f = orch_features(); *f; f++)
            for (const struct orch_command *const *c = (*f)->commands; c && *c; c++)
                if (group_rank((*c)->group) == rank)
                    g_ptr_array_add(commands, (struct orch_command *)(uintptr_t)*c);
    g_ptr_array_add(commands, NULL);
    return commands;
}

const struct orch_command *const *orch_commands(void)
{
    static GPtrArray *commands; /* the features do not change while the process runs */
    if (!commands)
        commands = commands_by_group();
    return (const struct orch_command *const *)commands->pdata;
}

/* Returns a hint for a word that users of other programs may type; NULL for other words. */
static const char *usual_word(const char *typed)
{
    for (const struct orch_feature *const *f = orch_features(); *f; f++)
        for (const struct orch_typed_word *w = (*f)->words; w && w->word; w++)
            if (strcmp(w->word, typed) == 0)
                return w->hint;
    return NULL;
}

const struct orch_command *orch_command_find(const char *name)
{
    for (const struct orch_command *const *c = orch_commands(); *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

void orch_command_unknown(int argc, const char *const *argv, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autofree char *prefix = g_strconcat(argv[0], " ", NULL);
    GString *inner = g_string_new(NULL);
    for (const struct orch_command *const *c = orch_commands(); *c; c++) {
        g_ptr_array_add(names, (char *)(uintptr_t)(*c)->name);
        if (g_str_has_prefix((*c)->name, prefix))
            g_string_append_printf(inner, "%s'orch %s'", inner->len ? ", " : "", (*c)->name);
    }
    g_ptr_array_add(names, NULL);
    g_autofree char *typed =
        argc > 1 && inner->len ? g_strconcat(prefix, argv[1], NULL) : g_strdup(argv[0]);
    const char *near = orch_suggest(typed, (const char *const *)names->pdata);
    g_autofree char *hint = inner->len && argc < 2 ? g_strdup_printf("there are %s", inner->str)
                            : usual_word(argv[0])  ? g_strdup(usual_word(argv[0]))
                            : near ? g_strdup_printf("did you mean 'orch %s'?", near)
                                   : g_strdup("'orch help' lists all");
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   inner->len && argc < 2 ? "'orch %s' needs a subcommand" : "unknown command '%s'",
                   typed);
    g_string_free(inner, TRUE);
}
