/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/commands/execute.h"

#include "core/cli/forecast_show.h"
#include "core/cli/parts.h"
#include "core/cli/recipe_plan.h"
#include "core/commands/limits.h"
#include "core/commands/plan_show.h"
#include "core/commands/progress.h"
#include "core/commands/run_parts.h"
#include "core/plan/command_check.h"
#include "core/plan/plan.h"
#include "core/record/argv_record.h"
#include "core/schedule/limit_options.h"
#include "core/schedule/schedule.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>
#include <unistd.h>

/* With more trials, --yes is required. */
#define TRIALS_WITHOUT_CONFIRMATION 500

/* ---- resources --------------------------------------------------------------------------------
 */

static bool parse_gpus(struct orch_cli *cli, const char *text, GArray *out, GError **error)
{
    guint count = orch_workspace_machine(cli->workspace)->gpus->len;
    g_auto(GStrv) words = g_strsplit(text ? text : "", ",", -1);
    for (int i = 0; words[i]; i++) {
        int64_t gpu;
        if (!orch_int_parse(words[i], &gpu) || gpu < 0 || gpu >= count) {
            orch_error_set(error, ORCH_ERROR_USAGE, "'orch doctor' lists the GPUs of this machine",
                           "option '--gpus': '%s' is not one of this machine's %u GPUs", words[i],
                           count);
            return false;
        }
        unsigned index = (unsigned)gpu;
        g_array_append_val(out, index);
    }
    return true;
}

/* Checks --executor, and that the other options go with it. */
static bool check_executor(const struct orch_cli *cli, const char *name, GError **error)
{
    const struct orch_executor *executor = name ? orch_executor_find(name) : NULL;
    g_autofree const char **names = orch_executor_names();
    if (name && !g_strv_contains(names, name)) {
        g_autofree char *words = g_strjoinv(" or ", (char **)(void *)names);
        g_autofree char *hint = g_strdup_printf("use %s", words);
        orch_error_set(error, ORCH_ERROR_USAGE, hint,
                       "option '--executor': there is no executor '%s'", name);
        return false;
    }
    for (size_t i = 0; executor && executor->refused[i].name; i++) {
        const struct orch_refused_option *refused = &executor->refused[i];
        if (!orch_cli_is_given(cli, refused->name))
            continue;
        orch_error_set(error, ORCH_ERROR_USAGE, refused->hint,
                       "option '--%s' does not go with '--executor %s'", refused->name, name);
        return false;
    }
    return true;
}

static struct orch_plan *make_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                                   const struct orch_execute_options *options, unsigned gpu_count,
                                   GError **error)
{
    const struct orch_plan_options plan_options = {
        .slots = (unsigned)options->jobs,
        .force = options->force,
        .no_watch = options->no_watch,
        .keep_trials = options->keep_trials,
        .executor = options->executor ? orch_executor_find(options->executor) : NULL,
    };
    return orch_cli_plan(cli, expansion, plan_options, gpu_count, error);
}

/* ---- plan -------------------------------------------------------------------------------------
 */

/* Shows a plan with its forecasts, or lets the part show it that stands alone. */
static bool show_plan(struct orch_cli *cli, struct orch_plan *plan,
                      const struct orch_execute_options *options,
                      const struct orch_run_parts *parts, const struct orch_rate *price,
                      unsigned left, GError **error)
{
    struct orch_forecaster forecaster = orch_forecaster_open(plan);
    const struct orch_subject subject = {.plan = plan, .forecaster = &forecaster};
    const struct orch_run_outlook outlook = {.plan = plan,
                                             .forecaster = &forecaster,
                                             .price = price,
                                             .is_price_given = options->price != NULL};
    bool ok;
    if (orch_cli_has_part_alone(cli)) {
        ok = orch_cli_parts_show(cli, &subject, NULL, error);
    } else {
        orch_cli_plan_show(cli, plan, options->all, &forecaster, price, left);
        ok = orch_run_parts_limit(parts, &outlook, error);
    }
    orch_forecaster_close(&forecaster);
    return ok;
}

