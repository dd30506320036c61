/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits on the cost and the duration of an invocation of `orch run`.
 *
 * The amount spent is the wall hours of this invocation's trials x their devices x the device
 * price. A trial is started only when the amount spent, the expected rest of the running trials and
 * the trial's own median forecast stay within the budget, and when it is forecast to end before the
 * deadline. A trial without a forecast is started as long as no limit is reached. When a limit is
 * reached, the running trials are cancelled.
 */
#ifndef ORCH_CORE_SCHEDULE_RUN_LIMITS_H
#define ORCH_CORE_SCHEDULE_RUN_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

enum orch_limit { ORCH_LIMIT_NONE, ORCH_LIMIT_BUDGET, ORCH_LIMIT_DEADLINE, ORCH_LIMIT_ALLOWANCE };

struct orch_limits {
    double budget_usd;   /* 0: none */
    double budget_s;     /* of devices; 0: none */
    double usd_per_hour; /* of one device; above 0 with a budget in USD */
    int64_t deadline_ns; /* UTC; 0: none */
    bool has_allowance;
    double allowance_s;        /* device seconds left of the recipe's allowance; may be 0 */
    const char *allowance_for; /* whose it is: "the group"; NULL: not known. Static. */
};

/** Whether there is any. */
bool orch_limits_are_set(const struct orch_limits *limits);

/** Past and expected usage in device seconds (wall seconds x devices). */
struct orch_usage {
    double spent_s;    /* by ended trials, and so far by running ones */
    double expected_s; /* expected rest of the running trials */
};

/** Returns the limit that starting one more trial would exceed, judged by its median forecast; pass
 * NaN when there is no forecast. */
enum orch_limit orch_limits_refuse(const struct orch_limits *limits, const struct orch_usage *usage,
                                   double p50_s, double devices, int64_t now_ns);
/** Returns the limit that is reached now, at which all trials must stop. */
enum orch_limit orch_limits_reached(const struct orch_limits *limits,
                                    const struct orch_usage *usage, int64_t now_ns);
/** "budget", "deadline", "allowance"; NULL for none. */
const char *orch_limit_name(enum orch_limit limit);
/** "budget", "deadline", "allowance for the group". The caller frees. NULL for none. */
char *orch_limits_describe(const struct orch_limits *limits, enum orch_limit limit);
/** The cost of device seconds in dollars. */
double orch_limits_usd(const struct orch_limits *limits, double device_s);

#endif
