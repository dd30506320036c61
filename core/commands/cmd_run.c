/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "core/cli/consent.h"
#include "core/cli/notify.h"
#include "core/commands/execute.h"
#include "core/results/selection.h"
#include "lib/base/json.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- --notify -----------------------------------------------------------------------------------
 */

enum { LIMIT_S = 60 };

static const char *state_of(int status)
{
    static const struct {
        int status;
        const char *state;
    } rows[] = {{ORCH_EXIT_OK, "ok"},
                {ORCH_EXIT_TRIAL, "failed"},
                {ORCH_EXIT_BUDGET, "stopped by a limit"},
                {ORCH_EXIT_INTERRUPTED, "interrupted"},
                {ORCH_EXIT_TERMINATED, "terminated"}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].status == status)
            return rows[i].state;
    return "error";
}

/* Counts the runs of the recipe that started since `started_ns`, by state. New reference. */
static json_t *count_runs(struct orch_cli *cli, const char *recipe, int64_t started_ns)
{
    json_t *counts = json_object();
    const struct orch_selection selection = {.recipe = recipe, .limit = 100000};
    struct orch_store *store = cli->workspace ? cli->workspace->store : NULL;
    g_autoptr(GPtrArray) runs = store ? orch_selection_runs(&selection, store, NULL, NULL) : NULL;
    for (guint i = 0; runs && i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        if (run->started_ns >= started_ns)
            json_object_set_new(counts, run->state,
                                json_integer(orch_json_int(counts, run->state, 0) + 1));
    }
    return counts;
}

/* Waits for the command, then kills the remaining processes of its group. Returns its exit status,
 * or -1 when it took longer than LIMIT_S. */
static int wait_for(pid_t pid)
{
    int64_t until = orch_mono_ns() + LIMIT_S * INT64_C(1000000000);
    const struct timespec moment = {0, 10000000};
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && orch_mono_ns() < until)
        nanosleep(&moment, NULL);
    kill(-pid, SIGKILL);
    if (ended == 0)
        waitpid(pid, &status, 0);
    return ended == 0 ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs `command` in a shell with a summary of the run as JSON on its standard input, for at most a
 * minute and in its own process group. NULL means $ORCH_NOTIFY; without either nothing is run. The
 * command comes only from the user, never from a recipe. Its failure is reported but has no other
 * effect. `problem` is the error that ended the run, or NULL. */
static void notify_end(struct orch_cli *cli, const char *command, const char *recipe, int status,
                       const GError *problem, int64_t started_ns)
{
    const char *chosen = orch_cli_notify_command(command);
    if (!chosen)
        return;
    g_autofree char *error =
        problem ? g_utf8_make_valid(problem->message, (gssize)strnlen(problem->message, 2000))
                : NULL;
    g_autoptr(json_t) summary =
        json_pack("{s:s s:s s:i s:s? s:o s:s? s:o}", "recipe", recipe, "state", state_of(status),
                  "status", status, "error", error, "seconds",
                  orch_json_finite((double)(orch_now_ns() - started_ns) / 1e9), "store",
                  cli->workspace ? cli->workspace->db_path : NULL, "runs",
                  count_runs(cli, recipe, started_ns));
    g_autofree char *canonical = orch_json_canonical(summary);
    g_autofree char *text = g_strconcat(canonical ? canonical : "{}", "\n", NULL);
    g_autofree char *number = g_strdup_printf("%d", status);
    g_auto(GStrv) env = g_environ_setenv(g_strdupv(environ), "ORCH_RECIPE", recipe, TRUE);
    env = g_environ_setenv(env, "ORCH_STATE", state_of(status), TRUE);
    env = g_environ_setenv(env, "ORCH_STATUS", number, TRUE);
    pid_t pid;
    int code = orch_cli_start_command(chosen, env, text, &pid) ? 127 : wait_for(pid);
    if (code < 0)
        orch_cli_warn(cli, "the command of --notify was stopped after %d s", LIMIT_S);
    else if (code)
        orch_cli_warn(cli, "the command of --notify failed with exit status %d", code);
}

/* ---- the command --------------------------------------------------------------------------------
 */

