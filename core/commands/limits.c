/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/commands/limits.h"

#include "lib/base/text.h"

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
    if (limits->deadline_ns) {
        g_autofree char *when = when_text(limits->deadline_ns);
        g_string_append_printf(text, "%sdeadline %s", text->len ? "; " : "", when);
    }
    if (text->len)
        g_string_append(text, "; a trial starts if the median of its forecast keeps to it");
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
                      left.unknown ? "; of the others nothing is known" : "");
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
        orch_cli_info(cli, "spent %s of %s: %s of devices, trials of this command alone", spent,
                      budget, time);
    }
    if (totals->limit != ORCH_LIMIT_NONE)
        print_remaining(cli, plan, limits, totals, forecaster, go_on);
}
