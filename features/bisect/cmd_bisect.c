/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "core/recipe/option_value.h"
#include "core/record/argv_record.h"
#include "features/bisect/bisect_show.h"
#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/text.h"

#include <math.h>

#define REPEATS_MOST 30
#define REPEATS_LIMIT 1000
#define SURE 0.95

struct bisect_options {
    bool min, max, retry;
    const char *repeat_most, *budget, *deadline, *price, *aggregate, *timeout, *metrics_on;
    const char **resources;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct bisect_options, min, FLAG, "min",
                .help = "the lower METRIC, the better (default for times and losses)"),
    ORCH_OPTION(struct bisect_options, max, FLAG, "max",
                .help = "the higher METRIC, the better (default for accuracies)"),
    ORCH_OPTION(struct bisect_options, repeat_most, TEXT, "repeat-at-most", .value = "N",
                .help = "run a commit at most N times (default: 30)"),
    ORCH_OPTION(struct bisect_options, budget, TEXT, "budget", .value = "AMOUNT",
                .help = "stop before the runs cost more than AMOUNT (5usd, or 2h of device time)"),
    ORCH_OPTION(struct bisect_options, deadline, TEXT, "deadline", .value = "TIME",
                .help = "start no run that would end after TIME (18:00, 2h, 2026-11-21T18:00)"),
    ORCH_OPTION(struct bisect_options, price, TEXT, "price", .value = "USD",
                .help = "price of an hour of one device"),
    ORCH_OPTION(struct bisect_options, retry, FLAG, "retry",
                .help = "rerun the commits at which the command failed"),
    ORCH_OPTION(struct bisect_options, aggregate, TEXT, "value", .value = "WHICH",
                .help = "value that counts in a run: last (default), best, min, max, mean, first"),
    ORCH_OPTION(struct bisect_options, timeout, TEXT, "timeout", .value = "DURATION",
                .help = "stop a run after DURATION (90, 30s, 5min), and skip its commit"),
    ORCH_OPTION(struct bisect_options, resources, LIST, "resources", .value = "KEY=N,...",
                .help = "what each run needs, such as gpus=0.5,cores=4 ('orch help slots')"),
    ORCH_OPTION(struct bisect_options, metrics_on, TEXT, "metrics-from", .value = "WHERE",
                .help = "read metrics from stdout (default), stderr or both"),
    {0}};

/* ---- options ----------------------------------------------------------------------------------
 */

static char *command_line(void *ctx, const struct orch_expansion *expansion)
{
    const struct orch_bisect_live *live = ctx;
    return orch_argv_record(live->cli->argv, live->cli->argc, expansion);
}

static void on_tick(void *ctx, const struct orch_running *const *running, unsigned count,
                    const struct orch_totals *totals)
{
    (void)totals;
    if (count)
        orch_bisect_live_tick(ctx, (double)(orch_mono_ns() - running[0]->started_mono_ns) / 1e9);
}

static void on_message(void *ctx, const char *text)
{
    struct orch_bisect_live *live = ctx;
    orch_bisect_live_erase(live);
    orch_cli_info(live->cli, "%s", text);
}

static bool read_options(struct orch_cli *cli, const struct bisect_options *o,
                         struct orch_bisect *out, GError **error)
{
    int64_t most = REPEATS_MOST;
    if (!cli->rest || !cli->rest[0] || !*cli->rest[0]) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "for example orch bisect wall_s v1.0..HEAD -- python3 train.py",
                       "no command: write it after '--'");
        return false;
    }
    if (o->aggregate && !orch_aggregate_parse(o->aggregate, &out->metric.aggregate)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use last, best, min, max, mean or first",
                       "option '--value': unknown value '%s'", o->aggregate);
        return false;
    }
    if (!orch_cli_count(o->repeat_most, "--repeat-at-most", REPEATS_LIMIT, &most, error) ||
        (o->timeout &&
         !orch_option_duration("timeout", o->timeout, &out->job.wish.timeout_s, error)))
        return false;
    if (most < 2) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example --repeat-at-most 10",
                       "option '--repeat-at-most' must be at least 2");
        return false;
    }
    out->request = (struct orch_bisect_request){.range = cli->args[1],
                                                .sure = SURE,
                                                .repeat_most = (int)most,
                                                .budget = o->budget,
                                                .deadline = o->deadline,
                                                .price = o->price,
                                                .retries = o->retry};
    out->metric.name = cli->args[0];
    return orch_bisect_metric_direct(&out->metric, o->min, o->max, error);
}

/* ---- the command ------------------------------------------------------------------------------
 */

/* Says what happens to uncommitted changes, before anything runs. */
static bool warn_of_changes(struct orch_cli *cli, struct orch_workspace *workspace, GError **error)
{
    const struct orch_source *source = orch_workspace_source(workspace, error);
    if (source && source->dirty)
        orch_cli_warn(cli, "your uncommitted changes are not tested, and stay as they are");
    return source != NULL;
}

