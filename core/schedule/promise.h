/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many trials of a plan end within its limits with a probability of 90 %, said before the run
 * and compared with what ended.
 *
 * The run is simulated with the scheduler's own rule (run_limits.h), many times: each time all
 * trials take other times, drawn from the 90 % intervals of their forecasts. The answer is the 10 %
 * quantile of the number of trials that ended. A formula would have to sum the intervals, and could
 * take neither slots nor the order of trials into account. */
#ifndef ORCH_CORE_SCHEDULE_PROMISE_H
#define ORCH_CORE_SCHEDULE_PROMISE_H

#include "core/plan/plan_forecast.h"
#include "core/schedule/run_limits.h"

/** A trial that will run. */
struct orch_promise_trial {
    struct orch_interval time_s; /* forecast: 90 % interval, all above 0 */
    double devices;              /* charged */
    unsigned setting;            /* repeats of a setting have the same number */
    bool is_repeat; /* forecast from runs of its setting: its error is its own and its setting's in
                       equal parts. Else all trials have one error, of the model they share. */
    bool is_alone;
};

struct orch_promise {
    bool is_made;
    unsigned trials, of;  /* so many end within the limits, of so many that will run */
    double more_s;        /* so much later a deadline would let all end, with the same probability;
                             0: no deadline is in the way */
    double more_device_s; /* the same of a budget or an allowance */
    unsigned unknown;     /* trials without a forecast, for which no promise is made */
};

/** Simulates trials in their starting order on `slots` slots. */
void orch_promise_simulate(const struct orch_promise_trial *trials, size_t count, unsigned slots,
                           const struct orch_limits *limits, int64_t now_ns,
                           struct orch_promise *out);
/** Does so with the trials of a plan that will run. No promise is made while one of them has no
 * forecast. */
void orch_promise_make(const struct orch_plan *plan, const struct orch_forecaster *forecaster,
                       const struct orch_limits *limits, int64_t now_ns, struct orch_promise *out);

#endif
