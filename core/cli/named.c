/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/named.h"

#include "core/results/run_named.h"

static bool name_recipe(struct orch_cli *cli, const char *path, GPtrArray *recipes, GError **error)
{
    static const struct orch_variant as_written;
    struct orch_expansion *expansion = orch_cli_recipe(cli, path, &as_written, error);
    if (expansion)
        g_ptr_array_add(recipes, g_strdup(expansion->name));
    orch_expansion_free(expansion);
    return expansion != NULL;
}

static bool name_run(struct orch_store *store, const char *word, GPtrArray *runs, GError **error)
{
    g_autoptr(GPtrArray) found = orch_named_runs(store, &word, 1, error);
    if (found)
        g_ptr_array_add(runs, g_strdup(((const struct orch_run *)found->pdata[0])->key));
    return found != NULL;
}

bool orch_cli_named_read(struct orch_cli *cli, struct orch_store *store, struct orch_cli_named *out,
                         GError **error)
{
    *out = (struct orch_cli_named){g_ptr_array_new_with_free_func(g_free),
                                   g_ptr_array_new_with_free_func(g_free)};
    for (int i = 0; i < cli->arg_count; i++)
        if (!(g_str_has_suffix(cli->args[i], ".recipe")
                  ? name_recipe(cli, cli->args[i], out->recipes, error)
                  : name_run(store, cli->args[i], out->runs, error)))
            return false;
    g_ptr_array_add(out->recipes, NULL);
    g_ptr_array_add(out->runs, NULL);
    return true;
}

void orch_cli_named_clear(struct orch_cli_named *named)
{
    g_clear_pointer(&named->recipes, g_ptr_array_unref);
    g_clear_pointer(&named->runs, g_ptr_array_unref);
}