static const struct orch_option OPTIONS[] = {
    ORCH_VARIANT_OPTIONS(struct orch_execute_options, variant),
    ORCH_PART_OPTION(struct orch_execute_options, variant),
    ORCH_SMOKE_OPTION(struct orch_execute_options, variant),
    ORCH_OPTION(struct orch_execute_options, executor, TEXT, "executor", .value = "NAME",
                .help = "where trials run (default: local); others: 'orch help run'",
                .is_of_trial = true),
    ORCH_OPTION(struct orch_execute_options, jobs, COUNT, "jobs", .letter = 'j', .value = "N",
                .help = "trials at once (default: one per GPU; CPU trials: recipe's 'jobs' or 1)"),
    ORCH_OPTION(struct orch_execute_options, gpus, TEXT, "gpus", .value = "LIST",
                .help = "use only these GPUs: 0,1"),
    ORCH_OPTION(struct orch_execute_options, oversubscribe, FLAG, "oversubscribe",
                .help = "do not wait for CPUs that other runs use", .is_of_trial = true),
    ORCH_OPTION(struct orch_execute_options, no_pin, FLAG, "no-pin",
                .help = "do not pin trials to CPUs", .is_of_trial = true),
    ORCH_OPTION(struct orch_execute_options, live, FLAG, "live", .help = ORCH_LIVE_HELP,
                .is_of_trial = true),
    ORCH_OPTION(struct orch_execute_options, frozen, FLAG, "frozen", .help = ORCH_FROZEN_HELP,
                .is_of_trial = true),
    ORCH_OPTION(struct orch_execute_options, no_watch, FLAG, "no-watch", .help = ORCH_NO_WATCH_HELP,
                .is_of_trial = true),
    ORCH_OPTION(struct orch_execute_options, force, FLAG, "force",
                .help = "also run trials that are done; their old runs are kept"),
    ORCH_OPTION(struct orch_execute_options, disturbed, FLAG, "disturbed",
                .help = "run disturbed trials again (other programs used the CPUs)"),
    ORCH_OPTION(struct orch_execute_options, fail_fast, FLAG, "fail-fast",
                .help = "start no further trial after a failure"),
    ORCH_OPTION(struct orch_execute_options, continue_pruned, FLAG, "continue-pruned",
                .help = ORCH_CONTINUE_PRUNED_HELP),
    ORCH_OPTION(struct orch_execute_options, keep_going, FLAG, "keep-going",
                .help = ORCH_KEEP_GOING_HELP),
    ORCH_OPTION(struct orch_execute_options, require_clean, FLAG, "require-clean",
                .help = "refuse to run with uncommitted changes"),
    ORCH_OPTION(struct orch_execute_options, require, TEXT, "require", .value = "ok",
                .help = "count skipped trials as failed"),
    ORCH_OPTION(struct orch_execute_options, dry_run, FLAG, "dry-run", .letter = 'n',
                .help = "show which trials would run, and why ('orch plan')"),
    ORCH_OPTION(struct orch_execute_options, yes, FLAG, "yes", .letter = 'y',
                .help = "run more than 500 trials without asking"),
    ORCH_TRUST_OPTION(struct orch_execute_options, trust),
    ORCH_OPTION(struct orch_execute_options, budget, TEXT, "budget", .value = "AMOUNT",
                .help = ORCH_BUDGET_HELP),
    ORCH_OPTION(struct orch_execute_options, deadline, TEXT, "deadline", .value = "WHEN",
                .help = ORCH_DEADLINE_HELP),
    ORCH_OPTION(struct orch_execute_options, price, TEXT, "price", .value = "USD",
                .help = ORCH_PRICE_HELP),
    ORCH_OPTION(struct orch_execute_options, alerts, LIST, "alert", .value = "CONDITION",
                .help = ORCH_ALERT_HELP),
    ORCH_OPTION(struct orch_execute_options, alert_stops, LIST, "alert-stop", .value = "CONDITION",
                .help = ORCH_ALERT_STOP_HELP),
    ORCH_OPTION(struct orch_execute_options, notify, TEXT, "notify", .value = "COMMAND",
                .help = "run COMMAND at the end and for alerts, with JSON on stdin"),
    ORCH_OPTION(struct orch_execute_options, no_progress, FLAG, "no-progress",
                .help = "print a line for each trial instead of live progress"),
    ORCH_OPTION(struct orch_execute_options, keep_trials, FLAG, "keep-trials",
                .help = "keep each trial's folder for debugging, until 'orch gc'"),
    {0}};

