/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/commands/limits.h"

#include "core/cli/recipe_plan.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "store/write/forecast.h"

static char *when_text(int64_t at_ns)
{
    g_autoptr(GDateTime) at = g_date_time_new_from_unix_local(at_ns / 1000000000);
    return g_date_time_format(at, "%Y-%m-%d %H:%M:%S");
}

char *orch_cli_limits_text(const struct orch_limits *limits, const struct orch_rate *price)
{
    GString *text = g_string_new(NULL);
    if (limits->budget_usd > 0) {
        g_autofree char *usd = orch_money_format(limits->budget_usd);
        g_string_append_printf(text, "budget %s at $%.4g an hour of a device (%s)", usd,
                               price->usd_per_hour, price->from);
    }
    if (limits->budget_s > 0) {
        g_autofree char *time = orch_duration_format(limits->budget_s);
        g_string_append_printf(text, "budget %s of device time", time);
    }
    if (limits->deadline_ns) {
        g_autofree char *when = when_text(limits->deadline_ns);
        g_string_append_printf(text, "%sdeadline %s", text->len ? "; " : "", when);
    }
    if (text->len)
        g_string_append(text, "; a trial starts if its median forecast fits");
    return g_string_free(text, !text->len);
}

static void print_remaining(struct orch_cli *cli, const struct orch_plan *plan,
                            const struct orch_limits *limits, const struct orch_totals *totals,
                            const struct orch_forecaster *forecaster, const char *go_on)
{
    struct orch_forecast_total left;
    orch_forecast_total(plan, forecaster, &left);
    g_autofree char *time = orch_duration_format(left.time_s.mid);
    g_autofree char *usd = limits->usd_per_hour > 0
                               ? orch_money_format(orch_limits_usd(limits, left.device_s.mid))
                               : NULL;
    g_autofree char *by = orch_limits_describe(limits, totals->limit);
    orch_cli_info(cli, "stopped by the %s: %u trial%s not started, %u cancelled", by,
                  totals->held_back, orch_plural(totals->held_back), totals->cut_off);
    if (left.known)
        orch_cli_info(cli, "  left: about %s%s%s for %u trial%s%s", time, usd ? ", " : "",
                      usd ? usd : "", left.known, orch_plural(left.known),
                      left.unknown ? "; the other trials have no forecast" : "");
    orch_cli_info(cli, "  %s", go_on);
}

void orch_cli_limits_print_end(struct orch_cli *cli, const struct orch_plan *plan,
                               const struct orch_limits *limits, const struct orch_totals *totals,
                               const struct orch_forecaster *forecaster, const char *go_on)
{
    if (limits->budget_usd > 0) {
        g_autofree char *spent = orch_money_format(orch_limits_usd(limits, totals->device_s));
        g_autofree char *budget = orch_money_format(limits->budget_usd);
        g_autofree char *time = orch_duration_format(totals->device_s);
        orch_cli_info(cli, "this command spent %s of %s: %s of device time", spent, budget, time);
    }
    if (limits->budget_s > 0) {
        g_autofree char *spent = orch_duration_format(totals->device_s);
        g_autofree char *budget = orch_duration_format(limits->budget_s);
        orch_cli_info(cli, "this command spent %s of %s of device time", spent, budget);
    }
    if (totals->limit != ORCH_LIMIT_NONE)
        print_remaining(cli, plan, limits, totals, forecaster, go_on);
}

/* ---- what is promised before the run --------------------------------------------------------- */

/* "by 18:00 within $5.00": the limits of a promise. */
static char *within_text(const struct orch_limits *limits)
{
    GString *text = g_string_new(NULL);
    if (limits->deadline_ns) {
        g_autofree char *when = when_text(limits->deadline_ns);
        g_string_append_printf(text, " by %s", when);
    }
    g_autofree char *usd = limits->budget_usd > 0 ? orch_money_format(limits->budget_usd) : NULL,
                    *time = limits->budget_s > 0 ? orch_duration_format(limits->budget_s) : NULL;
    if (usd || time)
        g_string_append_printf(text, " within %s%s", usd ? usd : time,
                               usd ? "" : " of device time");
    else if (limits->has_allowance)
        g_string_append(text, " within the allowance");
    return g_string_free(text, FALSE);
}