static int status_of(const struct orch_bisect *bisect)
{
    switch (bisect->stop) {
    case ORCH_BISECT_BUDGET:
        return ORCH_EXIT_BUDGET;
    case ORCH_BISECT_INTERRUPTED:
        return ORCH_EXIT_INTERRUPTED;
    case ORCH_BISECT_TERMINATED:
        return ORCH_EXIT_TERMINATED;
    case ORCH_BISECT_DECIDED:
        break;
    }
    return bisect->turn.verdict == ORCH_CHANGE_FOUND ? ORCH_EXIT_OK : ORCH_EXIT_CHECK;
}

static void say_outlook(struct orch_cli *cli, const struct orch_bisect *bisect)
{
    size_t known = bisect->data.first[bisect->commits.count], count = bisect->commits.count - 1;
    const struct orch_vcs_commit *good = bisect->commits.rows[0].is;
    const struct orch_vcs_commit *bad = bisect->commits.rows[count].is;
    g_autofree char *runs =
        known ? g_strdup_printf("; %zu run%s of them %s in the store", known,
                                orch_plural((unsigned)known), known == 1 ? "is" : "are")
              : g_strdup("");
    const char *way = orch_bisect_metric_is_max(&bisect->metric) ? "higher" : "lower";
    g_autofree char *said =
        orch_direction_said(bisect->metric.name, bisect->metric.direction, true);
    orch_cli_info(cli, "%zu commit%s after %.8s, to %.8s; %s%s%s%s", count,
                  orch_plural((unsigned)count), good->commit, bad->commit,
                  said ? said : bisect->metric.name, said ? "" : ": better is the ",
                  said ? "" : way, runs);
}

static int search(struct orch_cli *cli, struct orch_bisect *bisect, GError **error)
{
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    if (!warn_of_changes(cli, bisect->job.base, error) || !orch_bisect_begin(bisect, notes, error))
        return -1;
    for (guint i = 0; i < notes->len; i++)
        orch_cli_info(cli, "%s", (const char *)notes->pdata[i]);
    say_outlook(cli, bisect);
    if (!orch_bisect_search(bisect, error))
        return -1;
    orch_bisect_show_outcome(cli, bisect);
    if (bisect->stop != ORCH_BISECT_DECIDED)
        orch_cli_info(cli, "the finished runs are kept: run the same command again to continue");
    return status_of(bisect);
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct bisect_options *o = options;
    struct orch_bisect_live live = {.cli = cli, .is_live = cli->stderr_is_tty && !cli->quiet};
    g_autofree char *here = g_get_current_dir();
    struct orch_bisect bisect = {
        .job = {.plugin_paths = cli->plugin_paths,
                .wish = {.command = (const char *const *)cli->rest,
                         .folder = here,
                         .resources = (const char *const *)o->resources,
                         .metrics_on = o->metrics_on},
                .is_live = live.is_live,
                .listener = {.ctx = &live, .message = on_message, .tick = on_tick},
                .argv_json = command_line,
                .ctx = &live},
        .on_turn = orch_bisect_show_turn,
        .on_run = orch_bisect_show_run,
        .ctx = &live};
    unsigned closed, pending;
    struct orch_store *store;
    int status = -1;
    if (read_options(cli, o, &bisect, error) &&
        (store = orch_cli_store(cli, ORCH_STORE_CREATE, error)) &&
        orch_recover(store, &closed, &pending, error)) {
        orch_cli_take_in(cli);
        bisect.job.base = cli->workspace;
        status = search(cli, &bisect, error);
    }
    orch_bisect_live_clear(&live);
    orch_bisect_clear(&bisect);
    return status;
}

const struct orch_command ORCH_COMMAND_BISECT = {
    .name = "bisect",
    .group = "Decide",
    .is_listed = true,
    .summary = "find the commit that made a noisy metric worse",
    .usage = "METRIC GOOD..BAD -- COMMAND [ARGUMENT...]",
    .min_args = 2,
    .max_args = 2,
    .options = OPTIONS,
    .option_bytes = sizeof(struct bisect_options),
    .keeps_rest = true,
    .about = "Runs COMMAND with the files of commits from GOOD to BAD, and names the commit that "
             "made METRIC worse. METRIC is a number that the command prints ('orch help "
             "printed-values'), or wall_s, the time of the run. If METRIC differs between GOOD and "
             "BAD, orch runs commits between them until one commit is the culprit with a "
             "probability of 95 %.\n\nCommits at which COMMAND fails are skipped. Your files and "
             "branches are not touched. All runs are stored: after an interrupt, the same command "
             "continues.\n\nThe exit status is 0 when the commit is found, 7 when it is not, and 6 "
             "when the budget or deadline is reached. See 'orch help bisection'.",
    .examples = "  orch bisect wall_s v1.0..HEAD -- python3 train.py --epochs 1\n"
                "  orch bisect val_accuracy main~40..main --max -- python3 train.py --seed {seed}\n"
                "  orch bisect images_per_s good..bad --budget 2h -- sh -c 'make -s && ./bench'",
    .run = run,
};