static struct orch_expansion *expand(struct orch_cli *cli, const struct orch_execute_options *o,
                                     GError **error)
{
    struct orch_variant variant = o->variant;
    variant.leaves_out_unnamed = true;
    GError *problem = NULL;
    g_autoptr(json_t) alerts = orch_execute_alerts(o, &problem);
    if (problem) {
        g_propagate_error(error, problem);
        return NULL;
    }
    struct orch_expansion *expansion = orch_cli_recipe(cli, cli->args[0], &variant, error);
    if (!expansion || !alerts)
        return expansion;
    json_array_extend(alerts, expansion->alerts);
    json_decref(expansion->alerts);
    expansion->alerts = json_incref(alerts);
    return expansion;
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
        notify_end(cli, o->notify, expansion->name, status, problem, started_ns);
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

static const struct orch_option_group GROUPS[] = {
    {"what runs", "set sweep profile -part smoke force -disturbed -continue-pruned"},
    {"where, and how many at once", "executor jobs -gpus -oversubscribe -no-pin"},
    {"the files of a program", "live frozen -no-watch -require-clean -keep-trials"},
    {"limits", "budget deadline alert -alert-stop -price -fail-fast -keep-going -require"},
    {"confirmation and output", "dry-run yes -trust -notify -no-progress"},
    {0}};

const struct orch_command ORCH_COMMAND_RUN = {
    .name = "run",
    .group = "Run",
    .is_listed = true,
    .summary = "run a recipe (file of experiments): its trials that have no result yet",
    .usage = "RECIPE [PROBLEM|EXPERIMENT...]",
    .min_args = 1,
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct orch_execute_options),
    .groups = GROUPS,
    .about = "Each trial (one setting of the parameters, one seed) is its own process. After an "
             "interruption, the same command runs the rest.\n"
             "\n" ORCH_ON_CHANGE_ABOUT "\n"
             "\n" ORCH_KEEP_GOING_ABOUT "\n"
             "\n"
             "After the first Ctrl-C running trials finish, but no further trial starts. The "
             "second Ctrl-C stops running trials.\n"
             "\n" ORCH_LIMITS_ABOUT,
    .examples = "  orch run recipes/hw4.recipe            # everything\n"
                "  orch run recipes/hw4.recipe p1 -j 2    # problem 1, two trials at once\n"
                "  orch run r.recipe -x lr=0.1,0.01       # sweep a parameter\n"
                "  orch run r.recipe --budget 5usd --deadline 18:00   # limits\n"
                "  orch run r.recipe --smoke              # does it work at all?",
    .run = run,
};

static const struct orch_option PLAN_OPTIONS[] = {
    ORCH_VARIANT_OPTIONS(struct orch_execute_options, variant),
    ORCH_PART_OPTION(struct orch_execute_options, variant),
    ORCH_SMOKE_OPTION(struct orch_execute_options, variant),
    ORCH_OPTION(struct orch_execute_options, executor, TEXT, "executor", .value = "NAME",
                .help = "plan for 'orch run --executor NAME' (default: local)"),
    ORCH_OPTION(struct orch_execute_options, jobs, COUNT, "jobs", .letter = 'j', .value = "N",
                .help = "plan for N trials at once"),
    ORCH_OPTION(struct orch_execute_options, force, FLAG, "force",
                .help = "also plan trials that are done"),
    ORCH_OPTION(struct orch_execute_options, disturbed, FLAG, "disturbed",
                .help = "plan disturbed trials again (other programs used the CPUs)"),
    ORCH_OPTION(struct orch_execute_options, price, TEXT, "price", .value = "USD",
                .help = ORCH_PRICE_HELP),
    ORCH_OPTION(struct orch_execute_options, all, FLAG, "all", .letter = 'a',
                .help = "show every trial, however many"),
    ORCH_OPTION(struct orch_execute_options, exit_code, FLAG, "exit-code",
                .help = "exit with 7 if a trial is left to run"),
    {0}};

const struct orch_command ORCH_COMMAND_PLAN = {
    .name = "plan",
    .group = "Run",
    .is_listed = true,
    .summary = "show which trials of a recipe would run, and why",
    .usage = "RECIPE [PROBLEM|EXPERIMENT...]",
    .min_args = 1,
    .max_args = -1,
    .options = PLAN_OPTIONS,
    .option_bytes = sizeof(struct orch_execute_options),
    .about =
        "Lists each trial with the reason why it runs or not. A trial is done, missing, stale "
        "(something changed since it ran), waiting, running or skipped. Each forecast of a time "
        "has a median, a 90 % interval, and its basis: measured (runs of the same trial), fitted "
        "(other trials on this machine) or prior (the work that the plugin describes).",
    .examples = "  orch plan recipes/hw4.recipe\n"
                "  orch plan recipes/hw4.recipe finetune --json",
    .run = plan,
};