/* "; the rest would need 2 h 10 min and $3.10 more" */
static char *rest_text(const struct orch_promise *promise, const struct orch_limits *limits)
{
    g_autofree char *time =
        promise->more_s > 0 ? orch_duration_format(promise->more_s) : g_strdup("");
    g_autofree char *device_time = orch_duration_format(promise->more_device_s);
    g_autofree char *cost = limits->budget_usd > 0
                                ? orch_money_format(orch_limits_usd(limits, promise->more_device_s))
                                : g_strconcat(device_time, " of device time", NULL);
    bool has_cost = promise->more_device_s > 0;
    if (!*time && !has_cost)
        return g_strdup("");
    return g_strdup_printf("; the rest would need %s%s%s more", time,
                           *time && has_cost ? " and " : "", has_cost ? cost : "");
}

char *orch_cli_promise_text(const struct orch_promise *promise, const struct orch_limits *limits)
{
    g_autofree char *within = within_text(limits), *rest = rest_text(promise, limits);
    if (promise->is_made)
        return g_strdup_printf("%u of %u trial%s%s with 90 %%%s", promise->trials, promise->of,
                               orch_plural(promise->of), within, rest);
    return g_strdup_printf("how many trials end%s is not known: %u of %u have no forecast", within,
                           promise->unknown, promise->of);
}

/* The trials whose results are there. */
static unsigned ended_count(const struct orch_totals *totals)
{
    return totals->ended[ORCH_VERDICT_OK] + totals->ended[ORCH_VERDICT_DIVERGED] +
           totals->ended[ORCH_VERDICT_PRUNED] + totals->unneeded;
}

bool orch_cli_promise_grade(struct orch_cli *cli, const struct orch_plan *plan,
                            const struct orch_promise *promise, const struct orch_totals *totals,
                            GError **error)
{
    const unsigned ended = ended_count(totals);
    unsigned failed = 0;
    for (int i = 0; i <= ORCH_VERDICT_UNKNOWN; i++)
        failed += orch_verdict_facts((enum orch_verdict)i)->fault ? totals->ended[i] : 0;
    if (!promise->is_made || !promise->trials || failed || totals->interrupted ||
        totals->terminated || totals->held)
        return true;
    orch_cli_info(cli, "forecast (90 %%): %u of %u trial%s would end within the limits; %u did",
                  promise->trials, promise->of, orch_plural(promise->of), ended);
    return orch_store_put_promise(plan->store, plan->expansion->name, promise->trials, ended,
                                  error);
}

/* ---- how to go on ---------------------------------------------------------------------------- */

/* Returns the experiments with trials that did not end well, " a b". The caller frees. */
static char *experiments_left(const struct orch_plan *plan)
{
    GString *names = g_string_new(NULL);
    const char *last = NULL;
    for (unsigned i = 0; i < plan->count; i++) {
        const char *name = plan->items[i].cell->experiment->name;
        if (!orch_plan_will_run(&plan->items[i]) || g_strcmp0(name, last) == 0)
            continue;
        g_string_append_printf(names, " %s", name);
        last = name;
    }
    return g_string_free(names, FALSE);
}

char *orch_cli_how_to_go_on(const struct orch_cli *cli, const struct orch_plan *plan,
                            const struct orch_variant *variant, bool is_forced)
{
    bool has_recipe = cli->arg_count > 0 && !cli->rest;
    if (!is_forced)
        return g_strdup("The same command goes on from here.");
    if (!has_recipe)
        return g_strdup("With --force the same command makes every run again.");
    g_autofree char *words = orch_cli_recipe_words(cli, variant);
    g_autofree char *left = experiments_left(plan);
    return g_strdup_printf("To run unfinished experiments: 'orch run %s%s --force'.", words, left);
}

json_t *orch_cli_limits_json(const struct orch_limits *limits, const struct orch_totals *totals,
                             const struct orch_promise *promise)
{
    bool priced = limits->usd_per_hour > 0;
    json_t *promised = promise->is_made
                           ? json_pack("{s:i s:i s:i s:b s:o s:o}", "trials", (int)promise->trials,
                                       "of", (int)promise->of, "ended", (int)ended_count(totals),
                                       "held", ended_count(totals) >= promise->trials, "more_s",
                                       orch_json_finite(promise->more_s), "more_device_s",
                                       orch_json_finite(promise->more_device_s))
                           : json_null();
    return json_pack("{s:s? s:i s:i s:o s:o s:o}", "stopped_by", orch_limit_name(totals->limit),
                     "held_back", (int)totals->held_back, "cancelled", (int)totals->cut_off,
                     "device_s", orch_json_finite(totals->device_s), "spent_usd",
                     priced ? orch_json_finite(orch_limits_usd(limits, totals->device_s))
                            : json_null(),
                     "promise", promised);
}
