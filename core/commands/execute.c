/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/commands/execute.h"

#include "core/cli/forecast_show.h"
#include "core/cli/notify.h"
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
#include "lib/wire/alert.h"
#include "store/read/listing.h"

#include <string.h>
#include <unistd.h>

static struct orch_plan *make_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                                   const struct orch_execute_options *options, unsigned gpu_count,
                                   GError **error)
{
    const struct orch_plan_options plan_options = {
        .slots = (unsigned)options->jobs,
        .force = options->force,
        .disturbed = options->disturbed,
        .continues_pruned = options->continue_pruned,
        .no_watch = options->no_watch,
        .keep_trials = options->keep_trials,
        .executor = options->executor ? orch_executor_find(options->executor) : NULL,
        .reads_only = orch_cli_has_part_that_reads(cli),
    };
    return orch_cli_plan(cli, expansion, plan_options, gpu_count, error);
}

json_t *orch_execute_alerts(const struct orch_execute_options *options, GError **error)
{
    const char **const lists[] = {options->alerts, options->alert_stops};
    json_t *alerts = NULL;
    for (int stops = 0; stops < 2; stops++) {
        for (int i = 0; lists[stops] && lists[stops][i]; i++) {
            struct orch_alert *alert = orch_alert_parse(lists[stops][i], error);
            if (!alert) {
                json_decref(alerts);
                return NULL;
            }
            orch_alert_free(alert);
            alerts = alerts ? alerts : json_array();
            json_array_append_new(alerts,
                                  json_pack("{s:s s:b}", "when", lists[stops][i], "stop", stops));
        }
    }
    return alerts;
}

static void print_promise(struct orch_cli *cli, const struct orch_promise *promise,
                          const struct orch_limits *limits)
{
    g_autofree char *text = orch_cli_promise_text(promise, limits);
    orch_cli_info(cli, "%s", text);
}

/* ---- plan -------------------------------------------------------------------------------------
 */

/* Shows a plan with its forecasts, or lets the part show it that stands alone. */
static bool show_plan(struct orch_cli *cli, struct orch_plan *plan,
                      const struct orch_execute_options *options,
                      const struct orch_run_parts *parts, const struct orch_rate *price,
                      const struct orch_limits *limits, unsigned left, GError **error)
{
    struct orch_forecaster forecaster = orch_forecaster_open(plan);
    const struct orch_subject subject = {.plan = plan,
                                         .forecaster = &forecaster,
                                         .usd_per_hour = options->price ? price->usd_per_hour : 0};
    const struct orch_run_outlook outlook = {.plan = plan,
                                             .forecaster = &forecaster,
                                             .price = price,
                                             .is_price_given = options->price != NULL};
    bool ok;
    if (orch_cli_has_part_alone(cli)) {
        ok = orch_cli_part_alone_show(cli, &subject, error);
    } else {
        orch_cli_plan_show(cli, plan, options->all, &forecaster, price, left);
        struct orch_promise promise = {0};
        if (left && orch_limits_are_set(limits) && !plan->options.executor)
            orch_promise_make(plan, &forecaster, limits, orch_now_ns(), &promise);
        if (promise.of)
            print_promise(cli, &promise, limits);
        ok = orch_run_parts_limit(parts, &outlook, error);
    }
    orch_forecaster_close(&forecaster);
    return ok;
}

