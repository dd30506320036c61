/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "core/commands/consent.h"
#include "core/commands/execute.h"
#include "core/commands/notify.h"

static const struct orch_option OPTIONS[] = {
    ORCH_VARIANT_OPTIONS(struct orch_execute_options, variant),
    ORCH_OPTION(struct orch_execute_options, executor, TEXT, "executor", .value = "NAME",
                .help = "local: on this machine (default); slurm: submit all trials and return"),
    ORCH_OPTION(struct orch_execute_options, jobs, COUNT, "jobs", .letter = 'j', .value = "N",
                .help = "run N trials at once (default: one for each GPU that trials need, else "
                        "the recipe's jobs, "
                        "else 1)"),
    ORCH_OPTION(struct orch_execute_options, gpus, TEXT, "gpus", .value = "LIST",
                .help = "use only these GPUs, e.g. 0,1"),
    ORCH_OPTION(struct orch_execute_options, oversubscribe, FLAG, "oversubscribe",
                .help = "do not wait for CPUs that other runs of this machine use"),
    ORCH_OPTION(struct orch_execute_options, no_pin, FLAG, "no-pin",
                .help = "let trials use all CPUs instead of pinning each to its own"),
    ORCH_OPTION(struct orch_execute_options, live, FLAG, "live", .help = ORCH_LIVE_HELP),
    ORCH_OPTION(struct orch_execute_options, frozen, FLAG, "frozen", .help = ORCH_FROZEN_HELP),
    ORCH_OPTION(struct orch_execute_options, no_watch, FLAG, "no-watch",
                .help = ORCH_NO_WATCH_HELP),
    ORCH_OPTION(struct orch_execute_options, force, FLAG, "force",
                .help = "run trials again even if they are done (nothing is overwritten)"),
    ORCH_OPTION(struct orch_execute_options, fail_fast, FLAG, "fail-fast",
                .help = "start no further trial after the first failure"),
    ORCH_OPTION(struct orch_execute_options, keep_going, FLAG, "keep-going",
                .help = ORCH_KEEP_GOING_HELP),
    ORCH_OPTION(struct orch_execute_options, require_clean, FLAG, "require-clean",
                .help = "refuse to run with uncommitted changes"),
    ORCH_OPTION(struct orch_execute_options, require, TEXT, "require", .value = "ok",
                .help = "count skipped trials as failed"),
    ORCH_OPTION(struct orch_execute_options, dry_run, FLAG, "dry-run", .letter = 'n',
                .help = "the same as 'orch plan'"),
    ORCH_OPTION(struct orch_execute_options, yes, FLAG, "yes", .letter = 'y',
                .help = "run more than 500 trials without asking"),
    ORCH_TRUST_OPTION(struct orch_execute_options, trust),
    ORCH_OPTION(struct orch_execute_options, budget, TEXT, "budget", .value = "USD",
                .help = "start no trial whose forecast would exceed this total cost, e.g. 5usd"),
    ORCH_OPTION(struct orch_execute_options, deadline, TEXT, "deadline", .value = "WHEN",
                .help = "start no trial whose forecast ends later: 18:00, 2h, or a date and time"),
    ORCH_OPTION(struct orch_execute_options, price, TEXT, "price", .value = "USD",
                .help = "price of a device hour (default: the dated price of this machine's GPU)"),
    ORCH_OPTION(struct orch_execute_options, notify, TEXT, "notify", .value = "COMMAND",
                .help = "run COMMAND at the end, with JSON on its stdin (default: $ORCH_NOTIFY)"),
    ORCH_OPTION(struct orch_execute_options, no_progress, FLAG, "no-progress",
                .help = "print a line for each trial instead of live progress"),
    ORCH_OPTION(struct orch_execute_options, keep_trials, FLAG, "keep-trials",
                .help =
                    "keep each trial's folder for debugging, until 'orch gc' (docs/debugging.md)"),
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
    ORCH_OPTION(struct orch_execute_options, executor, TEXT, "executor", .value = "NAME",
                .help = "plan for the executor: local (default) or slurm"),
    ORCH_OPTION(struct orch_execute_options, jobs, COUNT, "jobs", .letter = 'j', .value = "N",
                .help = "plan for N trials at once"),
    ORCH_OPTION(struct orch_execute_options, force, FLAG, "force",
                .help = "plan as 'orch run --force' would"),
    ORCH_OPTION(struct orch_execute_options, price, TEXT, "price", .value = "USD",
                .help = "price of a device hour (default: the dated price of this machine's GPU)"),
    ORCH_OPTION(struct orch_execute_options, all, FLAG, "all", .letter = 'a',
                .help = "show every trial, however many"),
    ORCH_OPTION(struct orch_execute_options, exit_code, FLAG, "exit-code",
                .help = "exit with 7 when something is left to run"),
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