int orch_execute_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                      const struct orch_execute_options *options, GError **error)
{
    if (!check_executor(cli, options->executor, error))
        return -1;
    if (orch_workspace_has_store(cli->workspace) && !expansion->smoke &&
        !orch_workspace_store(cli->workspace, ORCH_STORE_READ, error))
        return -1;
    struct orch_plan *plan = make_plan(cli, expansion, options, 0, error);
    struct orch_rate price = {0};
    struct orch_limits limits;
    struct orch_run_parts *parts = NULL;
    unsigned left = 0;
    bool ok = plan && orch_command_check_plan(plan, error) &&
              orch_cli_plan_price_find(plan, options->price, &price, error) &&
              orch_limits_read(options->budget, options->deadline, price.usd_per_hour,
                               orch_now_ns(), &limits, error) &&
              (parts = orch_run_parts_begin(cli, expansion, true, error));
    if (ok) {
        orch_run_parts_mark(parts, plan);
        for (unsigned i = 0; i < plan->count; i++)
            left += orch_plan_will_run(&plan->items[i]);
        ok = show_plan(cli, plan, options, parts, &price, left, error);
    }
    orch_run_parts_free(parts);
    orch_rate_release(&price);
    orch_plan_free(plan);
    if (!ok)
        return -1;
    return options->exit_code && left ? ORCH_EXIT_CHECK : ORCH_EXIT_OK;
}

/* ---- run --------------------------------------------------------------------------------------
 */

/* What the options say about inputs that change during the run. Smoke runs only try whether
 * programs work, so their output does not belong into the user's folder. */
static enum orch_on_change on_change(const struct orch_execute_options *options,
                                     const struct orch_expansion *expansion)
{
    if (options->frozen || expansion->smoke)
        return ORCH_ON_CHANGE_FROZEN;
    return options->live ? ORCH_ON_CHANGE_LIVE : ORCH_ON_CHANGE_APART;
}

static bool may_be_frozen(const struct orch_execute_options *options,
                          const struct orch_source *source, GError **error)
{
    if (options->live && options->frozen)
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "--live goes on with changed files, --frozen with the captured ones",
                       "options '--live' and '--frozen' exclude each other");
    else if (options->frozen && !source->tree)
        orch_error_set(error, ORCH_ERROR_USAGE, "'git init' makes one",
                       "option '--frozen' needs a git repository, in which files are captured");
    else
        return true;
    return false;
}

static bool may_start(struct orch_cli *cli, const struct orch_expansion *expansion,
                      const struct orch_execute_options *options, const struct orch_plan *plan,
                      GError **error)
{
    if (!orch_command_check_plan(plan, error))
        return false;
    const struct orch_source *source = orch_workspace_source(cli->workspace, error);
    if (!source || !may_be_frozen(options, source, error))
        return false;
    if ((options->require_clean || expansion->require_clean) && (!source->tree || source->dirty)) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "commit your changes first ('git status' shows them)",
                       "'%s' %s, but a clean tree is required", cli->workspace->root,
                       source->tree ? "has uncommitted changes" : "is not in a git repository");
        return false;
    }
    unsigned left = orch_plan_count(plan, ORCH_PLAN_MISSING) +
                    orch_plan_count(plan, ORCH_PLAN_STALE) +
                    orch_plan_count(plan, ORCH_PLAN_WAITING);
    if (left > TRIALS_WITHOUT_CONFIRMATION && !options->yes) {
        orch_error_set(error, ORCH_ERROR_USAGE, "look at 'orch plan', then add --yes",
                       "%u trials would run; more than %d need --yes", left,
                       TRIALS_WITHOUT_CONFIRMATION);
        return false;
    }
    return true;
}

static int status_of(const struct orch_totals *totals, const struct orch_execute_options *options)
{
    unsigned faults = totals->not_run;
    for (int i = 0; i <= ORCH_VERDICT_UNKNOWN; i++)
        if (orch_verdict_facts((enum orch_verdict)i)->fault)
            faults += totals->ended[i];
    if (totals->terminated)
        return ORCH_EXIT_TERMINATED;
    if (totals->interrupted)
        return ORCH_EXIT_INTERRUPTED;
    if (totals->limit != ORCH_LIMIT_NONE)
        return ORCH_EXIT_BUDGET;
    bool skipped = totals->skipped || totals->held || totals->ended[ORCH_VERDICT_SKIPPED];
    return faults || (skipped && g_strcmp0(options->require, "ok") == 0) ? ORCH_EXIT_TRIAL
                                                                         : ORCH_EXIT_OK;
}

