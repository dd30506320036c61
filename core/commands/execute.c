/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/commands/execute.h"

#include "core/cli/forecast_show.h"
#include "core/commands/limits.h"
#include "core/commands/progress.h"
#include "core/commands/stopped.h"
#include "core/plan/command_check.h"
#include "core/plan/plan.h"
#include "core/record/argv_record.h"
#include "core/schedule/limit_options.h"
#include "core/schedule/schedule.h"
#include "features/cost/allowance_show.h"
#include "features/predict/informative_show.h"
#include "features/share/signatures.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>
#include <unistd.h>

/* With more trials, --yes is required. */
#define TRIALS_WITHOUT_CONFIRMATION 500
/* Rows of a plan that are shown; the rest is only counted. */
#define PLAN_ROWS 60

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

struct orch_plan *orch_execute_make_plan(struct orch_cli *cli,
                                         const struct orch_expansion *expansion,
                                         const struct orch_execute_options *options,
                                         unsigned gpu_count, GError **error)
{
    unsigned slots = options->jobs > 0
                         ? (unsigned)options->jobs
                         : orch_plan_default_slots(cli->workspace, expansion, gpu_count);
    struct orch_diags *diags = orch_diags_new();
    struct orch_plan_options plan_options = {
        .slots = slots,
        .force = options->force,
        .any_slots = options->any_slots,
        .reads_only = options->reads_only,
        .no_watch = options->no_watch,
        .keep_trials = options->keep_trials,
        .executor = options->executor ? orch_executor_find(options->executor) : NULL,
    };
    struct orch_plan *plan = orch_plan_new(cli->workspace, orch_cli_plugins(cli), expansion,
                                           &plan_options, diags, error);
    orch_cli_warnings(cli, diags);
    if (!plan && diags->error_count)
        orch_diags_to_error(diags, error && !*error ? error : NULL);
    orch_diags_free(diags);
    return plan;
}

/* ---- plan -------------------------------------------------------------------------------------
 */

/* Returns the forecast of a trial that will run; NULL when it will not run or nothing is known. */
static const struct orch_forecast *ask(const struct orch_forecaster *forecaster,
                                       const struct orch_plan_item *item, struct orch_forecast *out)
{
    bool may_run = orch_plan_will_run(item) || item->state == ORCH_PLAN_HELD;
    return may_run && forecaster->forecast(forecaster->ctx, item, out) ? out : NULL;
}

/* The words for enum orch_recipe_reuse in recipes, in its order. */
static const char *const REUSE_WORDS[] = {"device", "any", "never"};

static void add_plan_row(struct orch_table *table, const struct orch_plan_item *item,
                         const struct orch_forecaster *forecaster)
{
    struct orch_forecast forecast;
    const struct orch_experiment *experiment = item->cell->experiment;
    g_autofree char *label = orch_cell_label(item->cell);
    const char *state = orch_plan_state_name(item->state);
    orch_table_add(table, label, NULL);
    orch_table_add(table, state, NULL);
    orch_table_add(table, item->reason, NULL);
    orch_table_add(table, item->run_key ? orch_cli_short_key(item->run_key) : "-",
                   orch_json_text_or_null(item->run_key));
    orch_table_add(table, REUSE_WORDS[experiment->reuse], NULL);
    orch_cli_forecast_add_cell(table, ask(forecaster, item, &forecast),
                               orch_plan_item_charged(item));
}

/* Returns the parameters, with "(secret)" in place of secret values. */
static json_t *shown_params(const struct orch_cell *cell)
{
    json_t *params = json_copy(cell->params);
    const struct orch_manifest *manifest = cell->experiment->manifest;
    for (guint i = 0; i < manifest->params->len; i++) {
        const struct orch_param_spec *spec = manifest->params->pdata[i];
        if (orch_param_is_secret(spec) && json_object_get(params, spec->name))
            json_object_set_new(params, spec->name, json_string("(secret)"));
    }
    return params;
}

