/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "core/stats/task.h"
#include "features/compare/compare_run.h"
#include "features/compare/compare_show.h"
#include "features/compare/contrast_limit.h"
#include "features/compare/until_sure_show.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Default and maximum number of runs of each setting and side with --run. */
#define REPEATS 5
#define REPEATS_MAX 1000

struct compare_options {
    const char **metrics, **fail_on;
    const char *aggregate, *where, *least, *repeat, *max_runs, *budget, *price, *format;
    struct orch_compare_run run;
    bool across, disturbed, until_sure;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct compare_options, metrics, LIST, "metric", .letter = 'm', .value = "NAME",
                .help = "compare only this metric or result (default: all that both sides have)"),
    ORCH_OPTION(struct compare_options, where, TEXT, "where", .letter = 'w', .value = "FILTER",
                .help = "only runs that match, on both sides"),
    ORCH_OPTION(struct compare_options, aggregate, TEXT, "value", .value = "WHICH",
                .help = "value that counts in a run: last (default), best, min, max, mean, first"),
    ORCH_OPTION(struct compare_options, least, TEXT, "least", .value = "PERCENT",
                .help = "the smallest difference that matters (default 5%)"),
    ORCH_OPTION(struct compare_options, across, FLAG, "across",
                .help = "compare all tasks together, and times of different machines"),
    ORCH_OPTION(struct compare_options, disturbed, FLAG, "disturbed",
                .help = "include times of disturbed runs (other programs used the CPUs)"),
    ORCH_OPTION(struct compare_options, fail_on, LIST, "fail-on", .value = "LIMIT",
                .help = "exit with 7 if a change is over LIMIT: 'loss > 3%' (repeatable)"),
    ORCH_OPTION(struct compare_options, format, TEXT, "format", .value = "NAME",
                .help = "junit, github, csv, markdown, ..."),
    ORCH_OPTION(struct compare_options, run.recipe, TEXT, "run", .value = "RECIPE",
                .help = "run RECIPE now for A and B; each is a commit, a setting or . (work tree)"),
    ORCH_OPTION(struct compare_options, repeat, TEXT, "repeat", .value = "N",
                .help = "with --run: number of runs of each setting and side (default 5)"),
    ORCH_OPTION(struct compare_options, until_sure, FLAG, "until-sure",
                .help = "with --run and -m: run both sides until the verdict is sure"),
    ORCH_OPTION(struct compare_options, max_runs, TEXT, "max-runs", .value = "N",
                .help = "with --until-sure: run each side at most N times (default 60)"),
    ORCH_OPTION(struct compare_options, budget, TEXT, "budget", .value = "USD",
                .help = "with --until-sure: limit the cost of the new runs (5usd)"),
    ORCH_OPTION(struct compare_options, price, TEXT, "price", .value = "USD",
                .help = "with --until-sure: price of an hour of one device"),
    ORCH_OPTION(struct compare_options, run.profile, TEXT, "profile", .letter = 'p',
                .value = "NAME", .help = "with --run: the recipe's profile"),
    ORCH_OPTION(struct compare_options, run.settings, LIST, "set", .letter = 's',
                .value = "[EXP.]PARAM=VALUE", .help = "with --run: set a parameter"),
    ORCH_OPTION(struct compare_options, run.sweeps, LIST, "sweep", .letter = 'x',
                .value = "[EXP.]PARAM=A,B,...", .help = "with --run: sweep a parameter"),
    {0}};

/* The request and its results. */
struct request {
    struct orch_cli *cli;
    const struct compare_options *options;
    struct orch_comparison_request how;
    GPtrArray *limits; /* struct orch_contrast_limit * */
    struct orch_comparison out;
};

/* ---- options --------------------------------------------------------------------------------- */