/* Explains why nothing runs, one line for each experiment. */
static void print_why_nothing_runs(struct orch_cli *cli, const struct orch_plan *plan)
{
    for (guint i = 0; i < plan->expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = plan->expansion->experiments->pdata[i];
        unsigned done = 0, skipped = 0;
        const char *reason = NULL, *skip = NULL;
        for (unsigned j = 0; j < plan->count; j++) {
            const struct orch_plan_item *item = &plan->items[j];
            if (item->cell->experiment != experiment)
                continue;
            if (item->state == ORCH_PLAN_DONE) {
                done++;
                reason = item->reason;
            } else if (item->state == ORCH_PLAN_SKIPPED) {
                skipped++;
                skip = item->reason;
            }
        }
        if (done)
            orch_cli_info(cli, "  %s: %u done; the last: %s", experiment->name, done, reason);
        if (skipped)
            orch_cli_info(cli, "  %s: %u skipped: %s", experiment->name, skipped, skip);
    }
}

/* The inputs of a run besides its plan. */
struct task {
    const struct orch_execute_options *options;
    const GArray *gpus;
    struct orch_forecaster forecaster;
    struct orch_rate price;   /* of a device of the plan */
    struct orch_rate machine; /* of this machine without its GPUs */
    struct orch_limits limits;
    const struct orch_run_parts *parts;
};

static bool is_limited(const struct task *task)
{
    return task->limits.budget_usd > 0 || task->limits.deadline_ns || task->limits.has_allowance;
}

static json_t *limits_json(const struct task *task, const struct orch_totals *totals)
{
    bool priced = task->limits.usd_per_hour > 0;
    return json_pack("{s:s? s:i s:i s:o s:o}", "stopped_by", orch_limit_name(totals->limit),
                     "held_back", (int)totals->held_back, "cancelled", (int)totals->cut_off,
                     "device_s", orch_json_finite(totals->device_s), "spent_usd",
                     priced ? orch_json_finite(orch_limits_usd(&task->limits, totals->device_s))
                            : json_null());
}

static void print_totals_json(const struct orch_plan *plan, const struct task *task,
                              const struct orch_totals *totals, json_t *grades,
                              const json_t *notices, double seconds)
{
    json_t *ended = json_object();
    for (int i = 0; i <= ORCH_VERDICT_UNKNOWN; i++)
        if (totals->ended[i])
            json_object_set_new(ended, orch_verdict_name((enum orch_verdict)i),
                                json_integer(totals->ended[i]));
    json_t *object = json_pack(
        "{s:s s:s? s:i s:i s:o s:i s:i s:i s:i s:b s:o s:o s:o s:o}", "recipe",
        plan->expansion->name, "profile", plan->expansion->profile, "planned", (int)totals->planned,
        "done_before", (int)totals->reused, "ended", ended, "retried", (int)totals->retried,
        "skipped", (int)totals->skipped, "not_run", (int)totals->not_run, "held", (int)totals->held,
        "interrupted", totals->interrupted || totals->terminated, "seconds",
        orch_json_finite(seconds), "forecasts", grades, "limits", limits_json(task, totals),
        "trials", orch_cli_plan_json(plan, &task->forecaster, &task->price));
    json_object_update(object, (json_t *)(uintptr_t)notices);
    orch_cli_print_json(object);
}

/* Explains why trials with earlier runs run again: the first reasons, each with its number of
 * trials. */
static void print_what_changed(struct orch_cli *cli, const struct orch_plan *plan)
{
    enum { REASONS_SHOWN = 3 };
    g_autoptr(GHashTable) counts = g_hash_table_new(g_str_hash, g_str_equal);
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].state == ORCH_PLAN_STALE) {
            guint count = GPOINTER_TO_UINT(g_hash_table_lookup(counts, plan->items[i].reason));
            g_hash_table_insert(counts, plan->items[i].reason, GUINT_TO_POINTER(count + 1));
        }
    unsigned shown = 0, reasons = g_hash_table_size(counts);
    for (unsigned i = 0; i < plan->count && shown < REASONS_SHOWN; i++) {
        const struct orch_plan_item *item = &plan->items[plan->order[i]];
        guint count = item->state == ORCH_PLAN_STALE
                          ? GPOINTER_TO_UINT(g_hash_table_lookup(counts, item->reason))
                          : 0;
        if (!count)
            continue;
        orch_cli_info(cli, "  stale: %s (%u trial%s)", item->reason, count, orch_plural(count));
        g_hash_table_insert(counts, item->reason, NULL);
        shown++;
    }
    if (reasons > shown)
        orch_cli_info(cli, "  stale for %u more reasons: 'orch plan' lists them", reasons - shown);
}