int orch_execute_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                      const struct orch_execute_options *options, GError **error)
{
    if (!orch_execute_executor_fits(cli, options->executor, error))
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
        orch_cli_plan_leave_out(plan);
        for (unsigned i = 0; i < plan->count; i++)
            left += orch_plan_will_run(&plan->items[i]);
        ok = show_plan(cli, plan, options, parts, &price, &limits, left, error);
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

/* The inputs of a run besides its plan. */
struct task {
    const struct orch_execute_options *options;
    const GArray *gpus;
    struct orch_forecaster forecaster;
    struct orch_rate price;   /* of a device of the plan */
    struct orch_rate machine; /* of this machine without its GPUs */
    struct orch_limits limits;
    struct orch_promise promise; /* of how much ends within them */
    const struct orch_run_parts *parts;
};

static void print_totals_json(const struct orch_plan *plan, const struct task *task,
                              const struct orch_totals *totals, json_t *details, double seconds)
{
    json_t *ended = json_object();
    for (int i = 0; i <= ORCH_VERDICT_UNKNOWN; i++)
        if (totals->ended[i])
            json_object_set_new(ended, orch_verdict_name((enum orch_verdict)i),
                                json_integer(totals->ended[i]));
    json_t *object = json_pack(
        "{s:s s:s? s:i s:i s:i s:o s:i s:i s:i s:i s:i s:i s:b s:o s:o s:o}", "recipe",
        plan->expansion->name, "profile", plan->expansion->profile, "planned", (int)totals->planned,
        "done_before", (int)totals->reused, "pruned_before", (int)totals->pruned_before, "ended",
        ended, "retried", (int)totals->retried, "promoted", (int)totals->promoted, "skipped",
        (int)totals->skipped, "not_needed", (int)totals->unneeded, "not_run", (int)totals->not_run,
        "held", (int)totals->held, "interrupted", totals->interrupted || totals->terminated,
        "seconds", orch_json_finite(seconds), "limits",
        orch_cli_limits_json(&task->limits, totals, &task->promise), "trials",
        orch_cli_plan_json(plan, &task->forecaster, &task->price));
    json_object_update(object, details);
    orch_cli_print_json(object);
}

/* Prints counts, changes, forecast and limits before the run begins. */
static void print_outlook(struct orch_cli *cli, const struct orch_plan *plan,
                          const struct task *task)
{
    struct orch_forecast_total total;
    orch_forecast_total(plan, &task->forecaster, &total);
    orch_cli_plan_print_counts(cli, plan);
    orch_cli_plan_print_changes(cli, plan);
    orch_cli_forecast_print_total(cli, plan, &total, &task->price);
    g_autofree char *limits = orch_cli_limits_text(&task->limits, &task->price);
    if (limits)
        orch_cli_info(cli, "%s", limits);
    if (task->promise.of)
        print_promise(cli, &task->promise, &task->limits);
}

static void print_end(struct orch_cli *cli, const struct orch_plan *plan, const struct task *task,
                      const struct orch_totals *totals)
{
    g_autofree char *go_on =
        orch_cli_how_to_go_on(cli, plan, &task->options->variant, task->options->force);
    if (totals->interrupted || totals->terminated)
        orch_cli_info(cli, "stopped; finished trials are kept. %s", go_on);
    if (totals->held && !orch_run_parts_print_held(task->parts, plan))
        orch_cli_info(cli,
                      "%u trial%s not run here, because of trials that are submitted to a cluster. "
                      "Run the same command again when those have ended",
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

/* The number of trials that are not done. */
static unsigned count_left(const struct orch_plan *plan)
{
    return orch_plan_count(plan, ORCH_PLAN_MISSING) + orch_plan_count(plan, ORCH_PLAN_STALE) +
           orch_plan_count(plan, ORCH_PLAN_WAITING) + orch_plan_count(plan, ORCH_PLAN_HELD);
}

static struct orch_run_options run_options_of(const struct orch_cli *cli,
                                              const struct orch_plan *plan, const struct task *task,
                                              const char *argv)
{
    const struct orch_execute_options *options = task->options;
    return (struct orch_run_options){
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
        .limits = orch_limits_are_set(&task->limits) ? &task->limits : NULL,
        .gpu_price = device_price(&task->price),
        .machine_price = device_price(options->price ? &task->price : &task->machine),
    };
}

struct alert_ctx {
    const char *command; /* NULL: none */
    const char *recipe;
};

static void notify_alert(void *ctx, const struct orch_running *trial, const char *text)
{
    const struct alert_ctx *alert = ctx;
    orch_cli_notify_alert(alert->command, alert->recipe, trial->item->cell->experiment->name,
                          trial->key, text);
}

/* Runs the trials under a progress display. `*out_details` gets what --json prints besides the
 * totals; the caller releases it, on error, too. */
static bool run_trials(struct orch_cli *cli, struct orch_plan *plan, const struct task *task,
                       struct orch_totals *out, double *out_seconds, json_t **out_details,
                       GError **error)
{
    unsigned left = count_left(plan);
    int64_t begin = orch_mono_ns();
    g_autofree char *argv = orch_argv_record(cli->argv, cli->argc, plan->expansion);
    struct orch_run_options run_options = run_options_of(cli, plan, task, argv);
    if (left)
        print_outlook(cli, plan, task);
    struct orch_progress *progress = orch_progress_new(cli, plan->expansion, run_options.live);
    struct orch_listener listener = orch_progress_listener(progress);
    struct orch_sharing sharing;
    if (orch_run_parts_share(task->parts, plan, &listener, &sharing))
        run_options.sharing = &sharing;
    struct orch_chooser chooser;
    if (orch_run_parts_choose(task->parts, plan, &listener, &chooser))
        run_options.chooser = &chooser;
    struct alert_ctx alert = {orch_cli_notify_command(task->options->notify),
                              plan->expansion->name};
    run_options.alert = notify_alert;
    run_options.alert_ctx = &alert;
    bool ok = orch_run_plan(plan, &run_options, &listener, out, error);
    *out_seconds = (double)(orch_mono_ns() - begin) / 1e9;
    if (ok && !left && !out->promoted && !out->held_back) {
        orch_cli_info(cli, "nothing to run: %u of %u trials are done", out->reused, out->planned);
        orch_cli_plan_print_why_nothing(cli, plan);
        orch_cli_plan_print_left_out(cli, plan->expansion);
    }
    *out_details = json_pack("{s:o}", "forecasts", orch_progress_grades_json(progress));
    orch_cli_run_notices_to_json(orch_progress_notices(progress), *out_details);
    orch_progress_end(progress, out, *out_seconds);
    return orch_run_parts_ended(task->parts, plan, ok ? out : NULL, ok ? error : NULL) && ok;
}

static int run_plan(struct orch_cli *cli, struct orch_plan *plan, const struct task *task,
                    GError **error)
{
    struct orch_totals totals = {0};
    g_autoptr(json_t) details = NULL;
    double seconds;
    if (!run_trials(cli, plan, task, &totals, &seconds, &details, error))
        return -1;
    print_end(cli, plan, task, &totals);
    if (!orch_cli_promise_grade(cli, plan, &task->promise, &totals, error))
        return -1;
    if (cli->json)
        print_totals_json(plan, task, &totals, details, seconds);
    else if (plan->expansion->smoke)
        orch_cli_info(cli, "a smoke run: two steps on synthetic data; nothing was recorded");
    else
        orch_cli_report_requested(cli, plan, &task->options->variant);
    return status_of(&totals, task->options);
}

static void print_message(void *ctx, const char *text)
{
    orch_cli_info(ctx, "%s", text);
}

static int submit_plan(struct orch_cli *cli, struct orch_plan *plan, const struct task *task,
                       GError **error)
{
    const struct orch_listener listener = {.ctx = cli, .message = print_message};
    struct orch_chooser chooser;
    struct orch_submit_request request = {
        .at_once = (unsigned)task->options->jobs,
        .requires_all = g_strcmp0(task->options->require, "ok") == 0,
        .forecaster = &task->forecaster,
        .limits = orch_limits_are_set(&task->limits) ? &task->limits : NULL,
    };
    if (orch_run_parts_choose(task->parts, plan, &listener, &chooser))
        request.chooser = &chooser;
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
        bool ok = orch_run_parts_limit(parts, &outlook, error);
        /* a queue of a cluster adds waits that no forecast has */
        if (ok && orch_limits_are_set(&task.limits) && !plan->options.executor &&
            !plan->expansion->smoke)
            orch_promise_make(plan, &task.forecaster, &task.limits, orch_now_ns(), &task.promise);
        if (ok)
            status = plan->options.executor ? submit_plan(cli, plan, &task, error)
                                            : run_plan(cli, plan, &task, error);
    }
    orch_forecaster_close(&task.forecaster);
    orch_rate_release(&task.price);
    orch_rate_release(&task.machine);
    return status;
}

/* Runs a plan in the open store. */
static int execute_in(struct orch_cli *cli, struct orch_plan *plan,
                      const struct orch_execute_options *options, const GArray *gpus,
                      const struct orch_run_parts *parts, GError **error)
{
    orch_run_parts_mark(parts, plan);
    if (!orch_execute_may_start(cli, plan->expansion, options, plan, error))
        return -1;
    orch_cli_warn_of_source(cli);
    return orch_plan_store_recipe(plan, error)
               ? run_with_limits(cli, plan, options, gpus, parts, error)
               : -1;
}

/* Opens the store, which is made when there is none, and closes trials of a killed run. */
static bool open_store(struct orch_cli *cli, const struct orch_expansion *expansion, GError **error)
{
    struct orch_store *store = expansion->smoke
                                   ? orch_workspace_scratch(cli->workspace, error)
                                   : orch_workspace_store(cli->workspace, ORCH_STORE_CREATE, error);
    unsigned closed = 0, pending = 0;
    if (!store || !orch_recover(store, &closed, &pending, error))
        return false;
    if (closed)
        orch_cli_info(cli, "recorded the end of %u trial%s whose 'orch' process was killed", closed,
                      orch_plural(closed));
    return true;
}

/* The plan of a first run is made and checked before there is a store, so that a command with a
 * mistake leaves none behind. */
static struct orch_plan *first_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                                    const struct orch_execute_options *options, unsigned gpu_count,
                                    GError **error)
{
    struct orch_plan *plan = make_plan(cli, expansion, options, gpu_count, error);
    if (!plan || orch_execute_may_start(cli, expansion, options, plan, error))
        return plan;
    orch_plan_free(plan);
    return NULL;
}

/* The plan in the open store: the first one is made again if others' runs were pulled since. */
static struct orch_plan *plan_in_store(struct orch_cli *cli, const struct orch_expansion *expansion,
                                       const struct orch_execute_options *options,
                                       unsigned gpu_count, struct orch_plan *first, GError **error)
{
    struct orch_store *store = cli->workspace->store;
    const struct orch_listing all = {0};
    g_autoptr(GArray) runs = first ? orch_store_listing(store, &all, error) : NULL;
    if (runs && runs->len == 0) {
        first->store = store;
        return first;
    }
    bool failed = first && !runs;
    orch_plan_free(first);
    return failed ? NULL : make_plan(cli, expansion, options, gpu_count, error);
}

int orch_execute(struct orch_cli *cli, const struct orch_expansion *expansion,
                 const struct orch_execute_options *options, GError **error)
{
    g_autoptr(GArray) gpus = g_array_new(FALSE, FALSE, sizeof(unsigned));
    if (!orch_execute_options_agree(cli, options, error) ||
        (options->gpus && !orch_execute_gpus_parse(cli, options->gpus, gpus, error)))
        return -1;
    if (!expansion->smoke)
        orch_cli_take_in(cli);
    bool is_first = !expansion->smoke && !orch_workspace_has_store(cli->workspace);
    struct orch_plan *plan =
        is_first ? first_plan(cli, expansion, options, gpus->len, error) : NULL;
    struct orch_run_parts *parts = NULL;
    int status = -1;
    if ((plan || !is_first) && open_store(cli, expansion, error) &&
        (parts = orch_run_parts_begin(cli, expansion, false, error))) {
        plan = plan_in_store(cli, expansion, options, gpus->len, plan, error);
        if (plan)
            status = execute_in(cli, plan, options, gpus, parts, error);
    }
    orch_plan_free(plan);
    orch_run_parts_free(parts);
    return status;
}