static bool parse_least(const char *text, double *out, GError **error)
{
    g_autofree char *number = g_strdup(text ? text : "5");
    char *percent = strchr(number, '%');
    if (percent && !percent[1])
        *percent = 0;
    if (orch_real_parse(g_strstrip(number), out) && *out > 0 && *out <= 1000) {
        *out /= 100;
        return true;
    }
    orch_error_set(error, ORCH_ERROR_USAGE, "for example --least 5%",
                   "option '--least': '%s' is not a percentage above 0", text);
    return false;
}

/* Checks which options go with --until-sure, and which do not without it. */
static bool check_until_sure(const struct compare_options *o, GError **error)
{
    const char *alone = o->max_runs ? "--max-runs"
                        : o->budget ? "--budget"
                        : o->price  ? "--price"
                                    : NULL;
    const char *other = o->repeat      ? "--repeat"
                        : o->fail_on   ? "--fail-on"
                        : o->across    ? "--across"
                        : o->disturbed ? "--disturbed"
                                       : NULL;
    if (!o->until_sure && alone)
        orch_error_set(
            error, ORCH_ERROR_USAGE,
            "for example orch compare lr=0.1 lr=0.01 --run RECIPE -m METRIC --until-sure",
            "option '%s' needs '--until-sure'", alone);
    else if (o->until_sure && other)
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out one of the two",
                       "option '--until-sure' excludes '%s'", other);
    else if (o->until_sure && !o->run.recipe)
        orch_error_set(
            error, ORCH_ERROR_USAGE,
            "for example orch compare lr=0.1 lr=0.01 --run RECIPE -m METRIC --until-sure",
            "option '--until-sure' needs '--run'");
    else if (o->until_sure && !(o->metrics && o->metrics[0] && !o->metrics[1]))
        orch_error_set(error, ORCH_ERROR_USAGE, "add -m METRIC",
                       "option '--until-sure' needs exactly one metric");
    else
        return true;
    return false;
}

static bool parse_options(struct request *c, GError **error)
{
    const struct compare_options *o = c->options;
    if (o->aggregate && !orch_aggregate_parse(o->aggregate, &c->how.aggregate)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use last, best, min, max, mean or first",
                       "option '--value': unknown value '%s'", o->aggregate);
        return false;
    }
    for (int i = 0; o->fail_on && o->fail_on[i]; i++) {
        struct orch_contrast_limit *limit = orch_contrast_limit_parse(o->fail_on[i], error);
        if (!limit)
            return false;
        g_ptr_array_add(c->limits, limit);
    }
    const char *needs_run = o->repeat         ? "--repeat"
                            : o->run.profile  ? "--profile"
                            : o->run.settings ? "--set"
                            : o->run.sweeps   ? "--sweep"
                                              : NULL;
    if (needs_run && !o->run.recipe) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example orch compare A B --run RECIPE",
                       "option '%s' needs '--run'", needs_run);
        return false;
    }
    return check_until_sure(o, error) && parse_least(o->least, &c->how.least, error);
}

/* ---- sides ----------------------------------------------------------------------------------- */

/* Reads the two names, and returns how many arguments they used. */
static bool read_names(struct orch_cli *cli, bool runs, char *names[2], int *out_used,
                       GError **error)
{
    bool is_range = orch_compare_range_split(cli->args[0], &names[0], &names[1]);
    *out_used = is_range ? 1 : 2;
    if (cli->arg_count < *out_used) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "for example orch compare A B, or orch compare main..feature",
                       "a comparison needs two sides, found only '%s'", cli->args[0]);
        return false;
    }
    if (!runs && cli->arg_count > *out_used) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "to list experiments after A and B, add --run RECIPE",
                       "too many arguments: '%s'", cli->args[*out_used]);
        return false;
    }
    for (int i = 0; !is_range && i < 2; i++)
        names[i] = g_strdup(cli->args[i]);
    return true;
}

