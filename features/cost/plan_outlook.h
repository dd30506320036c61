/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan would still take and cost, and what its recipe's allowances leave for it. */
#ifndef ORCH_FEATURES_COST_PLAN_OUTLOOK_H
#define ORCH_FEATURES_COST_PLAN_OUTLOOK_H

#include "core/plan/plan.h"
#include "features/cost/allowance_left.h"

struct orch_plan_outlook {
    struct orch_allowances_left allowances;
    unsigned known, unknown; /* trials to run, with and without a forecast */
    double device_s;     /* device seconds of the known ones, by the medians of their forecasts */
    double usd_per_hour; /* of the device; NaN: unknown */
    char *device;        /* the GPU asked for, else this machine's GPU or processor */
};
/** Forecasts the trials that the plan would run: on this machine, or on `gpu` from their declared
 * costs alone. The workspace's store may be closed; then nothing of the allowance is used up. False
 * when the store cannot be read. Clear with orch_plan_outlook_clear in both cases. */
bool orch_plan_outlook_read(struct orch_plan *plan, const char *gpu,
                            struct orch_device_prices *prices, struct orch_plan_outlook *out,
                            GError **error);
void orch_plan_outlook_clear(struct orch_plan_outlook *outlook);

#endif
