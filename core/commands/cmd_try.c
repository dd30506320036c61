/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sweeps any command without a recipe file: makes a recipe in memory, with a manifest that has a
 * parameter for each -x and -s, and runs it like any other. */
#include "core/cli/cli.h"
#include "core/commands/execute.h"

#include "core/recipe/ad_hoc.h"
#include "core/recipe/option_value.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

struct try_options {
    struct orch_execute_options execute; /* must be the first member */
    struct orch_ad_hoc wish;
    const char *timeout, *write;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct try_options, execute.variant.settings, LIST, "set", .letter = 's',
                .value = "PARAM=VALUE", .help = "give {PARAM} a value", .is_of_trial = true),
    ORCH_OPTION(struct try_options, execute.variant.sweeps, LIST, "sweep", .letter = 'x',
                .value = "PARAM=A,B,...",
                .help = "give {PARAM} several values: lr=0.1,0.01 or n='range(1,8)'"),
    ORCH_OPTION(struct try_options, wish.search, TEXT, "search", .value = "METRIC",
                .help = "metrics to optimise, such as 'max val_accuracy' or 'max acc,min ms'"),
    ORCH_OPTION(struct try_options, wish.subject_to, TEXT, "subject-to", .value = "LIMITS",
                .help = "limits that the best setting must keep: 'peak_memory < 16GiB'"),
    ORCH_OPTION(struct try_options, wish.trials, COUNT, "trials", .value = "N",
                .help = "number of settings that a search tries (default: 30)"),
    ORCH_OPTION(struct try_options, wish.until, TEXT, "until", .value = "VALUE",
                .help = "end when the metric reaches VALUE, such as 0.9 or 90%"),
    ORCH_OPTION(struct try_options, wish.sampler, TEXT, "sampler", .value = "NAME",
                .help = "algorithm: " ORCH_SAMPLER_WORDS),
    ORCH_OPTION(struct try_options, wish.first, LIST, "try", .value = "PARAM=VALUE,...",
                .help = "settings that a search tries first; or a FILE.csv of settings"),
    ORCH_OPTION(struct try_options, wish.seed, TEXT, "seed", .value = "N",
                .help = "seed of a search's sampler (default: 0)"),
    ORCH_OPTION(struct try_options, wish.stop, TEXT, "stop", .value = "RULE",
                .help = "stop bad trials: median, asha, 'forecast(p=0.05)' ('orch help search')"),
    ORCH_OPTION(struct try_options, wish.repeat, TEXT, "repeat", .value = "N",
                .help = "runs per setting, or 'auto(ci=2%,metric=loss)' until loss is known to 2%",
                .is_of_trial = true),
    ORCH_OPTION(struct try_options, wish.name, TEXT, "name", .value = "NAME",
                .help = "name of the experiment (default: the program's)", .is_of_trial = true),
    ORCH_OPTION(struct try_options, wish.artifacts, LIST, "artifact", .value = "NAME=FILE",
                .help = "store a file that the command writes", .is_of_trial = true),
    ORCH_OPTION(struct try_options, wish.inputs, LIST, "inputs", .value = "FILE",
                .help = "files that results depend on (data, 'models/*.py')", .is_of_trial = true),
    ORCH_OPTION(struct try_options, wish.resources, LIST, "resources", .value = "KEY=N,...",
                .help = "what each trial needs, such as gpus=0.5,cores=4", .is_of_trial = true),
    ORCH_OPTION(struct try_options, wish.metrics_on, TEXT, "metrics-from", .value = "WHERE",
                .help = "metrics from stdout (default), stderr, both, or files (only log files)",
                .is_of_trial = true),
    ORCH_OPTION(struct try_options, wish.metrics_files, LIST, "metrics-file", .value = "PATTERN",
                .help = "also read these files as logs: 'runs/*.out'", .is_of_trial = true),
    ORCH_OPTION(struct try_options, wish.from_env, FLAG, "env",
                .help = "the program reads its parameters from $ORCH_PARAM_name or $ORCH_PARAMS",
                .is_of_trial = true),
    ORCH_OPTION(struct try_options, timeout, TEXT, "timeout", .value = "DURATION",
                .help = "stop a trial after DURATION (30s, 5min)", .is_of_trial = true),
    ORCH_OPTION(struct try_options, execute.jobs, COUNT, "jobs", .letter = 'j', .value = "N",
                .help = "run N trials at once"),
    ORCH_OPTION(struct try_options, execute.oversubscribe, FLAG, "oversubscribe",
                .help = "do not wait for CPUs that other runs use", .is_of_trial = true),
    ORCH_OPTION(struct try_options, execute.no_pin, FLAG, "no-pin",
                .help = "do not pin trials to CPUs", .is_of_trial = true),
    ORCH_OPTION(struct try_options, execute.live, FLAG, "live", .help = ORCH_LIVE_HELP,
                .is_of_trial = true),
    ORCH_OPTION(struct try_options, execute.frozen, FLAG, "frozen", .help = ORCH_FROZEN_HELP,
                .is_of_trial = true),
    ORCH_OPTION(struct try_options, execute.no_watch, FLAG, "no-watch", .help = ORCH_NO_WATCH_HELP,
                .is_of_trial = true),
    ORCH_OPTION(struct try_options, execute.force, FLAG, "force",
                .help = "also run trials that are done"),
    ORCH_OPTION(struct try_options, execute.keep_going, FLAG, "keep-going",
                .help = ORCH_KEEP_GOING_HELP),
    ORCH_OPTION(struct try_options, execute.continue_pruned, FLAG, "continue-pruned",
                .help = ORCH_CONTINUE_PRUNED_HELP),
    ORCH_OPTION(struct try_options, write, TEXT, "write", .value = "FILE.recipe",
                .help = "save the command as a recipe for 'orch run'"),
    ORCH_OPTION(struct try_options, execute.dry_run, FLAG, "dry-run", .letter = 'n',
                .help = "show the plan; run nothing"),
    ORCH_OPTION(struct try_options, execute.yes, FLAG, "yes", .letter = 'y',
                .help = "run more than 500 trials without asking"),
    ORCH_OPTION(struct try_options, execute.budget, TEXT, "budget", .value = "AMOUNT",
                .help = ORCH_BUDGET_HELP),
    ORCH_OPTION(struct try_options, execute.deadline, TEXT, "deadline", .value = "WHEN",
                .help = ORCH_DEADLINE_HELP),
    ORCH_OPTION(struct try_options, execute.alerts, LIST, "alert", .value = "CONDITION",
                .help = ORCH_ALERT_HELP),
    ORCH_OPTION(struct try_options, execute.alert_stops, LIST, "alert-stop", .value = "CONDITION",
                .help = ORCH_ALERT_STOP_HELP),
    ORCH_OPTION(struct try_options, execute.price, TEXT, "price", .value = "USD",
                .help = ORCH_PRICE_HELP),
    ORCH_OPTION(struct try_options, execute.no_progress, FLAG, "no-progress",
                .help = "print a line for each trial instead of live progress"),
    ORCH_OPTION(struct try_options, execute.keep_trials, FLAG, "keep-trials",
                .help = "keep each trial's folder for debugging, until 'orch gc'"),
    {0}};

