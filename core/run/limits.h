/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much a run may cost and how long it may take.
 *
 * Spent are the wall hours of the trials of this invocation x their devices x the price of a
 * device. A trial is started only when what is spent, what the running ones are still expected to
 * take and its own forecast (the median) stay within the budget, and when its forecast ends before
 * the deadline. One without a forecast is started while neither limit is reached. At the limit
 * itself what runs is cancelled.
 */
#ifndef ORCH_CORE_RUN_LIMITS_H
#define ORCH_CORE_RUN_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

enum orch_limit { ORCH_LIMIT_NONE, ORCH_LIMIT_BUDGET, ORCH_LIMIT_DEADLINE, ORCH_LIMIT_ALLOWANCE };

struct orch_limits {
    double budget_usd;   /* 0: none */
    double usd_per_hour; /* of one device; above 0 with a budget */
    int64_t deadline_ns; /* UTC; 0: none */
    bool has_allowance;
    double allowance_s; /* device seconds that the recipe's allowance has left; may be 0 */
};

/** What has been and will be used, in device seconds (wall seconds x devices). */
struct orch_usage {
    double spent_s;    /* by trials that ended and so far by those that run */
    double expected_s; /* what those that run will still take */
};

/** Which limit a further trial would break, by its forecast (`p50_s` NaN: none). */
enum orch_limit orch_limits_refuse(const struct orch_limits *limits, const struct orch_usage *usage,
                                   double p50_s, unsigned devices, int64_t now_ns);
/** Which limit is reached now: everything is to stop. */
enum orch_limit orch_limits_reached(const struct orch_limits *limits,
                                    const struct orch_usage *usage, int64_t now_ns);
/** "budget", "deadline", "allowance"; NULL for none. */
const char *orch_limit_name(enum orch_limit limit);
/** What device seconds cost. */
double orch_limits_usd(const struct orch_limits *limits, double device_s);

#endif
