/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/allowance_show.h"

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

static void warn(struct orch_cli *cli, const struct orch_allowance_left *allowance,
                 double usd_per_hour, double planned_s)
{
    const struct orch_allowance *a = allowance->allowance;
    double left_s = orch_allowance_left_s(allowance, usd_per_hour);
    g_autofree char *text = orch_allowance_left_text(allowance);
    g_autofree char *time = orch_duration_format(planned_s);
    g_autofree char *usd =
        usd_per_hour > 0 ? orch_money_format(planned_s / 3600 * usd_per_hour) : NULL;
    if (a->has_usd && !(usd_per_hour > 0))
        orch_cli_warn(cli, "the recipe's allowance in dollars is not watched: the price of an hour "
                           "here is not known\n  hint: --price USD");
    if (planned_s > left_s)
        orch_cli_warn(cli, "the plan goes beyond the recipe's %s; it takes about %s of devices%s%s",
                      text, time, usd ? ", " : "", usd ? usd : "");
    else
        orch_cli_info(cli, "%s", text);
}

bool orch_cli_allowance_apply(struct orch_cli *cli, const struct orch_expansion *expansion,
                              double usd_per_hour, bool is_given, double planned_s, bool may_exceed,
                              struct orch_limits *limits, GError **error)
{
    if (!expansion->allowance.is_set || expansion->smoke)
        return true;
    struct orch_device_prices *prices = orch_device_prices_new(NULL, error);
    struct orch_allowance_left allowance;
    if (!prices)
        return false;
    if (is_given)
        set_price_here(cli, prices, usd_per_hour);
    const struct orch_machine *machine = orch_workspace_machine(cli->workspace);
    if (!(usd_per_hour > 0) && !machine->gpus->len) /* a CPU can have its own price */
        usd_per_hour = orch_device_prices_find(prices, machine->cpu_model, true, NULL, NULL);
    bool ok = orch_allowance_left_read(cli->workspace->store, expansion, prices, &allowance, error);
    if (ok)
        warn(cli, &allowance, usd_per_hour, planned_s);
    double left_s = ok ? orch_allowance_left_s(&allowance, usd_per_hour) : (double)INFINITY;
    if (limits && isfinite(left_s) && !may_exceed) {
        limits->has_allowance = true;
        limits->allowance_s = left_s;
    }
    orch_device_prices_free(prices);
    return ok;
}