/* Reads what is run: `text` of option `name` is the number of repeats. */
static bool read_run(const struct request *c, int used, const char *text, const char *name,
                     int64_t repeat, struct orch_compare_run *out, GError **error)
{
    *out = c->options->run;
    if (!orch_cli_count(text, name, REPEATS_MAX, &repeat, error))
        return false;
    if (c->options->where) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "list the experiments after A and B: orch compare A B finetune --run RECIPE",
                       "option '--run' excludes '--where'");
        return false;
    }
    out->repeat = (int)repeat;
    out->targets = c->cli->arg_count > used ? c->cli->args + used : NULL;
    return true;
}

static bool run_sides(struct request *c, char *const names[2], int used, GError **error)
{
    struct orch_compare_run request;
    if (!read_run(c, used, c->options->repeat, "--repeat", REPEATS, &request, error))
        return false;
    const struct orch_compare_listener listener = orch_cli_compare_listener(c->cli);
    struct orch_workspace *workspace = orch_cli_workspace(c->cli, NULL, error);
    return workspace &&
           orch_compare_run_both(workspace, c->cli->plugin_paths, &request,
                                 (const char *const *)names, &listener, c->out.sides, error);
}

static void warn_if_same(const struct request *c)
{
    if (orch_comparison_is_of_same(&c->out))
        orch_cli_warn(c->cli, "A and B are the same runs\n  hint: 'orch compare A B --run RECIPE' "
                              "makes new runs of both sides");
}

static bool find_sides(struct request *c, GError **error)
{
    g_autofree char *a = NULL, *b = NULL;
    char *names[2] = {NULL, NULL};
    int used;
    bool ok = read_names(c->cli, c->options->run.recipe, names, &used, error);
    a = names[0];
    b = names[1];
    if (!ok)
        return false;
    if (c->options->run.recipe)
        return run_sides(c, names, used, error);
    struct orch_store *store = orch_cli_store(c->cli, ORCH_STORE_READ, error);
    const char *where = c->options->where;
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    bool found = store != NULL;
    for (int i = 0; found && i < 2; i++)
        found = (used == 1 ? orch_compare_side_of_commit : orch_compare_side_find)(
            c->cli->workspace, store, names[i], where, &c->out.sides[i], notes, error);
    for (guint i = 0; i < notes->len; i++)
        orch_cli_warn(c->cli, "%s", (const char *)notes->pdata[i]);
    if (found)
        warn_if_same(c);
    return found;
}

/* ---- until it is sure ------------------------------------------------------------------------ */

static void on_repeat(void *ctx, const struct orch_sure *so_far)
{
    const struct request *c = ctx;
    g_autofree char *text = orch_sure_text(so_far, c->how.least);
    orch_cli_info(c->cli, "%s", text);
}

static int run_until_sure(struct request *c, GError **error)
{
    const struct compare_options *o = c->options;
    g_autofree char *a = NULL, *b = NULL;
    char *names[2] = {NULL, NULL};
    int used;
    struct orch_sure_request request = {.metric = o->metrics[0],
                                        .aggregate = c->how.aggregate,
                                        .least = c->how.least,
                                        .budget = o->budget,
                                        .price = o->price};
    const struct orch_compare_listener listener = orch_cli_compare_listener(c->cli);
    bool ok = read_names(c->cli, true, names, &used, error);
    a = names[0];
    b = names[1];
    if (!ok || !read_run(c, used, o->max_runs, "--max-runs", ORCH_SURE_RUNS, &request.run, error))
        return -1;
    struct orch_workspace *workspace = orch_cli_workspace(c->cli, NULL, error);
    struct orch_sure sure = {0};
    ok = workspace &&
         orch_compare_until_sure(workspace, c->cli->plugin_paths, &request,
                                 (const char *const *)names, &listener, on_repeat, c, &sure, error);
    if (ok)
        orch_cli_sure_show(c->cli, &sure, &request, (const char *const *)names);
    orch_sure_clear(&sure);
    return ok ? orch_cli_sure_status(sure.stop) : -1;
}

