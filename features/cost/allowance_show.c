/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Applies a recipe's allowances for `plan` and `run`. */
#include "core/cli/parts.h"
#include "core/cli/run_part.h"
#include "features/cost/allowance_left.h"
#include "lib/base/text.h"

#include <math.h>

/* Uses the price given to `run` (--price) for this machine's devices, also for earlier runs. */
static void set_price_here(struct orch_cli *cli, struct orch_device_prices *prices,
                           double usd_per_hour)
{
    const struct orch_machine *machine = orch_workspace_machine(cli->workspace);
    for (guint i = 0; i < machine->gpus->len; i++)
        orch_device_prices_set(prices, ((struct orch_gpu_device *)machine->gpus->pdata[i])->model,
                               usd_per_hour);
    orch_device_prices_set(prices, machine->cpu_model, usd_per_hour);
}

static void show(struct orch_cli *cli, const struct orch_allowance_left *allowance,
                 double usd_per_hour, double planned_s)
{
    double left_s = orch_allowance_left_s(allowance, usd_per_hour);
    g_autofree char *text = orch_allowance_left_text(allowance);
    g_autofree char *time = orch_duration_format(planned_s);
    g_autofree char *usd =
        usd_per_hour > 0 ? orch_money_format(planned_s / 3600 * usd_per_hour) : NULL;
    if (planned_s > left_s)
        orch_cli_warn(
            cli, "the plan exceeds the recipe's %s; the plan takes about %s of device time%s%s",
            text, time, usd ? ", " : "", usd ? usd : "");
    else
        orch_cli_info(cli, "%s", text);
}

static void show_all(struct orch_cli *cli, const struct orch_allowances_left *all,
                     double usd_per_hour, double planned_s)
{
    bool has_usd = false;
    for (unsigned i = 0; i < ORCH_ALLOWANCE_SCOPES; i++)
        has_usd = has_usd || (all->each[i].allowance && all->each[i].allowance->has_usd);
    if (has_usd && !(usd_per_hour > 0))
        orch_cli_warn(cli, "the recipe's allowance in dollars is not checked: this machine's price "
                           "is not known\n  hint: give the price of an hour with --price USD");
    for (unsigned i = 0; i < ORCH_ALLOWANCE_SCOPES; i++)
        if (all->each[i].allowance)
            show(cli, &all->each[i], usd_per_hour, planned_s);
}

/* Reads the allowances at this machine's price (`usd_per_hour`, 0: unknown; `is_given`: from
 * --price). Warns when `planned_s` device seconds exceed one, and lowers `limits` to the tighter
 * one unless `may_exceed`. */
static bool apply(struct orch_cli *cli, const struct orch_expansion *expansion, double usd_per_hour,
                  bool is_given, double planned_s, bool may_exceed, struct orch_limits *limits,
                  GError **error)
{
    struct orch_device_prices *prices = orch_device_prices_new(NULL, error);
    struct orch_allowances_left all;
    if (!prices)
        return false;
    if (is_given)
        set_price_here(cli, prices, usd_per_hour);
    const struct orch_machine *machine = orch_workspace_machine(cli->workspace);
    if (!(usd_per_hour > 0) && !machine->gpus->len) /* a CPU can have its own price */
        usd_per_hour = orch_device_prices_find(prices, machine->cpu_model, true, NULL, NULL);
    bool ok = orch_allowances_left_read(cli->workspace->store, expansion, prices, &all, error);
    if (ok)
        show_all(cli, &all, usd_per_hour, planned_s);
    const struct orch_allowance_left *least =
        ok ? orch_allowances_left_tightest(&all, usd_per_hour) : NULL;
    double left_s = orch_allowance_left_s(least, usd_per_hour);
    if (limits && isfinite(left_s) && !may_exceed) {
        limits->has_allowance = true;
        limits->allowance_s = left_s;
        limits->allowance_for = orch_allowance_scope_text(least->scope);
    }
    orch_device_prices_free(prices);
    return ok;
}

/* ---- orch run and plan -------------------------------------------------------------------------
 */

struct run_options {
    bool over_allowance;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct run_options, over_allowance, FLAG, "over-allowance",
                .help = "run even if the recipe's cost limit (allowance) is used up"),
    {0}};

struct run {
    struct orch_cli *cli;
    bool may_exceed;
};

static bool begin(struct orch_cli *cli, const void *options, const struct orch_expansion *expansion,
                  bool only_plans, void **out_state, GError **error)
{
    (void)only_plans, (void)error;
    if (!orch_expansion_has_allowance(expansion) || expansion->smoke)
        return true;
    struct run *run = g_new0(struct run, 1);
    *run = (struct run){.cli = cli,
                        .may_exceed = ((const struct run_options *)options)->over_allowance};
    *out_state = run;
    return true;
}

static bool limit(void *state, const struct orch_run_outlook *outlook, GError **error)
{
    const struct run *run = state;
    struct orch_forecast_total total;
    orch_forecast_total(outlook->plan, outlook->forecaster, &total);
    return apply(run->cli, outlook->plan->expansion, outlook->price->usd_per_hour,
                 outlook->is_price_given, total.device_s.mid, run->may_exceed, outlook->limits,
                 error);
}

static const struct orch_run_part RUN_PART = {.begin = begin, .limit = limit, .close = g_free};

const struct orch_command_part ORCH_PART_RUN_ALLOWANCE = {
    .command = "run",
    .heading = "limits",
    .options = OPTIONS,
    .option_bytes = sizeof(struct run_options),
    .about = "\n\n"
             "A recipe's 'allowance:' is a budget for all runs of the recipe in the store; "
             "--over-allowance ignores this limit.",
    .run = &RUN_PART,
};

const struct orch_command_part ORCH_PART_PLAN_ALLOWANCE = {
    .command = "plan",
    .heading = "limits",
    .option_bytes = sizeof(struct run_options),
    .run = &RUN_PART,
};