static json_t *plan_as_json(const struct orch_plan *plan, const struct orch_forecaster *forecaster,
                            const struct orch_rate *price)
{
    json_t *rows = json_array();
    struct orch_forecast forecast;
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[plan->order[i]];
        const struct orch_experiment *experiment = item->cell->experiment;
        if (item->state == ORCH_PLAN_UNUSED)
            continue;
        g_autofree char *label = orch_cell_label(item->cell);
        json_array_append_new(
            rows,
            json_pack("{s:s s:s s:o s:i s:s s:s s:s? s:s? s:s s:s s:s s:s s:o}", "trial", label,
                      "experiment", experiment->name, "params", shown_params(item->cell), "repeat",
                      item->cell->repeat, "state", orch_plan_state_name(item->state), "reason",
                      item->reason ? item->reason : "", "run", item->run_key, "fingerprint",
                      item->fingerprint[0] ? item->fingerprint : NULL, "device_key",
                      item->device_key, "reuse", REUSE_WORDS[experiment->reuse], "reuse_why",
                      experiment->reuse_why ? experiment->reuse_why : "", "plugin",
                      experiment->manifest->name, "forecast",
                      orch_cli_forecast_json(ask(forecaster, item, &forecast),
                                             orch_plan_item_charged(item), price)));
    }
    return rows;
}

/* Returns whether none of the experiment's trials is planned because it was not named. */
static bool is_unnamed(const struct orch_expansion *expansion,
                       const struct orch_experiment *experiment)
{
    for (guint i = 0; experiment->only_when_named && i < expansion->cells->len; i++)
        if (((const struct orch_cell *)expansion->cells->pdata[i])->experiment == experiment)
            return false;
    return experiment->only_when_named;
}

static const char *left_out_reason(const struct orch_experiment *experiment)
{
    if (!experiment->skipped)
        return "runs only when it is named (only_when_named)";
    return experiment->skip_reason ? experiment->skip_reason : "no reason given";
}

/* Returns what is left out, by the profile, because a plugin is not trusted, or because it must be
 * named, as {experiment: reason}. When there are targets, the recipe's reader warns of those among
 * them. */
static json_t *left_out(struct orch_cli *cli, const struct orch_expansion *expansion)
{
    json_t *reasons = json_object();
    for (guint i = 0; cli->arg_count == 1 && i < expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = expansion->experiments->pdata[i];
        if (experiment->skipped || is_unnamed(expansion, experiment))
            json_object_set_new(reasons, experiment->name,
                                json_string(left_out_reason(experiment)));
    }
    return reasons;
}

static void print_what_is_left_out(struct orch_cli *cli, const struct orch_expansion *expansion)
{
    for (guint i = 0; cli->arg_count == 1 && i < expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = expansion->experiments->pdata[i];
        const char *reason = left_out_reason(experiment);
        if (experiment->is_untrusted)
            orch_cli_info(cli, "  %s: left out: %s", experiment->name, reason);
        else if (experiment->skipped)
            orch_cli_info(cli, "  %s: skipped by profile '%s': %s", experiment->name,
                          expansion->profile, reason);
        else if (is_unnamed(expansion, experiment))
            orch_cli_info(cli, "  %s: left out: %s", experiment->name, reason);
    }
}

static void print_plan_counts(struct orch_cli *cli, const struct orch_plan *plan)
{
    GString *line = g_string_new(NULL);
    unsigned total = 0;
    for (int state = ORCH_PLAN_DONE; state < ORCH_PLAN_UNUSED; state++) {
        unsigned count = orch_plan_count(plan, (enum orch_plan_state)state);
        total += count;
        if (count)
            g_string_append_printf(line, "%s%u %s", line->len ? ", " : "", count,
                                   orch_plan_state_name((enum orch_plan_state)state));
    }
    const struct orch_expansion *expansion = plan->expansion;
    orch_cli_info(cli, "%s%s%s: %u trial%s: %s", expansion->name,
                  expansion->profile ? ", profile " : "",
                  expansion->profile ? expansion->profile : "", total, orch_plural(total),
                  line->len ? line->str : "none");
    g_string_free(line, TRUE);
    print_what_is_left_out(cli, expansion);
}

static void print_plan_table(struct orch_cli *cli, const struct orch_plan *plan, bool all,
                             const struct orch_forecaster *forecaster)
{
    static const char *const headers[] = {"trial", "state",    "reason", "run",
                                          "reuse", "forecast", NULL};
    struct orch_table *table = orch_table_new(headers);
    unsigned shown = 0, total = 0;
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[plan->order[i]];
        if (item->state == ORCH_PLAN_UNUSED)
            continue;
        total++;
        if (shown < PLAN_ROWS || all || !cli->stdout_is_tty) {
            add_plan_row(table, item, forecaster);
            shown++;
        }
    }
    orch_cli_table_print(cli, table, "trials");
    if (shown < total)
        printf("... and %u more (--all shows them)\n", total - shown);
    fflush(stdout);
    print_plan_counts(cli, plan);
}

