/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "core/commands/consent.h"
#include "core/commands/execute.h"
#include "core/commands/notify.h"

static const struct orch_option OPTIONS[] = {
    ORCH_VARIANT_OPTIONS(struct orch_execute_options, variant),
    {"executor", 0, "NAME", ORCH_OPT_TEXT, offsetof(struct orch_execute_options, executor),
     "local: on this machine (default); slurm: submit all trials and return"},
    {"jobs", 'j', "N", ORCH_OPT_COUNT, offsetof(struct orch_execute_options, jobs),
     "run N trials at once (default: one for each GPU that trials need, else the recipe's jobs, "
     "else 1)"},
    {"gpus", 0, "LIST", ORCH_OPT_TEXT, offsetof(struct orch_execute_options, gpus),
     "use only these GPUs, e.g. 0,1"},
    {"oversubscribe", 0, NULL, ORCH_OPT_FLAG, offsetof(struct orch_execute_options, oversubscribe),
     "do not wait for CPUs that other runs of this machine use"},
    {"no-pin", 0, NULL, ORCH_OPT_FLAG, offsetof(struct orch_execute_options, no_pin),
     "let trials use all CPUs instead of pinning each to its own"},
    {"live", 0, NULL, ORCH_OPT_FLAG, offsetof(struct orch_execute_options, live), ORCH_LIVE_HELP},
    {"frozen", 0, NULL, ORCH_OPT_FLAG, offsetof(struct orch_execute_options, frozen),
     ORCH_FROZEN_HELP},
    {"no-watch", 0, NULL, ORCH_OPT_FLAG, offsetof(struct orch_execute_options, no_watch),
     ORCH_NO_WATCH_HELP},
    {"force", 0, NULL, ORCH_OPT_FLAG, offsetof(struct orch_execute_options, force),
     "run trials again even if they are done (nothing is overwritten)"},
    {"fail-fast", 0, NULL, ORCH_OPT_FLAG, offsetof(struct orch_execute_options, fail_fast),
     "start no further trial after the first failure"},
    {"keep-going", 0, NULL, ORCH_OPT_FLAG, offsetof(struct orch_execute_options, keep_going),
     ORCH_KEEP_GOING_HELP},
    {"require-clean", 0, NULL, ORCH_OPT_FLAG, offsetof(struct orch_execute_options, require_clean),
     "refuse to run with uncommitted changes"},
    {"require", 0, "ok", ORCH_OPT_TEXT, offsetof(struct orch_execute_options, require),
     "count skipped trials as failed"},
    {"dry-run", 'n', NULL, ORCH_OPT_FLAG, offsetof(struct orch_execute_options, dry_run),
     "the same as 'orch plan'"},
    {"yes", 'y', NULL, ORCH_OPT_FLAG, offsetof(struct orch_execute_options, yes),
     "run more than 500 trials without asking"},
    ORCH_TRUST_OPTION(struct orch_execute_options, trust),
    {"budget", 0, "USD", ORCH_OPT_TEXT, offsetof(struct orch_execute_options, budget),
     "start no trial whose forecast would exceed this total cost, e.g. 5usd"},
    {"deadline", 0, "WHEN", ORCH_OPT_TEXT, offsetof(struct orch_execute_options, deadline),
     "start no trial whose forecast ends later: 18:00, 2h, or a date and time"},
    {"price", 0, "USD", ORCH_OPT_TEXT, offsetof(struct orch_execute_options, price),
     "price of a device hour (default: the dated price of this machine's GPU)"},
    {"notify", 0, "COMMAND", ORCH_OPT_TEXT, offsetof(struct orch_execute_options, notify),
     "run COMMAND at the end, with JSON on its stdin (default: $ORCH_NOTIFY)"},
    {"no-progress", 0, NULL, ORCH_OPT_FLAG, offsetof(struct orch_execute_options, no_progress),
     "print a line for each trial instead of live progress"},
    {"keep-trials", 0, NULL, ORCH_OPT_FLAG, offsetof(struct orch_execute_options, keep_trials),
     "keep each trial's folder for debugging, until 'orch gc' (docs/debugging.md)"},
    {0}};

