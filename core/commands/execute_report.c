/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the report at the end of `orch run`, for the trials that were requested, as text. */
#include "core/cli/recipe_plan.h"
#include "core/commands/execute.h"

#include "lib/base/ident.h"

void orch_execute_report(struct orch_cli *cli, struct orch_plan *plan,
                         const struct orch_variant *variant)
{
    bool any = false;
    for (unsigned i = 0; i < plan->count && !any; i++)
        any = plan->items[i].state == ORCH_PLAN_DONE;
    if (!any)
        return;
    g_autofree char *recipe = orch_cli_recipe_words(cli, variant);
    struct orch_report_options options = {
        .recipe = recipe, .who = orch_user_name(), .requested_only = true};
    g_autoptr(GError) error = NULL;
    struct orch_document *document = orch_report_document(plan, &options, &error);
    if (document)
        orch_cli_show_document(cli, document, (struct orch_show_text){0});
    else
        orch_cli_warn(cli, "no answers: %s", error->message);
    orch_document_free(document);
}
