/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Applies the budget, the deadline and the allowance of a run: which trials may start, and when all
 * stop. */
#include "core/schedule/schedule_private.h"

#include <math.h>
#include <signal.h>

static struct orch_usage usage_of(const struct run *run)
{
    struct orch_usage usage = {.spent_s = run->ended_device_s};
    for (guint i = 0; i < run->hosts->len; i++) {
        const struct orch_running *running = run->hosts->pdata[i];
        double elapsed = (double)(orch_mono_ns() - running->started_mono_ns) / 1e9;
        double devices = orch_plan_item_charged(running->item);
        usage.spent_s += devices * elapsed;
        if (running->has_forecast)
            usage.expected_s += devices * MAX(0.0, running->forecast_s.mid - elapsed);
    }
    return usage;
}

bool orch_schedule_is_refused(struct run *run, const struct orch_plan_item *item)
{
    if (!run->options->limits)
        return false;
    struct orch_forecast forecast; /* an open trial has no values yet */
    double p50_s = !orch_cell_is_open(item->cell) && orch_schedule_forecast(run, item, &forecast)
                       ? forecast.time_s.mid
                       : (double)NAN;
    struct orch_usage usage = usage_of(run);
    enum orch_limit limit = orch_limits_refuse(run->options->limits, &usage, p50_s,
                                               orch_plan_item_charged(item), orch_now_ns());
    run->jobs[item - run->plan->items].is_refused = limit != ORCH_LIMIT_NONE;
    if (limit == ORCH_LIMIT_NONE)
        return false;
    run->totals.limit = limit;
    run->refused++;
    return true;
}

void orch_schedule_enforce_limits(struct run *run)
{
    if (!run->options->limits || run->stop_level >= 2 || !run->hosts->len)
        return;
    struct orch_usage usage = usage_of(run);
    enum orch_limit limit = orch_limits_reached(run->options->limits, &usage, orch_now_ns());
    if (limit == ORCH_LIMIT_NONE)
        return;
    run->stop_level = 2;
    run->totals.limit = limit;
    run->totals.cut_off = run->hosts->len;
    g_autofree char *name = orch_limits_describe(run->options->limits, limit);
    g_autofree char *why =
        g_strdup_printf("the %s %s", name, limit == ORCH_LIMIT_DEADLINE ? "has come" : "is spent");
    orch_schedule_emit(run, "%s: %u running trial%s cancelled", why, run->hosts->len,
                       run->hosts->len == 1 ? " is" : "s are");
    orch_schedule_cancel(run, SIGINT, why);
}
