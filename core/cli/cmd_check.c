/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "core/run/plan.h"

struct check_options {
    struct orch_variant variant;
};

static const struct orch_option OPTIONS[] = {ORCH_VARIANT_OPTIONS(struct check_options, variant),
                                             {0}};

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct check_options *o = options;
    struct orch_expansion *expansion = orch_cli_recipe(cli, cli->args[0], &o->variant, error);
    if (!expansion)
        return -1;
    struct orch_diags *diags = orch_diags_new();
    struct orch_plan_options plan_options = {.slots = 1};
    struct orch_plan *plan = orch_plan_new(cli->workspace, orch_cli_plugins(cli), expansion,
                                           &plan_options, diags, error);
    orch_cli_warnings(cli, diags);
    if (!plan && diags->error_count)
        orch_diags_to_error(diags, error && !*error ? error : NULL);
    orch_diags_free(diags);
    int status = plan ? ORCH_EXIT_OK : -1;
    if (plan && cli->json)
        orch_cli_print_json(json_pack(
            "{s:s s:s s:s? s:i s:i s:i}", "recipe", expansion->name, "recipe_key", expansion->key,
            "profile", expansion->profile, "experiments", (int)expansion->experiments->len,
            "trials", (int)expansion->cells->len, "report_items", (int)expansion->report->len));
    else if (plan)
        printf("%s: well formed: %u experiment%s, %u trial%s%s%s, %u report item%s\n", cli->args[0],
               expansion->experiments->len, expansion->experiments->len == 1 ? "" : "s",
               expansion->cells->len, expansion->cells->len == 1 ? "" : "s",
               expansion->profile ? " under profile " : "",
               expansion->profile ? expansion->profile : "", expansion->report->len,
               expansion->report->len == 1 ? "" : "s");
    orch_plan_free(plan);
    orch_expansion_free(expansion);
    return status;
}

const struct orch_command ORCH_COMMAND_CHECK = {
    .name = "check",
    .group = "Running",
    .summary = "find everything that is wrong with a recipe, without running it",
    .usage = "RECIPE [PROBLEM|EXPERIMENT...]",
    .min_args = 1,
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct check_options),
    .about =
        "Every finding comes with file:line:column and a cure: unknown keys, parameters and "
        "metrics "
        "with the nearest known name, wrong types, values out of range, references that lead "
        "nowhere, settings that cannot take effect, and what the plugins themselves object to.",
    .examples = "  orch check recipes/hw4.recipe --profile course",
    .run = run,
};
