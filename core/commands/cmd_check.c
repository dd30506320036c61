/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "core/plan/plan.h"
#include "core/plugin/plugins.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

struct check_options {
    struct orch_variant variant;
};

static const struct orch_option OPTIONS[] = {ORCH_VARIANT_OPTIONS(struct check_options, variant),
                                             ORCH_PART_OPTION(struct check_options, variant),
                                             ORCH_SMOKE_OPTION(struct check_options, variant),
                                             {0}};

/* Returns the experiments that were not checked because a plugin is not there or not trusted. */
static json_t *unchecked(const struct orch_expansion *expansion)
{
    json_t *names = json_array();
    for (guint i = 0; i < expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = expansion->experiments->pdata[i];
        if (experiment->is_unavailable)
            json_array_append_new(names, json_string(experiment->name));
    }
    return names;
}

/* Adds the warnings on the recipe's NAME.plugin files, once for each file. */
static void add_manifest_warnings(const struct orch_expansion *expansion, struct orch_diags *diags)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = expansion->experiments->pdata[i];
        const struct orch_manifest *manifest = experiment->manifest;
        if (!manifest || manifest->kind != ORCH_PLUGIN_WRAPPED || experiment->program ||
            !g_hash_table_add(seen, manifest->path))
            continue;
        orch_manifest_free(orch_manifest_load(manifest->path, diags));
    }
}

static void print_summary(const char *path, const struct orch_expansion *expansion, unsigned left)
{
    const unsigned experiments = expansion->experiments->len - left;
    printf("%s: well formed: %u experiment%s, %u trial%s%s%s, %u report item%s", path, experiments,
           orch_plural(experiments), expansion->cells->len, orch_plural(expansion->cells->len),
           expansion->profile ? " under profile " : "",
           expansion->profile ? expansion->profile : "", expansion->report->len,
           orch_plural(expansion->report->len));
    if (left)
        printf("; %u experiment%s not checked", left, orch_plural(left));
    putchar('\n');
}

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
    add_manifest_warnings(expansion, diags);
    orch_cli_warnings(cli, diags);
    if (!plan && diags->error_count)
        orch_diags_to_error(diags, error && !*error ? error : NULL);
    orch_diags_free(diags);
    g_autoptr(json_t) left = unchecked(expansion);
    const unsigned left_count = (unsigned)json_array_size(left);
    int status = !plan ? -1 : left_count ? ORCH_EXIT_PLUGIN : ORCH_EXIT_OK;
    if (plan && cli->json)
        orch_cli_print_json(json_pack(
            "{s:s s:s s:s? s:i s:i s:i s:O}", "recipe", expansion->name, "recipe_key",
            expansion->key, "profile", expansion->profile, "experiments",
            (int)(expansion->experiments->len - left_count), "trials", (int)expansion->cells->len,
            "report_items", (int)expansion->report->len, "unchecked", left));
    else if (plan)
        print_summary(cli->args[0], expansion, left_count);
    orch_plan_free(plan);
    orch_expansion_free(expansion);
    return status;
}

const struct orch_command ORCH_COMMAND_CHECK = {
    .name = "check",
    .group = "Run",
    .is_listed = true,
    .summary = "find all errors of a recipe without running it",
    .usage = "RECIPE [PROBLEM|EXPERIMENT...]",
    .min_args = 1,
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct check_options),
    .about = "Finds unknown names, wrong types, values out of range, settings without effect, and "
             "values that a plugin rejects. Each error has its file, line and column, and a hint. "
             "If a plugin is missing or not trusted ('orch plugin trust'), its experiments are not "
             "checked, and the exit status is 4.",
    .examples = "  orch check recipes/hw4.recipe --profile course",
    .run = run,
};