/* Prints counts, changes, forecast and limits before the run begins. */
static void print_outlook(struct orch_cli *cli, const struct orch_plan *plan,
                          const struct task *task)
{
    struct orch_forecast_total total;
    orch_forecast_total(plan, &task->forecaster, &total);
    orch_cli_plan_print_counts(cli, plan);
    print_what_changed(cli, plan);
    orch_cli_forecast_print_total(cli, plan, &total, &task->price);
    g_autofree char *limits = orch_cli_limits_text(&task->limits, &task->price);
    if (limits)
        orch_cli_info(cli, "%s", limits);
}

static void print_end(struct orch_cli *cli, const struct orch_plan *plan, const struct task *task,
                      const struct orch_totals *totals)
{
    g_autofree char *go_on =
        orch_cli_how_to_go_on(cli, plan, &task->options->variant, task->options->force);
    if (totals->interrupted || totals->terminated)
        orch_cli_info(cli, "stopped; what ended is kept. %s", go_on);
    if (totals->held && !orch_run_parts_print_held(task->parts, plan))
        orch_cli_info(cli,
                      "%u trial%s not run: submitted elsewhere, or waiting for trials that are. "
                      "Run the same command again once these have ended",
                      totals->held, totals->held == 1 ? " was" : "s were");
    orch_cli_limits_print_end(cli, plan, &task->limits, totals, &task->forecaster, go_on);
}

/* Trials of processors report costs by it; without it they run all the same. */
static void find_machine_price(struct orch_cli *cli, const struct orch_plan *plan,
                               struct orch_rate *out)
{
    g_autoptr(GError) problem = NULL;
    if (!orch_machine_rate(plan->workspace, out, &problem))
        orch_cli_warn(cli, "the price of this machine is not known: %s", problem->message);
}

static struct orch_device_price device_price(const struct orch_rate *rate)
{
    return (struct orch_device_price){rate->usd_per_hour, rate->from};
}

static int run_plan(struct orch_cli *cli, struct orch_plan *plan, const struct task *task,
                    GError **error)
{
    int64_t begin = orch_mono_ns();
    const struct orch_execute_options *options = task->options;
    unsigned left =
        orch_plan_count(plan, ORCH_PLAN_MISSING) + orch_plan_count(plan, ORCH_PLAN_STALE) +
        orch_plan_count(plan, ORCH_PLAN_WAITING) + orch_plan_count(plan, ORCH_PLAN_HELD);
    g_autofree char *argv = orch_argv_record(cli->argv, cli->argc, plan->expansion);
    struct orch_run_options run_options = {
        .slots = plan->options.slots,
        .on_change = on_change(options, plan->expansion),
        .gpus = task->gpus->len ? (const unsigned *)(void *)task->gpus->data : NULL,
        .gpu_count = task->gpus->len,
        .fail_fast = options->fail_fast,
        .stops_failing = !options->keep_going,
        .is_unpinned = options->no_pin,
        .oversubscribes = options->oversubscribe,
        .live = cli->stderr_is_tty && !options->no_progress && !cli->quiet,
        .argv_json = argv,
        .forecaster = plan->expansion->smoke ? NULL : &task->forecaster,
        .limits = is_limited(task) ? &task->limits : NULL,
        .gpu_price = device_price(&task->price),
        .machine_price = device_price(options->price ? &task->price : &task->machine),
    };
    if (left)
        print_outlook(cli, plan, task);
    struct orch_progress *progress = orch_progress_new(cli, plan->expansion, run_options.live);
    struct orch_listener listener = orch_progress_listener(progress);
    struct orch_totals totals = {0};
    struct orch_sharing sharing;
    if (orch_run_parts_share(task->parts, plan, &listener, &sharing))
        run_options.sharing = &sharing;
    bool ok = orch_run_plan(plan, &run_options, &listener, &totals, error);
    double seconds = (double)(orch_mono_ns() - begin) / 1e9;
    if (!left && ok) {
        orch_cli_info(cli, "nothing to run: %u of %u trials are done", totals.reused,
                      totals.planned);
        print_why_nothing_runs(cli, plan);
        orch_cli_plan_print_left_out(cli, plan->expansion);
    }
    g_autoptr(json_t) grades = orch_progress_grades_json(progress);
    g_autoptr(json_t) notices = json_object();
    orch_cli_run_notices_to_json(orch_progress_notices(progress), notices);
    orch_progress_end(progress, &totals, seconds);
    if (!orch_run_parts_ended(task->parts, plan, ok ? &totals : NULL, ok ? error : NULL) || !ok)
        return -1;
    print_end(cli, plan, task, &totals);
    if (cli->json)
        print_totals_json(plan, task, &totals, json_incref(grades), notices, seconds);
    else if (plan->expansion->smoke)
        orch_cli_info(cli, "a smoke run: two steps on synthetic data; nothing was recorded");
    else
        orch_cli_report_requested(cli, plan, &options->variant);
    return status_of(&totals, options);
}