static void print_plan(struct orch_cli *cli, const struct orch_plan *plan, bool all,
                       const struct orch_forecaster *forecaster, const struct orch_rate *price,
                       unsigned left)
{
    const struct orch_expansion *expansion = plan->expansion;
    struct orch_forecast_total total;
    orch_forecast_total(plan, forecaster, &total);
    if (!cli->json) {
        print_plan_table(cli, plan, all, forecaster);
        if (!total.known && total.unknown)
            orch_cli_info(cli,
                          "forecast: none: nothing like these trials has been measured here. The "
                          "first runs give a basis; 'orch pull' brings those of a group");
        orch_cli_forecast_print_total(cli, plan, &total, price);
        return;
    }
    orch_cli_print_json(json_pack("{s:s s:s? s:s s:o s:o s:i s:o}", "recipe", expansion->name,
                                  "profile", expansion->profile, "recipe_key", expansion->key,
                                  "trials", plan_as_json(plan, forecaster, price), "left_out",
                                  left_out(cli, expansion), "left", (int)left, "forecast",
                                  orch_cli_forecast_total_json(plan, &total, price)));
}

/* Compares the recipe's allowances with the plan's forecast. With `limits` NULL nothing is limited.
 */
static bool hold_to_allowance(struct orch_cli *cli, const struct orch_plan *plan,
                              const struct orch_execute_options *options,
                              const struct orch_forecaster *forecaster,
                              const struct orch_rate *price, struct orch_limits *limits,
                              GError **error)
{
    struct orch_forecast_total total;
    orch_forecast_total(plan, forecaster, &total);
    return orch_cli_allowance_apply(cli, plan->expansion, price->usd_per_hour,
                                    options->price != NULL, total.device_s.mid,
                                    options->over_allowance, limits, error);
}

int orch_execute_plan(struct orch_cli *cli, const struct orch_expansion *expansion,
                      const struct orch_execute_options *options, GError **error)
{
    if (!check_executor(cli, options->executor, error))
        return -1;
    if (orch_workspace_has_store(cli->workspace) && !expansion->smoke &&
        !orch_workspace_store(cli->workspace, ORCH_STORE_READ, error))
        return -1;
    struct orch_plan *plan = orch_execute_make_plan(cli, expansion, options, 0, error);
    struct orch_rate price = {0};
    struct orch_limits limits;
    if (!plan || !orch_command_check_plan(plan, error) ||
        !orch_cli_plan_price_find(plan, options->price, &price, error) ||
        !orch_limits_read(options->budget, options->deadline, price.usd_per_hour, orch_now_ns(),
                          &limits, error)) {
        orch_rate_release(&price);
        orch_plan_free(plan);
        return -1;
    }
    if (!orch_cli_sharing_mark(cli, &options->sharing, plan, error)) {
        orch_rate_release(&price);
        orch_plan_free(plan);
        return -1;
    }
    struct orch_forecaster forecaster = orch_forecaster_open(plan);
    unsigned left = 0;
    for (unsigned i = 0; i < plan->count; i++)
        left += orch_plan_will_run(&plan->items[i]);
    GArray *choices = options->most_informative
                          ? orch_cli_plan_informative(plan, options->most_informative, error)
                          : NULL;
    bool ok = choices || !options->most_informative;
    if (choices) {
        orch_cli_plan_informative_print(cli, plan, choices, &forecaster);
        g_array_unref(choices);
    } else if (ok) {
        print_plan(cli, plan, options->all, &forecaster, &price, left);
        ok = hold_to_allowance(cli, plan, options, &forecaster, &price, NULL, error);
    }
    orch_forecaster_close(&forecaster);
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
    struct sharing *sharing; /* NULL: not shared */
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
        "trials", plan_as_json(plan, &task->forecaster, &task->price));
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
    print_plan_counts(cli, plan);
    print_what_changed(cli, plan);
    orch_cli_forecast_print_total(cli, plan, &total, &task->price);
    g_autofree char *limits = orch_cli_limits_text(&task->limits, &task->price);
    if (limits)
        orch_cli_info(cli, "%s", limits);
}

