/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/schedule/run_limits.h"

#include <glib.h>
#include <math.h>

bool orch_limits_are_set(const struct orch_limits *limits)
{
    return limits->budget_usd > 0 || limits->budget_s > 0 || limits->deadline_ns ||
           limits->has_allowance;
}

double orch_limits_usd(const struct orch_limits *limits, double device_s)
{
    return device_s / 3600 * limits->usd_per_hour;
}

const char *orch_limit_name(enum orch_limit limit)
{
    static const char *const names[] = {
        [ORCH_LIMIT_BUDGET] = "budget",
        [ORCH_LIMIT_DEADLINE] = "deadline",
        [ORCH_LIMIT_ALLOWANCE] = "allowance",
    };
    return names[limit];
}

char *orch_limits_describe(const struct orch_limits *limits, enum orch_limit limit)
{
    bool is_named = limit == ORCH_LIMIT_ALLOWANCE && limits && limits->allowance_for;
    if (limit == ORCH_LIMIT_NONE)
        return NULL;
    return is_named ? g_strdup_printf("%s for %s", orch_limit_name(limit), limits->allowance_for)
                    : g_strdup(orch_limit_name(limit));
}

enum orch_limit orch_limits_refuse(const struct orch_limits *limits, const struct orch_usage *usage,
                                   double p50_s, double devices, int64_t now_ns)
{
    double own_s = isnan(p50_s) ? 0 : p50_s;
    double after_usd =
        orch_limits_usd(limits, usage->spent_s + usage->expected_s + own_s * devices);
    /* without a forecast some of the budget must be left */
    if (limits->budget_usd > 0 &&
        (isnan(p50_s) ? after_usd >= limits->budget_usd : after_usd > limits->budget_usd))
        return ORCH_LIMIT_BUDGET;
    double after_s = usage->spent_s + usage->expected_s + own_s * devices;
    if (limits->budget_s > 0 &&
        (isnan(p50_s) ? after_s >= limits->budget_s : after_s > limits->budget_s))
        return ORCH_LIMIT_BUDGET;
    if (limits->has_allowance &&
        (isnan(p50_s) ? after_s >= limits->allowance_s : after_s > limits->allowance_s))
        return ORCH_LIMIT_ALLOWANCE;
    if (limits->deadline_ns && (double)(limits->deadline_ns - now_ns) / 1e9 <= own_s)
        return ORCH_LIMIT_DEADLINE;
    return ORCH_LIMIT_NONE;
}

enum orch_limit orch_limits_reached(const struct orch_limits *limits,
                                    const struct orch_usage *usage, int64_t now_ns)
{
    if (limits->budget_usd > 0 && orch_limits_usd(limits, usage->spent_s) >= limits->budget_usd)
        return ORCH_LIMIT_BUDGET;
    if (limits->budget_s > 0 && usage->spent_s >= limits->budget_s)
        return ORCH_LIMIT_BUDGET;
    if (limits->has_allowance && usage->spent_s >= limits->allowance_s)
        return ORCH_LIMIT_ALLOWANCE;
    if (limits->deadline_ns && now_ns >= limits->deadline_ns)
        return ORCH_LIMIT_DEADLINE;
    return ORCH_LIMIT_NONE;
}
