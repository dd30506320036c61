/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/cloud/job_find.h"

#include "core/cli/parts.h"
#include "core/results/run_named.h"
#include "features/cloud/job_trial.h"
#include "lib/base/error.h"

void orch_cli_job_clear(struct orch_cli_job *trial)
{
    orch_plan_free(trial->plan);
    orch_expansion_free(trial->expansion);
    g_clear_pointer(&trial->words, g_ptr_array_unref);
}

static bool expand(struct orch_cli *cli, const struct orch_variant *wish, struct orch_cli_job *out,
                   GError **error)
{
    struct orch_variant variant = *wish;
    variant.leaves_out_unnamed = true; /* as 'orch run' does, so that --part counts alike */
    out->expansion = orch_cli_recipe(cli, cli->args[0], &variant, error);
    const struct orch_plan_options options = {.slots = 1, .any_slots = true, .reads_only = true};
    if (out->expansion)
        out->plan = orch_cli_plan(cli, out->expansion, options, 0, error);
    return out->plan != NULL;
}

/* Reads that command line again into `options` of 'orch run', and makes its arguments those of
 * `cli`. */
static bool read_words(struct orch_cli *cli, const struct orch_command *run, char **words,
                       int count, void *options, GError **error)
{
    struct orch_cli then = {.command = run,
                            .args = g_new0(const char *, count + 1),
                            .parts = orch_parts_new(run),
                            .given = g_ptr_array_new()};
    bool ok = orch_options_parse(&then, count, words, options, error) && then.arg_count > 0;
    if (ok) {
        g_free(cli->args);
        cli->args = g_steal_pointer(&then.args);
        cli->arg_count = then.arg_count;
    }
    g_ptr_array_unref(then.given);
    orch_parts_free(then.parts);
    g_free(then.args);
    g_free(then.plugin_paths);
    return ok;
}

static GPtrArray *command_words(const struct orch_cli *cli, const struct orch_cli_job *job,
                                const struct orch_variant *variant)
{
    const struct orch_job_command typed = {
        .args = cli->args,
        .profile = variant->profile,
        .settings = variant->settings,
        .sweeps = variant->sweeps,
    };
    return orch_job_command_words(job->plan, job->item, &typed);
}

static bool find_of_recipe(struct orch_cli *cli, const struct orch_cli_job_selector *selector,
                           struct orch_cli_job *out, GError **error)
{
    if (!expand(cli, &selector->variant, out, error))
        return false;
    out->item = orch_job_trial_choose(out->plan, selector->trial, error);
    if (out->item)
        out->words = command_words(cli, out, &selector->variant);
    return out->item != NULL;
}

static bool find_of_run(struct orch_cli *cli, const struct orch_run *run, struct orch_cli_job *out,
                        GError **error)
{
    int count = 0;
    g_auto(GStrv) words = orch_job_run_words(run, &count, error);
    const struct orch_command *command = orch_command_find("run");
    g_autofree struct orch_variant *variant = g_malloc0(command->option_bytes); /* it is first */
    bool ok = words && read_words(cli, command, words, count, variant, error);
    variant->part = NULL; /* the trial is counted among all of them */
    ok = ok && expand(cli, variant, out, error) &&
         (out->item = orch_job_trial_of_run(out->plan, run, error));
    if (ok)
        out->words = command_words(cli, out, variant);
    orch_options_free_lists(command->options, variant);
    return ok;
}

static bool find(struct orch_cli *cli, const struct orch_cli_job_selector *selector,
                 struct orch_cli_job *out, GError **error)
{
    if (cli->arg_count > 1 || g_str_has_suffix(cli->args[0], ".recipe") ||
        g_file_test(cli->args[0], G_FILE_TEST_IS_REGULAR))
        return find_of_recipe(cli, selector, out, error);
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_named_run named = {0};
    bool ok = store && orch_named_run_find(store, cli->args[0], false, &named, error);
    if (ok && !named.run) {
        orch_error_set(error, ORCH_ERROR_USAGE, "name its recipe instead, and --trial TRIAL",
                       "run '%s' has not ended", cli->args[0]);
        ok = false;
    }
    ok = ok && find_of_run(cli, named.run, out, error);
    orch_named_run_clear(&named);
    return ok;
}

bool orch_cli_job_find(struct orch_cli *cli, const struct orch_cli_job_selector *selector,
                       struct orch_cli_job *out, GError **error)
{
    *out = (struct orch_cli_job){0};
    return find(cli, selector, out, error) &&
           orch_job_has_no_secret(out->words, out->expansion, error);
}
