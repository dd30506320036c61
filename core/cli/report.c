/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/report.h"

#include "core/cli/execute.h"

#include <string.h>
#include <unistd.h>

struct orch_plan *orch_cli_report_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                                       int jobs, GError **error)
{
    if (orch_store_exists(cli->workspace->db_path) &&
        !orch_workspace_store(cli->workspace, ORCH_STORE_READ, error))
        return NULL;
    struct orch_execute_options options = {.jobs = jobs, .any_slots = !jobs, .reads_only = true};
    return orch_execute_make_plan(cli, expansion, &options, 0, error);
}

/* Would a shell read more into it than the word? */
static bool has_special(const char *text)
{
    return !*text || strpbrk(text, " \t\n'\"$\\*?&;|<>()[]{}`!#~");
}

static void append_option(GString *words, const char *name, const char *value)
{
    g_autofree char *quoted = g_shell_quote(value);
    g_string_append_printf(words, " %s %s", name, has_special(value) ? quoted : value);
}

char *orch_cli_recipe_words(const struct orch_cli *cli, const struct orch_variant *variant)
{
    const char *path = cli->arg_count ? cli->args[0] : "RECIPE";
    GString *words = g_string_new(NULL);
    g_autofree char *quoted = g_shell_quote(path);
    g_string_append(words, has_special(path) ? quoted : path);
    if (variant->profile)
        append_option(words, "-p", variant->profile);
    for (int i = 0; variant->settings && variant->settings[i]; i++)
        append_option(words, "-s", variant->settings[i]);
    for (int i = 0; variant->sweeps && variant->sweeps[i]; i++)
        append_option(words, "-x", variant->sweeps[i]);
    if (cli->db)
        append_option(words, "--db", cli->db);
    return g_string_free(words, FALSE);
}

void orch_cli_show_document(const struct orch_cli *cli, const struct orch_document *document,
                            struct orch_show_text how)
{
    how.columns = orch_terminal_columns(STDOUT_FILENO);
    how.color = orch_cli_color(cli, false);
    g_autofree char *text = orch_document_show_text(document, &how);
    fputs(text, stdout);
    fflush(stdout);
}
