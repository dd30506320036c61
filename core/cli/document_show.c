/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "core/cli/recipe_plan.h"

void orch_cli_show_document(const struct orch_cli *cli, const struct orch_document *document,
                            struct orch_show_text how)
{
    how.columns = orch_terminal_columns(STDOUT_FILENO);
    how.color = orch_cli_color(cli, false);
    g_autofree char *text = orch_document_show_text(document, &how);
    fputs(text, stdout);
    fflush(stdout);
}
