/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/allowance.h"

#include "core/cli/predict.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "store/bulk.h"

#include <math.h>

struct summing {
    struct cli_prices *prices;
    struct cli_allowance *out;
};

static bool add_run(void *ctx, const struct orch_run *run, GError **error)
{
    (void)error;
    struct summing *s = ctx;
    if (s->out->allowance->per_person && !orch_who_is_same(run->who, orch_user_name()))
        return true;
    struct orch_ledger_run one = cli_prices_run(s->prices, run);
    orch_ledger_sum_add(&s->out->used, &one);
    return true;
}

bool cli_allowance_read(struct orch_store *store, const struct orch_expansion *expansion,
                        struct cli_prices *prices, struct cli_allowance *out, GError **error)
{
    const struct orch_allowance *a = &expansion->allowance;
    *out = (struct cli_allowance){.allowance = a->is_set ? a : NULL};
    struct summing summing = {prices, out};
    const struct orch_run_query query = {.recipe = expansion->name, .with_hidden = true};
    if (a->is_set && store && !orch_store_each_run(store, &query, add_run, &summing, error))
        return false;
    out->left_usd = a->has_usd ? a->usd - out->used.usd : (double)NAN;
    out->left_s = a->has_hours ? a->hours * 3600 - out->used.device_s : (double)NAN;
    return true;
}

double cli_allowance_left_s(const struct cli_allowance *allowance, double usd_per_hour)
{
    double left_s = INFINITY;
    if (allowance->allowance && allowance->allowance->has_hours)
        left_s = MAX(0.0, allowance->left_s);
    if (allowance->allowance && allowance->allowance->has_usd && usd_per_hour > 0)
        left_s = MIN(left_s, MAX(0.0, allowance->left_usd) / usd_per_hour * 3600);
    return left_s;
}

/* "$4.10", "1 h 2 min", or both; a minus sign before what is below 0. */
static char *amounts(const struct orch_allowance *a, double usd, double s)
{
    GString *text = g_string_new(NULL);
    if (a->has_usd) {
        g_autofree char *money = money_format(fabs(usd));
        g_string_append_printf(text, "%s%s", usd < 0 ? "-" : "", money);
    }
    if (a->has_hours) {
        g_autofree char *time = orch_duration_format(fabs(s));
        g_string_append_printf(text, "%s%s%s of devices", a->has_usd ? ", " : "", s < 0 ? "-" : "",
                               time);
    }
    return g_string_free(text, FALSE);
}

char *cli_allowance_text(const struct cli_allowance *allowance)
{
    const struct orch_allowance *a = allowance->allowance;
    const struct orch_ledger_sum *used = &allowance->used;
    g_autofree char *all = amounts(a, a->usd, a->hours * 3600);
    g_autofree char *spent = amounts(a, used->usd, used->device_s);
    g_autofree char *left = amounts(a, allowance->left_usd, allowance->left_s);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "allowance %s for %s: used %s, left %s", all,
                           a->per_person ? "each person" : "the group", spent, left);
    if (a->has_usd && used->unpriced_runs) {
        g_autofree char *time = orch_duration_format(used->unpriced_device_s);
        g_string_append_printf(text, " (without %s of devices whose price is not known)", time);
    }
    return g_string_free(text, FALSE);
}

json_t *cli_allowance_json(const struct cli_allowance *allowance)
{
    const struct orch_allowance *a = allowance->allowance;
    if (!a)
        return json_null();
    return json_pack("{s:o s:o s:s s:o s:o s:o s:o s:o}", "usd",
                     a->has_usd ? orch_json_finite(a->usd) : json_null(), "hours",
                     a->has_hours ? orch_json_finite(a->hours) : json_null(), "per",
                     a->per_person ? "person" : "group", "used_usd",
                     orch_json_finite(allowance->used.usd), "used_h",
                     orch_json_finite(allowance->used.device_s / 3600), "unpriced_h",
                     orch_json_finite(allowance->used.unpriced_device_s / 3600), "left_usd",
                     a->has_usd ? orch_json_finite(allowance->left_usd) : json_null(), "left_h",
                     a->has_hours ? orch_json_finite(allowance->left_s / 3600) : json_null());
}

/* --price of `run` is that of this machine's devices, in runs before as well. */
static void set_price_here(struct orch_cli *cli, struct cli_prices *prices, double usd_per_hour)
{
    const struct orch_machine *machine = orch_workspace_machine(cli->workspace);
    for (guint i = 0; i < machine->gpus->len; i++)
        cli_prices_set(prices, ((struct orch_gpu_device *)machine->gpus->pdata[i])->model,
                       usd_per_hour);
    cli_prices_set(prices, machine->cpu_model, usd_per_hour);
}

static void warn(struct orch_cli *cli, const struct cli_allowance *allowance, double usd_per_hour,
                 double planned_s)
{
    const struct orch_allowance *a = allowance->allowance;
    double left_s = cli_allowance_left_s(allowance, usd_per_hour);
    g_autofree char *text = cli_allowance_text(allowance);
    g_autofree char *time = orch_duration_format(planned_s);
    g_autofree char *usd = usd_per_hour > 0 ? money_format(planned_s / 3600 * usd_per_hour) : NULL;
    if (a->has_usd && !(usd_per_hour > 0))
        orch_cli_warn(cli,
                      "the recipe's allowance in dollars is not watched: what an hour costs here "
                      "is not known\n  hint: --price USD");
    if (planned_s > left_s)
        orch_cli_warn(cli, "the plan goes beyond the recipe's %s; it takes about %s of devices%s%s",
                      text, time, usd ? ", " : "", usd ? usd : "");
    else
        orch_cli_say(cli, "%s", text);
}

bool cli_allowance_apply(struct orch_cli *cli, const struct orch_expansion *expansion,
                         double usd_per_hour, bool is_given, double planned_s, bool may_exceed,
                         struct orch_limits *limits, GError **error)
{
    if (!expansion->allowance.is_set || expansion->smoke)
        return true;
    struct cli_prices *prices = cli_prices_new(NULL, error);
    struct cli_allowance allowance;
    if (!prices)
        return false;
    if (is_given)
        set_price_here(cli, prices, usd_per_hour);
    const struct orch_machine *machine = orch_workspace_machine(cli->workspace);
    if (!(usd_per_hour > 0) && !machine->gpus->len) /* a processor may have a price of its own */
        usd_per_hour = cli_prices_find(prices, machine->cpu_model, true, NULL, NULL);
    bool ok = cli_allowance_read(cli->workspace->store, expansion, prices, &allowance, error);
    if (ok)
        warn(cli, &allowance, usd_per_hour, planned_s);
    double left_s = ok ? cli_allowance_left_s(&allowance, usd_per_hour) : (double)INFINITY;
    if (limits && isfinite(left_s) && !may_exceed) {
        limits->has_allowance = true;
        limits->allowance_s = left_s;
    }
    cli_prices_free(prices);
    return ok;
}
