/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/commands/stopped.h"

#include "core/cli/recipe_plan.h"

/* Returns the experiments with trials that did not end well, " a b". The caller frees. */
static char *experiments_left(const struct orch_plan *plan)
{
    GString *names = g_string_new(NULL);
    const char *last = NULL;
    for (unsigned i = 0; i < plan->count; i++) {
        const char *name = plan->items[i].cell->experiment->name;
        if (!orch_plan_will_run(&plan->items[i]) || g_strcmp0(name, last) == 0)
            continue;
        g_string_append_printf(names, " %s", name);
        last = name;
    }
    return g_string_free(names, FALSE);
}

char *orch_cli_how_to_go_on(const struct orch_cli *cli, const struct orch_plan *plan,
                            const struct orch_execute_options *options)
{
    bool has_recipe = cli->arg_count > 0 && !cli->rest;
    if (!options->force)
        return g_strdup("The same command goes on from here.");
    if (!has_recipe)
        return g_strdup("With --force the same command makes every run again.");
    g_autofree char *words = orch_cli_recipe_words(cli, &options->variant);
    g_autofree char *left = experiments_left(plan);
    return g_strdup_printf("With --force the same command makes every run again; what is left is "
                           "in 'orch run %s%s --force'.",
                           words, left);
}