static struct orch_expansion *expand(struct orch_cli *cli, const struct orch_execute_options *o,
                                     GError **error)
{
    struct orch_variant variant = o->variant;
    variant.leaves_out_unnamed = true;
    return orch_cli_recipe(cli, cli->args[0], &variant, error);
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct orch_execute_options *o = options;
    if (!o->dry_run)
        orch_cli_confirm_trust(cli, o->trust);
    struct orch_expansion *expansion = expand(cli, o, error);
    if (!expansion)
        return -1;
    int64_t started_ns = orch_now_ns();
    GError *problem = NULL;
    int status = o->dry_run ? orch_execute_plan(cli, expansion, o, &problem)
                            : orch_execute(cli, expansion, o, &problem);
    if (!o->dry_run)
        orch_cli_notify_end(cli, o->notify, expansion->name, status, problem, started_ns);
    if (problem)
        g_propagate_error(error, problem);
    orch_expansion_free(expansion);
    return status;
}

static int plan(struct orch_cli *cli, const void *options, GError **error)
{
    const struct orch_execute_options *o = options;
    struct orch_expansion *expansion = expand(cli, o, error);
    if (!expansion)
        return -1;
    int status = orch_execute_plan(cli, expansion, o, error);
    orch_expansion_free(expansion);
    return status;
}

const struct orch_command ORCH_COMMAND_RUN = {
    .name = "run",
    .group = "Running",
    .summary = "run the trials of a recipe that the store does not have yet",
    .usage = "RECIPE [PROBLEM|EXPERIMENT...]",
    .min_args = 1,
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct orch_execute_options),
    .about =
        "Expands the recipe into trials, skips those that the store already has ('orch plan' "
        "shows whose runs they are, and why), and runs the rest in processes of their own. "
        "Each trial is stored as soon as it ends, so running the same command again resumes.\n"
        "\n" ORCH_ON_CHANGE_ABOUT "\n"
        "\n" ORCH_KEEP_GOING_ABOUT "\n"
        "\n"
        "After the first Ctrl-C no further trial starts and running trials finish; the second "
        "stops them.\n"
        "\n"
        "With --budget or --deadline a trial starts only if the amount spent, the expected "
        "rest of the running trials and its own forecast together stay within the limit. When "
        "the limit is reached, running trials are cancelled and the exit status is 6; the same "
        "command resumes from there. The amount spent is wall hours x devices (GPUs, or the "
        "machine as one) x price, of this invocation alone.",
    .examples = "  orch run recipes/hw4.recipe            # everything\n"
                "  orch run recipes/hw4.recipe p1 -j 2    # problem 1, two trials at once\n"
                "  orch run r.recipe -x lr=0.1,0.01       # sweep a parameter\n"
                "  orch run r.recipe --budget 5usd --deadline 18:00 --price 3.06\n"
                "  orch run r.recipe --smoke              # does it work at all?",
    .run = run,
};

static const struct orch_option PLAN_OPTIONS[] = {
    ORCH_VARIANT_OPTIONS(struct orch_execute_options, variant),
    {"executor", 0, "NAME", ORCH_OPT_TEXT, offsetof(struct orch_execute_options, executor),
     "plan for the executor: local (default) or slurm"},
    {"jobs", 'j', "N", ORCH_OPT_COUNT, offsetof(struct orch_execute_options, jobs),
     "plan for N trials at once"},
    {"force", 0, NULL, ORCH_OPT_FLAG, offsetof(struct orch_execute_options, force),
     "plan as 'orch run --force' would"},
    {"price", 0, "USD", ORCH_OPT_TEXT, offsetof(struct orch_execute_options, price),
     "price of a device hour (default: the dated price of this machine's GPU)"},
    {"all", 'a', NULL, ORCH_OPT_FLAG, offsetof(struct orch_execute_options, all),
     "show every trial, however many"},
    {"exit-code", 0, NULL, ORCH_OPT_FLAG, offsetof(struct orch_execute_options, exit_code),
     "exit with 7 when something is left to run"},
    {0}};

const struct orch_command ORCH_COMMAND_PLAN = {
    .name = "plan",
    .group = "Running",
    .summary = "show what would run, and why; changes nothing",
    .usage = "RECIPE [PROBLEM|EXPERIMENT...]",
    .min_args = 1,
    .max_args = -1,
    .options = PLAN_OPTIONS,
    .option_bytes = sizeof(struct orch_execute_options),
    .about =
        "Lists each trial with its state and the reason: done (by whom, when, and whether runs of "
        "any machine count), missing, stale (what changed), waiting, held by another process, or "
        "skipped; and what it is expected to take: the median, the middle 90 %, and what that "
        "rests on "
        "(measured: runs of the same trial; fitted: a law over other trials here; prior: its "
        "declared "
        "cost). A '-' means that there is no basis for an estimate.",
    .examples = "  orch plan recipes/hw4.recipe\n"
                "  orch plan recipes/hw4.recipe finetune --json",
    .run = plan,
};
