/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans and runs an expanded recipe, for `run`, `plan` and `try`. */
#ifndef ORCH_CORE_COMMANDS_EXECUTE_H
#define ORCH_CORE_COMMANDS_EXECUTE_H

#include "core/cli/cli.h"
#include "core/plan/plan.h"

struct orch_execute_options {
    struct orch_variant variant; /* must be the first member: 'orch export job' reads the options
                                    of an earlier 'orch run' again, and knows no other */
    int jobs;
    const char *gpus, *require, *executor;
    const char *price, *budget, *deadline, *notify;
    const char **alerts, **alert_stops; /* conditions (lib/wire/alert.h) */
    bool no_pin, oversubscribe;
    bool no_watch;     /* plan option */
    bool live, frozen; /* what happens when inputs change (enum orch_on_change) */
    bool force, disturbed, fail_fast, require_clean, dry_run, yes, no_progress, all, exit_code,
        trust, keep_trials, keep_going, continue_pruned;
};

/** The alerts of the options, as in struct orch_expansion; NULL, without an error, for none. New
 * reference. */
json_t *orch_execute_alerts(const struct orch_execute_options *options, GError **error);

#define ORCH_ALERT_HELP "notify and tag the run when CONDITION holds, such as 'loss > 10'"
#define ORCH_ALERT_STOP_HELP "as --alert, and end the trial as diverged"

/** Help of the options live and frozen of `run` and `try`. */
#define ORCH_LIVE_HELP "let trials that start later use your edits"
#define ORCH_NO_WATCH_HELP "do not record which files programs open"
#define ORCH_KEEP_GOING_HELP "do not stop when the first three trials fail alike"
#define ORCH_CONTINUE_PRUNED_HELP "resume trials that a search stopped early"
#define ORCH_FROZEN_HELP "run all trials in a copy of the files"
#define ORCH_ON_CHANGE_ABOUT                                                                       \
    "Programs run in your folder. If you edit your code while a sweep runs, the remaining trials " \
    "run in a copy of the files as they were at the start. With --live the trials use the edited " \
    "files; with --frozen all trials run in a copy."
#define ORCH_KEEP_GOING_ABOUT                                                                      \
    "If the first three trials of an experiment fail in the same way within 30 s each, orch asks " \
    "whether to go on; without a terminal it stops the experiment. --keep-going runs all trials."
#define ORCH_BUDGET_HELP "limit the total cost to AMOUNT (5usd, or 2h of device time)"
#define ORCH_DEADLINE_HELP "end by WHEN (18:00, 2h, or a date and time)"
#define ORCH_PRICE_HELP "price of a device hour (default: the price of this machine's GPU)"
#define ORCH_LIMITS_ABOUT                                                                          \
    "With --budget or --deadline a trial starts only if it is forecast to end within the limit. "  \
    "When the limit is reached, running trials are cancelled and the exit status is 6; the same "  \
    "command continues later. A budget counts only the trials of this command. Device time is "    \
    "hours x GPUs; a trial without GPUs counts as one GPU."

/** Runs the recipe with progress on stderr, and prints the answers of its report to stdout. Returns
 * the exit status, or -1 with an error. */
int orch_execute(struct orch_cli *cli, const struct orch_expansion *expansion,
                 const struct orch_execute_options *options, GError **error);
/** Prints the plan. */
int orch_execute_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                      const struct orch_execute_options *options, GError **error);

/* ---- execute_checks.c --------------------------------------------------------------------------
 */

/** Checks that the options of a run go together, and with its executor. */
bool orch_execute_options_agree(const struct orch_cli *cli,
                                const struct orch_execute_options *options, GError **error);
/** Checks --executor, and that the other options go with it. `name` may be NULL. */
bool orch_execute_executor_fits(const struct orch_cli *cli, const char *name, GError **error);
/** Reads --gpus: adds the numbers of GPUs (unsigned) to `out`. */
bool orch_execute_gpus_parse(struct orch_cli *cli, const char *text, GArray *out, GError **error);
/** Checks that the plan may run: that its commands are valid, its inputs captured as the options
 * ask for, and --yes given when there are many trials. */
bool orch_execute_may_start(struct orch_cli *cli, const struct orch_expansion *expansion,
                            const struct orch_execute_options *options,
                            const struct orch_plan *plan, GError **error);

#endif