static struct orch_expansion *expand(struct orch_cli *cli, const struct orch_ad_hoc *wish,
                                     GError **error)
{
    GError *problem = NULL;
    struct orch_diags *diags = orch_diags_new();
    struct orch_expansion *expansion =
        orch_ad_hoc_expand(orch_cli_plugins(cli), wish, diags, &problem);
    orch_cli_warnings(cli, diags);
    if (problem)
        g_propagate_error(error, problem);
    else if (!expansion)
        orch_diags_to_error(diags, error);
    orch_diags_free(diags);
    return expansion;
}

/* Writes the recipe before the trials run, so that it is there whatever happens. */
static bool write_recipe(struct orch_cli *cli, const struct try_options *o,
                         const struct orch_ad_hoc *wish, const struct orch_expansion *expansion,
                         GError **error)
{
    if (!o->write)
        return true;
    if (!orch_ad_hoc_write(orch_cli_plugins(cli), wish, expansion, o->write, o->execute.force,
                           error))
        return false;
    g_autofree char *quoted = orch_cli_shell_word(o->write);
    orch_cli_info(cli, "wrote %s: 'orch run %s' runs the same trials", o->write, quoted);
    return true;
}

/* Whoever wants trials with a seed may look for it here. */
static bool seed_is_of_search(const struct try_options *o, GError **error)
{
    if (!o->wish.seed || o->wish.search)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "to give each trial a seed, write {seed} in the command; -s seed=N gives all "
                   "trials the same seed",
                   "option '--seed' sets the seed of a search's sampler, so it needs --search");
    return false;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct try_options *o = options;
    struct orch_ad_hoc wish = o->wish;
    if (!cli->rest || !cli->rest[0] || !*cli->rest[0]) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "for example orch try -x lr=0.1,0.01 -- python3 train.py --lr {lr}",
                       "no command: write it after '--'");
        return -1;
    }
    if (!seed_is_of_search(o, error) ||
        (o->timeout && !orch_option_duration("timeout", o->timeout, &wish.timeout_s, error)) ||
        !orch_cli_workspace(cli, NULL, error))
        return -1;
    wish.command = (const char *const *)cli->rest;
    wish.settings = o->execute.variant.settings;
    wish.sweeps = o->execute.variant.sweeps;
    wish.jobs = o->execute.jobs;
    GError *problem = NULL;
    g_autoptr(json_t) alerts = orch_execute_alerts(&o->execute, &problem);
    if (problem) {
        g_propagate_error(error, problem);
        return -1;
    }
    wish.alerts = alerts;
    struct orch_expansion *expansion = expand(cli, &wish, error);
    if (!expansion)
        return -1;
    int status = !write_recipe(cli, o, &wish, expansion, error) ? -1
                 : o->execute.dry_run ? orch_execute_plan(cli, expansion, &o->execute, error)
                                      : orch_execute(cli, expansion, &o->execute, error);
    orch_expansion_free(expansion);
    return status;
}