static int compare(struct request *c, GError **error)
{
    if (!parse_options(c, error))
        return -1;
    const enum orch_compare_ci ci = orch_compare_ci_find(c->options->format);
    if (!ci && !orch_cli_format_check(c->options->format, error))
        return -1;
    if (ci && (c->options->until_sure || c->cli->json)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out one of the two",
                       "option '--format %s' excludes '%s'", c->options->format,
                       c->cli->json ? "--json" : "--until-sure");
        return -1;
    }
    c->cli->format = ci ? NULL : c->options->format;
    if (c->options->until_sure)
        return run_until_sure(c, error);
    if (!find_sides(c, error) ||
        !orch_comparison_make(c->cli->workspace->store, &c->how, &c->out, error))
        return -1;
    for (guint i = 0; i < c->out.unsure->len; i++)
        orch_cli_warn(c->cli, "%s", (const char *)c->out.unsure->pdata[i]);
    if (ci && !orch_cli_compare_ci_show(c->cli, ci, &c->out, error))
        return -1;
    if (!ci)
        orch_cli_compare_show(c->cli, &c->out);
    if (!c->out.broken->len)
        return ORCH_EXIT_OK;
    g_ptr_array_add(c->out.broken, NULL);
    g_autofree char *all = g_strjoinv("; ", (char **)c->out.broken->pdata);
    orch_error_set(error, ORCH_ERROR_CHECK, NULL, "%s", all);
    return -1;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct compare_options *o = options;
    g_autoptr(GPtrArray) limits =
        g_ptr_array_new_with_free_func((GDestroyNotify)orch_contrast_limit_free);
    struct request c = {.cli = cli,
                        .options = o,
                        .limits = limits,
                        .how = {.metrics = (const char *const *)o->metrics,
                                .limits = limits,
                                .across = o->across,
                                .counts_disturbed = o->disturbed}};
    orch_comparison_init(&c.out);
    int status = compare(&c, error);
    orch_comparison_clear(&c.out);
    return status;
}

static const struct orch_option_group GROUPS[] = {
    {"what is compared", "metric where value -least -across disturbed fail-on format"},
    {"running both sides", "run repeat until-sure -max-runs budget -price profile set sweep"},
    {0}};

const struct orch_command ORCH_COMMAND_COMPARE = {
    .name = "compare",
    .group = "Decide",
    .is_listed = true,
    .summary = "compare two runs, experiments or commits, and test the difference",
    .usage = "A B | A..B [EXPERIMENT...]",
    .min_args = 1,
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct compare_options),
    .groups = GROUPS,
    .about =
        "A and B are runs, experiments (hw4/finetune), filters ('orch help filters'), commits, or "
        ". for the work tree; A..B are two commits. Runs of the same trial on both sides form "
        "pairs; without common trials, runs with equal seeds form pairs. The output has for each "
        "metric both means, the ratio B / A with its 95 % interval, the p value of a test, and a "
        "verdict. p values and intervals are corrected for the number of metrics.\n\nIf a side "
        "mixes tasks (" ORCH_TASK_WORDS
        "), each task is compared separately. Timings are compared only between equal machines.\n"
        "\nWith --fail-on 'METRIC > N%' the exit status is 7 if METRIC is over N % higher in B "
        "than in A, and the difference is more than noise. '< -N%' limits a decrease. Without %, N "
        "is in the metric's unit.\n"
        "\n"
        "--run RECIPE runs both sides now, in the order A B B A. A side is then a commit, or a "
        "setting (lr=0.1) that the work tree runs. --until-sure runs pairs until the verdict is "
        "sure. The verdict is wrong in at most 5 % of comparisons. See 'orch help comparisons'.",
    .examples = "  orch compare 3f2a91c0 @last\n"
                "  orch compare 'mode=full and lr=0.01' 'mode=feature and lr=0.1' -m val_accuracy\n"
                "  orch compare main..feature --fail-on 'epoch_time_s > 3%'\n"
                "  orch compare main . --run recipes/bench.recipe --repeat 10\n"
                "  orch compare lr=0.1 lr=0.01 --run tune.recipe -m val_accuracy --until-sure",
    .run = run,
};