static void print_end(struct orch_cli *cli, const struct orch_plan *plan, const struct task *task,
                      const struct orch_totals *totals)
{
    g_autofree char *go_on = orch_cli_how_to_go_on(cli, plan, task->options);
    if (totals->interrupted || totals->terminated)
        orch_cli_info(cli, "stopped; what ended is kept. %s", go_on);
    if (totals->held && !task->sharing)
        orch_cli_info(cli,
                      "%u trial%s not run: in Slurm jobs, or waiting for trials that are; 'orch "
                      "collect' takes in what has ended",
                      totals->held, totals->held == 1 ? " was" : "s were");
    else if (totals->held)
        orch_cli_sharing_print_held(cli, task->sharing, plan);
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
    if (task->sharing) {
        sharing = orch_cli_sharing_hooks(task->sharing, plan, &listener);
        run_options.sharing = &sharing;
    }
    bool ok = orch_run_plan(plan, &run_options, &listener, &totals, error);
    double seconds = (double)(orch_mono_ns() - begin) / 1e9;
    if (!left && ok) {
        orch_cli_info(cli, "nothing to run: %u of %u trials are done", totals.reused,
                      totals.planned);
        print_why_nothing_runs(cli, plan);
        print_what_is_left_out(cli, plan->expansion);
    }
    g_autoptr(json_t) grades = orch_progress_grades_json(progress);
    g_autoptr(json_t) notices = json_object();
    orch_cli_run_notices_to_json(orch_progress_notices(progress), notices);
    orch_progress_end(progress, &totals, seconds);
    bool may_sign = ok && !plan->expansion->smoke && !totals.interrupted && !totals.terminated;
    int signatures =
        may_sign ? orch_cli_signatures_make(cli, plan->store, options->sign, error) : 0;
    orch_cli_sharing_finish(task->sharing, signatures > 0);
    if (!ok || signatures < 0)
        return -1;
    print_end(cli, plan, task, &totals);
    if (cli->json)
        print_totals_json(plan, task, &totals, json_incref(grades), notices, seconds);
    else if (plan->expansion->smoke)
        orch_cli_info(cli, "a smoke run: two steps on synthetic data; nothing was recorded");
    else
        orch_execute_report(cli, plan, &options->variant);
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

/* With --most-informative, keeps only the trials that it selects. */
static bool keep_most_informative(struct orch_plan *plan, const char *count, GError **error)
{
    if (!count)
        return true;
    g_autoptr(GArray) choices = orch_cli_plan_informative(plan, count, error);
    if (choices)
        orch_informative_keep(plan, choices);
    return choices != NULL;
}

/* Runs a checked plan with its forecasts and limits. */
static int run_with_limits(struct orch_cli *cli, struct orch_plan *plan,
                           const struct orch_execute_options *options, const GArray *gpus,
                           struct sharing *sharing, GError **error)
{
    struct task task = {.options = options, .gpus = gpus, .sharing = sharing};
    int status = -1;
    if (orch_cli_plan_price_find(plan, options->price, &task.price, error) &&
        orch_limits_read(options->budget, options->deadline, task.price.usd_per_hour, orch_now_ns(),
                         &task.limits, error)) {
        find_machine_price(cli, plan, &task.machine);
        task.forecaster = orch_forecaster_open(plan);
        if (keep_most_informative(plan, options->most_informative, error) &&
            hold_to_allowance(cli, plan, options, &task.forecaster, &task.price, &task.limits,
                              error))
            status = plan->options.executor ? submit_plan(cli, plan, &task, error)
                                            : run_plan(cli, plan, &task, error);
    }
    orch_forecaster_close(&task.forecaster);
    orch_rate_release(&task.price);
    orch_rate_release(&task.machine);
    return status;
}

/* Plans and runs in the open store, with the group's claims when the run is shared. */
static int execute_in(struct orch_cli *cli, const struct orch_expansion *expansion,
                      const struct orch_execute_options *options, struct sharing *sharing,
                      GError **error)
{
    struct orch_store *store = cli->workspace->store;
    g_autoptr(GArray) gpus = g_array_new(FALSE, FALSE, sizeof(unsigned));
    if (options->gpus && !parse_gpus(cli, options->gpus, gpus, error))
        return -1;
    orch_cli_sharing_pull(sharing, store);
    struct orch_plan *plan = orch_execute_make_plan(cli, expansion, options, gpus->len, error);
    if (!plan)
        return -1;
    orch_cli_sharing_mark_held(sharing, plan);
    int status = -1;
    if (may_start(cli, expansion, options, plan, error)) {
        orch_cli_warn_of_source(cli);
        if (orch_plan_store_recipe(plan, error))
            status = run_with_limits(cli, plan, options, gpus, sharing, error);
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
    struct sharing *sharing = NULL;
    if (!orch_cli_sharing_open(cli, &options->sharing, expansion, &sharing, error))
        return -1;
    int status = execute_in(cli, expansion, options, sharing, error);
    orch_cli_sharing_close(sharing);
    return status;
}