static const struct orch_option_group GROUPS[] = {
    {"settings", "set sweep repeat -env"},
    {"search", "search trials -subject-to -until -sampler -seed -try stop -continue-pruned"},
    {"what is recorded", "name artifact inputs metrics-from -metrics-file"},
    {"resources", "jobs resources -oversubscribe -no-pin"},
    {"files of the program", "live frozen -no-watch -keep-trials"},
    {"limits", "timeout budget deadline -alert -alert-stop -price -keep-going"},
    {"confirmation and output", "dry-run -yes force write -no-progress"},
    {0}};

const struct orch_command ORCH_COMMAND_TRY = {
    .name = "try",
    .group = "Run",
    .is_listed = true,
    .summary = "sweep the parameters of any command, without a recipe",
    .usage = "-- COMMAND [ARGUMENT...]",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct try_options),
    .groups = GROUPS,
    .keeps_rest = true,
    .about =
        "In the command, {PARAM} is replaced by the parameter's value (-s, -x), {seed} by the "
        "trial's seed, and {repeat} by the number of the repeat. Printed lines such as 'loss=0.3' "
        "become metrics.\n"
        "\n{{word}} becomes the text {word}. The command must contain every parameter, except with "
        "--env or orch's Python module. 'orch help printed-values' shows which lines are read.\n"
        "\n" ORCH_ON_CHANGE_ABOUT "\n"
        "\n" ORCH_KEEP_GOING_ABOUT "\n"
        "\n" ORCH_LIMITS_ABOUT,
    .examples = "  orch try -x lr=0.1,0.01 -- python3 train.py --lr {lr}\n"
                "  orch try -x n='range(1,8)' --repeat 3 -- ./bench {n}\n"
                "  orch try -x lr='loguniform(1e-4,1)' --search 'max val_accuracy' --trials 40 "
                "-- python3 train.py --lr {lr}\n"
                "  orch try -x lr=0.1,0.01 --write tune.recipe -- python3 train.py --lr {lr}",
    .run = run,
};