static int submit_plan(struct orch_cli *cli, struct orch_plan *plan, const struct task *task,
                       GError **error)
{
    const struct orch_submit_request request = {
        .at_once = (unsigned)task->options->jobs,
        .requires_all = g_strcmp0(task->options->require, "ok") == 0,
        .forecaster = &task->forecaster,
        .limits = is_limited(task) ? &task->limits : NULL,
    };
    print_outlook(cli, plan, task);
    return plan->options.executor->submit(cli, plan, &request, error);
}

/* Runs a checked plan with its forecasts and limits. */
static int run_with_limits(struct orch_cli *cli, struct orch_plan *plan,
                           const struct orch_execute_options *options, const GArray *gpus,
                           const struct orch_run_parts *parts, GError **error)
{
    struct task task = {.options = options, .gpus = gpus, .parts = parts};
    int status = -1;
    if (orch_cli_plan_price_find(plan, options->price, &task.price, error) &&
        orch_limits_read(options->budget, options->deadline, task.price.usd_per_hour, orch_now_ns(),
                         &task.limits, error)) {
        find_machine_price(cli, plan, &task.machine);
        task.forecaster = orch_forecaster_open(plan);
        const struct orch_run_outlook outlook = {.plan = plan,
                                                 .forecaster = &task.forecaster,
                                                 .price = &task.price,
                                                 .is_price_given = options->price != NULL,
                                                 .limits = &task.limits};
        if (orch_run_parts_limit(parts, &outlook, error))
            status = plan->options.executor ? submit_plan(cli, plan, &task, error)
                                            : run_plan(cli, plan, &task, error);
    }
    orch_forecaster_close(&task.forecaster);
    orch_rate_release(&task.price);
    orch_rate_release(&task.machine);
    return status;
}

/* Plans and runs in the open store. */
static int execute_in(struct orch_cli *cli, const struct orch_expansion *expansion,
                      const struct orch_execute_options *options, const GArray *gpus,
                      const struct orch_run_parts *parts, GError **error)
{
    struct orch_plan *plan = make_plan(cli, expansion, options, gpus->len, error);
    if (!plan)
        return -1;
    orch_run_parts_mark(parts, plan);
    int status = -1;
    if (may_start(cli, expansion, options, plan, error)) {
        orch_cli_warn_of_source(cli);
        if (orch_plan_store_recipe(plan, error))
            status = run_with_limits(cli, plan, options, gpus, parts, error);
    }
    orch_plan_free(plan);
    return status;
}

int orch_execute(struct orch_cli *cli, const struct orch_expansion *expansion,
                 const struct orch_execute_options *options, GError **error)
{
    if (options->fail_fast && options->keep_going) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "options '--fail-fast' and '--keep-going' exclude each other");
        return -1;
    }
    if (options->jobs < 0 || options->jobs > 1024) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "option '--jobs': %d is not between 1 and 1024", options->jobs);
        return -1;
    }
    if (!check_executor(cli, options->executor, error))
        return -1;
    if (!expansion->smoke)
        orch_cli_take_in(cli);
    struct orch_store *store = expansion->smoke
                                   ? orch_workspace_scratch(cli->workspace, error)
                                   : orch_workspace_store(cli->workspace, ORCH_STORE_CREATE, error);
    unsigned closed = 0, pending = 0;
    if (!store || !orch_recover(store, &closed, &pending, error))
        return -1;
    if (closed)
        orch_cli_info(cli, "closed %u trial%s of a run that was killed", closed,
                      orch_plural(closed));
    g_autoptr(GArray) gpus = g_array_new(FALSE, FALSE, sizeof(unsigned));
    if (options->gpus && !parse_gpus(cli, options->gpus, gpus, error))
        return -1;
    struct orch_run_parts *parts = orch_run_parts_begin(cli, expansion, false, error);
    int status = parts ? execute_in(cli, expansion, options, gpus, parts, error) : -1;
    orch_run_parts_free(parts);
    return status;
}
